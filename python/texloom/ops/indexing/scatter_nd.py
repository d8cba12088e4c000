"""Updates of the slices ("parts") of a tensor that tuples of indices select.

The tensor is ``[*named, *rest]``, the tuples are ``[*many, number of named axes]``, and the updates
are ``[*many, *rest]``. Each part of the result searches for its updates, so that no two threads
write the same element; of several replacements, the last one counts. Many updates are sorted first.
Indices are signed integers; negative indices count from the end, and updates outside of the tensor
are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ..._core import IterVar, Tensor
from ...extents import Extent, product, shape_of
from ..raveling import raveled, unraveled
from .combining import COMBINERS, Combination, wide
from .positions import names
from .sorted_updates import SortedUpdates, are_many, target


def _many(indices: Tensor) -> tuple[list[Extent], list[IterVar]]:
    """Return the shape of the list of updates, and reduction axes over the list."""
    shape = list(shape_of(indices)[:-1]) or [1]
    return shape, [te.reduce_axis((0, extent), name="u") for extent in shape]


def _names(indices: Tensor, named: Sequence[Extent], part: Sequence[Any], update: Any) -> Any:
    """Return whether the tuple of an update selects the part."""
    outer = list(update)[: len(indices.shape) - 1]
    same = [names(indices(*outer, k), part[k], extent) for k, extent in enumerate(named)]
    return te.all(*same) if same else te.const(True, "bool")


def _sorted(indices: Tensor, named: Sequence[Extent]) -> SortedUpdates:
    many, _ = _many(indices)
    parts = product(named)

    def number(_: Any, k: Any) -> Any:
        outer = unraveled(k, many)[: len(indices.shape) - 1]
        found = [target(indices(*outer, a), extent) for a, extent in enumerate(named)]
        place = raveled([each for each, _ in found], named)
        return te.if_then_else(te.all(*(exists for _, exists in found)), place, parts)

    return SortedUpdates(te.compute((1, product(many)), number, name="targets"), parts)


def last_update_nd(indices: Tensor, shape: Sequence[Extent]) -> Tensor:
    """Return the number of the last update of each part, or -1.

    Parameters
    ----------
    indices : Tensor
    shape : sequence of int or Expr
        The shape of the tensor that is updated.

    Returns
    -------
    Tensor
        Of int32, with the extents of the selected axes; one element if no axes are selected.
    """
    named = tuple(shape[: int(indices.shape[-1])])
    many, update = _many(indices)
    number: Any = 0
    for each, extent in zip(update, many, strict=True):
        number = number * extent + each.var
    if are_many(product(many)) and named:
        updates = _sorted(indices, named)
        return te.compute(named, lambda *part: updates.last(0, raveled(part, named)), name="last")
    none = te.const(-1, "int32")

    def at(*part: Any) -> Any:
        found = _names(indices, named, part, update)
        return te.max(te.if_then_else(found, number, none), axis=update)

    return te.compute(named or (1,), at, name="last")


def replace_parts(x: Tensor, updates: Tensor, last: Tensor, named: int) -> Tensor:
    """Return `x` with parts replaced by updates; `last` is the result of :func:`last_update_nd`."""
    many = shape_of(updates)[: len(updates.shape) - len(x.shape) + named]

    def at(*i: Any) -> Any:
        number = last(*i[:named]) if named else last(0)
        rest = te.if_then_else(number < 0, 0, number)
        index: list[Any] = []
        for axis, extent in enumerate(many):
            position = te.floordiv(rest, product(many[axis + 1 :]))
            index.append(te.floormod(position, extent) if axis else position)
        return te.if_then_else(number < 0, x(*i), updates(*index, *i[named:]))

    return te.compute(tuple(x.shape), at, name="replaced")


def scatter_nd(x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Return `x` with the parts that tuples of indices select replaced by updates."""
    last = last_update_nd(indices, shape_of(x))
    return replace_parts(x, updates, last, int(indices.shape[-1]))


def combine_nd(x: Tensor, indices: Tensor, updates: Tensor, combination: Combination) -> Tensor:
    """Return `x` with the parts that tuples of indices select combined with all of their updates.

    Half-precision numbers are summed and multiplied in float32.
    """
    combiner = COMBINERS[combination]
    dtype = wide(x.dtype)
    count = int(indices.shape[-1])
    named = shape_of(x)[:count]
    many, update = _many(indices)
    if are_many(product(many)) and named:
        rest = shape_of(x)[count:]
        given = te.compute(
            (1, product(many), product(rest)),
            lambda _, k, r: updates(
                *unraveled(k, many)[: len(indices.shape) - 1], *unraveled(r, rest)
            ).astype(dtype),
            name="given",
        )
        sums = _sorted(indices, named).combined(given, combiner)

        def with_updates(*i: Any) -> Any:
            all_of_it = sums(0, raveled(i[:count], named), raveled(i[count:], rest))
            return combiner.both(x(*i).astype(dtype), all_of_it).astype(x.dtype)

        return te.compute(tuple(x.shape), with_updates, name="combined")

    def combined(*i: Any) -> Any:
        own = update[: len(indices.shape) - 1]
        value = updates(*own, *i[count:]).astype(dtype)
        found = _names(indices, named, i, update)
        return combiner.reduce(te.if_then_else(found, value, combiner.nothing(dtype)), axis=update)

    all_updates = te.compute(tuple(x.shape), combined, name="updates")
    return te.compute(
        tuple(x.shape),
        lambda *i: combiner.both(x(*i).astype(dtype), all_updates(*i)).astype(x.dtype),
        name="combined",
    )


__all__ = ["combine_nd", "last_update_nd", "replace_parts", "scatter_nd"]
