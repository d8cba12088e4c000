"""Sums of products of 8-bit integers, four of which are a word.

Processors multiply the integers of two words and add the four products to a sum in one step, where
the left ones are unsigned and the right ones signed. A left side of int8 has to be made unsigned
before: it is greater by 128 then, and its zero point is, too.
"""

from __future__ import annotations

from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import plain
from ..contraction import PADDED
from .matrix import contracted

SIZE = 4
"""Integers of a word."""


def as_unsigned(x: Tensor) -> Tensor:
    """Return int8 integers, greater by 128, as uint8."""
    flipped = te.const(128, "uint8")
    return te.compute(x.shape, lambda *i: x(*i).astype("uint8") ^ flipped, name="unsigned")


def word_count(extent: int) -> int:
    """Return the number of words of so many integers."""
    return -(-extent // SIZE)


def words_along(x: Tensor, axis: int, groups: int = 1) -> Tensor:
    """Return the words of a left side.

    Parameters
    ----------
    x : Tensor
        Of uint8.
    axis : int
        The axis whose consecutive elements form words.
    groups : int
        The axis has so many parts; no word has elements of two of them.

    Returns
    -------
    Tensor
        int32, with ``groups * ceil(extent / groups / 4)`` words along the axis. What the last word
        of a part has beyond the part is open: the word on the right side has zeros there.
    """
    extent = int(plain(x.shape[axis])) // groups
    count = word_count(extent)
    is_whole = extent % SIZE == 0

    def word(*i: Any) -> Any:
        place = i[axis]
        group, first = 0, place * SIZE
        if groups > 1 and not is_whole:
            group = te.indexdiv(place, count)
            first = te.indexmod(place, count) * SIZE
        parts = []
        for number in range(SIZE):
            own = first + number
            if not is_whole:  # repeats the last element
                own = te.min(own, extent - 1)
            parts.append(x(*i[:axis], group * extent + own, *i[axis + 1 :]))
        return tir.word(*parts)

    shape = (*x.shape[:axis], groups * count, *x.shape[axis + 1 :])
    return te.compute(shape, word, name="words", tag="" if is_whole else PADDED)


def product(left: Any, right: Any) -> Any:
    """Return the sum of the products of two words' integers."""
    return tir.dot(left, right, "uint8", "int8")


def matmul_words(
    a: Tensor, right: Tensor, columns: Tensor | None = None, zero: Tensor | None = None
) -> Tensor:
    """Multiply 8-bit integers, less their zero point, by words.

    Parameters
    ----------
    a : Tensor
        ``[..., M, K]`` of uint8.
    right : Tensor
        ``[..., ceil(K / 4), N]`` of int32: words of int8 along the columns, and zeros beyond K.
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
    sums = contracted(words_along(a, len(a.shape) - 1), right, product, "int32")
    return corrected(sums, columns, zero, len(sums.shape) - 1)


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


__all__ = ["SIZE", "as_unsigned", "corrected", "matmul_words", "product", "word_count"]
__all__ += ["words_along"]
