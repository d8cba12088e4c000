"""Norms of windows."""

from __future__ import annotations

from typing import Any

from ... import te
from ..._core import Tensor
from ..precision import sum_dtype
from ..windows import Windows
from .average import window_sums


def lp_pool(x: Tensor, *, p: int = 2, **windows: Any) -> Tensor:
    """Return the p-norm of each window: the p-th root of the sum of p-th powers of magnitudes.

    Parameters
    ----------
    x : Tensor
        ``[N, C, *spatial]``, floating-point numbers.
    p : int
        Positive.
    **windows
        As of :meth:`texloom.ops.windows.Windows.of`. Padding is zero.

    Returns
    -------
    Tensor
        ``[N, C, *windows]`` of the dtype of `x`.
    """
    dtype = sum_dtype(x.dtype)

    def power(value: Any) -> Any:
        value = te.abs(value.astype(dtype))
        if p == 1:
            return value
        return value * value if p == 2 else te.power(value, te.const(p, dtype))

    def root(value: Any) -> Any:
        if p == 1:
            return value
        return te.sqrt(value) if p == 2 else te.power(value, te.const(1 / p, dtype))

    sums = window_sums(x, Windows.of(**windows), power)
    return te.compute(sums.shape, lambda *i: root(sums(*i)).astype(x.dtype), name="norm")


__all__ = ["lp_pool"]
