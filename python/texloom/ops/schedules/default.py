"""The default schedule, for computations without a schedule of their own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from types import ModuleType

from ... import te
from ..._core import IterVar, Schedule, TargetValue, Tensor
from ...extents import Extent, likely, product
from ..contraction import Contraction
from ..stages import stages_of
from . import gpu, processor
from .channels_last.layouts import is_channels_last
from .contraction import schedule_contraction
from .contraction_kernels import contraction_kernels, stored_inputs
from .group_moments import GroupMoments
from .places import Places
from .recurrence import schedule_scans
from .reduction import schedule_groups, schedule_reduction
from .row_reductions import Rows
from .storages import device_of, is_convolution
from .texels import bind_texels, is_texture, schedule_lanes

_Bind = Callable[[Schedule, Tensor], IterVar]
_Order = Callable[[Schedule, Tensor], None]

THREADS = 64
"""The most threads per block."""

FEWEST_THREADS = 32
"""The fewest threads per block, even if only a smaller number divides the elements."""


def _threads_for(elements: Extent, most: int) -> int:
    """Return the threads per block: if possible a divisor of `elements`, to avoid index tests."""
    if not isinstance(elements, int):
        return most
    if elements <= most:
        return elements
    divisors = (n for n in range(most, FEWEST_THREADS - 1, -1) if elements % n == 0)
    return next(divisors, most)


def _bind(s: Schedule, tensor: Tensor, most: int) -> IterVar:
    """Give each element a thread; return the axis of the threads of a block, at most so many."""
    axes = list(s[tensor].op.axis)
    if not axes:  # a single element: a loop of one iteration
        inner = s[tensor].fuse()
    else:
        threads = _threads_for(product(tensor.shape), most)
        outer, inner = s[tensor].split(s[tensor].fuse(*axes), factor=threads)
        s[tensor].bind(outer, te.thread_axis("blockIdx.x"))
    s[tensor].bind(inner, te.thread_axis("threadIdx.x"))
    return inner


@dataclass(frozen=True)
class _Storages:
    """The storages of the inputs and outputs of a computation, and the kind of device that runs it.

    Attributes
    ----------
    scopes : dict of Operation to str
    has_channels_last : bool
        Whether an argument has its channels last.
    device : module
        The result of :func:`.storages.device_of`.
    threads : int
        The most threads per block.
    """

    scopes: Mapping[te.Operation, str]
    has_channels_last: bool
    device: ModuleType
    threads: int

    def is_texture(self, tensor: Tensor) -> bool:
        """Whether an input or an output is a texture."""
        return is_texture(self.scopes.get(tensor.op, "global"))

    def functions(self, tensor: Tensor) -> tuple[_Bind, _Order]:
        """Return two functions: one binds an output, one orders a reduction in its threads."""
        if self.is_texture(tensor):
            return bind_texels, partial(schedule_lanes, output=tensor)
        # If channels are the only axis with several elements, they are last in any layout.
        is_pixel = self.device is processor and prod(map(likely, tensor.shape[2:])) == 1
        is_last = self.has_channels_last and len(tensor.shape) > 2 and is_pixel
        if is_last or is_channels_last(self.scopes.get(tensor.op, "global")):
            return self.device.bind_channels, self.device.order_channels
        return partial(_bind, most=self.threads), lambda s, tensor: None


def _schedule_kernel(s: Schedule, tensor: Tensor, storages: _Storages) -> IterVar:
    """Make a kernel of a stage, with a thread for each element or texel; return its axis.

    A reduction accumulates in registers.
    """
    bind, order = storages.functions(tensor)
    if not tensor.op.reduce_axis or tensor.op.num_outputs > 1:
        return bind(s, tensor)
    sums = s.cache_write(tensor, "local")
    inner = bind(s, tensor)
    s[sums].compute_at(s[tensor], inner)
    order(s, sums)
    return inner


def _reduction(
    s: Schedule,
    tensor: Tensor,
    places: Mapping[te.Operation, str],
    outputs: Sequence[Tensor],
    threads: Mapping[te.Operation, IterVar],
    texels: Collection[te.Operation],
    target: TargetValue,
    schedule: Callable[..., tuple[Tensor, IterVar] | None],
) -> tuple[Tensor, IterVar] | None:
    """Schedule a reduction by a function, if one thread for each result is not the best choice.

    Returns the stage that the kernel writes, and an axis of it where other stages are computed. The
    kernel writes the last stage if that stage reads only this reduction, and only at its own
    indices.
    """
    is_local = places[tensor.op] == "local"
    if not tensor.op.reduce_axis or (outputs[0] if is_local else tensor).op in texels:
        return None
    if not is_local:
        return schedule(s, tensor, tensor, target)
    is_only = sum(place == "local" and bool(op.reduce_axis) for op, place in places.items()) == 1
    if not is_only or outputs[0].op in threads:
        return None
    return schedule(s, tensor, outputs[0], target)


def _schedule_pixels(
    s: Schedule, tensor: Tensor, root: Tensor, target: TargetValue
) -> tuple[Tensor, IterVar] | None:
    """Schedule a reduction of an image with channels last.

    Parameters and result are those of :func:`.schedule_reduction`.
    """
    knobs = gpu.Slices.of_pixels(tensor, root, target)
    if knobs is None:
        return schedule_groups(s, tensor, target) if root is tensor else None
    return root, gpu.schedule_pixels(s, tensor, root, knobs)


def _schedule_whole(
    s: Schedule,
    stages: Sequence[Tensor],
    outputs: Sequence[Tensor],
    places: Mapping[te.Operation, str],
    storages: _Storages,
    target: TargetValue,
) -> tuple[dict[te.Operation, IterVar], set[te.Operation]]:
    """Schedule what has kernels of its own: products in a chain, normalizations, rows and others.

    Returns the axes of threads by the written stage, and the stages that are scheduled. All other
    stages that those read must be inlined, or computed by the threads of the output.
    """
    root, last = outputs[0], storages.has_channels_last
    transform = processor.schedule_transform(s, stages, root, target)
    if transform is not None:
        return {root.op: transform[0]}, transform[1]
    if len(outputs) > 1 or storages.is_texture(root):
        return {}, set()
    may_join = last and storages.device is gpu
    joined = gpu.schedule_joined(s, stages, root, target) if may_join else None
    if joined is not None:
        sums = [each for each in stages if Contraction.of(each) is not None]
        own = [root, *sums, *(each.op.input_tensors[0] for each in sums)]
        return {root.op: joined}, {each.op for each in own}
    chain = gpu.ProductChain.of(stages, root, places, target)
    if chain is not None:
        own = [chain.first, chain.hidden, chain.second, root]
        return {root.op: chain.schedule(s, root)}, {each.op for each in own}
    rows = None if last else Rows.of(stages, outputs, target)
    if rows is not None:
        own = [root, *rows.reductions, *rows.kept]
        return {root.op: rows.schedule(s, target)}, {each.op for each in own}
    groups = GroupMoments.of(stages, root, places, target)
    if groups is not None:
        return {root.op: groups.schedule(s, last, target)}, {each.op for each in groups.scheduled}
    return {}, set()


def schedule_default(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    scopes: Sequence[str],
    target: TargetValue,
) -> Schedule:
    """Return a schedule for any computation, which is correct for all shapes.

    An output becomes a kernel with a thread for each element. A reduction also becomes such a
    kernel, unless the last stage reads only the element at its own indices: then the thread of the
    last stage computes that element, in registers. Any other stage is inlined into its readers,
    unless it is a large expression that is read several times. Sums of products, and stages
    computed from them element by element, are computed in tiles; other reductions in lanes, columns
    or by several threads, where that is faster. A thread of an output in a texture computes a
    texel.
    """
    scope_of = {each.op: scope for each, scope in zip((*inputs, *outputs), scopes, strict=False)}
    # Kernels have channels last if an argument has channels last.
    last = any(map(is_channels_last, scopes))
    storages = _Storages(scope_of, last, device_of(target), min(THREADS, target.max_threads))
    texels = {each.op for each in outputs if storages.is_texture(each)}
    s = te.create_schedule([each.op for each in outputs])
    stages = stages_of(outputs)
    places = Places(stages, outputs).place
    scheduled = set(schedule_scans(s, stages, target))
    threads, whole = _schedule_whole(s, stages, outputs, places, storages, target)
    scheduled |= whole
    for sums, root in contraction_kernels(stages, outputs).items():
        if root.op in texels or sums.op in scheduled:
            continue
        if last and is_convolution(sums, root, target):
            made = storages.device.schedule_channels_last(s, sums, root, target, scope_of)
            threads[root.op] = made[0]
            scheduled |= {each.op for each in made[1]}
            continue
        threads[root.op] = schedule_contraction(s, sums, root, target)
        scheduled |= {sums.op, root.op, *(each.op for each in stored_inputs(sums))}
    inlined = {op for op, place in places.items() if place == "inline"}
    # Native code has loops along rows, unless an element needs more than an expression.
    has_rows = target.kind == "llvm" and not last and "local" not in places.values()
    reduce = _schedule_pixels if last else schedule_reduction
    local = []
    for tensor in stages:
        place = places[tensor.op]
        if tensor.op in scheduled:
            continue
        if place == "inline":
            s[tensor].compute_inline()
        elif reduction := _reduction(s, tensor, places, outputs, threads, texels, target, reduce):
            written, threads[written.op] = reduction
            scheduled.add(written.op)
        elif place == "local":
            local.append(tensor)
        elif isinstance(tensor.op, te.ComputeOp):
            is_plain = has_rows and not tensor.op.reduce_axis and tensor.op not in texels
            made = processor.schedule_elements(s, tensor, inlined) if is_plain else None
            threads[tensor.op] = _schedule_kernel(s, tensor, storages) if made is None else made
    for tensor in local:
        s[tensor].set_scope("local")
        s[tensor].compute_at(s[outputs[0]], threads[outputs[0].op])
        storages.functions(outputs[0])[1](s, tensor)
    return s


__all__ = ["schedule_default"]
