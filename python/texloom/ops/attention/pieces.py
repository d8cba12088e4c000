"""Loops whose iterations load several elements before they use the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tir.ir_builder import IRBuilder


def piece_of(count: int, most: int) -> int:
    """Return the size of equal pieces, but for the last one, of at most `most`; at least 1."""
    pieces = -(-count // max(most, 1))
    return -(-count // pieces)


def in_pieces(ib: IRBuilder, count: int, piece: int, statement: Callable[[Any, int], None]) -> None:
    """Emit statements for pieces of `count` elements.

    Parameters
    ----------
    ib : IRBuilder
    count, piece : int
        Elements, and those of a piece. The last piece may have fewer.
    statement : callable
        Emits the statements, given the first element and the number of elements of a piece.
    """
    whole, rest = divmod(count, piece)
    if whole:
        with ib.for_range(0, whole, name="piece") as number:
            statement(number * piece, piece)
    if rest:
        with ib.new_scope():
            statement(whole * piece, rest)


__all__ = ["in_pieces", "piece_of"]
