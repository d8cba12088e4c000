"""Schedules of a depthwise convolution and the 1x1 convolution that reads it, as one kernel.

The threads of a block compute the depthwise convolution of their pixels for all channels, keep it
in shared memory, and then multiply it by the weights of their output channels. So the depthwise
convolution needs no launch of its own, and its result no global memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, prod

import numpy as np
from numpy.typing import NDArray

from .... import te
from ...._core import IterVar, Schedule, Stage, TargetValue, Tensor
from ....profiles import DeviceProfile, profile_of
from ...contraction import Contraction, is_depthwise
from ..channels_last.axes import vectorize
from ..channels_last.layouts import channels_last
from ..family import Family, KernelTask, Scheduled, first_of_least
from .convolution import ConvolutionTile, accumulate, bind_tiles
from .depthwise import keep_in_thread
from .tile_times import seconds_of, seconds_of_shared
from .tiles import RULES, SHARED, BlockLimits, ConvolutionShape, Tiles, lanes_of


def separable_sums(stages: Sequence[Tensor]) -> tuple[Tensor, Tensor] | None:
    """Return the sums of both convolutions; None if the stages compute anything else."""
    sums = [each for each in stages if Contraction.of(each) is not None]
    if len(sums) != 2 or not _are_separable(*sums):
        return None
    return (sums[0], sums[1]) if is_chain(sums[1].op.input_tensors[0], sums[0]) else None


def is_chain(last: Tensor, first: Tensor) -> bool:
    """Whether each stage after `first` reads only the stage before it, and vectors.

    Then each stage is computed element by element from the stage before, which is in shared memory.
    """
    while last.op != first.op:
        inner = [each for each in last.op.input_tensors if len(each.shape) > 1]
        if last.op.reduce_axis or len(inner) != 1:
            return False
        (last,) = inner
    return True


def _are_separable(depthwise: Tensor, sums: Tensor) -> bool:
    """Whether these are the sums of a depthwise convolution and of a 1x1 convolution."""
    roles = Contraction.of(sums)
    assert roles is not None
    taps = sums.op.reduce_axis[1:]
    return (
        (is_depthwise(depthwise) and roles.is_convolution)
        and (depthwise.dtype == sums.dtype == "float32")
        and roles.rows_per_group == int(sums.shape[1])
        and len(sums.shape) == 3 < len(depthwise.shape)
        and all(int(axis.dom.extent) == 1 for axis in taps)
    )


@dataclass(frozen=True)
class Separable:
    """The facts of two convolutions.

    Attributes
    ----------
    taps : int
        The products of each sum of the first convolution.
    second : ConvolutionShape
        The shape of the second convolution.
    limits : BlockLimits
    """

    taps: int
    second: ConvolutionShape
    limits: BlockLimits

    @classmethod
    def of(cls, depthwise: Tensor, sums: Tensor, root: Tensor, target: TargetValue) -> Separable:
        """Return the facts of the sums of both, and of what the kernel writes."""
        taps = prod(int(axis.dom.extent) for axis in depthwise.op.reduce_axis)
        return cls(taps, ConvolutionShape.of(sums, root), BlockLimits.of(target))


class SeparableConvolutions(Family[Separable, ConvolutionTile]):
    """A depthwise convolution and the 1x1 convolution that reads it: tiles of the second one."""

    name = "separable convolutions"
    is_estimated = True

    def facts_of(self, task: KernelTask) -> Separable | None:
        """Return the facts of a computation with channels last; None for others."""
        if task.target.is_cpu or task.sums is not None or not task.has_channels_last:
            return None
        found = separable_sums(task.stages)
        return None if found is None else Separable.of(*found, task.root, task.target)

    def points(self, facts: Separable) -> Iterable[tuple[ConvolutionTile | None, str | None]]:
        """Return the tiles of the second convolution whose pixels fit into shared memory."""
        tiles = Tiles.for_shape(facts.second)
        return tiles.points(_broken(tiles, facts))

    def seconds(self, facts: Separable, knobs: ConvolutionTile, profile: DeviceProfile) -> float:
        """Return the seconds of both convolutions, the first by threads that share its pixels."""
        return float(_seconds_of(Tiles.of(knobs), facts, profile)[0])

    def least(self, facts: Separable, profile: DeviceProfile) -> ConvolutionTile | None:
        """Return the point with the least estimate, of all tiles at once."""
        tiles = Tiles.for_shape(facts.second)
        legal = tiles.at(np.nonzero(_broken(tiles, facts) < 0)[0])
        place = first_of_least(_seconds_of(legal, facts, profile))
        return None if place is None else legal[place]

    def apply(self, s: Schedule, task: KernelTask, knobs: ConvolutionTile) -> Scheduled:
        """Schedule both convolutions, and the stages computed from the second."""
        found = separable_sums(task.stages)
        assert found is not None
        thread = schedule_separable(s, *found, task.root, knobs)
        read = {each.op.input_tensors[0].op for each in found}
        return Scheduled(task.root, thread, {task.root.op, *(each.op for each in found), *read})


SEPARABLE = SeparableConvolutions()


def joined_seconds(
    first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor], target: TargetValue
) -> float:
    """Return the estimated seconds of two convolutions in one kernel; infinity if it is impossible.

    `first` and `second` are convolutions, each with its sums and the tensor that its kernel writes;
    the second convolution reads the first.
    """
    if not _are_separable(first[0], second[0]) or not is_chain(first[1], first[0]):
        return inf
    return SEPARABLE.least_seconds(Separable.of(first[0], *second, target), profile_of(target))


def _shared_floats(tiles: Tiles, shape: ConvolutionShape) -> NDArray[np.int64]:
    """Return the floats of pixels in shared memory, and of sums of several slices."""
    rows, columns, _ = tiles.block_extents
    sums = np.where(tiles.slices > 1, tiles.sums * tiles.block, 0)
    made: NDArray[np.int64] = rows * columns * shape.inputs + sums
    return made


def _broken(tiles: Tiles, facts: Separable) -> NDArray[np.int64]:
    """Return the numbers of the rules that tiles break, or -1."""
    broken = tiles.broken(facts.second, facts.limits)
    is_large = _shared_floats(tiles, facts.second) > facts.limits.floats
    return np.where((broken < 0) & is_large, RULES.index(SHARED), broken)


def _seconds_of(tiles: Tiles, facts: Separable, profile: DeviceProfile) -> NDArray[np.float64]:
    shape = facts.second
    rows, columns, _ = tiles.block_extents
    vectors = rows * columns * shape.inputs // lanes_of(shape.inputs)
    shared = 4 * _shared_floats(tiles, shape)
    own = seconds_of(tiles, shape, profile, shared)
    return own + seconds_of_shared(tiles, shape, vectors, facts.taps, shared, profile)


def schedule_separable(
    s: Schedule, depthwise: Tensor, sums: Tensor, root: Tensor, tile: ConvolutionTile
) -> IterVar:
    """Schedule the sums of both convolutions, and the stages computed from the second.

    Parameters
    ----------
    s : Schedule
    depthwise : Tensor
        The sums of the first convolution.
    sums : Tensor
        The sums of the second, a 1x1 convolution; it reads one stage, which is computed from the
        first element by element.
    root : Tensor
        As for :func:`.convolution.schedule_convolution`.
    tile : ConvolutionTile
        The tile of the second convolution.

    Returns
    -------
    IterVar
        The innermost axis of threads.
    """
    bound = bind_tiles(s, sums, root, tile)
    shared = bound.added.op.input_tensors[0]
    near = s.cache_read(shared, "local", [bound.added], layout=_pixels_layout(shared))
    accumulate(s, bound.added, near, tile)
    s[shared].set_scope("shared", layout=_pixels_layout(shared))
    s[shared].compute_at(s[root], bound.block)
    lanes = lanes_of(int(shared.shape[1]))
    thread = _share(s[shared], tile.block, lanes)
    s[depthwise].set_scope("local", layout=_pixels_layout(depthwise))
    keep_in_thread(s, depthwise, s[shared], thread, lanes)
    return bound.thread


def _pixels_layout(tensor: Tensor) -> str:
    return channels_last("n", len(tensor.shape))


def _share(stage: Stage, threads: int, lanes: int) -> IterVar:
    """Divide ``[N, C, *spatial]`` among the threads of a block; return the axis of threads."""
    n, channel, *spatial = stage.op.axis
    group, lane = stage.split(channel, lanes)
    stage.reorder(n, *spatial, group, lane)
    _, thread = stage.split(stage.fuse(n, *spatial, group), threads)
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    vectorize(stage, lane, lanes)
    return thread


__all__ = [
    "SEPARABLE",
    "Separable",
    "SeparableConvolutions",
    "is_chain",
    "joined_seconds",
    "schedule_separable",
    "separable_sums",
]
