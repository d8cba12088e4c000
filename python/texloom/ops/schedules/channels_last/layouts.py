"""Layouts of buffers in which channels are contiguous."""

from __future__ import annotations

from collections.abc import Sequence

_AXES = "edhw"
"""Names of spatial axes, of which the last ones are used."""
_OPENINGS = ("buffer[(n, ", "buffer[(o, ")
"""How the layouts of activations and of weights begin."""
_MOST = 5  # the most axes of an argument with channels last


def _spatial(rank: int) -> list[str]:
    return list(_AXES[len(_AXES) - (rank - 2) :])


def activation_layout(rank: int) -> str | None:
    """Return the layout of ``[N, C, *spatial]`` with channels last; None for another rank."""
    if not 3 <= rank <= _MOST:
        return None
    return channels_last(["n"], rank)


def channels_last(before: Sequence[str], rank: int) -> str:
    """Return the layout of ``[*before, C, *spatial]``, where `rank` counts a single axis before."""
    spatial = _spatial(rank)
    given, stored = ([*before, "c", *spatial], [*before, *spatial, "c"])
    return f"buffer[({', '.join(given)}) -> cols=({', '.join(stored)})]"


def aligned_channels_last(before: Sequence[str], rank: int, lanes: int) -> str:
    """Return the layout of :func:`channels_last` in which each pixel begins a vector of `lanes`.

    Elements beyond the channels are not used.
    """
    spatial = _spatial(rank)
    given = ", ".join([*before, "c", *spatial])
    stored = ", ".join([*before, *spatial, f"c/{lanes}", f"c%{lanes}"])
    return f"buffer[({given}) -> cols=({stored})]"


def weight_layout(rank: int) -> str | None:
    """Return the layout of weights ``[O, I, *kernel]`` with outputs last; None for another rank."""
    if not 3 <= rank <= _MOST:
        return None
    spatial = ", ".join(_spatial(rank))
    return f"buffer[(o, i, {spatial}) -> cols=({spatial}, i, o)]"


def blocked_weight_layout(rank: int, block: int) -> str | None:
    """Return the layout of ``[O, I, *kernel]`` in blocks of outputs, which are last in a block."""
    if not 3 <= rank <= _MOST:
        return None
    spatial = ", ".join(_spatial(rank))
    return f"buffer[(o, i, {spatial}) -> cols=(o/{block}, {spatial}, i, o%{block})]"


def is_channels_last(storage: str) -> bool:
    """Whether the text of a storage is a layout of this module.

    Layouts of products have other names of axes.
    """
    return storage.startswith(_OPENINGS)


__all__ = [
    "aligned_channels_last",
    "activation_layout",
    "blocked_weight_layout",
    "channels_last",
    "is_channels_last",
    "weight_layout",
]
