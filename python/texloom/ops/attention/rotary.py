"""Rotary embeddings: pairs of elements are rotated by angles of their positions.

J. Su et al., "RoFormer: Enhanced transformer with rotary position embedding", arXiv:2104.09864.
"""

from __future__ import annotations

from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import shape_of
from ..broadcast import element
from ..indexing.positions import inside
from ..precision import sum_dtype
from .heads import place, split_shape


def rotary_embedding(
    x: Tensor,
    cosines: Tensor,
    sines: Tensor,
    positions: Tensor | None = None,
    *,
    heads: int,
    rotated: int,
    interleaved: bool = False,
) -> Tensor:
    """Rotate the first elements of each head.

    Parameters
    ----------
    x : Tensor
        ``[B, H, S, D]`` or ``[B, S, H * D]``.
    cosines, sines : Tensor
        Of the angles: ``[B, S, rotated / 2]``, where B may be 1, or ``[P, rotated / 2]`` if there
        are positions.
    positions : Tensor, optional
        ``[B, S]``: the row of each token in `cosines` and `sines`.
    heads : int
    rotated : int
        How many elements are rotated; even. The others stay.
    interleaved : bool
        Whether elements 2i and 2i + 1 are a pair; otherwise i and ``i + rotated / 2`` are.
    """
    own, wide = shape_of(x), sum_dtype(x.dtype)
    size, half = split_shape(own, heads)[3], rotated // 2

    def angle(table: Tensor, b: Any, s: Any, pair: Any) -> Any:
        if positions is None:
            return element(table, (b, s, pair)).astype(wide)
        row = inside(element(positions, (b, s)), table.shape[0])
        return table(row, pair).astype(wide)

    def rotated_element(b: Any, h: Any, s: Any, c: Any) -> Any:
        pair, is_second = (c // 2, c % 2 == 1) if interleaved else (c % half, c >= half)
        step = 1 if interleaved else half
        other = te.if_then_else(is_second, c - step, c + step)
        cosine, sine = (angle(table, b, s, pair) for table in (cosines, sines))
        value, partner = (x(*place(own, heads, b, h, s, at)).astype(wide) for at in (c, other))
        turned = te.if_then_else(is_second, partner * sine, -(partner * sine))
        return (value * cosine + turned).astype(x.dtype)

    def result(*i: Any) -> Any:
        if len(own) == 4:
            b, h, s, c = i
        else:
            b, s, h, c = *i[:2], i[2] // size, i[2] % size
        if rotated == size:
            return rotated_element(b, h, s, c)
        return te.if_then_else(c < rotated, rotated_element(b, h, s, c), x(*i))

    return te.compute(own, result, name="rotary_embedding")


__all__ = ["rotary_embedding"]
