"""Distinct elements, or distinct slices along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import Extent, product, shape_of
from ..raveling import unraveled
from ..reductions import cumsum
from ..sorting import sorted_order
from ..threads import each_thread
from .compaction import place_of, total


def unique(
    x: Tensor, axis: int | None = None, in_order: bool = True
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return the distinct elements, or the distinct slices along an axis.

    NaN is equal to itself, and greater than all numbers.

    Parameters
    ----------
    x : Tensor
    axis : int, optional
        By default, the elements of the flattened tensor are compared.
    in_order : bool
        Whether the result is in ascending order (slices by their first difference), or in order of
        first occurrence.

    Returns
    -------
    different : Tensor
        As `x`, or a vector if `axis` is not given.
    first : Tensor
        Of int64: for each distinct element or slice, its first position.
    inverse : Tensor
        Of int64: for each element or slice, the index of its equal in `different`.
    numbers : Tensor
        Of int64: how often each distinct element or slice occurs.
    count : Tensor
        The number of distinct elements or slices.
    """
    parts = _Parts(x, axis)
    length = parts.length
    table = te.compute((length, parts.width), parts.element, name="parts")
    order = sorted_order([table], 1, length, length, _by_elements(parts.width))
    is_new = te.compute((length,), lambda p: _is_new(table, order, p), name="is_new")
    group = cumsum(is_new, 0)  # the number of the group in ascending order, plus 1
    first = te.extern(
        (length,), [order, is_new, group], _first_of_each, name="first", dtype="int32"
    )
    place = te.compute((length,), lambda g: g, name="place")
    if not in_order:
        place = _places_by_first(first, group)
    last = length - 1
    outputs = te.extern(
        [(length,)] * 3,
        [order, is_new, group, first, place],
        _written,
        name="unique",
        dtype=["int64"] * 3,
    )
    where, inverse, numbers = outputs

    def different(*i: Any) -> Any:
        group_number = i[parts.axis]
        value = parts.of_part(where(group_number).astype("int32"), i)
        return te.if_then_else(group_number < group(last), value, te.const(0, x.dtype))

    made = te.compute(parts.shape, different, name="different")
    return made, where, inverse, numbers, total(group)


class _Parts:
    """The elements of a tensor, or its slices ("parts") along an axis, as rows of a table."""

    def __init__(self, x: Tensor, axis: int | None) -> None:
        self._x = x
        own = shape_of(x)
        self._extents = own
        self.axis = axis or 0
        self._is_list = axis is None
        self.shape = (product(own),) if axis is None else own
        self.length = self.shape[self.axis]
        self._rest = () if axis is None else (*own[:axis], *own[axis + 1 :])
        self.width = product(self._rest)

    def element(self, part: Any, k: Any) -> Any:
        if self._is_list:
            return self._x(*unraveled(part, self._extents))
        rest = unraveled(k, self._rest)
        return self._x(*rest[: self.axis], part, *rest[self.axis :])

    def of_part(self, part: Any, i: Sequence[Any]) -> Any:
        """Return the element at `i` with the index along the axis replaced by `part`."""
        if self._is_list:
            return self._x(*unraveled(part, self._extents))
        return self._x(*i[: self.axis], part, *i[self.axis + 1 :])


def _is_less(v: Any, w: Any) -> Any:
    less = v < w
    if "float" not in v.dtype:
        return less
    return te.any(less, te.all(te.isnan(w), tir.Not(te.isnan(v))))


def _by_elements(width: Extent) -> Any:
    """Return the lexicographic order of parts of `width` elements."""

    def before(ib: Any, keys: Sequence[Any], row: Any, i: Any, j: Any) -> Any:
        del row
        (table,) = keys
        if width == 1:
            return _is_less(table[i, 0], table[j, 0])
        state = ib.allocate("int32", (2,), name="state", scope="local")
        state[0], state[1] = 0, 0  # the next element; the result, 1: before, 2: after
        with ib.while_loop(te.all(state[0] < width, state[1].equal(0))):
            v, w = ib.let("v", table[i, state[0]]), ib.let("w", table[j, state[0]])
            after = te.if_then_else(_is_less(w, v), 2, 0)
            state[1] = te.if_then_else(_is_less(v, w), 1, after)
            state[0] = state[0] + 1
        return state[1].equal(1)

    return before


