"""Transposed convolutions, which spread each element over a window of the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import plain, shape_of
from ..contraction import Contraction
from ..precision import sum_dtype
from ..windows import padded
from .direct import finished, grouped


@dataclass(frozen=True)
class _Taps:
    """The taps that reach an output, along one axis.

    Element i reaches the output ``i*stride + k*dilation - begin`` by tap k. So an output is reached
    by the taps for which ``output + begin - k*dilation`` is a multiple of the stride: a first tap,
    and then every `step`-th tap. The first tap depends only on the phase of the output, which is
    the remainder of ``output + shift`` by the stride. The quotient of ``output + shift`` and the
    stride determines which elements are read.
    """

    kernel: int
    stride: int
    dilation: int
    begin: int

    @property
    def shift(self) -> int:
        """The offset added to an output's index, so that quotients and phases begin with 0."""
        return self.begin % self.stride

    @property
    def divisor(self) -> int:
        """The divisor of all phases that taps reach."""
        return gcd(self.stride, self.dilation)

    @property
    def step(self) -> int:
        """The distance between two taps that reach the same output."""
        return self.stride // self.divisor

    @property
    def most(self) -> int:
        """The largest number of taps that reach an output."""
        return -(-self.kernel // self.step)

    def first(self, phase: Any) -> Any:
        """Return the first tap that reaches a phase; it may lie outside of a small kernel."""
        if self.step == 1:
            return 0
        inverse = pow(self.dilation // self.divisor, -1, self.step)
        return te.indexmod(te.indexdiv(phase, self.divisor) * inverse, self.step)

    def before(self) -> int:
        """Return how many elements before the first element are read (as zeros)."""
        reached = range(0, self.stride, self.divisor)
        return max(0, -min(self._offset(int(r), self.most - 1) for r in reached))

    def element(self, quotient: Any, phase: Any, turn: Any) -> Any:
        """Return the element, counted from :meth:`before`, that the turn-th tap multiplies."""
        return quotient + (self._offset(phase, turn) + self.before())

    def _offset(self, phase: Any, turn: Any) -> Any:
        """Return the index of the element minus the quotient."""
        last = self.kernel * self.dilation  # added to keep the dividend positive
        back = last * self.stride + phase - self.first(phase) * self.dilation
        whole = te.indexdiv(back, self.stride) - last + (self.begin - self.shift) // self.stride
        return whole - turn * (self.dilation // self.divisor)


def _taps(
    kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int], begins: Sequence[int]
) -> list[_Taps]:
    """Return the taps along each spatial axis; empty sequences stand for their defaults."""
    ones, zeros = [1] * len(kernel), [0] * len(kernel)
    axes = zip(kernel, strides or ones, dilations or ones, begins or zeros, strict=True)
    return [_Taps(*axis) for axis in axes]


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
    """Add up windows: each element contributes the weights, scaled by that element.

    Each output is a sum over only the taps that reach it, so that strides cost no additional
    products.

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
        How many elements are cut off at the begin of each spatial axis; none by default. At the
        end, the elements beyond `extents` are cut off.
    strides, dilations : sequence of int, optional
        The distances from one window to the next, and from one tap to the next; 1 by default.
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
    channels, per_group, *kernel = shape_of(weight)
    if plain(data.shape[1]) != channels or channels % groups:
        raise ValueError(
            f"{plain(data.shape[1])} channels, and weights for {channels}, do not divide into "
            f"{groups} groups"
        )
    inner = channels // groups
    taps = _taps(kernel, strides, dilations, begins)
    before = [tap.before() for tap in taps]
    counts = [
        plain((extent - 1 + tap.shift) // tap.stride + 1)
        for extent, tap in zip(extents, taps, strict=True)
    ]
    last = [tap.element(n - 1, 0, 0) for tap, n in zip(taps, counts, strict=True)]
    own = padded(data, before, [plain(each + 1) for each in last], 0, dtype)
    full = padded(weight, [0] * len(taps), [t.step * t.most for t in taps], 0, dtype)
    c = te.reduce_axis((0, inner), name="c")
    turns = [te.reduce_axis((0, tap.most), name=f"k{i}") for i, tap in enumerate(taps)]

    def product(n: Any, o: Any, *place: Any) -> Any:
        phases, quotients = place[: len(taps)], place[len(taps) :]
        channel = grouped(o, per_group * groups, groups, inner, c.var)
        within = te.indexmod(o, per_group) if groups > 1 else o
        each = list(zip(taps, quotients, phases, turns, strict=True))
        elements = [tap.element(quotient, phase, turn) for tap, quotient, phase, turn in each]
        used = [tap.first(phase) + turn * tap.step for tap, _, phase, turn in each]
        value = own(n, channel, *elements) * full(channel, within, *used)
        reached = [te.indexmod(p, t.divisor) == 0 for t, _, p, _ in each if t.divisor > 1]
        if reached:
            value = te.if_then_else(te.all(*reached), value, te.const(0, dtype))
        return te.sum(value, axis=[c, *turns])

    # The outputs of each phase are a separate convolution.
    shape = (data.shape[0], per_group * groups, *(tap.stride for tap in taps), *counts)
    marks = Contraction(rows=1, rows_per_group=per_group).marks()
    sums = te.compute(shape, product, name="sums", **marks)

    def element(n: Any, o: Any, *place: Any) -> Any:
        shifted = [x + tap.shift for x, tap in zip(place, taps, strict=True)]
        phases = [te.indexmod(x, tap.stride) for x, tap in zip(shifted, taps, strict=True)]
        quotients = [te.indexdiv(x, tap.stride) for x, tap in zip(shifted, taps, strict=True)]
        return sums(n, o, *phases, *quotients)

    placed = te.compute((*sums.shape[:2], *extents), element, name="placed")
    return finished(placed, bias, data.dtype, extents)


__all__ = ["transposed_convolution"]
