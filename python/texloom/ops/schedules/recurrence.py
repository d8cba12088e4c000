"""Schedules of the stages of ``te.scan``: each step launches all of its kernels."""

from __future__ import annotations

from collections.abc import Sequence

from ... import te
from ..._core import Schedule, Stage, TargetValue, Tensor
from .reduction import schedule_step_reduction

_THREADS = 64


def schedule_scans(
    s: Schedule, tensors: Sequence[Tensor], target: TargetValue
) -> set[te.Operation]:
    """Schedule the parts of all scans among the stages; return the scheduled operations.

    The initial rows are one kernel. In a step, each update and each reduction is a kernel. Each
    stage that a reduction reads is a kernel, too, because it would otherwise be computed again for
    each term. Other stages are inlined into their readers. All kernels are launched once for each
    row, with one thread for each element, or several for a reduction.
    """
    scans = [each.op for each in tensors if isinstance(each.op, te.ScanOp)]
    first = {each.op for scan in scans for each in scan.init}
    updates = {each.op for scan in scans for each in scan.update}
    done = set(scans)
    for tensor in tensors:
        stage = s[tensor]
        is_step = stage.group is not None and isinstance(stage.group.op, te.ScanOp)
        if tensor.op in done or not (is_step or tensor.op in first):
            continue
        done.add(tensor.op)
        axes = list(stage.op.axis)
        if not is_step:
            _bind(stage, axes)
        elif tensor.op.reduce_axis and schedule_step_reduction(s, tensor, target):
            continue
        elif tensor.op in updates or _is_kernel(tensor, tensors):
            _bind(stage, axes[1:])
        else:
            stage.compute_inline()
    return done


def _is_kernel(tensor: Tensor, tensors: Sequence[Tensor]) -> bool:
    """Whether a stage is a reduction, or read by one."""
    reductions = [each.op for each in tensors if each.op.reduce_axis]
    return bool(tensor.op.reduce_axis) or any(
        tensor.op in [read.op for read in op.input_tensors] for op in reductions
    )


def _bind(stage: Stage, axes: Sequence[te.IterVar]) -> None:
    """Give each point of the axes a thread."""
    outer, inner = stage.split(stage.fuse(*axes), factor=_THREADS)
    stage.bind(outer, te.thread_axis("blockIdx.x"))
    stage.bind(inner, te.thread_axis("threadIdx.x"))


__all__ = ["schedule_scans"]
