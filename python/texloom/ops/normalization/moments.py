"""Means and variances, and elements relative to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import product, value_of
from ..precision import sum_dtype
from ..reductions.axes import extents, kept, reduce_over

MOMENTS = "moments"
"""The tag of the means and variances of parts, which a kernel of their own stores."""


def moments(x: Tensor, axes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return the mean and the variance over normalized `axes`, which stay with extent 1.

    The variance is the mean of the squared differences from the mean. Mean and variance have the
    type in which elements are accumulated: float32 for elements of 16 bits.
    """
    wide = sum_dtype(x.dtype)
    count = value_of(product(extents(x)[a] for a in axes), wide)
    total = reduce_over(x, axes, te.sum, lambda v, *_: v.astype(wide), name="total")
    mean = te.compute(total.shape, lambda *i: total(*i) / count, name="mean")

    def squared(value: Any, *i: Any) -> Any:
        difference = value.astype(wide) - mean(*kept(i, axes))
        return difference * difference

    spread = reduce_over(x, axes, te.sum, squared, name="spread")
    return mean, te.compute(spread.shape, lambda *i: spread(*i) / count, name="variance")


def moments_in_parts(
    x: Tensor, axes: Sequence[int], along: int, parts: int
) -> tuple[Tensor, Tensor]:
    """Return :func:`moments`, computed from the moments of equal parts along one of the axes.

    The variance is the mean of the variances of the parts and of the squared differences of their
    means from the mean (Chan, Golub, LeVeque: Updating Formulae and a Pairwise Algorithm for
    Computing Sample Variances, 1979). So two kernels can compute it, and no rounding is larger than
    that of :func:`moments`.

    Parameters
    ----------
    x : Tensor
    axes : sequence of int
        Normalized.
    along : int
        One of `axes`.
    parts : int
        Divides the extent of the axis `along`.
    """
    before, extent, after = extents(x)[:along], extents(x)[along], extents(x)[along + 1 :]
    each = extent // parts

    def divided(*i: Any) -> Any:
        return x(*i[:along], i[along] * each + i[along + 1], *i[along + 2 :])

    pieces = te.compute((*before, parts, each, *after), divided, name="pieces")
    means, variances = moments(pieces, [a if a < along else a + 1 for a in axes])

    def stored(*i: Any) -> Any:
        *at, number = i
        return te.if_then_else(number == 0, means(*at), variances(*at))

    pairs = te.compute((*extents(means), 2), stored, name="pairs", tag=MOMENTS)
    count = te.const(parts, means.dtype)

    def mean_over_parts(term: Any, name: str) -> Tensor:
        def summed(*i: Any) -> Any:
            k = te.reduce_axis((0, parts), name="part")
            at = [*i[:along], k.var, *i[along:]]
            return te.sum(term(pairs(*at, 0), pairs(*at, 1), *i), axis=k)

        shape = extents(means)[:along] + extents(means)[along + 1 :]
        total = te.compute(shape, summed, name=f"{name}_total")
        return te.compute(shape, lambda *i: total(*i) / count, name=name)

    mean = mean_over_parts(lambda own, *_: own, "mean")

    def squares(own: Any, variance: Any, *i: Any) -> Any:
        difference = own - mean(*i)
        return variance + difference * difference

    return mean, mean_over_parts(squares, "variance")


def mean_square(x: Tensor, axes: Sequence[int]) -> Tensor:
    """Return the mean of the squares over normalized `axes`, which stay with extent 1."""
    wide = sum_dtype(x.dtype)
    count = value_of(product(extents(x)[a] for a in axes), wide)

    def squared(value: Any, *_: Any) -> Any:
        return value.astype(wide) * value.astype(wide)

    total = reduce_over(x, axes, te.sum, squared, name="squares")
    return te.compute(total.shape, lambda *i: total(*i) / count, name="mean_square")


def inverse_deviation(variance: Tensor, epsilon: float) -> Tensor:
    """Return ``1 / sqrt(variance + epsilon)``."""
    one, small = te.const(1, variance.dtype), te.const(epsilon, variance.dtype)
    return te.compute(
        variance.shape, lambda *i: one / te.sqrt(variance(*i) + small), name="inverse_deviation"
    )


def epsilon_of(stages: Sequence[Tensor]) -> float | None:
    """Return the `epsilon` of :func:`inverse_deviation` among stages; None if it is not there."""
    for stage in stages:
        body = stage.op.body[0] if isinstance(stage.op, te.ComputeOp) else None
        if body is None or body._class != "Div" or body.b._class != "Call":
            continue
        (argument, *_) = body.b.args
        if argument._class == "Add" and argument.b._class == "FloatImm":
            return float(argument.b.value)
    return None


__all__ = [
    "MOMENTS",
    "epsilon_of",
    "inverse_deviation",
    "mean_square",
    "moments",
    "moments_in_parts",
]
