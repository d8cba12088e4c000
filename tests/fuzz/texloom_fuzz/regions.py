"""Tensors of which only a region has values."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from .extents import Extent, Shape, most_elements
from .index_forms import Axis

MOST_ELEMENTS = 400


@dataclass
class Region:
    """The part of a tensor that has values."""

    shape: Shape
    first: list[int] = field(default_factory=list)  # the first index along each axis; empty: all 0
    margins: list[int] = field(default_factory=list)  # elements past the end, by axis; empty: none
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
