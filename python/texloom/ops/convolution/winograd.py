"""Convolutions with windows of 3 x 3 by fewer products, of tiles of 4 x 4 pixels of the result.

A tile of pixels, the window and the products of both are transformed by constant matrices, so that
36 products for each pair of channels replace 144. Results are rounded differently: see A. Lavin,
S. Gray, "Fast Algorithms for Convolutional Neural Networks", arXiv:1509.09308, whose F(4x4, 3x3)
this is. The products are 36 products of matrices, one for each element of a tile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import te
from ..._core import Tensor
from ...extents import shape_of

OUTPUTS = 4
"""Rows and columns of the result that a tile computes."""
TILE = OUTPUTS + 2
"""Rows and columns of a tile of pixels."""

TILES = "winograd_tiles"
"""The tag of transformed tiles ``[36, tiles, C]``."""
PIXELS = "winograd_pixels"
"""The tag of the pixels that are computed from products of tiles."""

OF_PIXELS = (
    (4, 0, -5, 0, 1, 0),
    (0, -4, -4, 1, 1, 0),
    (0, 4, -4, -1, 1, 0),
    (0, -2, -1, 2, 1, 0),
    (0, 2, -1, -2, 1, 0),
    (0, 4, 0, -5, 0, 1),
)
"""The matrix that transforms the rows, and the columns, of a tile of pixels."""
OF_WINDOW = (
    (1 / 4, 0, 0),
    (-1 / 6, -1 / 6, -1 / 6),
    (-1 / 6, 1 / 6, -1 / 6),
    (1 / 24, 1 / 12, 1 / 6),
    (1 / 24, -1 / 12, 1 / 6),
    (0, 0, 1),
)
"""The matrix that transforms the rows, and the columns, of a window."""
OF_PRODUCTS = (
    (1, 1, 1, 1, 1, 0),
    (0, 1, -1, 2, -2, 0),
    (0, 1, 1, 4, 4, 0),
    (0, 1, -1, 8, -8, 1),
)
"""The matrix that makes rows, and columns, of the result of a tile of products."""

_FEWEST_CHANNELS = 32
_FEWEST_TILES = 16
"""Transformed weights are four times the memory of weights: a few tiles do not pay for them."""


def tile_counts(extents: Sequence[int]) -> tuple[int, int]:
    """Return the tiles along the rows and columns of a result of so many."""
    rows, columns = (-(-extent // OUTPUTS) for extent in extents)
    return rows, columns


def is_worth_it(images: int, inputs: int, outputs: int, extents: Sequence[int]) -> bool:
    """Whether transforms take less time than the products that they save.

    Parameters
    ----------
    images, inputs, outputs : int
        Images, and input and output channels, which are vectors.
    extents : sequence of int
        Rows and columns of the result. Tiles reach beyond it; they have to save half the products.
    """
    rows, columns = tile_counts(extents)
    tiles = images * rows * columns
    is_deep = min(inputs, outputs) >= _FEWEST_CHANNELS and inputs % 8 == outputs % 8 == 0
    saves_half = 2 * TILE * TILE * rows * columns <= 9 * extents[0] * extents[1]
    return is_deep and saves_half and tiles >= _FEWEST_TILES


def transformed_weights(weight: NDArray[Any]) -> NDArray[Any]:
    """Return weights ``[O, C, 3, 3]`` as ``[36, C, O]`` of the same dtype, rounded once."""
    factors = np.array(OF_WINDOW)
    made = np.tensordot(factors, weight.astype("float64"), (1, 2))  # [6, O, C, 3]
    made = np.tensordot(factors, made, (1, 3))  # columns, rows, O, C
    made = made.transpose(1, 0, 3, 2).reshape(TILE * TILE, *weight.shape[1::-1])
    return np.ascontiguousarray(made.astype(weight.dtype))


def transformed_tiles(data: Tensor, *, pads: Sequence[int], extents: Sequence[int]) -> Tensor:
    """Return the transformed tiles of pixels ``[N, C, H, W]``, with zeros around these.

    Parameters
    ----------
    data : Tensor
    pads : sequence of int
        Zeros before the rows and the columns.
    extents : sequence of int
        Rows and columns of the result.

    Returns
    -------
    Tensor
        ``[36, tiles, C]``.
    """
    images, channels, height, width = shape_of(data)
    rows, columns = tile_counts(extents)
    top, left = pads

    def pixel(n: Any, c: Any, y: Any, x: Any) -> Any:
        is_inside = te.all(y >= top, y < height + top, x >= left, x < width + left)
        return te.if_then_else(is_inside, data(n, c, y - top, x - left), te.const(0, data.dtype))

    padded = (images, channels, rows * OUTPUTS + 2, columns * OUTPUTS + 2)
    pixels = te.compute(padded, pixel, name="pixels")

    def across_rows(row: Any, column: Any, i: Any, j: Any, c: Any) -> Any:
        n, y = te.indexdiv(row, rows), te.indexmod(row, rows) * OUTPUTS
        return _combined(
            OF_PIXELS, i, lambda k: pixels(n, c, y + k, column * OUTPUTS + j), data.dtype
        )

    half = te.compute(
        (images * rows, columns, TILE, TILE, channels), across_rows, name="transformed_rows"
    )

    def element(x: Any, tile: Any, c: Any) -> Any:
        place = te.indexdiv(tile, columns), te.indexmod(tile, columns), te.indexdiv(x, TILE)
        return _combined(OF_PIXELS, te.indexmod(x, TILE), lambda k: half(*place, k, c), data.dtype)

    shape = (TILE * TILE, images * rows * columns, channels)
    return te.compute(shape, element, name="tiles", tag=TILES)


def pixels_of_tiles(
    products: Tensor, bias: Tensor | None = None, *, images: int, extents: Sequence[int]
) -> Tensor:
    """Return ``[N, O, *extents]`` of products ``[36, tiles, O]``, plus a bias ``[O]``."""
    _, tiles, channels = shape_of(products)
    rows, columns = tile_counts(extents)

    def across_rows(tile: Any, i: Any, j: Any, o: Any) -> Any:
        return _combined(OF_PRODUCTS, i, lambda k: products(k * TILE + j, tile, o), products.dtype)

    half = te.compute((tiles, OUTPUTS, TILE, channels), across_rows, name="result_rows")

    def pixel(n: Any, o: Any, y: Any, x: Any) -> Any:
        row = n * rows + te.indexdiv(y, OUTPUTS)
        place = row * columns + te.indexdiv(x, OUTPUTS), te.indexmod(y, OUTPUTS)
        return _combined(
            OF_PRODUCTS, te.indexmod(x, OUTPUTS), lambda k: half(*place, k, o), products.dtype
        )

    shape = (images, channels, *extents)
    made = te.compute(shape, pixel, name="pixels", tag=PIXELS)

    def output(n: Any, o: Any, y: Any, x: Any) -> Any:
        return made(n, o, y, x) if bias is None else made(n, o, y, x) + bias(o)

    return te.compute(shape, output, name="output")


def _combined(
    matrix: Sequence[Sequence[int]], row: Any, element: Callable[[int], Any], dtype: str
) -> Any:
    """Return the element of a row of a product by a constant matrix; loops over rows are unrolled.

    Each row has a positive number, which comes first.
    """
    made = [_sum(factors, element, dtype) for factors in matrix]
    chosen = made[-1]
    for number in reversed(range(len(made) - 1)):
        chosen = te.if_then_else(row == number, made[number], chosen)
    return chosen


def _sum(factors: Sequence[int], element: Callable[[int], Any], dtype: str) -> Any:
    order = sorted((k for k, each in enumerate(factors) if each), key=lambda k: factors[k] < 0)

    def term(k: int) -> Any:
        size = abs(factors[k])
        return element(k) if size == 1 else element(k) * te.const(size, dtype)

    total = term(order[0])
    for k in order[1:]:
        total = total + term(k) if factors[k] > 0 else total - term(k)
    return total


__all__ = [
    "OF_PIXELS",
    "OF_PRODUCTS",
    "OF_WINDOW",
    "PIXELS",
    "TILES",
    "is_worth_it",
    "pixels_of_tiles",
    "transformed_tiles",
    "transformed_weights",
]
