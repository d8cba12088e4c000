"""Loops of a known length are unrolled while a model is imported; others become recurrences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...extents import LARGEST, Extent
from ...ops.recurrent import Walk
from ..nodes import Node, Value, constant
from .recurrences import looped_while, no_steps, recorded_loop, scanned_along, scanned_nothing
from .registry import converts

_MOST_STEPS = 1000
_UNROLLED = "each step becomes nodes of its own"


def _stacked(node: Node, values: Sequence[Value], axis: int = 0) -> Value:
    """Return the values, stacked along a new axis."""
    rows = [_with_axis(node, value, axis) for value in values]
    return rows[0] if len(rows) == 1 else node.convert("Concat", rows, axis=axis)


def _with_axis(node: Node, value: Value, axis: int) -> Value:
    if value.array is not None:
        return constant(np.expand_dims(value.array, axis))
    return node.convert("Unsqueeze", [value, constant(np.array([axis], "int64"))])


@converts("Loop")
def convert_loop(node: Node) -> Sequence[Value]:
    """Convert the body once for each step if conditions are constants; else to a recurrence.

    A recurrence needs a bound of its steps: the trip count, which may be a size of the run.
    """
    most = _trip_count(node)
    begins = node.input(1) if node.has(1) else node.constant(True)
    carried = [node.value(i) for i in range(2, len(node.inputs))]
    if begins.is_constant and not begins.array.all():  # type: ignore[union-attr]
        most = 0
    if isinstance(most, int) and most <= 0:
        return _without_steps(node, carried)
    if not begins.is_constant:
        return _recurrence(node, most, begins, begins, carried)
    if most is not None and (not isinstance(most, int) or most > _MOST_STEPS):
        recording = recorded_loop(node, carried)
        if recording.goes_on or not isinstance(most, int):
            return looped_while(node, recording, most, begins)
    return _unrolled(node, most, begins, carried)


def _without_steps(node: Node, carried: Sequence[Value]) -> Sequence[Value]:
    if len(node.attributes["body"].output) == 1 + len(carried):
        return carried
    recording = recorded_loop(node, carried)
    return no_steps(node, recording, [0] * len(recording.elements))


def _trip_count(node: Node) -> Extent | None:
    """Return the trip count; None if there is none, or if it is too great to be meant."""
    if not node.has(0):
        return None
    count = node.input(0)
    if count.array is None and count.sizes is None:
        node.needs(count, "its trip count is data, so that its steps have no bound")
    (most,) = node.ints(0)
    return most if not isinstance(most, int) or most < LARGEST else None


def _unrolled(
    node: Node, most: int | None, begins: Value, carried: Sequence[Value]
) -> Sequence[Value]:
    """Convert the body once for each step, until a condition is false."""
    body = node.attributes["body"]
    scanned: list[list[Value]] = [[] for _ in range(len(body.output) - 1 - len(carried))]
    first = carried
    step = 0
    while most is None or step < most:
        if step == _MOST_STEPS:
            if most is not None:
                return looped_while(node, recorded_loop(node, first), most, begins)
            node.refuse(f"the loop takes more than {_MOST_STEPS} steps: {_UNROLLED}")
        given = [constant(np.array(step, "int64")), constant(np.array(True)), *carried]
        condition, *made = node.subgraph(body, given)
        carried = made[: len(carried)]
        for rows, value in zip(scanned, made[len(carried) :], strict=True):
            rows.append(value)
        step += 1
        if step == most:
            break
        if condition.array is None:
            return _recurrence(node, most, condition, begins, first)
        if not condition.array.all():
            break
    return [*carried, *(_stacked(node, rows) for rows in scanned)]


def _recurrence(
    node: Node, most: Extent | None, condition: Value, begins: Value, carried: Sequence[Value]
) -> Sequence[Value]:
    """Convert a loop that a condition ends which only a run knows."""
    with node.asking(condition):
        if most is None:
            node.refuse("its condition is data, and it has no trip count that bounds its steps")
        return looped_while(node, recorded_loop(node, carried), most, begins)


@converts("Scan")
def convert_scan(node: Node) -> Sequence[Value]:
    """Convert the body once for each element of the scanned inputs.

    A scan that is long, or whose length is known only at a run, becomes a recurrence.
    """
    if node.version < 9:
        node.refuse(
            "the batches of Scan before version 9 are not supported: export opset 9 or later"
        )
    body = node.attributes["body"]
    inputs = int(node.attributes["num_scan_inputs"])
    states = len(node.inputs) - inputs
    outputs = len(body.output) - states
    axes = node.attributes.get("scan_input_axes", [0] * inputs)
    reversed_inputs = node.attributes.get("scan_input_directions", [0] * inputs)
    carried = [node.input(i) for i in range(states)]
    scanned = [node.input(states + i) for i in range(inputs)]
    axes = [axis % value.rank for axis, value in zip(axes, scanned, strict=True)]
    steps = scanned[0].shape[axes[0]]
    if not isinstance(steps, int) or steps > _MOST_STEPS or steps == 0:
        walks = [Walk(a, bool(b)) for a, b in zip(axes, reversed_inputs, strict=True)]
        read, written = list(zip(scanned, walks, strict=True)), _written(node, outputs)
        if steps == 0:
            return scanned_nothing(node, carried, read, written)
        return scanned_along(node, steps, carried, read, written)
    made: list[list[Value]] = [[] for _ in range(outputs)]
    for step in range(steps):
        elements = [
            _element(node, value, axis, steps - 1 - step if backward else step)
            for value, axis, backward in zip(scanned, axes, reversed_inputs, strict=True)
        ]
        results = node.subgraph(body, [*carried, *elements])
        carried = list(results[:states])
        for rows, value in zip(made, results[states:], strict=True):
            rows.append(value)
    return [*carried, *_scan_outputs(node, made)]


def _written(node: Node, outputs: int) -> list[tuple[int, bool]]:
    """Return the axis of each output along which a scan goes, and whether it goes backward."""
    axes = node.attributes.get("scan_output_axes", [0] * outputs)
    backward = node.attributes.get("scan_output_directions", [0] * outputs)
    return [(axis, bool(each)) for axis, each in zip(axes, backward, strict=True)]


def _scan_outputs(node: Node, made: Sequence[list[Value]]) -> list[Value]:
    results = []
    for rows, (axis, is_backward) in zip(made, _written(node, len(made)), strict=True):
        ordered = rows[::-1] if is_backward else rows
        results.append(_stacked(node, ordered, axis % (ordered[0].rank + 1)))
    return results


def _element(node: Node, value: Value, axis: int, index: int) -> Value:
    return node.convert("Gather", [value, constant(np.array(index, "int64"))], axis=axis)


__all__ = ["convert_loop", "convert_scan"]
