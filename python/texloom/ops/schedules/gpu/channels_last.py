"""The families of convolutions with channels last, for GPUs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ...._core import IterVar, Schedule
from ....profiles import DeviceProfile
from ...contraction import is_depthwise
from ..family import Family, KernelTask, Scheduled, first_of_least
from .convolution import ConvolutionTile, schedule_convolution
from .convolution_weights import OutputsLast
from .depthwise import schedule_depthwise
from .tile_times import seconds_of
from .tiles import BlockLimits, ConvolutionShape, Tiles


@dataclass(frozen=True)
class Convolution:
    """The facts of a convolution."""

    shape: ConvolutionShape
    limits: BlockLimits


class Convolutions(OutputsLast, Family[Convolution, ConvolutionTile]):
    """Convolutions whose threads read the pixels and the weights of a tile in each step."""

    name = "convolutions"
    is_estimated = True
    is_depthwise = False
    schedule: Callable[..., IterVar] = staticmethod(schedule_convolution)

    def facts_of(self, task: KernelTask) -> Convolution | None:
        """Return the shape of a convolution; None for kernels of processors."""
        assert task.sums is not None
        if task.target.is_cpu or is_depthwise(task.sums) != self.is_depthwise:
            return None
        return Convolution(ConvolutionShape.of(task.sums, task.root), BlockLimits.of(task.target))

    def points(self, facts: Convolution) -> Iterable[tuple[ConvolutionTile | None, str | None]]:
        """Return the tiles of :class:`.tiles.Tiles`.

        None is legal for 3 inputs and 8 outputs, for example: few output channels make blocks of
        few threads, and the input channels cannot be divided among more threads.
        """
        tiles = Tiles.for_shape(facts.shape)
        return tiles.points(tiles.broken(facts.shape, facts.limits))

    def seconds(self, facts: Convolution, knobs: ConvolutionTile, profile: DeviceProfile) -> float:
        """Return the estimate of :func:`.tile_times.seconds_of`."""
        return float(seconds_of(Tiles.of(knobs), facts.shape, profile)[0])

    def least(self, facts: Convolution, profile: DeviceProfile) -> ConvolutionTile | None:
        """Return the point with the least estimate, of all tiles at once."""
        tiles = Tiles.for_shape(facts.shape)
        legal = tiles.at(np.nonzero(tiles.broken(facts.shape, facts.limits) < 0)[0])
        place = first_of_least(seconds_of(legal, facts.shape, profile))
        return None if place is None else legal[place]

    def apply(self, s: Schedule, task: KernelTask, knobs: ConvolutionTile) -> Scheduled:
        """Schedule a convolution, its padding, and later stages of the same kernel."""
        sums = task.sums
        assert sums is not None
        thread = self.schedule(s, sums, task.root, knobs)
        pixels = sums.op.input_tensors[0]
        return Scheduled(task.root, thread, {sums.op, task.root.op, pixels.op})


class DepthwiseConvolutions(Convolutions):
    """Convolutions whose groups have one channel each, which a thread keeps in registers."""

    name = "depthwise convolutions"
    is_depthwise = True
    schedule = staticmethod(schedule_depthwise)


CONVOLUTIONS, DEPTHWISE = Convolutions(), DepthwiseConvolutions()

__all__ = [
    "CONVOLUTIONS",
    "DEPTHWISE",
    "Convolution",
    "Convolutions",
    "DepthwiseConvolutions",
]
