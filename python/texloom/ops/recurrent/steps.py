"""Shared parts of recurrent layers: directions, lengths, projections and outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ... import te
from ..._core import Tensor
from ...extents import Extent, plain, value_of
from ..contraction import RECURRENT
from ..precision import sum_dtype
from ..reductions.axes import extents
from .activations import Function

Direction = Literal["forward", "reverse", "bidirectional"]
Body = Callable[..., Any]


@dataclass(frozen=True)
class Steps:
    """The steps of a layer over sequences.

    The state of a step is a row ``[directions, batch, hidden]``. Row 0 is the initial state, and
    each step computes the next row. After the end of a sequence, a step copies the previous row.

    Attributes
    ----------
    projected_x : Tensor ``[time, batch, directions * gates * hidden]``
        The products of inputs and weights, without biases. Or ``[batch, time, ...]``.
    recurrence : Tensor ``[directions, hidden, gates, hidden]``
        The weights of the state; consecutive sums read consecutive weights.
    bias : Tensor ``[directions, 2 * gates * hidden]``, optional
        The biases of the input, then those of the state.
    lengths : Tensor ``[batch]``, optional
        The lengths of the sequences; by default, the extent of time.
    direction : "forward", "reverse" or "bidirectional"
    functions : sequence of sequence of functions
        For each direction, the activations.
    clip : float, optional
        The bound to which arguments of activations are clipped.
    batch_first : bool
        Whether the batch is the first axis of `projected_x` and of the outputs.
    """

    projected_x: Tensor
    recurrence: Tensor
    bias: Tensor | None
    lengths: Tensor | None
    direction: Direction
    functions: Sequence[Sequence[Function]]
    clip: float | None = None
    batch_first: bool = False

    @property
    def dtype(self) -> str:
        """The type in which the layer computes."""
        return sum_dtype(self.projected_x.dtype)

    @property
    def count(self) -> Extent:
        """The number of steps."""
        return extents(self.projected_x)[1 if self.batch_first else 0]

    @property
    def row(self) -> tuple[int, Extent, int]:
        """The shape of a row of the state."""
        directions, hidden, *_ = extents(self.recurrence)
        return directions, extents(self.projected_x)[0 if self.batch_first else 1], hidden

    @property
    def rows(self) -> tuple[Extent, int, Extent, int]:
        """The shape of all rows."""
        return (plain(self.count + 1), *self.row)

    @property
    def gates(self) -> int:
        """The number of gates."""
        return extents(self.recurrence)[2]

    def length(self, n: Any) -> Any:
        """Return the length of a sequence, at most the extent of time."""
        if self.lengths is None:
            return value_of(self.count, "int32")
        given = te.max(te.min(self.lengths(n), self.count), 0)
        return given.astype("int32")

    def _is_reverse(self, d: Any) -> Any:
        if self.direction == "bidirectional":
            return d.equal(1)
        return te.const(self.direction == "reverse")

    def time(self, d: Any, n: Any, step: Any) -> Any:
        """Return the time of a step; after the end of a sequence, the result is any valid time."""
        if self.direction == "forward":
            return step
        last = self.length(n) - 1
        return te.if_then_else(self._is_reverse(d), te.max(last - step, 0), step)

    def projected(self, t: Any, d: Any, n: Any, g: int, j: Any) -> Any:
        """Return the product of the input of a time and the weights of a gate, without bias."""
        first, second = (n, t) if self.batch_first else (t, n)
        column = (d * self.gates + g) * self.row[2] + j
        return self.projected_x(first, second, column).astype(self.dtype)

    def recurrent(self, state: Tensor, name: str, gates: Sequence[int]) -> Tensor:
        """Return the products of the previous row of a state and the weights of some gates.

        Parameters
        ----------
        state : Tensor ``[steps + 1, directions, batch, hidden]``
        name : str
        gates : sequence of int
            Consecutive numbers.

        Returns
        -------
        Tensor ``[steps + 1, directions, batch, gates, hidden]``
        """

        def term(t: Any, d: Any, n: Any, k: Any) -> Any:
            return state(t - 1, d, n, k)

        return self.weighted(term, name, gates)

    def weighted(self, term: Body, name: str, gates: Sequence[int]) -> Tensor:
        """Return the products of ``term(row, d, n, k)`` and the weights of gates."""
        hidden, weight = self.row[2], self.recurrence

        def product(t: Any, d: Any, n: Any, g: Any, j: Any) -> Any:
            k = te.reduce_axis((0, hidden), name="k")
            factor = weight(d, k.var, g + gates[0], j).astype(self.dtype)
            return te.sum(term(t, d, n, k.var) * factor, axis=k)

        shape = (*self.rows[:3], len(gates), hidden)
        return te.compute(shape, product, name=name, tag=RECURRENT)

    def input_bias(self, d: Any, gate: int, j: Any) -> Any:
        """Return the bias of the input for a gate."""
        return self._bias(d, gate, j)

    def own_bias(self, d: Any, gate: int, j: Any) -> Any:
        """Return the bias of the state for a gate."""
        return self._bias(d, gate + self.gates, j)

    def _bias(self, d: Any, block: int, j: Any) -> Any:
        if self.bias is None:
            return te.const(0, self.dtype)
        return self.bias(d, block * self.row[2] + j).astype(self.dtype)

    def activated(self, which: int, d: Any, value: Any, clips: bool = True) -> Any:
        """Return `value` after the activation number `which` of a direction."""
        if clips and self.clip is not None:
            bound = te.const(self.clip, self.dtype)
            value = te.max(te.min(value, bound), -bound)
        made = [each[which](value) for each in self.functions]
        return made[0] if len(made) == 1 else te.if_then_else(d.equal(0), made[0], made[1])

    def state(self, name: str) -> Tensor:
        """Return the placeholder of a state."""
        return te.placeholder(self.rows, self.dtype, name)

    def initial(self, given: Tensor | None, name: str) -> Tensor:
        """Return row 0 of a state: the given row, or zeros."""

        def value(_: Any, d: Any, n: Any, j: Any) -> Any:
            if given is None:
                return te.const(0, self.dtype)
            return (given(n, d, j) if self.batch_first else given(d, n, j)).astype(self.dtype)

        return te.compute((1, *self.row), value, name=name)

    def updated(self, state: Tensor, body: Body, name: str) -> Tensor:
        """Return the next rows of a state: ``body(row, d, n, j)``; after the end, copies."""
        (made,) = self.updated_together([state], lambda *i: (body(*i),), name)
        return made

    def updated_together(self, states: Sequence[Tensor], body: Body, name: str) -> list[Tensor]:
        """Return the next rows of several states, which one kernel computes."""

        def values(*i: Any) -> list[Any]:
            t, d, n, j = i
            made = list(body(*i))
            if self.lengths is None:
                return made
            is_over = t > self.length(n)
            return [
                te.if_then_else(is_over, state(t - 1, d, n, j), new)
                for state, new in zip(states, made, strict=True)
            ]

        made = te.compute(self.rows, values, name=name)
        return list(made) if isinstance(made, (list, tuple)) else [made]

    def sequence(self, rows: Tensor) -> Tensor:
        """Return the states by time, ``[time, directions, batch, hidden]``, 0 after the end.

        With the batch first, ``[batch, time, directions, hidden]``.
        """

        def value(t: Any, d: Any, n: Any, j: Any) -> Any:
            row = te.if_then_else(self._is_reverse(d), te.max(self.length(n) - t, 0), t + 1)
            own = rows(row, d, n, j)
            if self.lengths is not None:
                own = te.if_then_else(t < self.length(n), own, te.const(0, self.dtype))
            return own.astype(self.projected_x.dtype)

        directions, batch, hidden = self.row
        if self.batch_first:
            shape = (batch, self.count, directions, hidden)
            return te.compute(shape, lambda n, t, d, j: value(t, d, n, j), name="sequence")
        return te.compute((self.count, *self.row), value, name="sequence")

    def last(self, rows: Tensor) -> Tensor:
        """Return the last state, ``[directions, batch, hidden]``, batch first if `batch_first`."""
        directions, batch, hidden = self.row

        def value(d: Any, n: Any, j: Any) -> Any:
            return rows(self.count, d, n, j).astype(self.projected_x.dtype)

        if self.batch_first:
            shape = (batch, directions, hidden)
            return te.compute(shape, lambda n, d, j: value(d, n, j), name="last")
        return te.compute(self.row, value, name="last")


__all__ = ["Direction", "Steps"]
