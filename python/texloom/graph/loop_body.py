"""Loops whose number of steps is a size of the run: recurrences of their bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from numpy.typing import ArrayLike

from .. import _core, te
from .._core import Tensor
from ..errors import refuse
from ..extents import Condition, Extent, plain
from .node_functions import Compute, computed
from .symbols import Symbols
from .tensor import GraphTensor


@dataclass(frozen=True)
class _Operator:
    name: str
    compute: Compute
    inputs: tuple[GraphTensor, ...]
    outputs: tuple[GraphTensor, ...]


class LoopBody:
    """The body of a loop, which is built like a graph. Its operators are computed in each step.

    Parameters
    ----------
    graph : Graph or LoopBody
        What the loop belongs to. Constants are added there.

    Attributes
    ----------
    inputs : list of GraphTensor
    captured : dict of GraphTensor to None
        The tensors around the loop that the body reads, in the order of their first use.
    """

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._operators: list[_Operator] = []
        self._own: set[GraphTensor] = set()
        self.inputs: list[GraphTensor] = []
        self.captured: dict[GraphTensor, None] = {}

    def input(self, name: str, shape: Sequence[Extent], dtype: str) -> GraphTensor:
        """Add a tensor that each step gives to the body."""
        made = GraphTensor(name, tuple(shape), dtype, self)
        self.inputs.append(made)
        self._own.add(made)
        return made

    def constant(self, name: str, value: ArrayLike) -> GraphTensor:
        """Add a constant to the graph around the loop."""
        made: GraphTensor = self._graph.constant(name, value)
        return made

    def op(
        self, name: str, op: str, compute: Compute, inputs: Sequence[GraphTensor]
    ) -> list[GraphTensor]:
        """Add an operator, as :meth:`Graph.op`."""
        del op
        for each in inputs:
            self.capture(each)
        made, symbols, conditions = Symbols.computed(name, compute, inputs)
        self.require(name, conditions)
        names = [name] if len(made) == 1 else [f"{name}.{i}" for i in range(len(made))]
        outputs = [
            GraphTensor(own, tuple(symbols.shape_in_graph(t)), t.dtype, self)
            for own, t in zip(names, made, strict=True)
        ]
        self._operators.append(_Operator(name, compute, tuple(inputs), tuple(outputs)))
        self._own.update(outputs)
        return outputs

    def custom(self, name: str, *_: Any, **__: Any) -> NoReturn:
        """Refuse a custom operator."""
        refuse(
            "BadGraph",
            f"the custom operator of the node {name!r} is in a loop whose length is open",
            "give the loop a number of steps",
        )

    def require(self, node: str, conditions: Iterable[Condition]) -> None:
        """Let each run check conditions on its sizes, as :meth:`Graph.require`."""
        self._graph.require(node, conditions)

    def capture(self, tensor: GraphTensor) -> None:
        """Note that the body reads a tensor; one that it does not make is around the loop."""
        if tensor not in self._own:
            self.captured.setdefault(tensor)

    def computed(
        self, given: dict[GraphTensor, Tensor], outputs: Sequence[GraphTensor]
    ) -> list[Tensor]:
        """Return the outputs of one step, given its inputs and the captured tensors."""
        made = dict(given)
        for each in self._operators:
            results = computed(each.name, each.compute, [made[t] for t in each.inputs])
            made.update(zip(each.outputs, results, strict=True))
        return [made[each] for each in outputs]


@dataclass(frozen=True)
class Walk:
    """How a loop goes along an axis of a tensor, with an element of the axis in each step."""

    axis: int
    is_backward: bool = False

    def index(self, step: Any, steps: Extent) -> Any:
        """Return the index of a step's element."""
        return steps - 1 - step if self.is_backward else step


