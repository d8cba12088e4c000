"""Formats numbers for pictures."""

from __future__ import annotations

from collections.abc import Iterable


def size_text(count: int) -> str:
    """Bytes: ``160 B``, ``4.5 KiB``, ``64 MiB``."""
    if count < 1024:
        return f"{count} B"
    value = float(count)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1024 or unit == "TiB":
            break
    return f"{value:.1f}".removesuffix(".0") + f" {unit}"


def extents_text(extents: Iterable[int]) -> str:
    """``34 x 2``; trailing extents of 1 are left out."""
    numbers = list(extents)
    while len(numbers) > 1 and numbers[-1] == 1:
        numbers.pop()
    return " × ".join(f"{n:,}" for n in numbers)


def shape_text(dtype: str, shape: Iterable[int]) -> str:
    """``float32[34, 36, 4]``."""
    return f"{dtype}[{', '.join(map(str, shape))}]"
