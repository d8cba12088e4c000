"""Tensors that are larger than what is computed of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .extents import Extent, Shape, most_elements
from .index_forms import Axis

if TYPE_CHECKING:
    from .computation import Computation
    from .stage import Stage

MOST_ELEMENTS = 400

READS_OUTSIDE = "outside of a tensor where nothing is computed"


@dataclass
class Region:
    """The part of a tensor that has values."""

    shape: Shape
    first: list[int] = field(default_factory=list)  # its first index along each axis; empty: all 0
    margins: list[int] = field(default_factory=list)  # elements past its end, likewise
    lengthened: bool = False  # an axis of the tensor is rounded up to a multiple

    @classmethod
    def around(cls, rng: random.Random, shape: Shape) -> Region:
        """Make one or two axes larger: round them up, as schedules for Adreno do, or add margins.

        Symbolic axes stay as they are: splits past their ends would read outside without a refusal.
        """
        region = cls(shape, [0] * len(shape), [0] * len(shape))
        constant = [at for at, length in enumerate(shape) if not length.is_symbolic]
        for at in rng.sample(constant, min(len(constant), rng.randint(1, 2))):
            factor = rng.randint(2, 4)
            lengthened = rng.random() < 0.5
            if lengthened:
                region.margins[at] = -shape[at].most % factor or factor
            else:
                region.first[at] = rng.randint(0, 2)
                region.margins[at] = rng.randint(0 if region.first[at] else 1, 3)
            if most_elements(region.whole) > MOST_ELEMENTS:
                region.first[at] = region.margins[at] = 0
                continue
            region.lengthened |= lengthened
        return region if any(region.first + region.margins) else cls(shape)

    @property
    def whole(self) -> Shape:
        """The shape of the tensor."""
        return [self._whole(at) for at in range(len(self.shape))]

    def _whole(self, at: int) -> Extent:
        more = self.first[at] + self.margins[at] if self.first else 0
        return self.shape[at] + more if more else self.shape[at]

    def axes(self) -> list[Axis]:
        """Return the axes i0, i1, ... of the tensor."""
        if not self.first:
            return [Axis(f"i{n}", length) for n, length in enumerate(self.shape)]
        return [
            Axis(f"i{n}", length, self.first[n], whole=self._whole(n))
            for n, length in enumerate(self.shape)
        ]


def note(computation: Computation, features: set[str]) -> None:
    """Record where the stages are computed that are larger than what has values."""
    for stage in computation.stages:
        if stage.region is None:
            continue
        where = place_of(stage)
        features.add(f"larger than what is computed, {where}")
        if stage.region.lengthened:
            features.add(f"a lengthened axis, {where}")
            if overruns(computation, stage):
                features.add("a lengthened axis under a split that does not divide")
        if stage.outside:
            features.add(f"{READS_OUTSIDE}, {where}")
            if overruns(computation, stage):
                features.add(f"{READS_OUTSIDE}, under a split that does not divide")
    if may_read_outside(computation):
        features.add(f"{READS_OUTSIDE}, where more may be computed")


def may_read_outside(computation: Computation) -> bool:
    """Whether more may be computed of a stage that reads outside of a tensor than is needed.

    Readers have symbolic extents or another layout, or whole texels are written. The program is
    refused if a point would read outside.
    """

    def is_loose(stage: Stage) -> bool:
        readers = all_readers(computation, stage)
        moved = any(s.transformed for s in readers)
        return bool(computation.symbols) or moved or any(s.texture for s in [stage, *readers])

    return any(stage.outside and is_loose(stage) for stage in computation.stages)


def place_of(stage: Stage) -> str:
    """Say where the stage is computed."""
    if stage.inlined:
        return "inlined"
    if stage.host is not None:
        return f"attached {stage.attached_scope}"
    return f"at the root in {'a texture' if stage.texture else 'a buffer'}"


def overruns(computation: Computation, stage: Stage) -> bool:
    """Whether a split around the stage, or around one that reads it, may end past what is there."""
    return any(
        not owner.loops.whole
        for each in [stage, *all_readers(computation, stage)]
        for owner, _ in each.enclosing
    )


def all_readers(computation: Computation, stage: Stage) -> list[Stage]:
    """Return the stages that read the stage, directly or not."""
    found = computation.readers_of(stage)
    for reader in found:  # grows
        found += [r for r in computation.readers_of(reader) if r not in found]
    return found
