"""The stages of a computation."""

from __future__ import annotations

from collections.abc import Sequence

from .. import te
from .._core import Tensor
from ..extents import number_of


def stages_of(outputs: Sequence[Tensor]) -> list[Tensor]:
    """Return a tensor of each operation that the outputs need, producers first."""
    found: dict[te.Operation, Tensor] = {}
    pending = list(reversed(outputs))
    while pending:
        tensor = pending[-1]
        op = tensor.op
        if op in found or isinstance(op, te.PlaceholderOp):
            pending.pop()
            continue
        waits = [
            each
            for each in op.input_tensors
            if each.op not in found and not isinstance(each.op, te.PlaceholderOp)
        ]
        if waits:
            pending.extend(reversed(waits))
        else:
            found[op] = pending.pop()
    return list(found.values())


def stored_source(tensor: Tensor) -> Tensor:
    """Return the source in memory of a tensor that only converts its input; else the tensor."""
    while isinstance(tensor.op, te.ComputeOp) and len(tensor.op.input_tensors) == 1:
        (source,) = tensor.op.input_tensors
        if list(map(number_of, source.shape)) != list(map(number_of, tensor.shape)):
            break
        tensor = source
    return tensor


def rank_of_inputs(tensor: Tensor) -> int:
    """Return the most axes of the inputs from which a tensor is computed."""
    if isinstance(tensor.op, te.PlaceholderOp):
        return 0
    return max((len(each.shape) for each in inputs_of(tensor)), default=0)


def inputs_of(tensor: Tensor) -> list[Tensor]:
    """Return the inputs from which a tensor is computed; the tensor itself if it is an input."""
    if isinstance(tensor.op, te.PlaceholderOp):
        return [tensor]
    read = [each for stage in stages_of([tensor]) for each in stage.op.input_tensors]
    return list({each.op: each for each in read if isinstance(each.op, te.PlaceholderOp)}.values())


def readers_of(stages: Sequence[Tensor]) -> dict[te.Operation, list[Tensor]]:
    """Return the stages that read each operation, each once; operations without any are missing."""
    readers: dict[te.Operation, list[Tensor]] = {}
    for stage in stages:
        for op in {each.op for each in stage.op.input_tensors}:
            readers.setdefault(op, []).append(stage)
    return readers


__all__ = ["inputs_of", "rank_of_inputs", "readers_of", "stages_of", "stored_source"]
