"""The stages of a computation."""

from __future__ import annotations

from collections.abc import Sequence

from ... import te
from ..._core import Tensor


def stages_of(outputs: Sequence[Tensor]) -> list[Tensor]:
    """Return a tensor of each operation that the outputs need, producers first."""
    found: dict[te.Operation, Tensor] = {}
    pending = list(reversed(outputs))
    while pending:
        tensor = pending[-1]
        waits = [
            each
            for each in tensor.op.input_tensors
            if each.op not in found and not isinstance(each.op, te.PlaceholderOp)
        ]
        if waits and tensor.op not in found:
            pending.extend(reversed(waits))
            continue
        pending.pop()
        if not isinstance(tensor.op, te.PlaceholderOp):
            found.setdefault(tensor.op, tensor)
    return list(found.values())


__all__ = ["stages_of"]
