"""The schedule of computations for which nobody wrote a better one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from ... import te
from ..._core import IterVar, Schedule, Tensor
from ...extents import Extent, product
from ..contraction import Contraction
from .contraction import schedule_contraction
from .contraction_kernels import contraction_kernels, stored_inputs
from .gpu.channels_last import is_convolution, schedule_channels_last, schedule_joined
from .gpu.elements import bind_channels, order_channels
from .gpu.layouts import is_channels_last
from .places import Places
from .recurrence import schedule_scans
from .reduction import schedule_reduction
from .stages import stages_of
from .texels import bind_texels, is_texture, schedule_lanes

_Bind = Callable[[Schedule, Tensor], IterVar]
_Order = Callable[[Schedule, Tensor], None]

THREADS = 64
"""Threads per block, at most."""

FEWEST_THREADS = 32
"""Threads per block, at least, where a smaller number would divide the elements."""


def _threads_for(elements: Extent) -> int:
    """Return the threads per block: a divisor, so that no thread has to test its index."""
    if not isinstance(elements, int):
        return THREADS
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
        threads = _threads_for(product(tensor.shape))
        outer, inner = s[tensor].split(s[tensor].fuse(*axes), factor=threads)
        s[tensor].bind(outer, te.thread_axis("blockIdx.x"))
    s[tensor].bind(inner, te.thread_axis("threadIdx.x"))
    return inner


def _schedule_kernel(s: Schedule, tensor: Tensor, scope: str) -> IterVar:
    """Make a kernel of a stage, with a thread for each element or texel; return its axis.

    A reduction accumulates in registers.
    """
    bind, order = _functions_for(scope)
    if not tensor.op.reduce_axis or tensor.op.num_outputs > 1:
        return bind(s, tensor)
    sums = s.cache_write(tensor, "local")
    inner = bind(s, tensor)
    s[sums].compute_at(s[tensor], inner)
    order(s, sums)
    return inner


def _functions_for(scope: str) -> tuple[_Bind, _Order]:
    """Return what binds an output in this scope, and what orders a reduction in a thread of it."""
    if is_texture(scope):
        return bind_texels, schedule_lanes
    if is_channels_last(scope):
        return bind_channels, order_channels
    return _bind, lambda s, tensor: None


def _reduction(
    s: Schedule,
    tensor: Tensor,
    places: Mapping[te.Operation, str],
    outputs: Sequence[Tensor],
    threads: Mapping[te.Operation, IterVar],
    texels: Collection[te.Operation],
    target: str,
) -> tuple[Tensor, IterVar] | None:
    """Schedule a reduction if a thread for each result is not the best.

    Returns the stage that its kernel writes, and an axis of it where other stages are computed: the
    last stage, if that reads only this reduction, and only at its own indices.
    """
    is_local = places[tensor.op] == "local"
    if not tensor.op.reduce_axis or (outputs[0] if is_local else tensor).op in texels:
        return None
    if not is_local:
        return schedule_reduction(s, tensor, tensor, target)
    is_only = sum(place == "local" and bool(op.reduce_axis) for op, place in places.items()) == 1
    if not is_only or outputs[0].op in threads:
        return None
    return schedule_reduction(s, tensor, outputs[0], target)


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
    A thread of an output in a texture computes a texel.
    """
    scope_of = {each.op: scope for each, scope in zip(outputs, scopes[len(inputs) :], strict=False)}
    texels = {op for op, scope in scope_of.items() if is_texture(scope)}
    # Channels are last in kernels of which an argument is stored that way.
    last = any(map(is_channels_last, scopes))
    s = te.create_schedule([each.op for each in outputs])
    stages = stages_of(outputs)
    scheduled = set(schedule_scans(s, stages, target))
    threads: dict[te.Operation, IterVar] = {}  # of each kernel, by the stage that it writes
    joined = schedule_joined(s, stages, outputs[0], target) if last and not texels else None
    if joined is not None:
        threads[outputs[0].op] = joined
        for sums in (each for each in stages if Contraction.of(each) is not None):
            scheduled |= {sums.op, sums.op.input_tensors[0].op, outputs[0].op}
    for sums, root in contraction_kernels(stages, outputs).items():
        if root.op in texels or sums.op in scheduled:
            continue
        if last and is_convolution(sums):
            threads[root.op] = schedule_channels_last(s, sums, root, target)
            scheduled |= {sums.op, root.op, sums.op.input_tensors[0].op}
            continue
        threads[root.op] = schedule_contraction(s, sums, root, target)
        scheduled |= {sums.op, root.op, *(each.op for each in stored_inputs(sums))}
    places = Places(stages, outputs).place
    local = []
    for tensor in stages:
        place = places[tensor.op]
        if tensor.op in scheduled:
            continue
        if place == "inline":
            s[tensor].compute_inline()
        elif not last and (made := _reduction(s, tensor, places, outputs, threads, texels, target)):
            written, threads[written.op] = made
            scheduled.add(written.op)
        elif place == "local":
            local.append(tensor)
        elif isinstance(tensor.op, te.ComputeOp):
            threads[tensor.op] = _schedule_kernel(s, tensor, scope_of.get(tensor.op, "global"))
    for tensor in local:
        s[tensor].set_scope("local")
        s[tensor].compute_at(s[outputs[0]], threads[outputs[0].op])
        _functions_for(scope_of.get(outputs[0].op, "global"))[1](s, tensor)
    return s


__all__ = ["schedule_default"]
