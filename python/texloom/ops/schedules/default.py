"""The schedule of computations for which nobody wrote a better one."""

from __future__ import annotations

from collections.abc import Sequence

from ... import te
from ..._core import Schedule, Tensor
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

    What is no reduction and no output is computed where it is read. Everything else is a kernel of
    its own with a thread for each element.
    """
    del inputs, scopes, target
    s = te.create_schedule([each.op for each in outputs])
    last = {each.op for each in outputs}
    stages = _stages(outputs)
    done = schedule_scans(s, stages)
    for tensor in stages:
        if tensor.op in done:
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
