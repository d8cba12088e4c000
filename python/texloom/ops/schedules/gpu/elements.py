"""Kernels in which a thread computes some consecutive channels of an output."""

from __future__ import annotations

from .... import te
from ...._core import IterVar, Schedule, Tensor

THREADS = 128
"""Threads of a block."""
LANES = 4


def bind_channels(s: Schedule, tensor: Tensor) -> IterVar:
    """Give consecutive channels of ``[N, C, *spatial]`` to consecutive threads.

    A thread computes a vector of channels, if their number is divisible. Returns the axis of
    threads.
    """
    stage = s[tensor]
    n, channel, *spatial = stage.op.axis
    if int(channel.dom.extent) % LANES == 0:
        channel, lane = stage.split(channel, LANES)
        stage.reorder(n, *spatial, channel, lane)
        stage.vectorize(lane)
    else:
        stage.reorder(n, *spatial, channel)
    block, thread = stage.split(stage.fuse(n, *spatial, channel), THREADS)
    stage.bind(block, te.thread_axis("blockIdx.x"))
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    return thread


def order_channels(s: Schedule, tensor: Tensor) -> None:
    """Order a stage in a thread so that its channels are the innermost loop, of vectors."""
    stage = s[tensor]
    n, channel, *spatial = stage.op.axis
    stage.reorder(*stage.op.reduce_axis, n, *spatial, channel)
    if int(tensor.shape[1]) % LANES == 0:
        stage.vectorize(channel)


__all__ = ["bind_channels", "order_channels"]
