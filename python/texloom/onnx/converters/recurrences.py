"""Loops and scans as recurrences, whose number of steps may be a size of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...errors import TVMError
from ...extents import Extent, agree, are_known, at_least
from ...graph.loop_body import LoopBody
from ...graph.tensor import GraphTensor
from ...ops.recurrent import Walk, conditional, looped
from ..nodes import Node, Port, Value, empty, of_tensor, reason_of
from .scalars import as_scalar, as_value


@dataclass(frozen=True)
class Recording:
    """The body of a loop, converted once for all steps.

    Attributes
    ----------
    body : LoopBody
    carried : sequence of Value
        The states before the first step.
    made : sequence of Value
        The states after a step, then the elements of the outputs.
    condition : Value or None
        Whether another step follows; None for a scan.
    scanned : sequence of (Value, Walk)
    """

    body: LoopBody
    carried: Sequence[Value]
    made: Sequence[Value]
    condition: Value | None = None
    scanned: Sequence[tuple[Value, Walk]] = field(default=())

    @property
    def goes_on(self) -> bool:
        """Whether another step certainly follows each step."""
        return self.condition is None or (
            self.condition.array is not None and bool(self.condition.array.all())
        )

    @property
    def elements(self) -> Sequence[Value]:
        """The elements of the outputs in one step."""
        return self.made[len(self.carried) :]


def recorded_loop(node: Node, carried: Sequence[Value]) -> Recording:
    """Convert the body of a Loop for all steps."""
    given = [((), "int64"), node.constant(True), *map(_port, carried)]
    body, (condition, *made) = node.recorded(node.attributes["body"], given)
    return Recording(body, carried, made, condition)


def looped_while(node: Node, recording: Recording, steps: Extent, begins: Value) -> list[Value]:
    """Return the outputs of a Loop of at most `steps` steps, which may end earlier.

    If it may, the outputs along its steps have as many rows as steps are taken.
    """
    if not at_least(steps, 0):
        node.refuse(f"its trip count {steps} is negative")
    walks = [Walk(0)] * len(recording.elements)
    if recording.goes_on and begins.is_constant:
        return _emitted(node, recording, steps, walks)
    first = node.cast(as_scalar(node, begins), "int64")
    true, *made = _emitted(node, recording, steps, walks, first)
    if not walks:
        return made
    taken = node.convert("Min", [true, as_value(steps)])
    states = len(recording.carried)
    return [*made[:states], *(each.counted_by(taken, 0) for each in made[states:])]


def scanned_along(
    node: Node,
    steps: Extent,
    carried: Sequence[Value],
    scanned: Sequence[tuple[Value, Walk]],
    written: Sequence[tuple[int, bool]],
) -> list[Value]:
    """Return the outputs of a Scan; `written` are (axis, is backward) of the outputs."""
    for value, walk in scanned:
        if not agree(value.shape[walk.axis], steps):
            node.refuse(f"its inputs have the lengths {steps} and {value.shape[walk.axis]}")
    recording = _recorded_scan(node, carried, scanned)
    walks = [
        Walk(axis % (value.rank + 1), is_backward)
        for (axis, is_backward), value in zip(written, recording.elements, strict=True)
    ]
    return _emitted(node, recording, steps, walks)


def no_steps(node: Node, recording: Recording, axes: Sequence[int]) -> list[Value]:
    """Return the outputs of a loop without steps; `axes` of the outputs are those of the steps."""
    made = []
    for value, axis in zip(recording.elements, axes, strict=True):
        if not value.is_tensor or value.count is not None or not are_known(value.shape):
            node.refuse("the loop takes no step, so the shapes of its outputs are unknown")
        shape = list(value.shape)
        shape.insert(axis % (value.rank + 1), 0)
        made.append(empty(shape, value.dtype))
    return [*recording.carried, *made]


def scanned_nothing(
    node: Node,
    carried: Sequence[Value],
    scanned: Sequence[tuple[Value, Walk]],
    written: Sequence[tuple[int, bool]],
) -> list[Value]:
    """Return the outputs of a Scan of length 0; the parameters are those of `scanned_along`."""
    recording = _recorded_scan(node, carried, scanned)
    return no_steps(node, recording, [axis for axis, _ in written])


def _port(value: Value) -> Port | Value:
    """Return a state of the body; one without elements, or a sequence, cannot change."""
    return value if value.is_empty or not value.is_tensor else (value.shape, value.dtype)


def _recorded_scan(
    node: Node, carried: Sequence[Value], scanned: Sequence[tuple[Value, Walk]]
) -> Recording:
    ports = [((*v.shape[: walk.axis], *v.shape[walk.axis + 1 :]), v.dtype) for v, walk in scanned]
    body, made = node.recorded(node.attributes["body"], [*map(_port, carried), *ports])
    return Recording(body, carried, made, scanned=scanned)


def _emitted(
    node: Node,
    recording: Recording,
    steps: Extent,
    written: Sequence[Walk],
    begins: Value | None = None,
) -> list[Value]:
    """Emit the recurrence, one operator of the graph.

    Given `begins`, 1 or 0, the loop is conditional: an additional first output counts the
    conditions that were true.
    """
    carried, made, body = recording.carried, recording.made, recording.body
    if not made and begins is None:
        return []
    why = f"its {steps} steps are computed as a recurrence, but"
    for number, (before, after) in enumerate(zip(carried, made, strict=False)):
        same = before.rank == after.rank and all(map(agree, before.shape, after.shape))
        if not same or before.dtype != after.dtype:
            node.refuse(
                f"{why} a step changes its state {number} "
                f"from {before.dtype}{list(before.shape)} to {after.dtype}{list(after.shape)}"
            )
    if any(each.count is not None or not each.is_tensor for each in (*carried, *made)):
        node.refuse(
            f"{why} a state or an output is a sequence or has a length that depends on data"
        )
    condition = [recording.condition] if begins is not None and recording.condition else []
    outputs: list[GraphTensor] = [node.tensor(each) for each in [*condition, *made]]
    for each in outputs:
        body.capture(each)
    ports = [
        (each.shape, each.dtype)
        for each in (*body.inputs, *outputs[len(condition) + len(carried) :])
    ]
    step = body.step(outputs)
    first = list(carried)
    if begins is not None:
        step, first = conditional(step), [begins, *carried]
        ports.insert(1, ((), "int64"))
    around = [of_tensor(each, frozenset()) for each in body.captured]
    try:
        return node.emit_all(
            node.op.lower(),
            looped,
            [*first, *(value for value, _ in recording.scanned), *around],
            step=step,
            steps=steps,
            shapes=[list(shape) for shape, _ in ports],
            dtypes=[dtype for _, dtype in ports],
            is_numbered=recording.condition is not None,
            read=tuple(walk for _, walk in recording.scanned),
            written=tuple(written),
        )
    except TVMError as error:
        node.refuse(f"{why} in its body {reason_of(error)}")


__all__ = ["Recording", "looped_while", "no_steps", "recorded_loop", "scanned_along"]
__all__ += ["scanned_nothing"]
