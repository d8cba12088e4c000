"""Updates sorted by their targets, so that each element finds its updates by bisection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import Extent, plain, product, shape_of, value_of
from ..raveling import unraveled
from ..sorting import by_value, sorted_order
from ..threads import each_thread
from .combining import Combiner

FEW = 64
"""The most updates for which each element searches all of them, one after another."""


def are_many(updates: Extent) -> bool:
    """Whether a number of updates is, or may be in some run, so large that they are sorted."""
    return not isinstance(updates, int) or updates > FEW


class SortedUpdates:
    """Lists of updates in the order of their targets; updates of one target keep their order.

    Parameters
    ----------
    targets : Tensor
        ``[lists, updates]`` of int32, from 0 to `parts`; `parts` stands for no target.
    parts : int or Expr
    """

    def __init__(self, targets: Tensor, parts: Extent) -> None:
        self._lists, self._length = shape_of(targets)
        self._parts = parts
        ascending = by_value(greatest=False)
        self._order = sorted_order([targets], self._lists, self._length, self._length, ascending)
        keys = te.compute(
            targets.shape, lambda row, p: targets(row, self._order(row, p)), name="targets"
        )
        shape = (self._lists, plain(parts + 1))
        self._begins = te.extern(shape, [keys], _begins, name="begins", dtype="int32")

    def last(self, row: Any, part: Any) -> Any:
        """Return the number of the last update of a part, or -1."""
        end = self._begins(row, part + 1)
        place = tir.max(end - 1, 0)
        return te.if_then_else(self._begins(row, part) < end, self._order(row, place), -1)

    def combined(self, values: Tensor, combiner: Combiner) -> Tensor:
        """Combine the updates of each part.

        Parameters
        ----------
        values : Tensor
            ``[lists, updates, rest]``.
        combiner : Combiner

        Returns
        -------
        Tensor
            ``[lists, parts, rest]``.
        """
        shape = (self._lists, self._parts, plain(values.shape[2]))

        def body(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
            ib = tir.ir_builder.create()
            order, begins, given = (ib.buffer_ptr(each) for each in inputs)
            result = ib.buffer_ptr(outputs[0])
            with each_thread(ib, product(shape)) as thread:
                row, part, rest = unraveled(thread, shape)
                made = ib.allocate(values.dtype, (1,), name="made", scope="local")
                place = ib.allocate("int32", (1,), name="place", scope="local")
                made[0], place[0] = combiner.nothing(values.dtype), begins[row, part]
                with ib.while_loop(place[0] < begins[row, part + 1]):
                    value = ib.let("value", given[row, order[row, place[0]], rest])
                    made[0] = combiner.both(made[0], value)
                    place[0] = place[0] + 1
                result[row, part, rest] = made[0]
            return ib.get()

        inputs = [self._order, self._begins, values]
        return te.extern(shape, inputs, body, name="all_updates", dtype=values.dtype)


def _begins(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
    """Store for each target how many updates have a smaller target, found by bisection."""
    ib = tir.ir_builder.create()
    keys, result = ib.buffer_ptr(inputs[0]), ib.buffer_ptr(outputs[0])
    lists, targets = shape_of(outputs[0])
    length = plain(inputs[0].shape[1])
    with each_thread(ib, product([lists, targets])) as thread:
        row, target = unraveled(thread, (lists, targets))
        low = ib.allocate("int32", (1,), name="low", scope="local")
        high = ib.allocate("int32", (1,), name="high", scope="local")
        low[0], high[0] = 0, length
        with ib.while_loop(low[0] < high[0]):
            middle = ib.let("middle", te.indexdiv(low[0] + high[0], 2))
            after = ib.let("after", middle + 1)
            with ib.if_scope(keys[row, middle] < target):
                low[0] = after
            with ib.else_scope():
                high[0] = middle
        result[row, target] = low[0]
    return ib.get()


def target(position: Any, extent: Extent) -> tuple[Any, Any]:
    """Return a position as an int32 index from the first element, and whether it exists.

    A negative position counts from the end.
    """
    whole = value_of(extent, position.dtype)
    counted = te.if_then_else(position < 0, position + whole, position)
    exists = te.all(counted >= te.const(0, position.dtype), counted < whole)
    return te.if_then_else(exists, counted, te.const(0, position.dtype)).astype("int32"), exists


__all__ = ["FEW", "SortedUpdates", "are_many", "target"]
