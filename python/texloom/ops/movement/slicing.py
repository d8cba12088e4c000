"""Parts of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ..._core import Tensor


def strided_slice(
    x: Tensor, starts: Sequence[int], steps: Sequence[int], shape: Sequence[int]
) -> Tensor:
    """Return the elements at ``start + i * step`` along each axis.

    Parameters
    ----------
    x : Tensor
    starts, steps : sequence of int
        For each axis; steps may be negative.
    shape : sequence of int
        The shape of the result.
    """

    def at(*index: Any) -> Any:
        return x(*(a + i * s for i, a, s in zip(index, starts, steps, strict=True)))

    return te.compute(tuple(shape), at, name="slice")


def triangle(x: Tensor, diagonal: int, upper: bool) -> Tensor:
    """Keep the upper or lower triangle of matrices; the other elements become zero.

    Parameters
    ----------
    x : Tensor
        ``[..., rows, columns]``.
    diagonal : int
        The last diagonal that is kept; 0 is the main one, 1 the one above it.
    upper : bool
    """

    def at(*index: Any) -> Any:
        distance = index[-1] - index[-2]
        is_kept = distance >= diagonal if upper else distance <= diagonal
        return te.if_then_else(is_kept, x(*index), te.const(0, x.dtype))

    return te.compute(tuple(x.shape), at, name="triangle")


__all__ = ["strided_slice", "triangle"]
