"""The type of callbacks that report the progress of long work."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""``progress(what, done, all)``: the work, and the numbers of done and of all steps."""

__all__ = ["Progress"]
