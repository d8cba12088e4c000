"""Loops of a known length are unrolled while a model is imported; others become recurrences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import TVMError
from ...extents import LARGEST, Extent
from ...ops.recurrent import Walk
from ..nodes import Node, Value, constant
from .axes import normal_axis
from .branches import selected
from .recurrences import looped_while, no_steps, recorded_loop, scanned_along, scanned_nothing
from .registry import converts
from .scalars import as_scalar

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
    first, steps = carried, _Steps(node, carried)
    while most is None or steps.number < most:
        if steps.number == _MOST_STEPS:
            if most is not None:
                return looped_while(node, recorded_loop(node, first), most, begins)
            node.refuse(f"the loop takes more than {_MOST_STEPS} steps: {_UNROLLED}")
        condition = steps.add()
        if steps.number == most:
            break
        if condition.array is None:
            return _recurrence(node, most, condition, begins, first)
        if not condition.array.all():
            break
    return steps.outputs()


def _recurrence(
    node: Node, most: Extent | None, condition: Value, begins: Value, carried: Sequence[Value]
) -> Sequence[Value]:
    """Convert a loop that a condition ends which only a run knows.

    A short loop whose body a recurrence cannot have is unrolled: all steps are computed.
    """
    with node.asking(condition):
        if most is None:
            node.refuse("its condition is data, and it has no trip count that bounds its steps")
        try:
            return looped_while(node, recorded_loop(node, carried), most, begins)
        except TVMError:
            if not isinstance(most, int) or most > _MOST_STEPS:
                raise
        steps = _Steps(node, carried, None if begins.is_constant else as_scalar(node, begins))
        while steps.number < most and not steps.is_at_end:
            steps.add()
        return steps.outputs()


class _Steps:
    """The steps of a Loop that is unrolled.

    Parameters
    ----------
    node : Node
    carried : sequence of Value
        The states before the first step.
    active : Value, optional
        Whether the first step is taken, if only a run knows.

    Attributes
    ----------
    number : int
        How many steps have been added.
    is_at_end : bool
        Whether a condition is certainly false.
    """

    def __init__(self, node: Node, carried: Sequence[Value], active: Value | None = None) -> None:
        self._node = node
        self._body = node.attributes["body"]
        self._carried = list(carried)
        self._active = active
        self._taken: Value | None = None  # how many steps are taken, if only a run knows
        self._scanned: list[list[Value]] = [
            [] for _ in range(len(self._body.output) - 1 - len(carried))
        ]
        self.number = 0
        self.is_at_end = False

    def add(self) -> Value:
        """Convert the body for the next step, and return its condition."""
        given = [constant(np.array(self.number, "int64")), constant(np.array(True))]
        condition, *made = self._node.subgraph(self._body, [*given, *self._carried])
        states = made[: len(self._carried)]
        for rows, value in zip(self._scanned, made[len(states) :], strict=True):
            rows.append(value)
        self._carried = states if self._active is None else self._kept(states, self._active)
        self.number += 1
        if condition.array is None:
            self._end_if_not(as_scalar(self._node, condition))
        else:
            self.is_at_end = not condition.array.all()
        return condition

    def outputs(self) -> list[Value]:
        """Return the states, and the outputs along the steps."""
        rows = [_stacked(self._node, each) for each in self._scanned]
        if self._taken is not None:
            rows = [each.counted_by(self._taken, 0) for each in rows]
        return [*self._carried, *rows]

    def _kept(self, states: Sequence[Value], active: Value) -> list[Value]:
        """Return the states after a step that may not be taken; note whether it is."""
        taken = self._node.cast(active, "int64")
        before = constant(np.array(self.number, "int64")) if self._taken is None else self._taken
        self._taken = self._node.convert("Add", [before, taken])
        return [
            selected(self._node, active, f"the state {number} after a step", *each)
            for number, each in enumerate(zip(states, self._carried, strict=True))
        ]

    def _end_if_not(self, condition: Value) -> None:
        """Let the next step be taken only under a condition."""
        active = self._active
        self._active = (
            condition if active is None else self._node.convert("And", [active, condition])
        )


@converts("Scan")
def convert_scan(node: Node) -> Sequence[Value]:
    """Convert the body once for each element of the scanned inputs.

    A scan that is long, or whose length is known only at a run, becomes a recurrence.
    """
    if node.version < 9:
        return _batched_scan(node)
    inputs = int(node.attributes["num_scan_inputs"])
    states = len(node.inputs) - inputs
    outputs = len(node.attributes["body"].output) - states
    given = [node.input(i) for i in range(len(node.inputs))]
    axes = node.attributes.get("scan_input_axes", [0] * inputs)
    walks = [
        Walk(normal_axis(node, axis, value.rank), is_backward)
        for value, axis, is_backward in zip(
            given[states:], axes, _directions(node, "scan_input_directions", inputs), strict=True
        )
    ]
    written_axes = node.attributes.get("scan_output_axes", [0] * outputs)
    backward = _directions(node, "scan_output_directions", outputs)
    written = list(zip(written_axes, backward, strict=True))
    scanned = list(zip(given[states:], walks, strict=True))
    return _scan(node, given[:states], scanned, written)


def _batched_scan(node: Node) -> Sequence[Value]:
    """Convert a Scan before version 9, whose first axis is that of sequences, for each sequence."""
    if node.has(0):
        node.refuse("the lengths of the sequences of a Scan before version 9 are not supported")
    inputs = int(node.attributes["num_scan_inputs"])
    given = [node.input(i) for i in range(1, len(node.inputs))]
    states = len(given) - inputs
    outputs = len(node.attributes["body"].output) - states
    batch = given[0].shape[0]
    if not isinstance(batch, int):
        node.refuse(f"the number of sequences of a Scan before version 9 is open: it is {batch}")
    walks = [Walk(0, is_backward) for is_backward in _directions(node, "directions", inputs)]
    made = []
    for number in range(batch):
        own = [_element(node, value, 0, number) for value in given]
        scanned = list(zip(own[states:], walks, strict=True))
        made.append(_scan(node, own[:states], scanned, [(0, False)] * outputs))
    return [_stacked(node, values) for values in zip(*made, strict=True)]


def _directions(node: Node, attribute: str, number: int) -> list[bool]:
    """Return whether a scan goes backward, for each input or output."""
    return [bool(each) for each in node.attributes.get(attribute, [0] * number)]


def _scan(
    node: Node,
    carried: Sequence[Value],
    scanned: Sequence[tuple[Value, Walk]],
    written: Sequence[tuple[int, bool]],
) -> list[Value]:
    """Convert a scan; `written` are (axis, is backward) of its outputs."""
    first, walk = scanned[0]
    steps = first.shape[walk.axis]
    if steps == 0:
        return scanned_nothing(node, carried, scanned, written)
    if not isinstance(steps, int) or steps > _MOST_STEPS:
        return scanned_along(node, steps, carried, scanned, written)
    made: list[list[Value]] = [[] for _ in written]
    for step in range(steps):
        elements = [_element(node, v, walk.axis, walk.index(step, steps)) for v, walk in scanned]
        results = node.subgraph(node.attributes["body"], [*carried, *elements])
        carried = results[: len(carried)]
        for rows, value in zip(made, results[len(carried) :], strict=True):
            rows.append(value)
    return [
        *carried,
        *(
            _stacked(node, rows[::-1] if is_backward else rows, axis % (rows[0].rank + 1))
            for rows, (axis, is_backward) in zip(made, written, strict=True)
        ),
    ]


def _element(node: Node, value: Value, axis: int, index: int) -> Value:
    return node.convert("Gather", [value, constant(np.array(index, "int64"))], axis=axis)


__all__ = ["convert_loop", "convert_scan"]
