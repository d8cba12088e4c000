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
from ..stages import stages_of
from . import processor
from .channels_last.layouts import is_channels_last
from .contraction_kernels import contraction_kernels, stored_inputs
from .families import KernelKind, family_for
from .family import Choose, KernelTask, Scheduled, default_knobs
from .places import Places
from .recurrence import schedule_scans
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


def _written_by(
    tensor: Tensor,
    places: Mapping[te.Operation, str],
    outputs: Sequence[Tensor],
    threads: Mapping[te.Operation, IterVar],
    texels: Collection[te.Operation],
) -> Tensor | None:
    """Return what a kernel of a reduction may write; None if each thread computes a result.

    The kernel may write the last stage if that stage reads only this reduction, and only at its own
    indices.
    """
    is_local = places[tensor.op] == "local"
    if not tensor.op.reduce_axis or (outputs[0] if is_local else tensor).op in texels:
        return None
    if not is_local:
        return tensor
    is_only = sum(place == "local" and bool(op.reduce_axis) for op, place in places.items()) == 1
    return outputs[0] if is_only and outputs[0].op not in threads else None


def _schedule_stored(s: Schedule, tensor: Tensor) -> None:
    """Compute what sums read in a kernel of its own, with a thread for each element."""
    block, thread = s[tensor].split(s[tensor].fuse(*s[tensor].op.axis), THREADS)
    s[tensor].bind(block, te.thread_axis("blockIdx.x"))
    s[tensor].bind(thread, te.thread_axis("threadIdx.x"))


@dataclass(frozen=True)
class _Kernels:
    """The kernels of a computation, as families schedule them.

    Attributes
    ----------
    s : Schedule
    whole : KernelTask
        The computation.
    choose : callable
    """

    s: Schedule
    whole: KernelTask
    choose: Choose

    def schedule(
        self, kind: KernelKind, sums: Tensor | None = None, root: Tensor | None = None
    ) -> Scheduled | None:
        """Schedule a kernel by the first family that suits it; None if no family does."""
        task = self.whole if root is None else self.whole.of_kernel(sums, root)
        family = family_for(kind, task)
        if family is None:
            return None
        return family.apply(self.s, task, self.choose(family, task))


def schedule_default(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    scopes: Sequence[str],
    target: TargetValue,
    choose: Choose | None = None,
) -> Schedule:
    """Return a schedule for any computation, which is correct for all shapes.

    An output becomes a kernel with a thread for each element. A reduction also becomes such a
    kernel, unless the last stage reads only the element at its own indices: then the thread of the
    last stage computes that element, in registers. Any other stage is inlined into its readers,
    unless it is a large expression that is read several times. Sums of products, and stages
    computed from them element by element, are computed in tiles; other reductions in lanes, columns
    or by several threads, where that is faster: the families of :mod:`.families` schedule these. A
    thread of an output in a texture computes a texel.

    `choose` says which knobs of a family a kernel has, by default those that are estimated to be
    the fastest.
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
    threads: dict[te.Operation, IterVar] = {}  # thread axes, by the written stage
    whole = KernelTask(stages, outputs, outputs[0], target, None, scope_of, places)
    kernels = _Kernels(s, whole, choose or default_knobs)

    def add(made: Scheduled) -> None:
        threads[made.root.op] = made.thread
        scheduled.update(made.stages)

    may_be_whole = len(outputs) == 1 and not texels
    made = kernels.schedule(KernelKind.COMPUTATION) if may_be_whole else None
    if made is not None:
        add(made)
    for sums, root in contraction_kernels(stages, outputs).items():
        if sums.op in scheduled:
            continue
        if root.op in texels:
            made = kernels.schedule(KernelKind.TEXELS, sums, root)
            if made is not None:
                add(made)
            continue
        is_last = last and is_convolution(sums, root, target)
        kind = KernelKind.CONVOLUTION if is_last else KernelKind.CONTRACTION
        if not is_last:
            for each in stored_inputs(sums):
                _schedule_stored(s, each)
                scheduled.add(each.op)
        made = kernels.schedule(kind, sums, root)
        assert made is not None
        add(made)
    inlined = {op for op, place in places.items() if place == "inline"}
    # On processors with known registers, kernels have loops along rows, unless an element needs
    # more than an expression.
    has_rows = target.vectors is not None and not last and "local" not in places.values()
    local = []
    for tensor in stages:
        place = places[tensor.op]
        if tensor.op in scheduled:
            continue
        if place == "inline":
            s[tensor].compute_inline()
            continue
        root = _written_by(tensor, places, outputs, threads, texels)
        made = None if root is None else kernels.schedule(KernelKind.REDUCTION, tensor, root)
        if made is not None:
            add(made)
        elif place == "local":
            local.append(tensor)
        elif isinstance(tensor.op, te.ComputeOp):
            is_plain = has_rows and not tensor.op.reduce_axis and tensor.op not in texels
            thread = processor.schedule_elements(s, tensor, inlined) if is_plain else None
            if thread is None:
                thread = _schedule_kernel(s, tensor, storages)
            threads[tensor.op] = thread
    for tensor in local:
        s[tensor].set_scope("local")
        s[tensor].compute_at(s[outputs[0]], threads[outputs[0].op])
        storages.functions(outputs[0])[1](s, tensor)
    return s


__all__ = ["schedule_default"]
