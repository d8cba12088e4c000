"""Assigns stages to the kernels of sums of products, or to kernels that run before these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from ... import te
from ..._core import Tensor
from ...extents import is_at_most, product, shape_of
from ..contraction import PADDED, Contraction, whole_columns
from ..stages import readers_of


def contraction_kernels(
    stages: Sequence[Tensor], outputs: Sequence[Tensor]
) -> dict[Tensor, Tensor]:
    """Return the sums of products among stages, and for each the stage that its kernel writes.

    The written stage is the output that is computed from the sums, if all stages in between are
    element-wise and have no other readers. Otherwise it is the last stage of a chain of
    element-wise stages that starts at the sums, in which each stage is the only reader of the stage
    before. The chain ends before a stage that another kernel writes.
    """
    readers = readers_of(stages)
    last = {each.op for each in outputs}
    made: dict[Tensor, Tensor] = {}
    for sums in stages:
        if Contraction.of(sums) is None:
            continue
        root = _output_of(sums, readers, last)
        if root is None or root in made.values():
            root = sums
            while root.op not in last and len(readers[root.op]) == 1:
                (reader,) = readers[root.op]
                if reader in made.values() or not _is_element_by_element(reader, sums):
                    break
                root = reader
        made[sums] = root
    return made


def _output_of(
    sums: Tensor, readers: Mapping[te.Operation, Sequence[Tensor]], last: Set[te.Operation]
) -> Tensor | None:
    """Return the output in which all stages that depend on the sums end.

    None if there are several outputs, a stage is not elementwise, or a stage reads the output. A
    stage may read the sums and other stages several times.
    """
    found, pending = {sums.op: sums}, [sums]
    while pending:
        for reader in readers.get(pending.pop().op, []):
            if not _is_element_by_element(reader, sums):
                return None
            if reader.op not in found:
                found[reader.op] = reader
                pending.append(reader)
    outputs = [tensor for op, tensor in found.items() if op in last]
    is_last = len(outputs) == 1 and not readers.get(outputs[0].op)
    return outputs[0] if is_last else None


def _is_element_by_element(reader: Tensor, sums: Tensor) -> bool:
    """Whether a stage has the axes of sums.

    The last axis of sums may stand for several axes, or have more columns than are read.
    """
    rank = len(sums.shape) - 1
    shape, own = shape_of(reader), shape_of(sums)
    columns = shape[rank:]
    has_columns = product(columns) == own[rank] or (
        len(columns) == 1
        and (is_at_most(columns[0], own[rank]) or own[rank] == whole_columns(columns[0]))
    )
    fits = shape[:rank] == own[:rank] and has_columns
    return fits and not reader.op.reduce_axis and reader.op.num_outputs == 1


def stored_inputs(sums: Tensor) -> list[Tensor]:
    """Return the inputs that are computed by separate kernels: padded inputs.

    If the padding were inlined, its conditions would prevent the vectorization of the sums.
    """
    return [each for each in sums.op.input_tensors if each.op.tag == PADDED]


__all__ = ["contraction_kernels", "stored_inputs"]
