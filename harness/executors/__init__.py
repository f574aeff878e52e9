"""Where chunks are worked off."""

from __future__ import annotations

from harness.executors.local import InlineExecutor, default_workers, processes

__all__ = ["InlineExecutor", "default_workers", "processes"]
