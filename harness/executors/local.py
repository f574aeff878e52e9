"""Executors of chunks. Anything with the interface of `concurrent.futures.Executor` will do.

numpy releases the interpreter's lock in its loops, so that threads are enough on one machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

__all__ = ["InlineExecutor", "default_workers", "local_executor"]


class InlineExecutor(Executor):
    """Runs each task where it is submitted; for one worker, and for samplers that share state."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401 (Executor)
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 (a future carries whatever was raised)
            future.set_exception(error)
        return future


def local_executor(workers: int) -> Executor:
    """Threads, or the calling thread itself for one worker."""
    return InlineExecutor() if workers == 1 else ThreadPoolExecutor(workers, "chunk")


def default_workers() -> int:
    """As many as the process may use cores."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
