"""Where the stages of a computation are computed."""

from __future__ import annotations

from collections.abc import Sequence

from ... import _core, te
from ..._core import Tensor

MOST_COPIED_NODES = 64
"""The most nodes of an expression that is inlined into several readers."""


class Places:
    """Where each stage of a computation is computed.

    A stage that is not an output is inlined into its readers ("inline"), computed by each thread of
    the last stage before its own element ("local"), or computed by a separate kernel ("root").
    """

    def __init__(self, stages: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        self._reads = {tensor.op: _core.operation_reads(tensor.op) for tensor in stages}
        self._last = {each.op for each in outputs}
        self._times: dict[te.Operation, int] = {}
        self._whole = {  # externs read whole tensors
            read.op
            for tensor in stages
            if isinstance(tensor.op, te.ExternOp)
            for read in tensor.op.input_tensors
        }
        self._near = self._read_at_own_indices(stages)
        self._size: dict[
            te.Operation, int
        ] = {}  # number of nodes, including those of inlined stages
        self.place = {tensor.op: self._place_of(tensor.op) for tensor in stages}

    def _read_at_own_indices(self, stages: Sequence[Tensor]) -> dict[te.Operation, bool]:
        """Return for each stage whether a thread of the last stage reads only its own element."""
        near = {op: len(self._last) == 1 for op in self._last}
        for tensor in reversed(stages):
            reads = self._reads[tensor.op]
            if reads is None:  # a scan or an extern
                for read in tensor.op.input_tensors:
                    near[read.op] = False
                    self._times[read.op] = self._times.get(read.op, 0) + 1
                continue
            for read, kind, count in reads.inputs:
                is_own = near[tensor.op] and kind == "own"
                near[read.op] = near.get(read.op, True) and is_own
                self._times[read.op] = self._times.get(read.op, 0) + count
        return near

    def _place_of(self, op: te.Operation) -> str:
        reads = self._reads[op]
        if op in self._last or op in self._whole or reads is None:
            place = "root"
        else:
            self._size[op] = reads.size + sum(
                count * (self._size.get(read.op, 1) - 1) for read, _, count in reads.inputs
            )
            is_large = self._times[op] > 1 and self._size[op] > MOST_COPIED_NODES
            place = "inline"
            if op.reduce_axis or is_large:
                place = "local" if self._near[op] and op.num_outputs == 1 else "root"
        if place != "inline":
            self._size[op] = 1
        return place


__all__ = ["MOST_COPIED_NODES", "Places"]
