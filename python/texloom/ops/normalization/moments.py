"""Means and variances, and elements relative to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import product, value_of
from ..precision import sum_dtype
from ..reductions.axes import extents, kept, reduce_over


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


__all__ = ["epsilon_of", "inverse_deviation", "mean_square", "moments"]
