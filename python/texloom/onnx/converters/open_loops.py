"""Loops and scans whose number of steps is known only at a run: recurrences of their bodies."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import TVMError
from ...extents import Extent, agree, at_least
from ...graph.loop_body import LoopBody
from ...graph.tensor import GraphTensor
from ...ops.recurrent import Walk, looped
from ..nodes import Node, Port, Value, of_tensor, reason_of


def open_loop(node: Node, steps: Extent, carried: Sequence[Value]) -> list[Value]:
    """Convert a Loop of an open trip count; its conditions must be true in all steps."""
    if not at_least(steps, 0):
        node.refuse(f"its trip count {steps} is negative")
    always = node.constant(True, "bool")
    given = [((), "int64"), always, *map(_port, carried)]
    body, (condition, *made) = node.recorded(node.attributes["body"], given)
    if condition.array is None or not condition.array.all():
        node.refuse(
            f"its trip count {steps} is open, so its condition must be a constant that is true"
        )
    written = [Walk(0)] * (len(made) - len(carried))
    return _emitted(node, body, steps, carried, made, True, [], [], written)


def open_scan(
    node: Node,
    steps: Extent,
    carried: Sequence[Value],
    elements: Sequence[tuple[Value, Walk]],
    written: Sequence[tuple[int, bool]],
) -> list[Value]:
    """Convert a Scan of an open length; `written` are (axis, is backward) of its outputs."""
    for value, walk in elements:
        if not agree(value.shape[walk.axis], steps):
            node.refuse(f"its inputs have the lengths {steps} and {value.shape[walk.axis]}")
    ports = [((*v.shape[: walk.axis], *v.shape[walk.axis + 1 :]), v.dtype) for v, walk in elements]
    body, made = node.recorded(node.attributes["body"], [*map(_port, carried), *ports])
    walks = [
        Walk(axis % (value.rank + 1), is_backward)
        for (axis, is_backward), value in zip(written, made[len(carried) :], strict=True)
    ]
    scanned, read = [value for value, _ in elements], [walk for _, walk in elements]
    return _emitted(node, body, steps, carried, made, False, scanned, read, walks)


def _port(value: Value) -> Port:
    return value.shape, value.dtype


def _emitted(
    node: Node,
    body: LoopBody,
    steps: Extent,
    carried: Sequence[Value],
    made: Sequence[Value],
    is_numbered: bool,
    scanned: Sequence[Value],
    read: Sequence[Walk],
    written: Sequence[Walk],
) -> list[Value]:
    """Emit the recurrence, one operator of the graph."""
    if not made:
        return []
    for number, (before, after) in enumerate(zip(carried, made, strict=False)):
        same = before.rank == after.rank and all(map(agree, before.shape, after.shape))
        if not same or before.dtype != after.dtype:
            node.refuse(
                f"the number of its steps, {steps}, is open, but a step changes its state {number} "
                f"from {before.dtype}{list(before.shape)} to {after.dtype}{list(after.shape)}"
            )
    if any(each.count is not None or not each.is_tensor for each in (*carried, *made)):
        node.refuse(
            f"the number of its steps, {steps}, is open, but a state or an output is a sequence or "
            "has a length that depends on data"
        )
    outputs: list[GraphTensor] = [node.tensor(each) for each in made]
    for each in outputs:
        body.capture(each)
    ports = [*body.inputs, *outputs[len(carried) :]]
    around = [of_tensor(each, frozenset()) for each in body.captured]
    try:
        return node.emit_all(
            node.op.lower(),
            looped,
            [*carried, *scanned, *around],
            step=body.step(outputs),
            steps=steps,
            shapes=[list(each.shape) for each in ports],
            dtypes=[each.dtype for each in ports],
            is_numbered=is_numbered,
            read=tuple(read),
            written=tuple(written),
        )
    except TVMError as error:
        node.refuse(
            f"the number of its steps, {steps}, is open, but in its body {reason_of(error)}"
        )


__all__ = ["open_loop", "open_scan"]
