"""The product of packed matrices, and how matrices are packed and unpacked."""

from __future__ import annotations

from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import plain

PRODUCT = "mmt4d"
"""The tag of a product of packed matrices."""

PACKED = "mmt4d_pack"
"""The tag of a packed matrix."""

UNPACKED = "mmt4d_unpack"
"""The tag of a matrix that tiles are unpacked to."""

_SUMS = {"float16": "float32", "bfloat16": "float32", "int8": "int32", "uint8": "int32"}
_SUMS["int16"] = "int32"


def mmt4d_dtype(dtype: str) -> str:
    """Return the type of the sums for a type of the left side."""
    return _SUMS.get(dtype, dtype)


def pack(
    x: Tensor, rows: int, columns: int, *, transposed: bool = False, zero_rows: bool = True
) -> Tensor:
    """Divide matrices into tiles, each of which is contiguous.

    Parameters
    ----------
    x : Tensor
        ``[..., R, C]``, or ``[..., C, R]`` if it is `transposed`.
    rows, columns : int
        The extents of a tile.
    transposed : bool
        Whether the tiles are those of the transposed matrices. The right side of a product is
        packed so, since :func:`mmt4d` takes its columns as rows.
    zero_rows : bool
        Whether rows outside of the matrix are 0. Otherwise they repeat the last row, which needs no
        test of each element; products do not depend on it once they are unpacked.

    Returns
    -------
    Tensor
        ``[..., ceil(R / rows), ceil(C / columns), rows, columns]``; columns outside of the matrix
        are 0.

    Raises
    ------
    ValueError
        For tensors that are not of matrices, and for tiles without elements.
    """
    if len(x.shape) < 2:
        raise ValueError(f"shape {x.shape} is not one of matrices: [..., R, C]")
    if rows < 1 or columns < 1:
        raise ValueError(f"tiles {rows} x {columns} have no elements: use those of mmt4d_tile")
    *batch, first, second = x.shape
    extents = (second, first) if transposed else (first, second)
    tile = (rows, columns)
    counts = [plain((n + part - 1) // part) for n, part in zip(extents, tile, strict=True)]

    def element(*i: Any) -> Any:
        *outer, row_tile, column_tile, row, column = i
        place = [row_tile * rows + row, column_tile * columns + column]
        inside = []
        for axis in (0, 1):
            if plain(extents[axis]) == plain(counts[axis] * tile[axis]):
                continue
            if axis == 0 and not zero_rows:
                place[0] = te.min(place[0], extents[0] - 1)
            else:
                inside.append(place[axis] < extents[axis])
        read = x(*outer, *(reversed(place) if transposed else place))
        return te.if_then_else(te.all(*inside), read, te.const(0, x.dtype)) if inside else read

    return te.compute((*batch, *counts, rows, columns), element, name="packed", tag=PACKED)


def mmt4d(left: Tensor, right: Tensor) -> Tensor:
    """Multiply packed matrices.

    Each ``sums[m1, n1, m0, n0]`` is a sum of ``left[m1, k1, m0, k0] * right[n1, k1, n0, k0]``.

    Parameters
    ----------
    left : Tensor
        ``[..., M1, K1, M0, K0]``, as :func:`pack` returns it for tiles ``M0 x K0``.
    right : Tensor
        ``[..., N1, K1, N0, K0]``: tiles ``N0 x K0`` of the transposed matrix. Its leading axes are
        those of `left`, or there are none.

    Returns
    -------
    Tensor
        ``[..., M1, N1, M0, N0]`` of float32 for float16 and bfloat16, of int32 for integers of 8
        and 16 bits, otherwise of the dtype of `left`. Sums of integers wrap around.

    Raises
    ------
    ValueError
        For shapes and types that do not match.
    """
    if len(left.shape) < 4 or len(right.shape) < 4:
        raise ValueError(
            f"shapes {left.shape}, {right.shape} are not both of packed matrices: pack them first"
        )
    if right.dtype != left.dtype and (left.dtype, right.dtype) != ("uint8", "int8"):
        raise ValueError(
            f"the left side is {left.dtype}, the right side {right.dtype}: give both one type, or "
            "uint8 and int8"
        )
    *batch, m1, k1, m0, k0 = left.shape
    *right_batch, n1, right_k1, n0, right_k0 = right.shape
    shared = list(map(plain, (k1, k0))) == list(map(plain, (right_k1, right_k0)))
    if not shared or (right_batch and list(map(plain, right_batch)) != list(map(plain, batch))):
        raise ValueError(
            f"shapes {left.shape}, {right.shape} do not match: the left side is [..., M1, K1, M0, "
            "K0], the right side [..., N1, K1, N0, K0], with the same leading axes or none"
        )
    dtype = mmt4d_dtype(left.dtype)
    step, part = te.reduce_axis((0, k1), name="k1"), te.reduce_axis((0, k0), name="k0")

    def product(*i: Any) -> Any:
        *outer, m, n, row, column = i
        a = left(*outer, m, step.var, row, part.var).astype(dtype)
        b = right(*outer[: len(right_batch)], n, step.var, column, part.var).astype(dtype)
        return te.sum(a * b, axis=[step, part])

    return te.compute((*batch, m1, n1, m0, n0), product, name="sums", tag=PRODUCT)


def unpack(tiles: Tensor, rows: int, columns: int) -> Tensor:
    """Return the matrices ``[..., rows, columns]`` of tiles ``[..., R1, C1, R0, C0]``.

    The inverse of :func:`pack`: what the tiles have outside of the matrix is left out.

    Raises
    ------
    ValueError
        If the tiles have fewer rows or columns.
    """
    if len(tiles.shape) < 4:
        raise ValueError(f"shape {tiles.shape} is not one of tiles: [..., R1, C1, R0, C0]")
    *batch, row_tiles, column_tiles, height, width = tiles.shape
    for wanted, count, part, kind in (
        (rows, row_tiles, height, "rows"),
        (columns, column_tiles, width, "columns"),
    ):
        most = plain(count * part)
        if isinstance(most, int) and isinstance(plain(wanted), int) and plain(wanted) > most:
            raise ValueError(f"tiles of shape {tiles.shape} have {most} {kind}, not {wanted}")

    def element(*i: Any) -> Any:
        *outer, row, column = i
        return tiles(*outer, row // height, column // width, row % height, column % width)

    return te.compute((*batch, rows, columns), element, name="matrix", tag=UNPACKED)


__all__ = ["PACKED", "PRODUCT", "UNPACKED", "mmt4d", "mmt4d_dtype", "pack", "unpack"]
