"""Loops.

While a model is imported, loops of a known length are unrolled.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ops.recurrent import Walk
from ..nodes import Node, Value, constant
from .open_loops import open_loop, open_scan
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
def unroll_loop(node: Node) -> Sequence[Value]:
    """Convert the body once for each step; the conditions must be constants.

    A loop whose trip count is known only at a run becomes a recurrence.
    """
    body = node.attributes["body"]
    most = node.ints(0)[0] if node.has(0) else None
    goes_on = bool(node.known(1).reshape(-1)[0]) if node.has(1) else True
    carried = [node.value(i) for i in range(2, len(node.inputs))]
    if most is not None and not isinstance(most, int) and goes_on:
        return open_loop(node, most, carried)
    scanned: list[list[Value]] = [[] for _ in range(len(body.output) - 1 - len(carried))]
    step = 0
    while goes_on and (most is None or step < most):
        if step == _MOST_STEPS:
            node.refuse(f"the loop takes more than {_MOST_STEPS} steps: {_UNROLLED}")
        given = [constant(np.array(step, "int64")), constant(np.array(True)), *carried]
        condition, *made = node.subgraph(body, given)
        if condition.array is None:
            node.needs(condition, f"only a run knows whether step {step + 1} follows")
        goes_on = bool(condition.array.reshape(-1)[0])
        carried = made[: len(carried)]
        for rows, value in zip(scanned, made[len(carried) :], strict=True):
            rows.append(value)
        step += 1
    if step == 0 and scanned:
        node.refuse("the loop runs no iteration, so the shapes of its outputs are unknown")
    return [*carried, *(_stacked(node, rows) for rows in scanned)]


@converts("Scan")
def unroll_scan(node: Node) -> Sequence[Value]:
    """Convert the body once for each element of the scanned inputs.

    A scan whose length is known only at a run becomes a recurrence.
    """
    if node.version < 9:
        node.refuse("the batches of Scan before version 9 are not supported")
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
    if not isinstance(steps, int):
        walks = [Walk(a, bool(b)) for a, b in zip(axes, reversed_inputs, strict=True)]
        written = _written(node, outputs)
        return open_scan(node, steps, carried, list(zip(scanned, walks, strict=True)), written)
    if steps > _MOST_STEPS:
        node.refuse(f"the scan takes {steps} steps, more than {_MOST_STEPS}: {_UNROLLED}")
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


__all__ = ["unroll_loop", "unroll_scan"]
