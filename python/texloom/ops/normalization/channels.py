"""Normalizations of ``[N, C, ...]`` with a scale and a bias for each channel."""

from __future__ import annotations

from typing import Any

from ... import te
from ..._core import Tensor
from ..precision import sum_dtype
from ..reductions.axes import extents
from .moments import inverse_deviation, moments, moments_in_parts

GROUPED = "grouped"
"""The tag of a tensor ``[N, groups, C / groups, ...]`` with the elements of ``[N, C, ...]``."""


def _at(parameter: Tensor, i: tuple[Any, ...], wide: str) -> Any:
    """Return the parameter for an element: per channel, or per channel and position."""
    if len(parameter.shape) > 1:
        return parameter(*i[1:]).astype(wide)
    return parameter(i[1] if len(i) > 1 else 0).astype(wide)


def batch_normalization(
    x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, epsilon: float = 1e-5
) -> Tensor:
    """Return ``(x - mean) * scale / sqrt(variance + epsilon) + bias``.

    Parameters
    ----------
    x : Tensor ``[N, C, ...]``
        Or ``[N]``, which counts as one channel.
    scale, bias, mean, variance : Tensor ``[C]``
        Or ``[C, ...]``: one for each position.
    epsilon : float
    """
    wide = sum_dtype(x.dtype)
    small = te.const(epsilon, wide)

    def factor(*i: Any) -> Any:
        return scale(*i).astype(wide) / te.sqrt(variance(*i).astype(wide) + small)

    return scaled_difference(x, mean, te.compute(scale.shape, factor, name="factor"), bias)


def deviation_factor(
    scale: Tensor, variance: Tensor, epsilon: float = 1e-5, dtype: str = "float32"
) -> Tensor:
    """Return ``scale / sqrt(variance + epsilon)``, computed in float64 and rounded once."""

    def factor(*i: Any) -> Any:
        deviation = te.sqrt(variance(*i).astype("float64") + te.const(epsilon, "float64"))
        return (scale(*i).astype("float64") / deviation).astype(dtype)

    return te.compute(scale.shape, factor, name="factor")


def scaled_difference(x: Tensor, mean: Tensor, factor: Tensor, bias: Tensor) -> Tensor:
    """Return ``(x - mean) * factor + bias``, with parameters as of :func:`batch_normalization`."""
    wide = sum_dtype(x.dtype)

    def result(*i: Any) -> Any:
        difference = x(*i).astype(wide) - _at(mean, i, wide)
        return (difference * _at(factor, i, wide) + _at(bias, i, wide)).astype(x.dtype)

    return te.compute(x.shape, result, name="batch_normalization")


def batch_normalization_training(
    x: Tensor,
    scale: Tensor,
    bias: Tensor,
    mean: Tensor,
    variance: Tensor,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return `x` normalized by its own mean and variance, and the running mean and variance.

    The running mean and variance are ``given * momentum + own * (1 - momentum)``. The parameters
    are those of :func:`batch_normalization`.
    """
    wide = sum_dtype(x.dtype)
    axes = [a for a in range(len(x.shape)) if a != 1]
    at = [0] * len(x.shape)

    def flat(own: Tensor) -> Tensor:
        return te.compute(mean.shape, lambda c: own(at[0], c, *at[2:]), name="own")

    own_mean, own_variance = map(flat, moments(x, axes))
    keep, add = te.const(momentum, wide), te.const(1 - momentum, wide)

    def running(given: Tensor, own: Tensor) -> Tensor:
        def mixed(c: Any) -> Any:
            return (given(c).astype(wide) * keep + own(c) * add).astype(given.dtype)

        return te.compute(given.shape, mixed, name="running")

    y = batch_normalization(x, scale, bias, own_mean, own_variance, epsilon)
    return y, running(mean, own_mean), running(variance, own_variance)


def instance_normalization(x: Tensor, scale: Tensor, bias: Tensor, epsilon: float = 1e-5) -> Tensor:
    """Normalize each channel ``[N, C, ...]`` of each example; scale and bias are ``[C]``."""
    return group_normalization(x, scale, bias, extents(x)[1], epsilon)


def group_normalization(
    x: Tensor, scale: Tensor, bias: Tensor, groups: int, epsilon: float = 1e-5, parts: int = 1
) -> Tensor:
    """Normalize each group of channels of each example.

    Parameters
    ----------
    x : Tensor ``[N, C, ...]``
    scale, bias : Tensor ``[C]`` or ``[groups]``
    groups : int
        Divides C.
    epsilon : float
    parts : int
        Into how many parts along the third axis the elements of a group are divided, so that
        several blocks compute their moments. Divides the extent of this axis.
    """
    wide = sum_dtype(x.dtype)
    batch, channels, *places = extents(x)
    each = channels // groups
    grouped = te.compute(
        (batch, groups, each, *places),
        lambda n, g, c, *p: x(n, g * each + c, *p).astype(wide),
        name="grouped",
        tag=GROUPED,
    )
    axes = range(2, len(grouped.shape))
    mean, variance = (
        moments(grouped, axes) if parts == 1 else moments_in_parts(grouped, axes, 3, parts)
    )
    inverse = inverse_deviation(variance, epsilon)
    zeros = [0] * (len(grouped.shape) - 2)
    per_group = extents(scale)[0] != channels

    def result(*i: Any) -> Any:
        group = i[1] // each
        at = group if per_group else i[1]
        normal = (x(*i).astype(wide) - mean(i[0], group, *zeros)) * inverse(i[0], group, *zeros)
        return (normal * scale(at).astype(wide) + bias(at).astype(wide)).astype(x.dtype)

    return te.compute(x.shape, result, name="group_normalization")


__all__ = [
    "GROUPED",
    "batch_normalization",
    "batch_normalization_training",
    "deviation_factor",
    "group_normalization",
    "instance_normalization",
    "scaled_difference",
]