def looped(
    *tensors: Tensor,
    body: LoopBody,
    outputs: Sequence[GraphTensor],
    steps: Extent,
    shapes: Sequence[Sequence[Extent]],
    is_numbered: bool,
    read: Sequence[Walk],
    written: Sequence[Walk],
) -> list[Tensor]:
    """Compute a loop as a recurrence, whose row t is the state after t steps.

    Parameters
    ----------
    tensors : Tensor
        The first values of the carried tensors, the tensors of `read`, the captured tensors.
    body : LoopBody
        Its inputs are the number of the step as int64 (if `is_numbered`), the carried tensors, an
        element of each tensor of `read`.
    outputs : sequence of GraphTensor
        Of the body: the next carried tensors, then an element of each output of `written`.
    steps : int or Expr
    shapes : sequence of sequence of int or Expr
        The shapes of the inputs of the body, then those of the elements of `written`.
    is_numbered : bool
    read, written : sequence of Walk

    Returns
    -------
    list of Tensor
        The carried tensors after the last step, then the outputs of `written`.
    """
    rows = plain(steps + 1)
    carried = len(outputs) - len(written)
    first, elements, captured = (
        tensors[:carried],
        tensors[carried : carried + len(read)],
        tensors[carried + len(read) :],
    )
    own = [
        te.placeholder(tuple(shape), each.dtype, name=f"own{i}")
        for i, (each, shape) in enumerate(zip(body.inputs, shapes, strict=False))
    ]
    kinds = [(tuple(t.shape), t.dtype) for t in own[int(is_numbered) :][:carried]]
    kinds += [
        (tuple(shape), t.dtype)
        for shape, t in zip(shapes[len(own) :], outputs[carried:], strict=True)
    ]
    states = [te.placeholder((rows, *s), d, name=f"state{i}") for i, (s, d) in enumerate(kinds)]
    given = dict(zip([*body.inputs, *body.captured], [*own, *captured], strict=True))
    copies = [
        _copy(each, shape)
        for each, (shape, _) in zip(body.computed(given, outputs), kinds, strict=True)
    ]
    sources = [(state, -1) for state in states[:carried]]
    sources += [(_taken(x, walk, rows, steps), 0) for x, walk in zip(elements, read, strict=True)]
    if is_numbered:
        number = te.compute((rows,), lambda t: t.astype("int64") - 1, name="number")
        sources.insert(0, (number, 0))
    replaced = [(p, *source) for p, source in zip(own, sources, strict=True)]
    replaced += [(each, each, 0) for each in captured]
    updates = [_of_rows(t, rows) for t in _core._with_rows(copies, rows, replaced)]
    starts = [
        _row(x, kind) for x, kind in zip([*first, *[None] * len(written)], kinds, strict=True)
    ]
    made = te.scan(starts, updates, states)
    results = made if isinstance(made, list) else [made]
    return [
        *(_last(each, steps) for each in results[:carried]),
        *(_joined(t, walk, steps) for t, walk in zip(results[carried:], written, strict=True)),
    ]


def _copy(x: Tensor, shape: tuple[Any, ...]) -> Tensor:
    return te.compute(shape, lambda *i: x(*i), name="next")


def _taken(x: Tensor, walk: Walk, rows: Extent, steps: Extent) -> Tensor:
    """Return the elements along an axis as rows, each in the row after its step."""
    shape = (*x.shape[: walk.axis], *x.shape[walk.axis + 1 :])

    def element(t: Any, *i: Any) -> Any:
        place = walk.index(te.max(t - 1, 0), steps)
        return x(*i[: walk.axis], place, *i[walk.axis :])

    return te.compute((rows, *shape), element, name="element")


def _of_rows(x: Tensor, rows: Extent) -> Tensor:
    """Return an update of a state; one that is equal in all steps gets its rows here."""
    if x.op.axis and x.op.axis[0].var.name == "row":
        return x
    return te.compute((rows, *x.shape), lambda t, *i: x(*i), name="next")


def _row(x: Tensor | None, kind: tuple[tuple[Any, ...], str]) -> Tensor:
    """Return row 0 of a state; zeros if nothing reads it."""
    shape, dtype = kind
    value: Callable[..., Any] = lambda *i: te.const(0, dtype) if x is None else x(*i)  # noqa: E731
    return te.compute((1, *shape), lambda _, *i: value(*i), name="first")


def _last(rows: Tensor, steps: Extent) -> Tensor:
    return te.compute(tuple(rows.shape[1:]), lambda *i: rows(steps, *i), name="last")


def _joined(rows: Tensor, walk: Walk, steps: Extent) -> Tensor:
    """Return the rows after the first as elements along an axis."""
    shape = [*rows.shape[1:]]
    shape.insert(walk.axis, steps)

    def element(*i: Any) -> Any:
        own = (*i[: walk.axis], *i[walk.axis + 1 :])
        return rows(walk.index(i[walk.axis], steps) + 1, *own)

    return te.compute(tuple(shape), element, name="joined")


__all__ = ["LoopBody", "Walk", "looped"]
