"""How long a kernel takes on a device at least, by what bounds it."""

from __future__ import annotations

from enum import Enum
from math import ceil

from .._core import _KernelWork
from .device_profile import DeviceProfile


class Bound(Enum):
    """What the time of a kernel is spent for."""

    LAUNCH = "launch"
    ARITHMETIC = "arithmetic"
    BUFFERS = "buffer reads"
    TEXTURES = "texture reads"
    SHARED = "shared memory"
    MEMORY = "memory"
    LATENCY = "latency"


def kernel_limits(work: _KernelWork, profile: DeviceProfile) -> dict[Bound, float]:
    """Return the seconds of each limit of a kernel, of which the longest adds to its launch.

    A processor without a block does nothing: the rates are those of the processors that have one in
    the last round of blocks.
    """
    threads = int(work.block_threads)
    held = int(profile.held_blocks(threads, work.block_shared_bytes, work.registers))
    share = work.blocks / (ceil(work.blocks / profile.processors) * profile.processors)
    rounds = ceil(work.blocks / (profile.processors * held))
    return {
        Bound.ARITHMETIC: work.operations / (share * profile.fma_rate),
        Bound.BUFFERS: work.buffer_bytes / (share * profile.near_rate),
        Bound.TEXTURES: work.texture_bytes / (share * profile.texture_rate),
        Bound.SHARED: work.shared_bytes / (share * profile.shared_rate),
        Bound.MEMORY: work.distinct_bytes / profile.memory_rate,
        Bound.LATENCY: rounds * work.turns * profile.latency_seconds,
    }


__all__ = ["Bound", "kernel_limits"]
