"""Random numbers of a distribution.

An element has random words of its own, at its index in row-major order. Integers and uniform
numbers from 0 are equal on all devices; logarithms and cosines of normal numbers, and exponentials
of multinomial ones, differ by the few units in the last place that devices are allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import Extent, plain, product
from ..normalization import softmax
from ..precision import sum_dtype
from ..raveling import raveled
from ..reductions import cumsum
from .philox import Stream, random_words

_BITS = {"float16": 11, "bfloat16": 8, "float32": 24}  # of a mantissa; float64 takes two words


def uniform(
    *seed: Tensor,
    shape: Sequence[Extent],
    dtype: str,
    stream: Stream,
    low: float = 0.0,
    high: float = 1.0,
) -> Tensor:
    """Return uniform numbers from `low` up to `high`: multiples of the distance's last bit.

    Parameters
    ----------
    *seed : Tensor
        An int64 scalar, if the stream has no key.
    shape : sequence of int or Expr
    dtype : str
        Of floating point.
    stream : Stream
    low, high : float
        The numbers are computed as ``low + (high - low) * u`` with u from 0, and less than 1.
    """
    wide = sum_dtype(dtype)
    unit = _units(seed, shape, dtype, stream)

    def element(*i: Any) -> Any:
        value = unit(*i) * te.const(high - low, wide) if high - low != 1 else unit(*i)
        return (value + te.const(low, wide) if low else value).astype(dtype)

    return te.compute(tuple(shape), element, name="uniform")


def normal(
    *seed: Tensor,
    shape: Sequence[Extent],
    dtype: str,
    stream: Stream,
    mean: float = 0.0,
    scale: float = 1.0,
) -> Tensor:
    """Return normal numbers of a mean and a standard deviation, by Box and Muller's formula.

    A magnitude is at most 5.8 deviations; in float64, 8.6. The other parameters are those of
    :func:`uniform`.
    """
    wide = sum_dtype(dtype)
    half = _words_of(wide)
    word = _words(seed, shape, 2 * half, stream)
    one = te.const(1, wide)

    def element(*i: Any) -> Any:
        first = _unit([word(i, w) for w in range(half)], wide)
        second = _unit([word(i, w) for w in range(half, 2 * half)], wide)
        radius = te.sqrt(te.const(-2, wide) * te.log(one - first))
        value = radius * te.cos(second * te.const(2 * pi, wide))
        return (value * te.const(scale, wide) + te.const(mean, wide)).astype(dtype)

    return te.compute(tuple(shape), element, name="normal")


def bernoulli(x: Tensor, *seed: Tensor, dtype: str, stream: Stream) -> Tensor:
    """Return 1 with the probability that an element of `x` is, else 0.

    `dtype` is the type of the result; the other parameters are those of :func:`uniform`.
    """
    wide = sum_dtype(x.dtype)
    unit = _units(seed, x.shape, wide, stream)
    return te.compute(
        x.shape, lambda *i: (unit(*i) < x(*i).astype(wide)).astype(dtype), name="bernoulli"
    )


def dropout(x: Tensor, ratio: Tensor, *seed: Tensor, stream: Stream) -> tuple[Tensor, Tensor]:
    """Return `x` divided by ``1 - ratio``, with zeros of the probability `ratio`, and a mask.

    The mask is true where an element is kept; `ratio` is a scalar. The other parameters are those
    of :func:`uniform`.
    """
    wide = sum_dtype(x.dtype)
    unit = _units(seed, x.shape, wide, stream)
    zero, one = te.const(0, wide), te.const(1, wide)

    def is_kept(*i: Any) -> Any:
        return unit(*i) >= ratio().astype(wide)

    def element(*i: Any) -> Any:
        kept = x(*i).astype(wide) / (one - ratio().astype(wide))
        return te.if_then_else(is_kept(*i), kept, zero).astype(x.dtype)

    return te.compute(x.shape, element, name="dropout"), te.compute(x.shape, is_kept, name="mask")


def multinomial(x: Tensor, *seed: Tensor, samples: int, dtype: str, stream: Stream) -> Tensor:
    """Return indices of classes.

    Parameters
    ----------
    x : Tensor ``[batch, classes]``
        Logarithms of probabilities, up to a constant for each row.
    samples : int
        How many classes are drawn for each row, with repetitions.
    dtype : str
        int32 or int64.

    Returns
    -------
    Tensor ``[batch, samples]``
    """
    batch, classes = x.shape
    wide = sum_dtype(x.dtype)
    numbers = te.compute(x.shape, lambda *i: x(*i).astype(wide), name="numbers")
    sums = cumsum(softmax(numbers, axes=(1,)), axis=1)
    unit = _units(seed, (batch, samples), wide, stream)
    k = te.reduce_axis((0, classes), name="k")

    def drawn(b: Any, j: Any) -> Any:
        is_before = sums(b, k.var) <= unit(b, j) * sums(b, classes - 1)
        return te.sum(is_before.astype(dtype), axis=k)

    return te.compute((batch, samples), drawn, name="multinomial")


def _units(
    seed: Sequence[Tensor], shape: Sequence[Extent], dtype: str, stream: Stream
) -> Callable[..., Any]:
    """Return a function of indices: uniform numbers from 0, less than 1, exact in `dtype`."""
    count = _words_of(dtype)
    word = _words(seed, shape, count, stream)
    return lambda *i: _unit([word(i, w) for w in range(count)], dtype)


def _words_of(dtype: str) -> int:
    return 2 if dtype == "float64" else 1


def _words(
    seed: Sequence[Tensor], shape: Sequence[Extent], count: int, stream: Stream
) -> Callable[[Sequence[Any], int], Any]:
    """Return a function of an element's indices and a number: one of the element's words."""
    blocks = plain((product([*shape, count]) + 3) // 4)
    words = random_words(blocks, stream, *seed)

    def word(i: Sequence[Any], number: int) -> Any:
        place = raveled(i, shape) * count + number
        return words(te.indexdiv(place, 4), te.indexmod(place, 4))

    return word


def _unit(words: Sequence[Any], dtype: str) -> Any:
    """Return a uniform number, of the type in which `dtype` is computed, from words."""
    if dtype == "float64":
        upper, lower = (
            word >> te.const(s, "uint32") for word, s in zip(words, (5, 6), strict=True)
        )
        whole = upper.astype(dtype) * te.const(2.0**26, dtype) + lower.astype(dtype)
        return whole * te.const(2.0**-53, dtype)
    bits = _BITS[dtype]
    return (words[0] >> te.const(32 - bits, "uint32")).astype("float32") * te.const(
        2.0**-bits, "float32"
    )


__all__ = ["bernoulli", "dropout", "multinomial", "normal", "uniform"]
