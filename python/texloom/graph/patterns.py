"""How the elements of an operator's output depend on those of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core, te
from .._core import Tensor
from ..extents import are_known, collected
from ..ops.coordinates import marked_coordinates
from ..ops.movement.joining import JOINED, concatenate
from ..ops.movement.reshaping import VIEW, reshape
from ..ops.schedules.stages import stages_of
from .node_functions import Compute

_FAR = ("own", "broadcast", "other")  # kinds of reads, from near to far
_WORDS = {"own": "elementwise", "broadcast": "broadcast"}


def pattern_of(outputs: Sequence[Tensor]) -> str:
    """Return the pattern of a computation, by which the compiler fuses it with others.

    The patterns are those of ``src/graph/graph.h``: "elementwise", "broadcast", "injective",
    "reduction", "contraction" and "opaque".
    """
    stages = stages_of(outputs)
    reads = {tensor.op: _core.operation_reads(tensor.op) for tensor in stages}
    if len(outputs) != 1 or not stages or None in reads.values():
        return "opaque"
    if any(each.contracts for each in reads.values()):
        return "contraction"
    if any(tensor.op.reduce_axis for tensor in stages):
        return "reduction"
    farthest = _farthest_read(stages, reads)
    if farthest in _WORDS:
        return _WORDS[farthest]
    return "injective" if all(each.moves for each in reads.values()) else "reduction"


def _farthest_read(
    stages: Sequence[Tensor], reads: dict[te.Operation, _core._OperationReads]
) -> str:
    """Return the kind of the farthest read of an input, through all stages."""
    far = {stages[-1].op: 0}
    worst = 0
    for tensor in reversed(stages):
        for read, kind, _ in reads[tensor.op].inputs:
            own = max(far[tensor.op], _FAR.index(kind))
            far[read.op] = max(far.get(read.op, 0), own)
            if isinstance(read.op, te.PlaceholderOp):
                worst = max(worst, own)
    return _FAR[worst]


def _is_tagged(outputs: Sequence[Tensor], tag: str) -> bool:
    """Return whether a computation is one stage with a tag, which users may set as well."""
    return len(outputs) == len(stages_of(outputs)) == 1 and outputs[0].op.tag == tag


def is_view(
    arguments: Sequence[Tensor], outputs: Sequence[Tensor], symbols: Sequence[Any] = ()
) -> bool:
    """Return whether a computation only gives its argument another shape.

    `symbols` are given as numbers.
    """
    if not _is_tagged(outputs, VIEW) or len(arguments) != 1:
        return False
    try:
        with collected():  # the computation itself has added the conditions
            view = [reshape(arguments[0], outputs[0].shape)]
    except ValueError:
        return False
    given = [_core._Computation(arguments, each, symbols) for each in (view, outputs)]
    return bool(given[0] == given[1])


def joined_axis(arguments: Sequence[Tensor], outputs: Sequence[Tensor]) -> int | None:
    """Return the axis along which a computation joins its arguments, or None if it does not."""
    if not _is_tagged(outputs, JOINED) or len(arguments) < 2:
        return None
    if not all(are_known(each.shape) for each in (*arguments, *outputs)):
        return None  # it has no place in memory before sizes are known
    whole, *parts = ([int(n) for n in each.shape] for each in (*outputs, *arguments))
    axes = [
        axis
        for axis, extent in enumerate(whole)
        if all(
            len(part) == len(whole)
            and part[:axis] + part[axis + 1 :] == whole[:axis] + whole[axis + 1 :]
            for part in parts
        )
        and sum(part[axis] for part in parts) == extent
    ]
    if len(axes) != 1:
        return None
    joined = [concatenate(*arguments, axis=axes[0])]
    given = [_core._Computation(arguments, each) for each in (joined, outputs)]
    return axes[0] if given[0] == given[1] else None


def coordinates_of(
    compute: Compute, arguments: Sequence[Tensor], outputs: Sequence[Tensor]
) -> list[int]:
    """Return the numbers of the floating-point arguments that an operator reads as coordinates.

    They are those from which it computes indices, and those for which `compute`, which makes
    `outputs` from `arguments`, is marked.
    """
    marked, indices = marked_coordinates(compute), _read_in_indices(outputs)
    return [
        number
        for number, tensor in enumerate(arguments)
        if tensor.dtype.startswith("float") and (number in marked or tensor.op in indices)
    ]


def _read_in_indices(outputs: Sequence[Tensor]) -> set[te.Operation]:
    """Return the tensors from which indices are computed, directly or indirectly."""
    found: set[te.Operation] = set()
    for tensor in reversed(stages_of(outputs)):
        reads = _core.operation_reads(tensor.op)
        if reads is not None:
            found |= {
                read.op
                for (read, *_), is_index in zip(reads.inputs, reads.in_indices, strict=True)
                if is_index or tensor.op in found
            }
    return found


__all__ = ["coordinates_of", "is_view", "joined_axis", "pattern_of"]
