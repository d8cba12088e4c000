"""Activation functions of recurrent layers, by ONNX's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ... import te, tir

Function = Callable[[Any], Any]


class _Kind(NamedTuple):
    """A function of a value, alpha and beta, and their defaults; None: it lacks the parameter."""

    function: Callable[[Any, Any, Any], Any]
    alpha: float | None = None
    beta: float | None = None


def _above_zero(x: Any) -> Any:
    return te.max(x, te.const(0, x.dtype))


def _hard_sigmoid(x: Any, a: Any, b: Any) -> Any:
    return te.min(_above_zero(a * x + b), te.const(1, x.dtype))


def _softplus(x: Any, *_: Any) -> Any:
    return _above_zero(x) + tir.log1p(te.exp(-te.abs(x)))


def _elu(x: Any, a: Any, _: Any) -> Any:
    one = te.const(1, x.dtype)
    return te.if_then_else(x > 0, x, a * (te.exp(x) - one))


_KINDS = {
    "affine": _Kind(lambda x, a, b: a * x + b, 1.0, 0.0),
    "elu": _Kind(_elu, 1.0),
    "hardsigmoid": _Kind(_hard_sigmoid, 0.2, 0.5),
    "leakyrelu": _Kind(lambda x, a, _: te.if_then_else(x < 0, a * x, x), 0.01),
    "relu": _Kind(lambda x, *_: _above_zero(x)),
    "scaledtanh": _Kind(lambda x, a, b: a * te.tanh(b * x), 1.0, 1.0),
    "sigmoid": _Kind(lambda x, *_: te.sigmoid(x)),
    "softplus": _Kind(_softplus),
    "softsign": _Kind(lambda x, *_: x / (te.const(1, x.dtype) + te.abs(x))),
    "tanh": _Kind(lambda x, *_: te.tanh(x)),
    "thresholdedrelu": _Kind(lambda x, a, _: te.if_then_else(x > a, x, te.const(0, x.dtype)), 1.0),
}


def activations(
    names: Sequence[str], alphas: Sequence[float] = (), betas: Sequence[float] = ()
) -> list[Function]:
    """Return functions of expressions.

    Parameters
    ----------
    names : sequence of str
        Names such as ``"LeakyRelu"``, in upper or lower case.
    alphas, betas : sequence of float
        Each function with this parameter takes the next value or, after the last one, ONNX's
        default.

    Raises
    ------
    ValueError
        For an unknown name.
    """
    alpha, beta = iter(alphas), iter(betas)
    made = []
    for name in names:
        kind = _KINDS.get(name.lower())
        if kind is None:
            raise ValueError(f"there is no activation {name!r}")
        a = next(alpha, None) if kind.alpha is not None else None
        b = next(beta, None) if kind.beta is not None else None
        made.append(_with(kind, a, b))
    return made


def _with(kind: _Kind, alpha: float | None, beta: float | None) -> Function:
    a, b = kind.alpha if alpha is None else alpha, kind.beta if beta is None else beta

    def function(x: Any) -> Any:
        return kind.function(x, te.const(a or 0.0, x.dtype), te.const(b or 0.0, x.dtype))

    return function


__all__ = ["Function", "activations"]
