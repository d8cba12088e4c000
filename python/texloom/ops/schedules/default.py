"""The schedule of computations for which nobody wrote a better one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ... import _core, te
from ..._core import IterVar, Schedule, Tensor
from .contraction import contraction_kernels, schedule_contraction, stored_inputs
from .recurrence import schedule_scans
from .reduction import schedule_reduction
from .stages import stages_of

THREADS = 64
"""Threads per block, at most."""

FEWEST_THREADS = 32
"""Threads per block, at least, where a smaller number would divide the elements."""

MOST_COPIED_NODES = 64
"""How large an expression may be that is computed at each of several places that read it."""


class _Places:
    """Where each stage of a computation is computed.

    A stage that is no output is computed where it is read ("inline"), by each thread of the last
    stage before its own element ("local"), or by a kernel of its own ("root").
    """

    def __init__(self, stages: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        self._reads = {tensor.op: _core.operation_reads(tensor.op) for tensor in stages}
        self._last = {each.op for each in outputs}
        self._times: dict[te.Operation, int] = {}
        self._near = self._read_at_own_indices(stages)
        self._size: dict[te.Operation, int] = {}  # of its expression, with what is inlined
        self.place = {tensor.op: self._place_of(tensor.op) for tensor in stages}

    def _read_at_own_indices(self, stages: Sequence[Tensor]) -> dict[te.Operation, bool]:
        """Return of which stages a thread of the last one needs exactly its own element."""
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
        if op in self._last or reads is None:
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


def _threads_for(elements: int) -> int:
    """Return the threads per block: a divisor, so that no thread has to test its index."""
    if elements <= THREADS:
        return elements
    divisors = (n for n in range(THREADS, FEWEST_THREADS - 1, -1) if elements % n == 0)
    return next(divisors, THREADS)


def _bind(s: Schedule, tensor: Tensor) -> IterVar:
    """Give each element a thread; return the axis of the threads of a block."""
    axes = list(s[tensor].op.axis)
    if not axes:  # a single element: a loop of one iteration
        inner = s[tensor].fuse()
    else:
        threads = _threads_for(prod(int(extent) for extent in tensor.shape))
        outer, inner = s[tensor].split(s[tensor].fuse(*axes), factor=threads)
        s[tensor].bind(outer, te.thread_axis("blockIdx.x"))
    s[tensor].bind(inner, te.thread_axis("threadIdx.x"))
    return inner


def _schedule_kernel(s: Schedule, tensor: Tensor) -> IterVar:
    """Make a kernel of a stage, with a thread for each element; return the axis of threads.

    A reduction accumulates in a register.
    """
    if not tensor.op.reduce_axis or tensor.op.num_outputs > 1:
        return _bind(s, tensor)
    sums = s.cache_write(tensor, "local")
    inner = _bind(s, tensor)
    s[sums].compute_at(s[tensor], inner)
    return inner


def schedule_default(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    scopes: Sequence[str],
    target: str,
) -> Schedule:
    """Return a schedule for any computation, which is right for all shapes.

    An output is a kernel with a thread for each element, and so is a reduction, unless the last
    stage needs of it exactly the element at its own indices: then that thread computes it, in
    registers. What is neither is computed where it is read, unless it is a large expression that is
    read several times. Sums of products, and what is computed from them element by element, are
    computed tile by tile; other reductions by lanes, columns or several threads where that pays.
    """
    del inputs, scopes
    s = te.create_schedule([each.op for each in outputs])
    stages = stages_of(outputs)
    scheduled = set(schedule_scans(s, stages, target))
    threads: dict[te.Operation, IterVar] = {}  # of each kernel, by the stage that it writes
    for sums, root in contraction_kernels(stages, outputs).items():
        threads[root.op] = schedule_contraction(s, sums, root, target)
        scheduled |= {sums.op, root.op, *(each.op for each in stored_inputs(sums))}
    places = _Places(stages, outputs).place
    local = []
    for tensor in stages:
        place = places[tensor.op]
        if tensor.op in scheduled:
            continue
        if place == "inline":
            s[tensor].compute_inline()
        elif tensor.op.reduce_axis and place != "local" and schedule_reduction(s, tensor, target):
            continue
        elif place == "local":
            local.append(tensor)
        elif isinstance(tensor.op, te.ComputeOp):
            threads[tensor.op] = _schedule_kernel(s, tensor)
    for tensor in local:
        s[tensor].set_scope("local")
        s[tensor].compute_at(s[outputs[0]], threads[outputs[0].op])
    return s


__all__ = ["schedule_default"]
