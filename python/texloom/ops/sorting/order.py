"""The order of elements, found by merging runs that are in order.

First, each element counts the elements of its run that come before it, which is its place in the
run. Then pairs of adjacent runs are merged: the place of an element is its place in its own run,
plus the number of elements of the other run that come before it, found by bisection. Each of these
steps is a kernel with a thread for each element. If only the first elements are wanted, runs keep
only that number of elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ..raveling import unraveled
from ..threads import each_thread

RUN = 32
"""Elements of the runs whose order is found by comparing all pairs."""

Before = Callable[[Any, Sequence[Any], Any, Any, Any], Any]
"""``before(ib, keys, row, i, j)``: whether element i of a row comes before element j.

`keys` are the tensors that are compared, as the builder `ib` reads them; the function may add
statements to `ib`. No element comes before itself or before an equal element.
"""


def by_value(greatest: bool) -> Before:
    """Return the order of numbers ``[rows, length]``; NaN is greater than all of them."""

    def before(ib: Any, keys: Sequence[Any], row: Any, i: Any, j: Any) -> Any:
        del ib
        v, w = keys[0][row, i], keys[0][row, j]
        wins = v > w if greatest else v < w
        if "float" not in v.dtype:
            return wins
        nan, number = (v, w) if greatest else (w, v)
        return te.any(wins, te.all(te.isnan(nan), tir.Not(te.isnan(number))))

    return before


def sorted_order(
    keys: Sequence[Tensor], rows: int, length: int, keep: int, before: Before
) -> Tensor:
    """Return the indices of the first elements of each row in order.

    Among equal elements, the one with the lower index comes first.

    Parameters
    ----------
    keys : sequence of Tensor
        The tensors that `before` compares.
    rows, length : int
        The number of rows, and the number of elements in each row.
    keep : int
        How many elements are wanted, at most `length`.
    before : callable

    Returns
    -------
    Tensor
        ``[rows, keep]`` of int32.
    """
    width = min(RUN, length)
    runs = -(-length // width)
    made = _ordered_runs(keys, rows, length, width, min(width, keep), before)
    while runs > 1:
        made = _merged(keys, made, rows, length, width, min(2 * width, keep), before)
        width *= 2
        runs = -(-runs // 2)
    return te.compute((rows, keep), lambda r, p: made(r, 0, p), name="order")


def _ordered_runs(
    keys: Sequence[Tensor], rows: int, length: int, width: int, keep: int, before: Before
) -> Tensor:
    """Return the first elements, in order, of each run of consecutive elements."""
    runs = -(-length // width)

    def body(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        own = [ib.buffer_ptr(each) for each in inputs]
        result = ib.buffer_ptr(outputs[0])
        with each_thread(ib, rows * length) as thread:
            row, i = unraveled(thread, (rows, length))
            run = ib.let("run", te.indexdiv(i, width))
            count = ib.allocate("int32", (1,), name="count", scope="local")
            count[0] = 0
            with ib.for_range(0, width, name="k") as k:
                j = ib.let("j", run * width + k)
                is_there = j < length if length % width else te.const(True, "bool")
                with ib.if_scope(is_there):
                    _count_before(ib, own, row, i, j, j < i, before, count)
            with ib.if_scope(count[0] < keep):
                result[row, run, count[0]] = i
        return ib.get()

    return te.extern((rows, runs, keep), list(keys), body, name="runs", dtype="int32")


def _count_before(
    ib: Any, keys: Any, row: Any, own: Any, other: Any, earlier: Any, before: Before, count: Any
) -> None:
    """Add 1 if another element comes before this one; equal elements keep their order."""
    first = ib.let("first", te.if_then_else(earlier, own, other))
    second = ib.let("second", te.if_then_else(earlier, other, own))
    wins = ib.let("wins", before(ib, keys, row, first, second))
    is_before = te.if_then_else(earlier, tir.Not(wins), wins)
    count[0] = count[0] + is_before.astype("int32")


def _merged(
    keys: Sequence[Tensor],
    runs: Tensor,
    rows: int,
    length: int,
    width: int,
    keep: int,
    before: Before,
) -> Tensor:
    """Merge neighboring runs of `width` elements, of which `runs` holds only the first ones."""
    _, number, most = (int(extent) for extent in runs.shape)

    def size(run: Any) -> Any:
        """Return how many elements a run has."""
        left = tir.min(te.const(length, "int32") - run * width, te.const(most, "int32"))
        return tir.max(left, te.const(0, "int32"))

    def body(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        *own, order = (ib.buffer_ptr(each) for each in inputs)
        result = ib.buffer_ptr(outputs[0])
        with each_thread(ib, rows * number * most) as thread:
            row, run, place = unraveled(thread, (rows, number, most))
            with ib.if_scope(place < size(run)):
                pair = ib.let("pair", te.indexdiv(run, 2))
                is_second = ib.let("is_second", te.indexmod(run, 2).equal(1))
                other = ib.let("other", te.if_then_else(is_second, run - 1, run + 1))
                element = ib.let("element", order[row, run, place])
                low = ib.allocate("int32", (1,), name="low", scope="local")
                high = ib.allocate("int32", (1,), name="high", scope="local")
                low[0], high[0] = 0, size(other)
                with ib.while_loop(low[0] < high[0]):
                    middle = ib.let("middle", te.indexdiv(low[0] + high[0], 2))
                    read = ib.let("read", order[row, other, middle])
                    first = ib.let("first", te.if_then_else(is_second, element, read))
                    second = ib.let("second", te.if_then_else(is_second, read, element))
                    wins = ib.let("wins", before(ib, own, row, first, second))
                    is_before = ib.let("is_before", te.if_then_else(is_second, tir.Not(wins), wins))
                    after = ib.let("after", middle + 1)
                    with ib.if_scope(is_before):
                        low[0] = after
                    with ib.else_scope():
                        high[0] = middle
                with ib.if_scope(place + low[0] < keep):
                    result[row, pair, place + low[0]] = element
        return ib.get()

    shape = (rows, -(-number // 2), keep)
    return te.extern(shape, [*keys, runs], body, name="merged", dtype="int32")


__all__ = ["RUN", "Before", "by_value", "sorted_order"]
