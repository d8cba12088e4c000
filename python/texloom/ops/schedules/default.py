"""The schedule of computations for which nobody wrote a better one."""

from __future__ import annotations

from collections.abc import Sequence

from ... import te
from ..._core import Schedule, Tensor
from .contraction import contraction_kernels, schedule_contraction, stored_inputs
from .recurrence import schedule_scans

THREADS = 64
"""Threads per block."""


def _stages(outputs: Sequence[Tensor]) -> list[Tensor]:
    """Return what is computed for the outputs, producers first."""
    found: dict[te.Operation, Tensor] = {}

    def visit(tensor: Tensor) -> None:
        if tensor.op in found or isinstance(tensor.op, te.PlaceholderOp):
            return
        for each in tensor.op.input_tensors:
            visit(each)
        found.setdefault(tensor.op, tensor)

    for each in outputs:
        visit(each)
    return list(found.values())


def schedule_default(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    scopes: Sequence[str],
    target: str,
) -> Schedule:
    """Return a schedule for any computation, which is right for all shapes.

    What is no reduction and no output is computed where it is read. Sums of products, and what is
    computed from them element by element, are computed tile by tile. Everything else is a kernel of
    its own with a thread for each element.
    """
    del inputs, scopes
    s = te.create_schedule([each.op for each in outputs])
    last = {each.op for each in outputs}
    stages = _stages(outputs)
    scheduled = set(schedule_scans(s, stages))
    kernels = contraction_kernels(stages, outputs)
    scheduled |= {each.op for each in kernels.values()}
    for sums, root in kernels.items():
        schedule_contraction(s, sums, root, target)
        scheduled |= {sums.op, *(each.op for each in stored_inputs(sums))}
    for tensor in stages:
        if tensor.op in scheduled:
            continue
        if tensor.op not in last and not tensor.op.reduce_axis:
            s[tensor].compute_inline()
            continue
        axes = list(s[tensor].op.axis)
        if not axes:
            continue
        outer, inner = s[tensor].split(s[tensor].fuse(*axes), factor=THREADS)
        s[tensor].bind(outer, te.thread_axis("blockIdx.x"))
        s[tensor].bind(inner, te.thread_axis("threadIdx.x"))
    return s


__all__ = ["schedule_default"]
