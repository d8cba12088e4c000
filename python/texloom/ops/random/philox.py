"""Philox4x32-10: four random words for each value of a counter.

J. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import Extent
from ..threads import each_thread

_FACTORS = 0xD2511F53, 0xCD9E8D57
_STEPS = 0x9E3779B9, 0xBB67AE85  # what a round adds to the key
_ROUNDS = 10
_WORD = (1 << 32) - 1


@dataclass(frozen=True)
class Stream:
    """A sequence of 2 ** 32 blocks of random words, which has no part in common with another one.

    Attributes
    ----------
    number : int
        From 0 to 2 ** 64 - 1: which sequence of the key.
    key : int or None
        64 bits. None: the key is the seed that only a run knows.
    """

    number: int
    key: int | None = None


def random_words(blocks: Extent, stream: Stream, seed: Tensor | None = None) -> Tensor:
    """Return the first blocks of a stream.

    Parameters
    ----------
    blocks : int or Expr
        At least 1.
    stream : Stream
    seed : Tensor, optional
        An int64 scalar: the key, if the stream has none.

    Returns
    -------
    Tensor ``[blocks, 4]`` of uint32
        The row `i` is that of the counter ``i + (stream.number << 64)``.
    """

    def body(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        result = ib.buffer_ptr(outputs[0])
        with each_thread(ib, blocks) as block:
            if stream.key is None:
                key = _halves(ib, "key", ib.buffer_ptr(inputs[0])[()].astype("uint64"))
            else:
                key = [_word(stream.key & _WORD), _word(stream.key >> 32)]
            number = [_word(stream.number & _WORD), _word(stream.number >> 32)]
            words = _rounds(ib, [block.astype("uint32"), _word(0), *number], key)
            for place, word in enumerate(words):
                result[block, place] = word
        return ib.get()

    given = [] if seed is None else [seed]
    return te.extern((blocks, 4), given, body, name="words", dtype="uint32")


def _rounds(ib: Any, counter: list[Any], key: list[Any]) -> list[Any]:
    for number in range(_ROUNDS):
        keys = [each + _word(number * step & _WORD) for each, step in zip(key, _STEPS, strict=True)]
        (low0, high0), (low1, high1) = (
            _halves(ib, f"product{i}", counter[2 * i].astype("uint64") * te.const(f, "uint64"))
            for i, f in enumerate(_FACTORS)
        )
        first = ib.let("word0", high1 ^ counter[1] ^ keys[0])
        third = ib.let("word2", high0 ^ counter[3] ^ keys[1])
        counter = [first, low1, third, low0]
    return counter


def _halves(ib: Any, name: str, value: Any) -> list[Any]:
    """Return the lower and the upper word of 64 bits."""
    whole = ib.let(name, value)
    low = ib.let(f"{name}_low", whole.astype("uint32"))
    return [low, ib.let(f"{name}_high", (whole >> te.const(32, "uint64")).astype("uint32"))]


def _word(value: int) -> Any:
    return te.const(value, "uint32")


__all__ = ["Stream", "random_words"]
