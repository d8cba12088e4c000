"""Sums of products of integers, of which four of 8 bits, or two of 16 bits, are a word.

Processors multiply the integers of two words and add the four products to a sum in one step, where
the left ones are unsigned and the right ones signed. A left side of int8 has to be made unsigned
before: it is greater by 128 then, and its zero point is, too. Pairs of 16-bit integers hold all
8-bit integers less a zero point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import plain
from ..broadcast import element
from ..contraction import PADDED
from .matrix import contracted

SIZE = 4
"""8-bit integers of a word."""

PAIR = 2
"""16-bit integers of a word."""


def size_of(dtype: str) -> int:
    """Return the number of integers of a type that are a word."""
    return PAIR if dtype == "int16" else SIZE


def as_unsigned(x: Tensor) -> Tensor:
    """Return int8 integers, greater by 128, as uint8."""
    flipped = te.const(128, "uint8")
    return te.compute(x.shape, lambda *i: x(*i).astype("uint8") ^ flipped, name="unsigned")


def word_count(extent: int, size: int = SIZE) -> int:
    """Return the number of words of so many integers, of which `size` are a word."""
    return -(-extent // size)


def words_along(x: Tensor, axis: int, groups: int = 1) -> Tensor:
    """Return the words of a left side.

    Parameters
    ----------
    x : Tensor
        Of uint8, or of int16.
    axis : int
        The axis whose consecutive elements form words.
    groups : int
        The axis has so many parts; no word has elements of two of them.

    Returns
    -------
    Tensor
        int32, with ``groups * ceil(extent / groups / size)`` words along the axis. What the last
        word of a part has beyond the part is open: the word on the right side has zeros there.
    """
    size = size_of(x.dtype)
    extent = int(plain(x.shape[axis])) // groups
    count = word_count(extent, size)
    is_whole = extent % size == 0

    def word(*i: Any) -> Any:
        place = i[axis]
        group, first = 0, place * size
        if groups > 1 and not is_whole:
            group = te.indexdiv(place, count)
            first = te.indexmod(place, count) * size
        parts = []
        for number in range(size):
            own = first + number
            if not is_whole:  # repeats the last element
                own = te.min(own, extent - 1)
            parts.append(x(*i[:axis], group * extent + own, *i[axis + 1 :]))
        return tir.word(*parts)

    shape = (*x.shape[:axis], groups * count, *x.shape[axis + 1 :])
    return te.compute(shape, word, name="words", tag="" if is_whole else PADDED)


def product_of(dtype: str) -> Callable[[Any, Any], Any]:
    """Return the function for the sum of the products of two words, given the left type."""
    types = ("int16", "int16") if dtype == "int16" else ("uint8", "int8")
    return lambda left, right: tir.dot(left, right, *types)


def right_words(b: Tensor) -> Tensor:
    """Return the words of a right side, with zeros beyond it.

    Parameters
    ----------
    b : Tensor
        ``[..., K, N]`` of int8 or uint8.

    Returns
    -------
    Tensor
        ``[..., ceil(K / 4), N]`` of int32: words of int8, which are less by 128 than uint8.
    """
    steps = int(plain(b.shape[-2]))
    flipped = te.const(_excess(b.dtype), "uint8")

    def word(*i: Any) -> Any:
        *outer, place, column = i
        parts = []
        for number in range(SIZE):
            own = place * SIZE + number
            part = (
                b(*outer, te.min(own, steps - 1), column)
                if steps % SIZE
                else b(*outer, own, column)
            )
            part = part.astype("uint8") ^ flipped
            if steps % SIZE:
                part = te.if_then_else(own < steps, part, te.const(0, "uint8"))
            parts.append(part)
        return tir.word(*parts)

    return te.compute((*b.shape[:-2], word_count(steps), b.shape[-1]), word, name="words")


def column_terms(b: Tensor, a_zero: Tensor) -> Tensor:
    """Return what the left side's zero point adds to each column of a product, ``[..., 1, N]``.

    `b` is the right side, ``[..., K, N]``, and the zero point one element; see :func:`row_terms`.
    """
    sums = _totals(b, len(b.shape) - 2)
    less = te.const(int(plain(b.shape[-2])) * _excess(b.dtype), "int32")
    return te.compute(sums.shape, lambda *i: (less - sums(*i)) * _only(a_zero), name="terms")


def row_terms(a: Tensor, a_zero: Tensor, b_zero: Tensor) -> Tensor:
    """Return what the right side's zero point adds to each row of a product, ``[..., M, 1]``.

    `a` is the left side, ``[..., M, K]`` of uint8, and zero points are one element each. With words
    ``b - e``, sums of ``(a - z) * (b - y)`` are those of ``a * (b - e)``, less the sum of ``b - e``
    times ``z``, which is that of a column, and less the sum of ``a - z`` times ``y - e``.
    """
    sums = _totals(a, len(a.shape) - 1)
    steps = te.const(int(plain(a.shape[-1])), "int32")
    own = _only(b_zero) - _excess(b_zero.dtype)
    return te.compute(sums.shape, lambda *i: (steps * _only(a_zero) - sums(*i)) * own, name="terms")


def _excess(dtype: str) -> int:
    """Return by how much the integers of a right side exceed those of its words."""
    return 128 if dtype == "uint8" else 0


def _only(x: Tensor) -> Any:
    """Return the element of a tensor of one element, as int32."""
    return x(*(0 for _ in x.shape)).astype("int32")


def _totals(x: Tensor, axis: int) -> Tensor:
    """Return the sums along an axis, whose extent becomes 1."""
    step = te.reduce_axis((0, x.shape[axis]), name="k")

    def total(*i: Any) -> Any:
        return te.sum(x(*i[:axis], step.var, *i[axis + 1 :]).astype("int32"), axis=step)

    return te.compute((*x.shape[:axis], 1, *x.shape[axis + 1 :]), total, name="totals")


def matmul_words(
    a: Tensor, right: Tensor, columns: Tensor | None = None, zero: Tensor | None = None
) -> Tensor:
    """Multiply 8-bit integers, less their zero point, by words.

    Parameters
    ----------
    a : Tensor
        ``[..., M, K]`` of uint8, or of int16.
    right : Tensor
        ``[..., words, N]`` of int32: words of int8, or of int16, along the columns, and zeros
        beyond K.
    columns : Tensor, optional
        ``[N]`` of int32: what is added to each column; with `zero`, the sum of the column's
        integers.
    zero : Tensor, optional
        The zero point of `a`, one element; 0 by default, where `columns` makes up for it.

    Returns
    -------
    Tensor
        ``[..., M, N]`` of int32.
    """
    left = words_along(a, len(a.shape) - 1)
    sums = contracted(left, right, product_of(a.dtype), "int32")
    return corrected(sums, columns, zero, len(sums.shape) - 1)


def matmul_of_words(a: Tensor, right: Tensor, columns: Tensor, rows: Tensor) -> Tensor:
    """Multiply 8-bit integers, less their zero points.

    Parameters
    ----------
    a : Tensor
        ``[..., M, K]`` of uint8.
    right : Tensor
        ``[..., ceil(K / 4), N]``, as :func:`right_words` returns it.
    columns, rows : Tensor
        ``[..., 1, N]`` and ``[..., M, 1]``: what is added to columns and rows.
    """
    left = words_along(a, len(a.shape) - 1)
    sums = contracted(left, right, product_of(a.dtype), "int32")
    return te.compute(
        sums.shape,
        lambda *i: sums(*i) + (element(columns, i) + element(rows, i)),
        name="corrected",
    )


def corrected(sums: Tensor, terms: Tensor | None, zero: Tensor | None, axis: int) -> Tensor:
    """Add the terms for the zero point of the left side to sums.

    Parameters
    ----------
    sums : Tensor
    terms : Tensor, optional
        What is added for each index of `axis`; with `zero`, the sum of the right integers.
    zero : Tensor, optional
        The zero point, one element of uint8.
    axis : int
    """
    if terms is None:
        return sums

    def element(*i: Any) -> Any:
        term = terms(i[axis])
        if zero is not None:
            own = zero(*(0 for _ in zero.shape)).astype("int32")
            term = te.const(0, "int32") - term * own
        return sums(*i) + term

    return te.compute(sums.shape, element, name="corrected")


__all__ = ["PAIR", "SIZE", "as_unsigned", "column_terms", "corrected", "matmul_of_words"]
__all__ += ["matmul_words", "product_of", "right_words", "row_terms", "size_of", "word_count"]
__all__ += ["words_along"]
