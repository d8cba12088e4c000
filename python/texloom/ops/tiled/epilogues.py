"""Element-wise functions of a product, computed on each tile while it is in registers."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from ... import _core, te
from ..._core import Tensor
from ...extents import plain
from ..stages import readers_of
from .computations import UNPACKED


@dataclass(frozen=True)
class Epilogue:
    """What is computed of the tiles of a product, element by element.

    Attributes
    ----------
    sums : Tensor
        The product's tiles.
    inner : list of Tensor
        The matrix that is unpacked, and what is computed of it; nothing else reads these.
    result : Tensor
        The last matrix, which is written to memory. It may be the unpacked one itself.
    """

    sums: Tensor
    inner: list[Tensor]
    result: Tensor


def _fits(matrix: Tensor, sums: Tensor) -> bool:
    """Return whether micro-kernels can compute the matrix: it has to contain a whole tile."""
    extents = [plain(n) for n in (*matrix.shape[-2:], *sums.shape[-2:])]
    if not all(isinstance(n, int) for n in extents):
        return False
    rows, columns, m0, n0 = extents
    return rows >= m0 and columns % n0 == 0


def _is_of_elements(tensor: Tensor, group: Container[te.Operation], matrix: Tensor) -> bool:
    """Return whether each element is computed of the same element of the tensors of the group."""
    reads = _core.operation_reads(tensor.op)
    if reads is None or tensor.op.reduce_axis or tensor.op.num_outputs != 1:
        return False
    if list(map(plain, tensor.shape)) != list(map(plain, matrix.shape)):
        return False
    return all(kind == "own" for read, kind, _ in reads.inputs if read.op in group)


def _epilogue(
    sums: Tensor,
    stages: Sequence[Tensor],
    readers: dict[te.Operation, list[Tensor]],
    outputs: Container[te.Operation],
    taken: Container[te.Operation],
) -> Epilogue | None:
    own = readers.get(sums.op, [])
    if sums.op in outputs or [r.op.tag for r in own] != [UNPACKED] or own[0].op in taken:
        return None
    matrix = own[0]
    if not _fits(matrix, sums):
        return None
    group = {matrix.op: matrix}
    inner, result = [], matrix
    for each in stages[stages.index(matrix) + 1 :]:
        last = list(group)[-1]
        if last in outputs:
            break
        if not any(read.op in group for read in each.op.input_tensors):
            continue
        if each.op in taken or not _is_of_elements(each, group, matrix):
            break
        group[each.op] = each
        members = list(group.values())
        if all(r.op in group for member in members[:-1] for r in readers[member.op]):
            inner, result = members[:-1], each
    return Epilogue(sums, inner, result)


def epilogues_of(
    products: Sequence[Tensor], stages: Sequence[Tensor], outputs: Sequence[Tensor]
) -> list[Epilogue]:
    """Return the epilogues of products whose tiles are read by `unpack` alone.

    A stage belongs to an epilogue if each of its elements is computed of the same element of the
    matrix, and of anything else that is not a product's. Stages from the first on that does
    otherwise, and from an output on, are computed of the matrix in memory.

    Parameters
    ----------
    products : sequence of Tensor
        Tiles that micro-kernels compute.
    stages : sequence of Tensor
        All stages, producers first.
    outputs : sequence of Tensor
        Those that the caller reads.
    """
    readers = readers_of(stages)
    found: list[Epilogue] = []
    taken: set[te.Operation] = set()
    wanted = {each.op for each in outputs}
    for sums in products:
        epilogue = _epilogue(sums, stages, readers, wanted, taken)
        if epilogue is not None:
            found.append(epilogue)
            taken |= {each.op for each in (*epilogue.inner, epilogue.result)}
    return found


__all__ = ["Epilogue", "epilogues_of"]
