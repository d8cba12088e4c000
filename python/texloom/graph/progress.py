"""Reports of progress by long work."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""``progress(what, done, all)``: what is being done, and how many of how many steps are done."""

__all__ = ["Progress"]
