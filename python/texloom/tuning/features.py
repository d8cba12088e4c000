"""Knobs and facts as numbers, from which models learn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import copysign, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray


def numbers_of(value: Any) -> list[float]:
    """Return the numbers of knobs or facts: extents as logarithms, flags as 0 and 1.

    Values of one type have equally many numbers, unless they contain sequences of several lengths.
    Texts, such as storages, have no order: each is a number that is the same in every process.
    """
    return list(_numbers(value))


def _numbers(value: Any) -> Iterator[float]:
    if is_dataclass(value):
        for each in fields(value):
            yield from _numbers(getattr(value, each.name))
    elif isinstance(value, Mapping):
        yield from _numbers(tuple(value.values()))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, (bool, int, float)):
        yield copysign(log2(1 + abs(value)), value)
    elif value is None:
        yield -1.0
    else:
        yield float(sum(map(ord, str(value))) % 1021)


def table_of(rows: list[list[float]]) -> NDArray[np.float64]:
    """Return rows as a table; shorter ones end with NaN, which models take as missing."""
    width = max(map(len, rows), default=0)
    made = np.full((len(rows), width), np.nan)
    for number, row in enumerate(rows):
        made[number, : len(row)] = row
    return made


__all__ = ["numbers_of", "table_of"]
