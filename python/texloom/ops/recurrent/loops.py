"""Loops whose number of steps is a size of the run, as recurrences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ... import _core, te
from ..._core import Tensor
from ...extents import Extent, plain

Step = Callable[[Sequence[Tensor], Sequence[Tensor]], list[Tensor]]
"""Computes the outputs of one step from its inputs and from the tensors around the loop."""


@dataclass(frozen=True)
class Walk:
    """How a loop goes along an axis of a tensor, with an element of the axis in each step.

    Attributes
    ----------
    axis : int
    is_backward : bool
        Whether the first step has the last element.
    """

    axis: int
    is_backward: bool = False

    def index(self, step: Any, steps: Extent) -> Any:
        """Return the index of a step's element."""
        return steps - 1 - step if self.is_backward else step


def looped(
    *tensors: Tensor,
    step: Step,
    steps: Extent,
    shapes: Sequence[Sequence[Extent]],
    dtypes: Sequence[str],
    is_numbered: bool,
    read: Sequence[Walk],
    written: Sequence[Walk],
) -> list[Tensor]:
    """Compute a loop as a recurrence, whose row t is the state after t steps.

    Parameters
    ----------
    tensors : Tensor
        The first values of the carried tensors, the tensors of `read`, the captured tensors.
    step : callable
        Computes a step. Its inputs are the number of the step as int64 (if `is_numbered`), the
        carried tensors, an element of each tensor of `read`. It returns the next carried tensors,
        then an element of each output of `written`.
    steps : int or Expr
    shapes : sequence of sequence of int or Expr
    dtypes : sequence of str
        Of the inputs of a step, then of the elements of `written`.
    is_numbered : bool
    read, written : sequence of Walk

    Returns
    -------
    list of Tensor
        The carried tensors after the last step, then the outputs of `written`.
    """
    rows = plain(steps + 1)
    kinds = [(tuple(shape), dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]
    inputs = kinds[: len(kinds) - len(written)]
    carried = len(inputs) - int(is_numbered) - len(read)
    first, elements, captured = (
        tensors[:carried],
        tensors[carried : carried + len(read)],
        tensors[carried + len(read) :],
    )
    own = [te.placeholder(*kind, name=f"own{i}") for i, kind in enumerate(inputs)]
    kept = [*inputs[int(is_numbered) :][:carried], *kinds[len(inputs) :]]
    states = [te.placeholder((rows, *s), d, name=f"state{i}") for i, (s, d) in enumerate(kept)]
    copies = [
        _copy(each, shape) for each, (shape, _) in zip(step(own, captured), kept, strict=True)
    ]
    sources = [(state, -1) for state in states[:carried]]
    sources += [(_taken(x, walk, rows, steps), 0) for x, walk in zip(elements, read, strict=True)]
    if is_numbered:
        number = te.compute((rows,), lambda t: t.astype("int64") - 1, name="number")
        sources.insert(0, (number, 0))
    replaced = [(p, *source) for p, source in zip(own, sources, strict=True)]
    replaced += [(each, each, 0) for each in captured]
    updates = [
        made if len(made.shape) == len(each.shape) + 1 else _repeated(made, rows)
        for each, made in zip(copies, _core._with_rows(copies, rows, replaced), strict=True)
    ]
    starts = [_row(x, kind) for x, kind in zip([*first, *[None] * len(written)], kept, strict=True)]
    made = te.scan(starts, updates, states)
    results = made if isinstance(made, list) else [made]
    return [
        *(_last(each, steps) for each in results[:carried]),
        *(_joined(t, walk, steps) for t, walk in zip(results[carried:], written, strict=True)),
    ]


def conditional(step: Step) -> Step:
    """Return a step that changes nothing once a condition is false.

    Parameters
    ----------
    step : callable
        Its first input is the number of the step. Its first output, of one element, says whether
        another step follows.

    Returns
    -------
    callable
        A step with an additional carried tensor, an int64 scalar: how many conditions have been
        true, including one before the first step.
    """

    def step_or_none(inputs: Sequence[Tensor], captured: Sequence[Tensor]) -> list[Tensor]:
        number, true, *carried = inputs
        follows, *made = step([number, *carried], captured)

        def is_taken() -> Any:
            return true().equal(number() + 1)

        def kept(before: Tensor, after: Tensor) -> Tensor:
            return te.compute(
                before.shape,
                lambda *i: te.if_then_else(is_taken(), after(*i), before(*i)),
                name="kept",
            )

        def counted() -> Any:
            holds = te.all(is_taken(), follows(*[0] * len(follows.shape)))
            return true() + holds.astype("int64")

        states = [kept(*each) for each in zip(carried, made, strict=False)]
        return [te.compute((), counted, name="true"), *states, *made[len(carried) :]]

    return step_or_none


def _copy(x: Tensor, shape: tuple[Any, ...]) -> Tensor:
    return te.compute(shape, lambda *i: x(*i), name="next")


def _taken(x: Tensor, walk: Walk, rows: Extent, steps: Extent) -> Tensor:
    """Return the elements along an axis as rows, each in the row after its step."""
    shape = (*x.shape[: walk.axis], *x.shape[walk.axis + 1 :])

    def element(t: Any, *i: Any) -> Any:
        place = walk.index(te.max(t - 1, 0), steps)
        return x(*i[: walk.axis], place, *i[walk.axis :])

    return te.compute((rows, *shape), element, name="element")


def _repeated(x: Tensor, rows: Extent) -> Tensor:
    """Return the update of a state that is equal in all steps."""
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


__all__ = ["Step", "Walk", "conditional", "looped"]
