"""Columns of blocks, combined into images."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ... import te
from ..._core import Tensor


def columns_to_image(
    x: Tensor,
    image: Sequence[int],
    block: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    before: Sequence[int],
    counts: Sequence[int],
) -> Tensor:
    """Add up blocks where they lie in an image; the inverse of cutting it into blocks.

    Parameters
    ----------
    x : Tensor
        ``[N, C * elements of a block, blocks]``.
    image, block : sequence of int
        Shapes.
    strides, dilations, before : sequence of int
        For each axis, the step between blocks, the step between elements of a block, and the
        padding before the image.
    counts : sequence of int
        The number of blocks along each axis.

    Returns
    -------
    Tensor
        ``[N, C, *image]``, summed in float32 if `x` is of half precision.
    """
    taps = [te.reduce_axis((0, extent), name="tap") for extent in block]
    shape = (x.shape[0], int(x.shape[1]) // prod(block), *image)
    dtype = "float32" if x.dtype in ("float16", "bfloat16") else x.dtype

    def term(*i: Any) -> Any:
        row: Any = i[1]
        column: Any = 0
        fits: list[Any] = []
        for axis, tap in enumerate(taps):
            row = row * block[axis] + tap.var
            first = i[2 + axis] + before[axis] - tap.var * dilations[axis]
            number = te.floordiv(first, strides[axis])
            fits += [first >= 0, number < counts[axis]]
            fits += [te.floormod(first, strides[axis]) == 0] if strides[axis] > 1 else []
            column = column * counts[axis] + number
        value = te.if_then_else(te.all(*fits), x[i[0], row, column], te.const(0, x.dtype))
        return te.sum(value.astype(dtype), axis=taps)

    made = te.compute(shape, term, name="image")
    if made.dtype == x.dtype:
        return made
    return te.compute(shape, lambda *i: made(*i).astype(x.dtype), name="rounded")


__all__ = ["columns_to_image"]
