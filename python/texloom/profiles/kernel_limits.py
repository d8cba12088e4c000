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
    the last round of blocks. The loads of an iteration overlap, and those of all threads that the
    processors hold; a processor that holds fewer threads than keep it busy overlaps iterations of
    one thread instead. Threads and matrix units do not compute at once.
    """
    threads = int(work.block_threads)
    held = int(profile.held_blocks(threads, work.block_shared_bytes, work.registers))
    share = work.blocks / (ceil(work.blocks / profile.processors) * profile.processors)
    rounds = ceil(work.blocks / (profile.processors * held))
    overlapping = max(
        1.0, profile.busy_threads / (profile.processors * profile.threads_per_processor)
    )
    arithmetic = work.operations / profile.fma_rate + work.fragment_products / profile.matrix_rate
    return {
        Bound.ARITHMETIC: arithmetic / share,
        Bound.BUFFERS: work.buffer_bytes / (share * profile.near_rate),
        Bound.TEXTURES: work.texture_bytes / (share * profile.texture_rate),
        Bound.SHARED: work.shared_bytes / (share * profile.shared_rate),
        Bound.MEMORY: work.distinct_bytes / profile.memory_rate,
        Bound.LATENCY: rounds * work.turns / overlapping * profile.latency_seconds,
    }


__all__ = ["Bound", "kernel_limits"]
