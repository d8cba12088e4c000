"""Normalizations over axes, separately for each example."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from ..broadcast import element
from ..precision import sum_dtype
from ..reductions.axes import extents, kept, normalized, reduce_over
from .moments import inverse_deviation, mean_square, moments


def layer_normalization(
    x: Tensor,
    scale: Tensor,
    bias: Tensor | None = None,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash: str = "float32",
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalize over the axes from `axis` on.

    Parameters
    ----------
    x : Tensor
    scale, bias : Tensor
        Are broadcast to the shape of `x`.
    axis : int
    epsilon : float
    stash : str
        Element type of the mean and the inverse deviation that are returned.

    Returns
    -------
    y : Tensor
        As `x`.
    mean, inverse : Tensor
        The mean, and ``1 / sqrt(variance + epsilon)``; the reduced axes have extent 1.
    """
    wide = sum_dtype(x.dtype)
    own = range(axis % len(x.shape), len(x.shape))
    mean, variance = moments(x, own)
    inverse = inverse_deviation(variance, epsilon)

    def result(*i: Any) -> Any:
        at = kept(i, own)
        normal = (x(*i).astype(wide) - mean(*at)) * inverse(*at)
        scaled = normal * element(scale, i).astype(wide)
        return (scaled + element(bias, i).astype(wide) if bias is not None else scaled).astype(
            x.dtype
        )

    def stashed(t: Tensor) -> Tensor:
        return te.compute(t.shape, lambda *i: t(*i).astype(stash), name="stashed")

    y = te.compute(x.shape, result, name="layer_normalization")
    return y, stashed(mean), stashed(inverse)


def rms_normalization(x: Tensor, scale: Tensor, axis: int = -1, epsilon: float = 1e-5) -> Tensor:
    """Return ``x / sqrt(mean(x * x) + epsilon) * scale``, with the mean over axes from `axis` on.

    `scale` is broadcast to the shape of `x`. The result has the type of `scale`.
    """
    wide = sum_dtype(x.dtype)
    own = range(axis % len(x.shape), len(x.shape))
    inverse = inverse_deviation(mean_square(x, own), epsilon)

    product = "float64" if scale.dtype == "float64" else wide

    def result(*i: Any) -> Any:
        normal = x(*i).astype(wide) * inverse(*kept(i, own))
        return (normal.astype(product) * element(scale, i).astype(product)).astype(scale.dtype)

    return te.compute(x.shape, result, name="rms_normalization")


def mean_variance_normalization(
    x: Tensor, axes: Sequence[int] = (0, 2, 3), epsilon: float = 1e-9
) -> Tensor:
    """Return ``(x - mean) / (sqrt(variance) + epsilon)`` over `axes`."""
    wide = sum_dtype(x.dtype)
    own = normalized(axes, len(x.shape))
    mean, variance = moments(x, own)

    def result(*i: Any) -> Any:
        at = kept(i, own)
        deviation = te.sqrt(variance(*at)) + te.const(epsilon, wide)
        return ((x(*i).astype(wide) - mean(*at)) / deviation).astype(x.dtype)

    return te.compute(x.shape, result, name="mean_variance_normalization")


def lp_normalization(x: Tensor, axis: int = -1, p: int = 2) -> Tensor:
    """Return `x` divided by its norm along an axis; 0 where the norm is 0.

    Parameters
    ----------
    x : Tensor
    axis : int
    p : 1 or 2
        1: the sum of magnitudes; 2: the root of the sum of squares.
    """
    wide = sum_dtype(x.dtype)
    own = normalized([axis], len(x.shape))

    def term(value: Any, *_: Any) -> Any:
        v = value.astype(wide)
        return te.abs(v) if p == 1 else v * v

    total = reduce_over(x, own, te.sum, term, name="total")

    def result(*i: Any) -> Any:
        norm = total(*kept(i, own))
        root = norm if p == 1 else te.sqrt(norm)
        zero = te.const(0, wide)
        return te.if_then_else(norm == zero, zero, x(*i).astype(wide) / root).astype(x.dtype)

    return te.compute(x.shape, result, name="lp_normalization")


def local_response_normalization(
    x: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0
) -> Tensor:
    """Return ``x / (bias + alpha / size * squares) ** beta``.

    `squares` is the sum of the squares of `size` consecutive channels, from
    ``c - floor((size - 1) / 2)`` on; channels that do not exist are left out.

    Parameters
    ----------
    x : Tensor ``[N, C, ...]``
    size : int
    alpha, beta, bias : float
    """
    wide = sum_dtype(x.dtype)
    channels = extents(x)[1]
    before = (size - 1) // 2

    def neighbors(n: Any, c: Any, *place: Any) -> Any:
        k = te.reduce_axis((0, size), name="k")
        other = c - before + k.var
        exists = te.all(other >= 0, other < channels)
        value = te.if_then_else(exists, x(n, other, *place).astype(wide), te.const(0, wide))
        return te.sum(value * value, axis=k)

    squares = te.compute(x.shape, neighbors, name="squares")

    def result(*i: Any) -> Any:
        base = te.const(bias, wide) + te.const(alpha / size, wide) * squares(*i)
        return (x(*i).astype(wide) / _power(base, beta)).astype(x.dtype)

    return te.compute(x.shape, result, name="local_response_normalization")


def _power(base: Any, exponent: float) -> Any:
    """Return a power; for common exponents by square roots, which are faster and more exact."""
    if exponent == 0.75:
        return te.sqrt(base) * te.sqrt(te.sqrt(base))
    if exponent == 0.5:
        return te.sqrt(base)
    return te.power(base, te.const(exponent, base.dtype))


__all__ = [
    "layer_normalization",
    "local_response_normalization",
    "lp_normalization",
    "mean_variance_normalization",
    "rms_normalization",
]
