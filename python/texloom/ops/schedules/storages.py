"""Storages of the arguments of an operator in buffers: row-major, packed, or channels last."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from types import ModuleType

from ..._core import TargetValue, Tensor
from ...extents import are_known
from ..contraction import Contraction
from ..stages import stored_source
from . import gpu, processor
from .channels_last.layouts import activation_layout, is_channels_last
from .contraction_kernels import contraction_kernels
from .families import KernelKind, family_for
from .family import Choose, KernelTask, default_knobs
from .gpu.separable import separable_sums
from .recurrence import recurrence_layouts

_DTYPES = ("float32", "float16")
_INTEGERS = ("uint8", "int8", "int16")


def device_of(target: TargetValue) -> ModuleType:
    """Return the package with the schedules of kernels with channels last for a target."""
    return processor if target.is_cpu else gpu


def is_convolution(sums: Tensor, output: Tensor, target: TargetValue) -> bool:
    """Whether `output` is computed from sums of a convolution that can have channels last."""
    return _convolution_layout(sums, output, target, default_knobs) is not None


def _convolution_layout(
    sums: Tensor, output: Tensor, target: TargetValue, choose: Choose
) -> str | None:
    """Return the layout of the weights of a convolution with channels last; None for other sums."""
    roles = Contraction.of(sums)
    if roles is None or not roles.is_convolution:
        return None
    if sums.dtype != "float32" and not (sums.dtype == "int32" and target.kind == "llvm"):
        return None
    return _weight_layout(KernelKind.CONVOLUTION, KernelTask.of_sums(sums, output, target), choose)


def _weight_layout(kind: KernelKind, task: KernelTask, choose: Choose) -> str | None:
    """Return the layout of weights that the family of a kernel wants."""
    family = family_for(kind, task)
    return None if family is None else family.weight_layout(task, choose(family, task))


def channels_last_storages(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    stages: Sequence[Tensor],
    fixed: Collection[Tensor],
    constants: Collection[Tensor],
    target: TargetValue,
    choose: Choose = default_knobs,
) -> tuple[str, ...] | None:
    """Return the storages of inputs, then outputs, with channels last for activations.

    Parameters
    ----------
    outputs, inputs : sequence of Tensor
    stages : sequence of Tensor
        All stages of the computation.
    fixed : collection of Tensor
        The inputs and outputs that must be row-major, because they are inputs or outputs of the
        graph.
    constants : collection of Tensor
        The inputs whose values are fixed.
    target : TargetValue
        Kernels for processors need constant weights.
    choose : callable, optional
        As for :func:`.default.schedule_default`.

    Returns
    -------
    tuple of str or None
        None if no activation would have channels last, unless row-major pixels had better be copied
        for a convolution.
    """
    device = device_of(target)
    sums = [each for each in stages if Contraction.of(each) is not None]
    if len(outputs) != 1:
        return None
    if len(sums) > 1 and (device is processor or separable_sums(stages) is None):
        return None
    if not all(are_known(each.shape) for each in (*inputs, *outputs)):
        return None  # without known extents, rows have no fixed length
    layouts = {
        stored_source(each.op.input_tensors[-1]): _convolution_layout(
            each, outputs[0], target, choose
        )
        for each in sums
    }
    if None in layouts.values():
        return None
    if device is processor and not all(weight in constants for weight in layouts):
        return None

    pixels = 4 if any(map(processor.is_transform, stages)) else len(outputs[0].shape)
    dtypes = (*_DTYPES, *_INTEGERS) if target.kind == "llvm" else _DTYPES

    def stored(tensor: Tensor) -> str:
        rank = len(tensor.shape)
        if tensor in layouts:
            return (layouts[tensor] if tensor in constants else None) or "global"
        if tensor in fixed or tensor.dtype not in dtypes or rank != pixels:
            return "global"
        if prod(int(extent) for extent in tensor.shape[2:]) == 1:
            return "global"  # where channels are the only axis, they are last anyway
        return activation_layout(rank) or "global"

    storages = tuple(stored(each) for each in (*inputs, *outputs))
    reduces = device is processor and not sums and any(each.op.reduce_axis for each in stages)
    if reduces and not any(map(is_channels_last, storages[: len(inputs)])):
        return None  # a reduction over rows of a channel, which would be read with gaps
    activations = {
        each for tensor, each in zip(inputs, storages, strict=False) if tensor not in layouts
    }
    if {*activations, storages[-1]} == {"global"}:
        copies = device is processor and any(
            processor.suits_row_major(x, outputs[0], target) for x in sums
        )
        return storages if copies else None
    return storages


def row_major_storages(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    stages: Sequence[Tensor],
    constants: Collection[Tensor],
    target: TargetValue,
    choose: Choose = default_knobs,
) -> tuple[str, ...]:
    """Return the storages of inputs, then outputs, of kernels without channels last.

    All are row-major, but constant right sides of products are packed if the target's registers are
    known, and so are the weights of recurrent layers. `choose` is as for
    :func:`.default.schedule_default`.
    """
    layouts = {}
    for sums, root in contraction_kernels(stages, outputs).items():
        right = stored_source(sums.op.input_tensors[-1])
        if right in constants:
            task = KernelTask.of_sums(sums, root, target)
            layout = _weight_layout(KernelKind.CONTRACTION, task, choose)
            layouts[right] = layout or "global"
    for weight, layout in recurrence_layouts(stages, target).items():
        if stored_source(weight) in constants:
            layouts[stored_source(weight)] = layout
    return tuple(layouts.get(each, "global") for each in (*inputs, *outputs))