def _is_new(table: Tensor, order: Tensor, p: Any) -> Any:
    """Return 1 if the part at place `p` of the order differs from the part before it."""
    k = te.reduce_axis((0, table.shape[1]), name="k")
    own = table(order(0, p), k.var)
    other = table(order(0, tir.max(p - 1, 0)), k.var)
    differs = te.any(_is_less(own, other), _is_less(other, own), p.equal(0))
    return te.max(differs.astype("int32"), axis=k)


def _first_of_each(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
    """Store the first part's position for each group of equal parts in ascending order; then -1."""
    ib = tir.ir_builder.create()
    order, is_new, group = (ib.buffer_ptr(each) for each in inputs)
    first = ib.buffer_ptr(outputs[0])
    (length,) = shape_of(outputs[0])
    with each_thread(ib, length) as p:
        opens = ib.let("opens", is_new[p].equal(1))
        place = place_of(opens, group[p] - 1, group[length - 1], p, group[p])
        first[ib.let("place", place)] = te.if_then_else(opens, order[0, p], -1)
    return ib.get()


def _places_by_first(first: Tensor, group: Tensor) -> Tensor:
    """Return for each group how many groups have an earlier first part."""
    (length,) = shape_of(first)

    def mark(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        where, flags = ib.buffer_ptr(inputs[0]), ib.buffer_ptr(outputs[0])
        thread = te.thread_axis("blockIdx.x")
        ib.scope_attr(thread, "thread_extent", 1)
        with ib.for_range(0, length, name="i") as i:
            flags[i] = 0
        with ib.for_range(0, length, name="g") as g, ib.if_scope(where[g] >= 0):
            flags[where[g]] = 1
        return ib.get()

    flags = te.extern((length,), [first], mark, name="is_first", dtype="int32")
    earlier = cumsum(flags, 0, exclusive=True)
    return te.compute((length,), lambda g: earlier(tir.max(first(g), 0)), name="place")


def _written(inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
    """Store the first part of each group, the group of each part, and the sizes of groups."""
    ib = tir.ir_builder.create()
    order, is_new, group, first, place = (ib.buffer_ptr(each) for each in inputs)
    where, inverse, numbers = (ib.buffer_ptr(each) for each in outputs)
    (length,) = shape_of(outputs[0])
    with each_thread(ib, length) as p:
        own = ib.let("own", group[p] - 1)
        inverse[order[0, p]] = place[own].astype("int64")
        opens = ib.let("opens", is_new[p].equal(1))
        end = _end_of_group(ib, group, own, p, length)
        at = ib.let("at", place_of(opens, place[own], group[length - 1], p, own + 1))
        where[at] = te.if_then_else(opens, first[own], 0).astype("int64")
        numbers[at] = te.if_then_else(opens, end - p, 0).astype("int64")
    return ib.get()


def _end_of_group(ib: Any, group: Any, own: Any, p: Any, length: Extent) -> Any:
    """Return the first place after `p` that belongs to another group, found by bisection."""
    low = ib.allocate("int32", (1,), name="low", scope="local")
    high = ib.allocate("int32", (1,), name="high", scope="local")
    low[0], high[0] = p + 1, length
    with ib.while_loop(low[0] < high[0]):
        middle = ib.let("middle", te.indexdiv(low[0] + high[0], 2))
        after = ib.let("after", middle + 1)
        with ib.if_scope(group[middle] > own + 1):
            high[0] = middle
        with ib.else_scope():
            low[0] = after
    return low[0]


__all__ = ["unique"]
