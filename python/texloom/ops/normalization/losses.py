"""Losses of classifiers."""

from __future__ import annotations

from typing import Any, Literal

from ... import te
from ..._core import Tensor
from ..precision import sum_dtype
from ..reductions import reduce_sum
from ..reductions.axes import extents
from .softmax import log_softmax

Reduction = Literal["none", "sum", "mean"]


def negative_log_likelihood(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: Reduction = "mean",
    ignored: int | None = None,
) -> Tensor:
    """Return ``-x[target] * weight[target]``, the loss for logarithms of probabilities.

    Parameters
    ----------
    x : Tensor ``[N, C, ...]``
        A number for each class.
    target : Tensor ``[N, ...]``
        Class indices; an index out of range counts as the nearest class.
    weight : Tensor ``[C]``, optional
        The weights of the classes; 1 by default.
    reduction : "none", "sum" or "mean"
        "none" returns all losses, "sum" their sum, "mean" their sum divided by the sum of the
        weights.
    ignored : int, optional
        A target whose loss and weight are 0.

    Returns
    -------
    Tensor ``[N, ...]`` for "none", else ``[]``
    """
    wide = sum_dtype(x.dtype)
    weights = _weights(target, weight, extents(x)[1], ignored, wide)

    def loss(n: Any, *place: Any) -> Any:
        value = x(n, _class(target, (n, *place), extents(x)[1]), *place).astype(wide)
        own = -value * weights(n, *place)
        # If the value of an ignored target is infinite, its product with a weight of 0 would be
        # NaN.
        return _unless_ignored(target, (n, *place), ignored, own)

    losses = te.compute(target.shape, loss, name="losses")
    if reduction == "none":
        return te.compute(target.shape, lambda *i: losses(*i).astype(x.dtype), name="loss")
    total = reduce_sum(losses, None, keepdims=False)
    if reduction == "sum":
        return te.compute((), lambda: total().astype(x.dtype), name="loss")
    of_weights = reduce_sum(weights, None, keepdims=False)
    return te.compute((), lambda: (total() / of_weights()).astype(x.dtype), name="loss")


def _class(target: Tensor, at: tuple[Any, ...], classes: int) -> Any:
    number = te.max(target(*at), te.const(0, target.dtype))
    return te.min(number, te.const(classes - 1, target.dtype)).astype("int32")


def _unless_ignored(target: Tensor, at: tuple[Any, ...], ignored: int | None, value: Any) -> Any:
    if ignored is None:
        return value
    skipped = target(*at).equal(te.const(ignored, target.dtype))
    return te.if_then_else(skipped, te.const(0, value.dtype), value)


def _weights(
    target: Tensor, weight: Tensor | None, classes: int, ignored: int | None, wide: str
) -> Tensor:
    """Return the weight of each position."""

    def at(*i: Any) -> Any:
        one = te.const(1, wide)
        own = one if weight is None else weight(_class(target, i, classes)).astype(wide)
        return _unless_ignored(target, i, ignored, own)

    return te.compute(target.shape, at, name="weights")


def softmax_cross_entropy(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: Reduction = "mean",
    ignored: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Return :func:`negative_log_likelihood` of the log-softmax, and the log-softmax."""
    wide = sum_dtype(x.dtype)
    scores = te.compute(x.shape, lambda *i: x(*i).astype(wide), name="scores")
    logs = log_softmax(scores, (1,))
    loss = negative_log_likelihood(logs, target, weight, reduction, ignored)

    def narrow(t: Tensor) -> Tensor:
        return te.compute(t.shape, lambda *i: t(*i).astype(x.dtype), name="narrow")

    return narrow(loss), narrow(logs)


__all__ = ["Reduction", "negative_log_likelihood", "softmax_cross_entropy"]
