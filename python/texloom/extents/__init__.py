"""Extents of tensors: numbers, and expressions of symbols, which get their values at each run."""

from __future__ import annotations

from .conditions import Condition, agree, agreed, are_equal, at_least, collected
from .expressions import (
    LARGEST,
    Extent,
    analyzer_of,
    are_known,
    is_at_most,
    is_extent,
    likely,
    number_of,
    of_steps,
    plain,
    product,
    quotient,
    rewritten,
    shape_of,
    steps_of,
    symbol,
    symbols_of,
    value_of,
    with_names,
)

__all__ = [
    "LARGEST",
    "Condition",
    "Extent",
    "agree",
    "agreed",
    "analyzer_of",
    "are_equal",
    "are_known",
    "at_least",
    "collected",
    "is_at_most",
    "is_extent",
    "likely",
    "number_of",
    "of_steps",
    "plain",
    "product",
    "quotient",
    "rewritten",
    "shape_of",
    "steps_of",
    "symbol",
    "symbols_of",
    "value_of",
    "with_names",
]
