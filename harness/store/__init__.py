"""Results folders: written whole or not at all, and read back as the same values."""

from __future__ import annotations

from harness.store.folder import add, load, pictures, save

__all__ = ["add", "load", "pictures", "save"]
