"""Kernels with channels last in which a thread computes neighboring channels of a pixel.

The channels form the innermost loop. Compilers vectorize this loop even if it has comparisons and
conditional elements, which vector types cannot express.
"""

from __future__ import annotations

from .... import te
from ...._core import IterVar, Schedule, Tensor

CHANNELS = 64
"""Channels of a thread at most."""
THREADS = 16
"""Threads of a block: a block costs a processor as much as some hundred operations."""


def bind_channels(s: Schedule, tensor: Tensor) -> IterVar:
    """Give neighboring channels of ``[N, C, *spatial]`` a thread; return the axis of threads."""
    stage = s[tensor]
    n, channel, *spatial = stage.op.axis
    channel, inner = stage.split(channel, _own_channels(int(channel.dom.extent)))
    stage.reorder(n, *spatial, channel, inner)
    block, thread = stage.split(stage.fuse(n, *spatial, channel), THREADS)
    stage.bind(block, te.thread_axis("blockIdx.x"))
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    return thread


def _own_channels(channels: int) -> int:
    """Return the number of channels of a thread: a divisor, unless loops would be too short."""
    if channels <= CHANNELS:
        return channels
    own = max(n for n in range(1, CHANNELS + 1) if channels % n == 0)
    return own if own >= CHANNELS // 4 else CHANNELS


def order_channels(s: Schedule, tensor: Tensor) -> None:
    """Order a reduction in a thread so that its channels are the innermost loop."""
    stage = s[tensor]
    n, channel, *spatial = stage.op.axis
    stage.reorder(*stage.op.reduce_axis, n, *spatial, channel)


__all__ = ["bind_channels", "order_channels"]
