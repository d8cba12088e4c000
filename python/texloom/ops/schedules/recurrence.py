"""Schedules of the stages of ``te.scan``: each step launches all of its kernels."""

from __future__ import annotations

from collections.abc import Sequence

from ... import te
from ..._core import Schedule, Stage, TargetValue, Tensor
from ..contraction import RECURRENT
from .processor.registers import Registers
from .reduction import schedule_step_reduction

_THREADS = 64


def schedule_scans(
    s: Schedule, tensors: Sequence[Tensor], target: TargetValue
) -> set[te.Operation]:
    """Schedule the parts of all scans among the stages; return the scheduled operations.

    The initial rows are one kernel. In a step, each update and each reduction is a kernel. Each
    stage that a reduction reads is a kernel, too, because it would otherwise be computed again for
    each term. Other stages are inlined into their readers. All kernels are launched once for each
    row, with one thread for each element, or several for a reduction. Native code computes the
    sums that one other kernel reads in that kernel, in registers.
    """
    scans = [each.op for each in tensors if isinstance(each.op, te.ScanOp)]
    first = {each.op for scan in scans for each in scan.init}
    updates = {each.op for scan in scans for each in scan.update}
    in_steps = [each for each in tensors if _is_step(s, each) and each.op not in scans]
    kernels = [each for each in in_steps if each.op in updates or _is_kernel(each, tensors)]
    done = set(scans)
    if target.kind == "llvm":
        for kernel in kernels:
            sums = _sums_of(kernel, kernels, in_steps)
            if kernel.op not in done and sums and _schedule_with_sums(s, kernel, sums, target):
                done |= {kernel.op, *(each.op for each in sums)}
    for tensor in tensors:
        stage = s[tensor]
        is_step = _is_step(s, tensor)
        if tensor.op in done or not (is_step or tensor.op in first):
            continue
        done.add(tensor.op)
        axes = list(stage.op.axis)
        if not is_step:
            _bind(stage, axes)
        elif tensor.op.reduce_axis and schedule_step_reduction(s, tensor, target):
            continue
        elif tensor in kernels:
            _bind(stage, axes[1:])
        else:
            stage.compute_inline()
    return done


def _is_step(s: Schedule, tensor: Tensor) -> bool:
    group = s[tensor].group
    return group is not None and isinstance(group.op, te.ScanOp)


def _is_kernel(tensor: Tensor, tensors: Sequence[Tensor]) -> bool:
    """Whether a stage is a reduction, or read by one."""
    reductions = [each.op for each in tensors if each.op.reduce_axis]
    return bool(tensor.op.reduce_axis) or any(
        tensor.op in [read.op for read in op.input_tensors] for op in reductions
    )


def _sums_of(kernel: Tensor, kernels: Sequence[Tensor], in_steps: Sequence[Tensor]) -> list[Tensor]:
    """Return the reductions that this kernel alone reads, itself or in stages inlined there."""
    if kernel.op.reduce_axis:
        return []
    inlined = {each.op for each in in_steps} - {each.op for each in kernels}

    def reads(op: te.Operation) -> set[te.Operation]:
        direct = {each.op for each in op.input_tensors}
        return direct.union(*(reads(each) for each in direct & inlined))

    own = reads(kernel.op)
    others = set().union(*(reads(each.op) for each in kernels if each.op != kernel.op))
    return [each for each in kernels if each.op.reduce_axis and each.op in own - others]


def _schedule_with_sums(
    s: Schedule, kernel: Tensor, sums: Sequence[Tensor], target: TargetValue
) -> bool:
    """Compute some consecutive elements of a step in a block, after the sums that they read.

    The sums ``[step, directions, batch, gates, hidden]`` are vectors in registers. False if the
    elements do not divide into vectors.
    """
    stage = s[kernel]
    step, *rows, column = stage.op.axis
    if any(len(each.shape) != len(kernel.shape) + 1 or not _is_of_float32(each) for each in sums):
        return False
    elements = column.dom.extent
    gates = sum(int(each.shape[-2]) for each in sums)
    lanes, vectors = _vectors_of(int(elements), gates, target)
    if lanes == 0:
        return False
    column, _ = stage.split(column, lanes * vectors)
    block = stage.fuse(*rows, column)
    stage.bind(block, te.thread_axis("blockIdx.x"))
    for each in sums:
        own = s[each]
        own.set_scope("local")
        own.compute_at(stage, block)
        *outer, gate, result = own.op.axis
        vector, lane = own.split(result, lanes)
        own.reorder(*outer, *own.op.reduce_axis, gate, vector, lane)
        own.unroll(gate)
        own.unroll(vector)
        own.vectorize(lane)
    return True


def _vectors_of(elements: int, gates: int, target: TargetValue) -> tuple[int, int]:
    """Return the lanes and the number of vectors of a block's elements; no lanes if none divide."""
    registers = Registers.of(target)
    lanes = registers.lanes_of(elements)
    if lanes == 0:
        return 0, 0
    most = max(1, registers.sums // 2 // gates)
    return lanes, next(n for n in range(most, 0, -1) if elements % (n * lanes) == 0)


def recurrence_layouts(tensors: Sequence[Tensor], target: TargetValue) -> dict[Tensor, str]:
    """Return the layouts of weights ``[directions, hidden, gates, hidden]`` of recurrent layers.

    A block that computes all gates reads its weights one after another: a step reads all weights,
    which are more than the first levels of the cache hold. The two kernels of a GRU whose reset
    comes before the product skip the gates of each other.
    """
    made: dict[Tensor, str] = {}
    for each in tensors:
        if each.op.tag != RECURRENT or target.kind != "llvm":
            continue
        weight = each.op.input_tensors[-1]
        *_, gates, elements = weight.shape
        lanes, vectors = _vectors_of(int(elements), int(gates), target)
        if lanes:
            own = lanes * vectors
            made[weight] = f"buffer[(d, k, g, j) -> cols=(d, j/{own}, k, g, j%{own})]"
    return made


def _is_of_float32(tensor: Tensor) -> bool:
    """Whether the stage has one result, of float32 numbers."""
    return tensor.op.num_outputs == 1 and tensor.dtype == "float32"


def _bind(stage: Stage, axes: Sequence[te.IterVar]) -> None:
    """Give each point of the axes a thread."""
    outer, inner = stage.split(stage.fuse(*axes), factor=_THREADS)
    stage.bind(outer, te.thread_axis("blockIdx.x"))
    stage.bind(inner, te.thread_axis("threadIdx.x"))


__all__ = ["recurrence_layouts", "schedule_scans"]
