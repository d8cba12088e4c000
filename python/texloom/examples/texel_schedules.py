"""Pieces of schedules of tensors whose last axis is a texel's four channels."""

from __future__ import annotations

from collections.abc import Sequence

from .. import te
from .._core import IterVar, Schedule, Stage, Tensor

LANES = 4
"""Channels of a texel."""

THREADS = 32
"""Threads per block of a copy kernel."""


def block(tag: str = "x") -> IterVar:
    """``blockIdx`` of this dimension."""
    return te.thread_axis(f"blockIdx.{tag}")


def thread(tag: str = "x") -> IterVar:
    """``threadIdx`` of this dimension."""
    return te.thread_axis(f"threadIdx.{tag}")


def spread(s: Schedule, tensor: Tensor, threads: int = THREADS, vectorize: bool = True) -> IterVar:
    """Give the tensor a kernel: its last axis is the lanes, the other axes are blocks and threads.

    Returns
    -------
    IterVar
        The thread axis.
    """
    *axes, last = s[tensor].op.axis
    outer, inner = s[tensor].split(s[tensor].fuse(*axes), factor=threads)
    s[tensor].bind(outer, block())
    s[tensor].bind(inner, thread())
    if vectorize:
        s[tensor].vectorize(last)
    return inner


def cache_in_texture(
    s: Schedule, tensor: Tensor, reader: Tensor, scope: str = "global.texture"
) -> Tensor:
    """Copy the tensor into a texture, one texel per thread, unless it is in a texture already."""
    cache = s.cache_read(tensor, scope, [reader])
    spread(s, cache)
    return cache


def fill_together(s: Schedule, cache: Tensor, threads: Sequence[tuple[str, int]]) -> None:
    """Let all threads of a block fill the cache, four elements at a time.

    `threads` gives the dimensions and their sizes, outermost first.
    """
    *axes, last = s[cache].op.axis
    s[cache].vectorize(last)
    rest = s[cache].fuse(*axes)
    bound = []
    for tag, number in reversed(threads):
        rest, inner = s[cache].split(rest, factor=number)
        bound.append((inner, tag))
    for inner, tag in bound:
        s[cache].bind(inner, thread(tag))


def copy_texels(s: Schedule, cache: Tensor, reader: Stage | Tensor, axis: IterVar) -> None:
    """Fill a register cache at a loop of `reader`, texel by texel."""
    s[cache].compute_at(s[reader], axis)
    *texels, lane = s[cache].op.axis
    s[cache].vectorize(lane)
    for texel in texels:
        s[cache].unroll(texel)
