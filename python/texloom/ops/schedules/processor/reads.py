"""How a kernel reads tensors in memory, through the stages that are inlined into it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .... import _core, te
from ...._core import Tensor
from ....extents import shape_of


@dataclass(frozen=True)
class Index:
    """An index of a tensor, by the axes of the stage that the kernel writes.

    Attributes
    ----------
    axes : frozenset of int
        The axes that it depends on.
    is_axis : bool
        Whether it is an axis itself, and not computed from axes.
    """

    axes: frozenset[int]
    is_axis: bool = False


@dataclass(frozen=True)
class Read:
    """A tensor in memory, and the indices at which a kernel reads it.

    Attributes
    ----------
    shape : tuple of int
    indices : tuple of Index
    """

    shape: tuple[int, ...]
    indices: tuple[Index, ...]

    @property
    def fastest(self) -> frozenset[int]:
        """The axes on which the index with contiguous elements depends."""
        own = [i for extent, i in zip(self.shape, self.indices, strict=True) if extent != 1]
        return own[-1].axes if own else frozenset()

    def joins(self, axis: int, extent: int) -> bool:
        """Whether elements along `axis` and the next axis, of `extent`, have one distance.

        This is so if they are neighbors in memory, or if none of the two is an index.
        """
        uses = [n for n, index in enumerate(self.indices) if index.axes & {axis, axis + 1}]
        if not uses:
            return True
        first, *rest = uses
        return (
            rest == [first + 1]
            and self.indices[first] == Index(frozenset({axis}), is_axis=True)
            and self.indices[first + 1] == Index(frozenset({axis + 1}), is_axis=True)
            and self.shape[first + 1] == extent
        )


def reads_of(root: Tensor, inlined: Collection[te.Operation]) -> list[Read]:
    """Return the reads of a stage, through stages that are inlined, whose extents are numbers."""
    found: set[Read] = set()
    start = tuple(Index(frozenset({n}), is_axis=True) for n in range(len(root.op.axis)))
    pending, seen = [(root.op, start)], {(root.op, start)}
    while pending:
        op, own = pending.pop()
        for body in op.body:
            for load in _core.loads_of(body):
                indices = tuple(_index(each, op, own) for each in load.indices)
                source = load.producer
                if source.op not in inlined:
                    found.add(Read(tuple(map(int, shape_of(source))), indices))
                elif (source.op, indices) not in seen:
                    seen.add((source.op, indices))
                    pending.append((source.op, indices))
    return list(found)


def _index(expression: te.PrimExpr, op: te.Operation, own: Sequence[Index]) -> Index:
    """Return an index of a load in the body of `op`, whose axes are the indices `own`."""
    used = [
        index
        for axis, index in zip(op.axis, own, strict=True)
        if _core.mentions(expression, axis.var)
    ]
    if len(used) == 1 and any(expression.same_as(axis.var) for axis in op.axis):
        return used[0]
    return Index(frozenset().union(*(each.axes for each in used)))


__all__ = ["Index", "Read", "reads_of"]
