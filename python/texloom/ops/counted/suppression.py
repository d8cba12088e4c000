"""Boxes chosen by their scores, without boxes that overlap better ones.

A thread chooses the boxes of one class in one image. It makes a heap of the boxes whose score is
high enough. Then it takes the best remaining box, and drops it if it overlaps a chosen box too
much. The thread repeats this step until no box is left or enough are chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te, tir
from ..._core import Tensor
from ...extents import Extent, plain, product, shape_of
from ..raveling import unraveled
from ..reductions import cumsum
from ..threads import each_thread
from .compaction import place_of, total

_GROUPS_OF_BLOCK = 4  # few, because each thread takes long


def non_max_suppression(
    boxes: Tensor,
    scores: Tensor,
    overlap: Tensor,
    least: Tensor | None = None,
    *,
    most: Extent,
    centered: bool = False,
) -> tuple[Tensor, Tensor]:
    """Choose boxes of each class by their scores, best first.

    Parameters
    ----------
    boxes : Tensor
        ``[images, boxes, 4]``, floats.
    scores : Tensor
        ``[images, classes, boxes]``. Among equal scores, the box with the lower index is better.
    overlap : Tensor
        One element: a box is dropped if its intersection with a chosen box, divided by their union,
        is greater than this.
    least : Tensor, optional
        One element: the scores of chosen boxes are greater than this.
    most : int or Expr
        The greatest number of boxes of a class in an image; at most the number of boxes.
    centered : bool
        Whether boxes are (x of the center, y of the center, width, height), or (y, x) of two
        opposite corners.

    Returns
    -------
    chosen : Tensor
        ``[images * classes * most, 3]`` of int64: image, class, box.
    count : Tensor
        How many rows are results.
    """
    images, classes, number = shape_of(scores)
    groups = product([images, classes])
    inputs = [boxes, scores, overlap] + ([least] if least is not None else [])
    of_group, counts, _ = te.extern(
        [(groups, most), (groups,), (groups, number)],
        inputs,
        lambda ins, outs: _chosen_of_groups(ins, outs, centered),
        name="chosen",
        dtype=["int32"] * 3,
    )
    ends = cumsum(counts, 0)

    def collected(ins: Sequence[Any], outs: Sequence[Any]) -> Any:
        ib = tir.ir_builder.create()
        chosen, own, end = (ib.buffer_ptr(each) for each in ins)
        result = ib.buffer_ptr(outs[0])
        with each_thread(ib, product([groups, most])) as thread:
            group, place = unraveled(thread, (groups, most))
            is_held = ib.let("is_held", place < own[group])
            first = end[group] - own[group]
            before = tir.min(first + place, end[group])
            row = place_of(is_held, first + place, end[groups - 1], thread, before)
            row = ib.let("row", row)
            image, kind = te.indexdiv(group, classes), te.indexmod(group, classes)
            box = te.if_then_else(is_held, chosen[group, place], 0)
            with ib.for_range(0, 3, name="k", kind="unroll") as k:
                value = te.if_then_else(k.equal(0), image, te.if_then_else(k.equal(1), kind, box))
                result[row, k] = te.if_then_else(is_held, value, 0).astype("int64")
        return ib.get()

    result = te.extern(
        (product([groups, most]), 3),
        [of_group, counts, ends],
        collected,
        name="boxes",
        dtype="int64",
    )
    return result, total(ends)


def _chosen_of_groups(inputs: Sequence[Any], outputs: Sequence[Any], centered: bool) -> Any:
    """Choose the boxes of each class in each image; the last output is memory for the heaps."""
    ib = tir.ir_builder.create()
    boxes, scores, overlap, *least = (ib.buffer_ptr(each) for each in inputs)
    chosen, counts, left = (ib.buffer_ptr(each) for each in outputs)
    images, classes, number = shape_of(inputs[1])
    groups, most = shape_of(outputs[0])
    with each_thread(ib, groups, _GROUPS_OF_BLOCK) as group:
        image, kind = unraveled(group, (images, classes))
        image, kind = ib.let("image", image), ib.let("kind", kind)

        def is_better(a: Any, b: Any) -> Any:
            first, second = scores[image, kind, a], scores[image, kind, b]
            return te.any(first > second, te.all(first.equal(second), a < b))

        heap = _Heap(ib, left, group, is_better)
        done = ib.allocate("int32", (1,), name="done", scope="local")
        done[0] = 0
        with ib.for_range(0, number, name="b") as b:
            value = ib.let("value", scores[image, kind, b])
            with ib.if_scope(value > least[0][0] if least else te.const(True, "bool")):
                heap.append(b)
        heap.order(number)
        with ib.while_loop(te.all(heap.count[0] > 0, done[0] < most)):
            taken = heap.pop()
            own = _corners(ib, [boxes[image, taken, k] for k in range(4)], centered)
            other = ib.allocate("int32", (1,), name="other", scope="local")
            other[0] = 0  # the chosen box to compare next; done + 1: `taken` is dropped
            with ib.while_loop(other[0] < done[0]):
                index = ib.let("index", chosen[group, other[0]])
                chosen_box = _corners(ib, [boxes[image, index, k] for k in range(4)], centered)
                is_dropped = _overlaps(ib, own, chosen_box, overlap[0])
                other[0] = te.if_then_else(is_dropped, done[0] + 1, other[0] + 1)
            with ib.if_scope(other[0].equal(done[0])):
                chosen[group, done[0]] = taken
                done[0] = done[0] + 1
        counts[group] = done[0]
    return ib.get()


class _Heap:
    """A binary heap of boxes in a row of a tensor: box i is better than boxes 2 i + 1 and 2 i + 2.

    Attributes
    ----------
    count : BufferVar
        The number of boxes, in one element.
    """

    def __init__(self, ib: Any, rows: Any, row: Any, is_better: Any) -> None:
        self._ib, self._rows, self._row, self._is_better = ib, rows, row, is_better
        self.count = ib.allocate("int32", (1,), name="count", scope="local")
        self._at = ib.allocate("int32", (1,), name="at", scope="local")
        self._child = ib.allocate("int32", (1,), name="child", scope="local")
        self.count[0] = 0

    def append(self, box: Any) -> None:
        """Add a box, before :meth:`order` is called."""
        self._rows[self._row, self.count[0]] = box
        self.count[0] = self.count[0] + 1

    def order(self, most: Extent) -> None:
        """Make a heap of the boxes, of which there are at most `most`."""
        half = plain((most + 1) // 2)
        with self._ib.for_range(0, half, name="from_end") as i:
            place = self._ib.let("place", half - 1 - i)
            with self._ib.if_scope(place < self.count[0]):
                self._sink(place)

    def pop(self) -> Any:
        """Remove the best box and return it."""
        best = self._ib.let("best", self._rows[self._row, 0])
        self.count[0] = self.count[0] - 1
        self._rows[self._row, 0] = self._rows[self._row, self.count[0]]
        self._sink(0)
        return best

    def _sink(self, place: Any) -> None:
        """Move a box down until it is better than its children."""
        ib, row, at, child = self._ib, self._row, self._at, self._child
        moved = ib.let("moved", self._rows[row, place])
        at[0] = place
        child[0] = 2 * at[0] + 1
        with ib.while_loop(child[0] < self.count[0]):
            first = ib.let("first", self._rows[row, child[0]])
            after = ib.let("after", tir.min(child[0] + 1, self.count[0] - 1))
            second = ib.let("second", self._rows[row, after])
            takes_second = ib.let("takes_second", self._is_better(second, first))
            lower = ib.let("lower", te.if_then_else(takes_second, second, first))
            sinks = ib.let("sinks", self._is_better(lower, moved))
            with ib.if_scope(sinks):
                self._rows[row, at[0]] = lower
                at[0] = te.if_then_else(takes_second, after, child[0])
            child[0] = te.if_then_else(sinks, 2 * at[0] + 1, self.count[0])
        self._rows[row, at[0]] = moved


def _corners(ib: Any, numbers: Sequence[Any], centered: bool) -> list[Any]:
    """Return the least coordinates along both axes, then the greatest ones."""
    if centered:
        x, y, width, height = numbers
        half = te.const(0.5, x.dtype)
        made = [y - height * half, x - width * half, y + height * half, x + width * half]
    else:
        a, b, c, d = numbers
        made = [tir.min(a, c), tir.min(b, d), tir.max(a, c), tir.max(b, d)]
    return [ib.let("edge", each) for each in made]


def _overlaps(ib: Any, own: Sequence[Any], other: Sequence[Any], most: Any) -> Any:
    """Whether the intersection, divided by the union, is greater than `most`."""
    zero = te.const(0, own[0].dtype)
    height = tir.min(own[2], other[2]) - tir.max(own[0], other[0])
    width = tir.min(own[3], other[3]) - tir.max(own[1], other[1])
    common = ib.let("common", tir.max(height, zero) * tir.max(width, zero))
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (own, other)]
    union = ib.let("joined", areas[0] + areas[1] - common)
    return te.all(areas[0] > zero, areas[1] > zero, common / union > most.astype(common.dtype))


__all__ = ["non_max_suppression"]
