"""Updates of single elements; `indices` give the index of each along one axis.

Each element of the result searches for its updates, so that no two threads write the same element;
of several replacements, the last one counts. Many updates are sorted first. Indices are signed
integers; negative indices count from the end, and updates outside of the tensor are ignored.
`updates` may be smaller than the tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import Extent, is_at_most, plain, product, shape_of
from ..raveling import raveled, unraveled
from .combining import COMBINERS, Combination, wide
from .positions import names
from .sorted_updates import SortedUpdates, are_many, target


class _Lists:
    """The updates along the axis, as sorted lists: one for each index along the other axes."""

    def __init__(self, indices: Tensor, axis: int, shape: Sequence[Extent]) -> None:
        self._axis = axis
        self._whole = tuple(shape)
        self._extents = shape_of(indices)
        self._others = (*self._extents[:axis], *self._extents[axis + 1 :])
        parts = self._whole[axis]

        def of_list(row: Any, k: Any) -> Any:
            place, exists = target(indices(*self._update(row, k)), parts)
            return te.if_then_else(exists, place, parts)

        lists = (product(self._others), self._extents[axis])
        self.sorted = SortedUpdates(te.compute(lists, of_list, name="targets"), parts)

    def _update(self, row: Any, k: Any) -> list[Any]:
        others = unraveled(row, self._others)
        return [*others[: self._axis], k, *others[self._axis :]]

    def of(self, updates: Tensor, dtype: str) -> Tensor:
        """Return the updates as ``[lists, updates, 1]``."""
        shape = (product(self._others), self._extents[self._axis], 1)
        return te.compute(
            shape, lambda row, k, _: updates(*self._update(row, k)).astype(dtype), name="given"
        )

    def place(self, i: Sequence[Any]) -> tuple[Any, Any]:
        """Return the list that may have updates of an element, and the element's number in it."""
        axes = [a for a in range(len(i)) if a != self._axis]
        own = [tir.min(i[a], self._extents[a] - 1) if self._is_smaller(a) else i[a] for a in axes]
        return raveled(own, self._others), i[self._axis]

    def reach(self, i: Sequence[Any]) -> Any:
        """Return whether an element is within the shape of the updates, which may be smaller."""
        smaller = [
            i[a] < self._extents[a]
            for a in range(len(i))
            if a != self._axis and self._is_smaller(a)
        ]
        return te.all(*smaller) if smaller else te.const(True, "bool")

    def _is_smaller(self, axis: int) -> bool:
        """Whether the updates are, or may be in some run, smaller than the tensor along an axis."""
        return not is_at_most(self._whole[axis], self._extents[axis])


def _if_update(
    indices: Tensor,
    axis: int,
    shape: Sequence[Extent],
    element: Sequence[Any],
    k: Any,
    found: Callable[[Sequence[Any]], Any],
    otherwise: Any,
) -> Any:
    """Return ``found(update)`` if update `k` along the axis has `element` as its target."""
    update = (*element[:axis], k, *element[axis + 1 :])
    is_named = names(indices(*update), element[axis], shape[axis])
    value = te.if_then_else(is_named, found(update), otherwise)
    smaller = [
        i < extent
        for a, (i, extent) in enumerate(zip(update, shape_of(indices), strict=True))
        if a != axis and not is_at_most(shape[a], extent)
    ]
    return te.if_then_else(te.all(*smaller), value, otherwise) if smaller else value


def last_update(indices: Tensor, axis: int, shape: Sequence[Extent]) -> Tensor:
    """Return the position along the axis of the last update of each element, or -1, as int32.

    Parameters
    ----------
    indices : Tensor
    axis : int
    shape : sequence of int or Expr
        The shape of the tensor that is updated.
    """
    none = te.const(-1, "int32")
    if are_many(plain(indices.shape[axis])):
        lists = _Lists(indices, axis, shape)
        return te.compute(
            tuple(shape),
            lambda *i: te.if_then_else(lists.reach(i), lists.sorted.last(*lists.place(i)), none),
            name="last",
        )
    k = te.reduce_axis((0, indices.shape[axis]), name="k")

    def at(*i: Any) -> Any:
        return te.max(_if_update(indices, axis, shape, i, k, lambda _: k.var, none), axis=[k])

    return te.compute(tuple(shape), at, name="last")


def replace_elements(x: Tensor, updates: Tensor, last: Tensor, axis: int) -> Tensor:
    """Return `x` with elements replaced by updates; `last` is the result of :func:`last_update`."""

    def at(*i: Any) -> Any:
        update = updates(*i[:axis], te.if_then_else(last(*i) < 0, 0, last(*i)), *i[axis + 1 :])
        return te.if_then_else(last(*i) < 0, x(*i), update)

    return te.compute(tuple(x.shape), at, name="replaced")


def scatter_elements(x: Tensor, indices: Tensor, updates: Tensor, axis: int) -> Tensor:
    """Return `x` with the elements at `indices` replaced by updates."""
    last = last_update(indices, axis, shape_of(x))
    return replace_elements(x, updates, last, axis)


def combine_elements(
    x: Tensor, indices: Tensor, updates: Tensor, axis: int, combination: Combination
) -> Tensor:
    """Return `x` with the elements at `indices` combined with all of their updates.

    Half-precision numbers are summed and multiplied in float32.
    """
    combiner = COMBINERS[combination]
    dtype = wide(x.dtype)
    shape = shape_of(x)
    if are_many(plain(indices.shape[axis])):
        lists = _Lists(indices, axis, shape)
        sums = lists.sorted.combined(lists.of(updates, dtype), combiner)

        def with_updates(*i: Any) -> Any:
            made = combiner.both(x(*i).astype(dtype), sums(*lists.place(i), 0))
            return te.if_then_else(lists.reach(i), made.astype(x.dtype), x(*i))

        return te.compute(tuple(shape), with_updates, name="combined")
    k = te.reduce_axis((0, indices.shape[axis]), name="k")

    def combined(*i: Any) -> Any:
        def update(index: Sequence[Any]) -> Any:
            return updates(*index).astype(dtype)

        nothing = combiner.nothing(dtype)
        return combiner.reduce(_if_update(indices, axis, shape, i, k, update, nothing), axis=[k])

    all_updates = te.compute(tuple(shape), combined, name="updates")
    return te.compute(
        tuple(shape),
        lambda *i: combiner.both(x(*i).astype(dtype), all_updates(*i)).astype(x.dtype),
        name="combined",
    )


__all__ = ["combine_elements", "last_update", "replace_elements", "scatter_elements"]
