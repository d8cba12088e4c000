"""Pieces of schedules that many workloads share."""

from texloom import te

THREADS = 32


def block(tag="x"):
    return te.thread_axis(f"blockIdx.{tag}")


def thread(tag="x"):
    return te.thread_axis(f"threadIdx.{tag}")


def spread(s, tensor, threads=THREADS, vectorize=True):
    """A kernel of its own: its last axis are lanes, all others blocks of threads.

    Returns the axis of the threads.
    """
    *axes, last = s[tensor].op.axis
    outer, inner = s[tensor].split(s[tensor].fuse(*axes), factor=threads)
    s[tensor].bind(outer, block())
    s[tensor].bind(inner, thread())
    if vectorize:
        s[tensor].vectorize(last)
    return inner


def cache_in_texture(s, tensor, reader, scope="global.texture"):
    """A copy of `tensor` in a texture, a texel from each thread."""
    cache = s.cache_read(tensor, scope, [reader])
    spread(s, cache)
    return cache


def fill_together(s, cache, threads):
    """All threads of a block copy, four elements at a time. `threads`: (tag, number) outermost."""
    *axes, last = s[cache].op.axis
    s[cache].vectorize(last)
    rest = s[cache].fuse(*axes)
    bound = []
    for tag, number in reversed(threads):
        rest, inner = s[cache].split(rest, factor=number)
        bound.append((inner, tag))
    for inner, tag in bound:
        s[cache].bind(inner, thread(tag))


def copy_texels(s, cache, stage, axis):
    """The copy, in registers, is made at a loop of `stage`, texel by texel."""
    s[cache].compute_at(s[stage], axis)
    *texels, lane = s[cache].op.axis
    s[cache].vectorize(lane)
    for axis in texels:
        s[cache].unroll(axis)
