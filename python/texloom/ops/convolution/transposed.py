"""Transposed convolutions, which spread each element over a window of the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from ... import te
from ..._core import Tensor
from ..precision import sum_dtype
from ..windows import padded
from .direct import finished


@dataclass(frozen=True)
class _Taps:
    """The taps that reach an output, along one axis.

    Element i reaches the output ``i*stride + k*dilation - begin`` by tap k. So an output o is
    reached by the taps k for which ``o + begin - k*dilation`` is a multiple of the stride: the
    first one, and from there each `step`-th.
    """

    kernel: int
    stride: int
    dilation: int
    begin: int

    @property
    def divisor(self) -> int:
        """Only outputs whose ``o + begin`` is a multiple of this are reached."""
        return gcd(self.stride, self.dilation)

    @property
    def step(self) -> int:
        """From one tap that reaches an output to the next."""
        return self.stride // self.divisor

    @property
    def most(self) -> int:
        """How many taps reach an output at most."""
        return -(-self.kernel // self.step)

    def first(self, o: Any) -> Any:
        """Return the first tap that reaches an output, which may not exist."""
        if self.step == 1:
            return 0
        place = te.indexmod(o + self.begin % self.stride, self.stride)
        if self.divisor > 1:
            place = te.indexdiv(place, self.divisor)
        inverse = pow(self.dilation // self.divisor, -1, self.step)
        return te.indexmod(place * inverse, self.step) if inverse > 1 else place

    def before(self) -> int:
        """Return how many elements before the first one are read, as zeros."""
        back = (self.step * self.most - 1) * self.dilation - self.begin
        return max(0, -(-back // self.stride))

    def element(self, o: Any, tap: Any) -> Any:
        """Return the element, counted from :meth:`before`, that reaches an output by a tap."""
        offset = self.before() * self.stride + self.begin  # keeps the dividend positive
        return te.indexdiv(o + offset - tap * self.dilation, self.stride)


def transposed_convolution(
    data: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    extents: Sequence[int],
    begins: Sequence[int] = (),
    strides: Sequence[int] = (),
    dilations: Sequence[int] = (),
    groups: int = 1,
) -> Tensor:
    """Add up windows of the weights, one for each element, scaled by it.

    Each output is a sum over the taps that reach it only: a stride of s does not cost more products
    than the definition has.

    Parameters
    ----------
    data : Tensor
        ``[N, C, *spatial]``.
    weight : Tensor
        ``[C, O / groups, *kernel]`` of the same dtype.
    bias : Tensor, optional
        ``[O]``, of the same dtype.
    extents : sequence of int
        The spatial extents of the result.
    begins : sequence of int, optional
        How many elements are cut off before each spatial axis; none by default. What the extents
        leave is cut off after it.
    strides, dilations : sequence of int, optional
        From one window to the next, and from one tap of a window to the next; 1 by default.
    groups : int
        Output channels of a group read only the input channels of that group.

    Returns
    -------
    Tensor
        ``[N, O, *extents]`` of the dtype of `data`. Sums of float16 and bfloat16 are float32.

    Raises
    ------
    ValueError
        For shapes that do not match.
    """
    dtype = sum_dtype(data.dtype)
    channels, per_group, *kernel = (int(extent) for extent in weight.shape)
    if int(data.shape[1]) != channels or channels % groups:
        raise ValueError(f"{data} and {weight} do not have the channels of {groups} groups")
    inner = channels // groups
    taps = [
        _Taps(*each)
        for each in zip(
            kernel,
            strides or [1] * len(kernel),
            dilations or [1] * len(kernel),
            begins or [0] * len(kernel),
            strict=True,
        )
    ]
    before = [tap.before() for tap in taps]
    reached = [
        (extent - 1 + tap.begin) // tap.stride + 1 + first
        for extent, tap, first in zip(extents, taps, before, strict=True)
    ]
    own = padded(data, before, reached, 0, dtype)
    full = padded(weight, [0] * len(taps), [t.step * t.most for t in taps], 0, dtype)
    c = te.reduce_axis((0, inner), name="c")
    turns = [te.reduce_axis((0, tap.most), name=f"k{i}") for i, tap in enumerate(taps)]

    def product(n: Any, o: Any, *place: Any) -> Any:
        group = te.indexdiv(o, per_group) if groups > 1 else 0
        channel = group * inner + c if groups > 1 else c
        used = [
            tap.first(x) + turn * tap.step for tap, x, turn in zip(taps, place, turns, strict=True)
        ]
        elements = [tap.element(x, k) for tap, x, k in zip(taps, place, used, strict=True)]
        within = te.indexmod(o, per_group) if groups > 1 else o
        value = own(n, channel, *elements) * full(channel, within, *used)
        missed = [
            te.indexmod(x + tap.begin % tap.divisor, tap.divisor) == 0
            for tap, x in zip(taps, place, strict=True)
            if tap.divisor > 1
        ]
        if missed:
            value = te.if_then_else(te.all(*missed), value, te.const(0, dtype))
        return te.sum(value, axis=[c, *turns])

    shape = (data.shape[0], per_group * groups, *extents)
    sums = te.compute(shape, product, name="sums")
    return finished(sums, bias, data.dtype, extents)


__all__ = ["transposed_convolution"]
