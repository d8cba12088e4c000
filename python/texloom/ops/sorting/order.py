"""The order of elements, found by merging runs that are in order.

First, each element counts the elements of its run that come before it, which is its place in the
run. Then pairs of adjacent runs are merged: the place of an element is its place in its own run,
plus the number of elements of the other run that come before it, found by bisection. Each of these
steps is a kernel with a thread for each element. If only the first elements are wanted, runs keep
only that number of elements.

If the length is known only at a run, so is the number of merges. Then a loop of the launch plan
repeats the kernel of a merge, and runs keep all of their elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import Extent, at_least, plain, product
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
    keys: Sequence[Tensor], rows: Extent, length: Extent, keep: Extent, before: Before
) -> Tensor:
    """Return the indices of the first elements of each row in order.

    Among equal elements, the one with the lower index comes first.

    Parameters
    ----------
    keys : sequence of Tensor
        The tensors that `before` compares.
    rows, length : int or Expr
        The number of rows, and the number of elements in each row.
    keep : int or Expr
        How many elements are wanted, at most `length`.
    before : callable

    Returns
    -------
    Tensor
        ``[rows, keep]`` of int32.

    Raises
    ------
    ValueError
        For a length beyond 2 ** 29.
    """
    if not isinstance(length, int):
        every = _merged_in_a_loop(keys, rows, length, before)
        return te.compute((rows, keep), lambda r, p: every(r, p), name="order")
    kept = keep if isinstance(keep, int) else length
    width = min(RUN, length)
    runs = -(-length // width)
    made = _ordered_runs(keys, rows, length, width, min(width, kept), before)
    while runs > 1:
        made = _merged(keys, made, rows, length, width, min(2 * width, kept), before)
        width *= 2
        runs = -(-runs // 2)
    return te.compute((rows, keep), lambda r, p: made(r, 0, p), name="order")


def _ordered_runs(
    keys: Sequence[Tensor], rows: Extent, length: int, width: int, keep: int, before: Before
) -> Tensor:
    """Return the first elements, in order, of each run of consecutive elements."""
    runs = -(-length // width)

    def body(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        own = [ib.buffer_ptr(each) for each in inputs]
        result = ib.buffer_ptr(outputs[0])
        with each_thread(ib, product([rows, length])) as thread:
            row, i = unraveled(thread, (rows, length))
            run, place = _place_in_run(ib, own, row, i, length, width, before)
            with ib.if_scope(place < keep):
                result[row, run, place] = i
        return ib.get()

    return te.extern((rows, runs, keep), list(keys), body, name="runs", dtype="int32")


def _place_in_run(
    ib: Any, keys: Any, row: Any, i: Any, length: Extent, width: int, before: Before
) -> tuple[Any, Any]:
    """Return the run of `width` elements that has element `i`, and the element's place in it."""
    run = ib.let("run", te.indexdiv(i, width))
    count = ib.allocate("int32", (1,), name="count", scope="local")
    count[0] = 0
    is_whole = isinstance(length, int) and length % width == 0
    with ib.for_range(0, width, name="k") as k:
        j = ib.let("j", run * width + k)
        with ib.if_scope(te.const(True, "bool") if is_whole else j < length):
            _count_before(ib, keys, row, i, j, j < i, before, count)
    return run, count[0]


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
    rows: Extent,
    length: int,
    width: int,
    keep: int,
    before: Before,
) -> Tensor:
    """Merge neighboring runs of `width` elements, of which `runs` holds only the first ones."""
    number, most = (int(extent) for extent in runs.shape[1:])

    def size(run: Any) -> Any:
        """Return how many elements a run has."""
        left = tir.min(te.const(length, "int32") - run * width, te.const(most, "int32"))
        return tir.max(left, te.const(0, "int32"))

    def body(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        *own, order = (ib.buffer_ptr(each) for each in inputs)
        result = ib.buffer_ptr(outputs[0])
        with each_thread(ib, product([rows, number * most])) as thread:
            row, run, place = unraveled(thread, (rows, number, most))
            with ib.if_scope(place < size(run)):
                pair, other, is_second = _pair(ib, run)
                element = ib.let("element", order[row, run, place])
                earlier = _number_before(
                    ib,
                    lambda p: order[row, other, p],
                    size(other),
                    element,
                    is_second,
                    lambda i, j: before(ib, own, row, i, j),
                )
                with ib.if_scope(place + earlier < keep):
                    result[row, pair, place + earlier] = element
        return ib.get()

    shape = (rows, -(-number // 2), keep)
    return te.extern(shape, [*keys, runs], body, name="merged", dtype="int32")


def _pair(ib: Any, run: Any) -> tuple[Any, Any, Any]:
    """Return the number of a run's pair, the other run, and whether the run is the second one."""
    is_second = ib.let("is_second", te.indexmod(run, 2).equal(1))
    other = ib.let("other", te.if_then_else(is_second, run - 1, run + 1))
    return ib.let("pair", te.indexdiv(run, 2)), other, is_second


def _number_before(
    ib: Any,
    other: Callable[[Any], Any],
    size: Any,
    element: Any,
    is_second: Any,
    before: Callable[[Any, Any], Any],
) -> Any:
    """Return how many elements of the other run come before an element, found by bisection.

    Parameters
    ----------
    ib : Builder
    other : callable
        The element at a place of the other run.
    size : Expr
        How many elements the other run has.
    element : Expr
    is_second : Expr
        Whether the run of the element comes after the other run.
    before : callable
        Whether one element comes before another.
    """
    low = ib.allocate("int32", (1,), name="low", scope="local")
    high = ib.allocate("int32", (1,), name="high", scope="local")
    low[0], high[0] = 0, size
    with ib.while_loop(low[0] < high[0]):
        middle = ib.let("middle", te.indexdiv(low[0] + high[0], 2))
        read = ib.let("read", other(middle))
        first = ib.let("first", te.if_then_else(is_second, element, read))
        second = ib.let("second", te.if_then_else(is_second, read, element))
        wins = ib.let("wins", before(first, second))
        is_before = ib.let("is_before", te.if_then_else(is_second, tir.Not(wins), wins))
        after = ib.let("after", middle + 1)
        with ib.if_scope(is_before):
            low[0] = after
        with ib.else_scope():
            high[0] = middle
    return low[0]


_MOST_LOOPS = 13
"""Iterations for the longest row: each merges runs into runs four times as long."""


def _merged_in_a_loop(
    keys: Sequence[Tensor], rows: Extent, length: Extent, before: Before
) -> Tensor:
    """Return the indices of all elements of each row in order, ``[rows, length]``."""
    longest = RUN * 4 ** (_MOST_LOOPS - 1)
    if not at_least(longest, length):
        raise ValueError(f"rows of {length} elements are too long to be sorted")
    loops = plain(sum(te.min((length - 1) // (RUN * 4**i), 1) for i in range(_MOST_LOOPS)))
    count = product([rows, length])

    def body(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        own = [ib.buffer_ptr(each) for each in inputs]
        result = ib.buffer_ptr(outputs[0])
        between = ib.allocate("int32", (rows, length), name="between", scope="global")
        with ib.new_scope(), each_thread(ib, count) as thread:
            row, i = unraveled(thread, (rows, length))
            run, place = _place_in_run(ib, own, row, i, length, RUN, before)
            result[row, run * RUN + place] = i
        with ib.for_range(0, loops, name="step") as step:
            width = RUN << (2 * step)
            for source, made, own_width in ((result, between, width), (between, result, 2 * width)):
                with ib.new_scope(), each_thread(ib, count) as thread:
                    row, i = unraveled(thread, (rows, length))
                    merge(ib, own, row, i, source, made, own_width)
        return ib.get()

    def merge(ib: Any, own: Any, row: Any, i: Any, source: Any, made: Any, width: Any) -> None:
        """Move the element at place `i` to its place in the merged run."""
        run = ib.let("run", te.indexdiv(i, width))
        pair, other, is_second = _pair(ib, run)
        begin = ib.let("begin", other * width)
        size = ib.let("size", tir.max(tir.min(length - begin, width), 0))
        element = ib.let("element", source[row, i])
        earlier = _number_before(
            ib,
            lambda p: source[row, begin + p],
            size,
            element,
            is_second,
            lambda a, b: before(ib, own, row, a, b),
        )
        made[row, 2 * width * pair + (i - run * width) + earlier] = element

    return te.extern((rows, length), list(keys), body, name="merged", dtype="int32")


__all__ = ["RUN", "Before", "by_value", "sorted_order"]
