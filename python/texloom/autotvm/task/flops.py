"""Counts the operations of a schedule, for reports of operations per second."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

from ... import te, tir
from ..._core import IterVar, Operation, Schedule

_TWO = (
    tir.Add,
    tir.Sub,
    tir.Mul,
    tir.Div,
    tir.Mod,
    tir.FloorDiv,
    tir.FloorMod,
    tir.Max,
    tir.Min,
    tir.EQ,
    tir.NE,
    tir.LT,
    tir.LE,
    tir.GT,
    tir.GE,
    tir.And,
    tir.Or,
)


class FlopCalculationError(RuntimeError):
    """An operation whose cost is not known."""


def compute_flop(sch: Schedule) -> float:
    """Return the operations that the stages of a schedule take, before any is inlined.

    Each arithmetic operation, comparison and reduction step counts once; conversions, and what
    computes indices, count as nothing.

    Raises
    ------
    RuntimeError
        If a stage is not a ``te.compute`` of one output, or if there is nothing to count: the
        template must call ``cfg.add_flop``.
    """
    try:
        count = sum(map(_of_stage, sch.outputs))
    except FlopCalculationError as error:
        raise RuntimeError(
            f"FLOP estimator fails for this operator. Error msg: {error}. Please use "
            "`cfg.add_flop` to manually set FLOP for this operator"
        ) from None
    if count == 0:
        raise RuntimeError(
            "Cannot find float number operation in this operator. Please use `cfg.add_flop` to "
            "manually set FLOP for this operator"
        )
    return float(count)


def _of_stage(op: Operation) -> int:
    if isinstance(op, te.PlaceholderOp):
        return 0
    if not isinstance(op, te.ComputeOp) or len(op.body) != 1:
        raise FlopCalculationError(f"{op.name} is not a compute of one output")
    own = _elements(op.axis) * _of(op.body[0])
    return own + sum(_of_stage(each.op) for each in op.input_tensors)


def _elements(axes: Iterable[IterVar]) -> int:
    return prod(int(each.dom.extent.value) for each in axes)


def _of(value: Any) -> int:
    if isinstance(value, tir.Reduce):
        if len(value.source) != 1:
            raise FlopCalculationError("a reduction has several outputs")
        step = _of(value.combiner.result[0]) + _of(value.source[0])
        return _elements(value.axis) * step
    if isinstance(value, _TWO):
        return 1 + _of(value.a) + _of(value.b)
    if isinstance(value, tir.Not):
        return 1 + _of(value.a)
    if isinstance(value, tir.Cast):
        return _of(value.value)
    if isinstance(value, tir.Select):
        branches = max(_of(value.true_value), _of(value.false_value))
        return _of(value.condition) + branches
    if isinstance(value, tir.Call):
        return sum(map(_of, value.args))
    return 0


__all__ = ["FlopCalculationError", "compute_flop"]
