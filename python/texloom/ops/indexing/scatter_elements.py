"""Updates of elements whose index is that of the update, but for one axis where it is given.

Each element of the result looks for its updates, so that no two threads write the same one: of
several replacements the last one counts. Indices are signed integers; negative ones count from the
end, and updates outside of the tensor are ignored. Updates may be smaller than the tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from .combining import COMBINERS, Combination, wide
from .positions import names


def _if_update(
    indices: Tensor,
    axis: int,
    shape: Sequence[int],
    element: Sequence[Any],
    k: Any,
    found: Callable[[Sequence[Any]], Any],
    otherwise: Any,
) -> Any:
    """Return ``found(update)`` if update `k` along the axis is for the element."""
    update = (*element[:axis], k, *element[axis + 1 :])
    is_named = names(indices(*update), element[axis], int(shape[axis]))
    value = te.if_then_else(is_named, found(update), otherwise)
    smaller = [
        i < int(extent)
        for i, extent, whole in zip(update, indices.shape, shape, strict=True)
        if i is not k and int(extent) < int(whole)
    ]
    return te.if_then_else(te.all(*smaller), value, otherwise) if smaller else value


def last_update(indices: Tensor, axis: int, shape: Sequence[int]) -> Tensor:
    """Return the position along the axis of the last update of each element, or -1, as int32.

    Parameters
    ----------
    indices : Tensor
    axis : int
    shape : sequence of int
        Of the tensor that is updated.
    """
    k = te.reduce_axis((0, indices.shape[axis]), name="k")
    none = te.const(-1, "int32")

    def at(*i: Any) -> Any:
        return te.max(_if_update(indices, axis, shape, i, k, lambda _: k.var, none), axis=[k])

    return te.compute(tuple(shape), at, name="last")


def replace_elements(x: Tensor, updates: Tensor, last: Tensor, axis: int) -> Tensor:
    """Return `x` with elements replaced by updates; `last` is that of :func:`last_update`."""

    def at(*i: Any) -> Any:
        update = updates(*i[:axis], te.if_then_else(last(*i) < 0, 0, last(*i)), *i[axis + 1 :])
        return te.if_then_else(last(*i) < 0, x(*i), update)

    return te.compute(tuple(x.shape), at, name="replaced")


def scatter_elements(x: Tensor, indices: Tensor, updates: Tensor, axis: int) -> Tensor:
    """Return `x` with the elements that indices name replaced by updates."""
    last = last_update(indices, axis, [int(extent) for extent in x.shape])
    return replace_elements(x, updates, last, axis)


def combine_elements(
    x: Tensor, indices: Tensor, updates: Tensor, axis: int, combination: Combination
) -> Tensor:
    """Return `x` with the elements that indices name combined with all of their updates.

    Half-precision numbers are summed and multiplied in float32.
    """
    combiner = COMBINERS[combination]
    dtype = wide(x.dtype)
    shape = [int(extent) for extent in x.shape]
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
