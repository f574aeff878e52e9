"""Executors of chunks. Anything with the interface of `concurrent.futures.Executor` will do.

A chunk is hundreds of short numpy calls. Each gives up the interpreter's lock for some microseconds
and waits longer than that to get it back, so that two threads are no faster than one; processes
share nothing and are twice as fast.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import Any

__all__ = ["InlineExecutor", "default_workers", "processes"]


class InlineExecutor(Executor):
    """Runs each task where it is submitted; for one worker, and for samplers that share state."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401 (Executor)
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 (a future carries whatever was raised)
            future.set_exception(error)
        return future


def processes(workers: int) -> Executor:
    """Processes of their own, each a second away from its first chunk; or none for one worker.

    They import the main module anew: a script that asks for them has its
    `if __name__ == "__main__":`.
    """
    if workers == 1:
        return InlineExecutor()
    return ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=signal.signal,  # an interrupt is for the process that waits for them
        initargs=(signal.SIGINT, signal.SIG_IGN),
    )


def default_workers() -> int:
    """As many as the process may use cores."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
