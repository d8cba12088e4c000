"""Operators whose activations have their channels last in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import prod

from .... import te
from ...._core import IterVar, Schedule, Tensor
from ....extents import are_known
from ...contraction import Contraction, is_depthwise
from .convolution import ConvolutionTile, schedule_convolution
from .depthwise import schedule_depthwise
from .layouts import activation_layout, weight_layout
from .separable import schedule_separable, separable_sums, separable_tile, taps_of
from .tiles import BlockLimits, ConvolutionShape, tile_for

_DTYPES = ("float32", "float16")


def is_convolution(sums: Tensor) -> bool:
    """Whether sums are those of a convolution that can be computed with channels last.

    With several groups, each must have one channel.
    """
    roles = Contraction.of(sums)
    if roles is None or not roles.is_convolution or sums.dtype != "float32":
        return False
    _, weight = sums.op.input_tensors
    return roles.rows_per_group == int(weight.shape[0]) or is_depthwise(sums)


def channels_last_storages(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    stages: Sequence[Tensor],
    fixed: Collection[Tensor],
    constants: Collection[Tensor],
) -> tuple[str, ...] | None:
    """Return where inputs, then outputs are stored, activations with channels last.

    Parameters
    ----------
    outputs, inputs : sequence of Tensor
    stages : sequence of Tensor
        What is computed for the outputs.
    fixed : collection of Tensor
        Those among them that are row-major: inputs and outputs of the graph.
    constants : collection of Tensor
        The inputs whose values are fixed.

    Returns
    -------
    tuple of str or None
        None if nothing would have channels last.
    """
    sums = [each for each in stages if Contraction.of(each) is not None]
    if len(outputs) != 1 or not all(map(is_convolution, sums)):
        return None
    if len(sums) > 1 and separable_sums(stages) is None:
        return None
    if not all(are_known(each.shape) for each in (*inputs, *outputs)):
        return None  # the rows of such tensors have no fixed length
    weights = [_stored(each.op.input_tensors[1]) for each in sums]

    def stored(tensor: Tensor) -> str:
        rank = len(tensor.shape)
        if any(tensor.op == weight.op for weight in weights):
            return (weight_layout(rank) if tensor in constants else None) or "global"
        if tensor in fixed or tensor.dtype not in _DTYPES or rank != len(outputs[0].shape):
            return "global"
        if prod(int(extent) for extent in tensor.shape[2:]) == 1:
            return "global"  # where channels are the only axis, they are last anyway
        return activation_layout(rank) or "global"

    storages = tuple(stored(each) for each in (*inputs, *outputs))
    return storages if set(storages) != {"global"} else None


def _stored(tensor: Tensor) -> Tensor:
    """Return the tensor in memory of which another is a conversion, if it is one."""
    while isinstance(tensor.op, te.ComputeOp) and len(tensor.op.input_tensors) == 1:
        (source,) = tensor.op.input_tensors
        if list(map(int, source.shape)) != list(map(int, tensor.shape)):
            break
        tensor = source
    return tensor


def schedule_channels_last(s: Schedule, sums: Tensor, root: Tensor, target: str) -> IterVar:
    """Schedule a convolution for which :func:`is_convolution` holds; see there."""
    tile = tile_for(ConvolutionShape.of(sums, root), BlockLimits.of(target))
    return schedule_with(s, sums, root, tile)


def schedule_joined(
    s: Schedule, stages: Sequence[Tensor], root: Tensor, target: str
) -> IterVar | None:
    """Schedule a depthwise and another convolution as one kernel, if this is what stages compute.

    Stages that are no sums and not read by these must be inlined, except `root`, which is written.
    """
    found = separable_sums(stages)
    if found is None:
        return None
    depthwise, sums = found
    shape, limits = ConvolutionShape.of(sums, root), BlockLimits.of(target)
    tile = separable_tile(taps_of(depthwise), shape, limits)
    return None if tile is None else schedule_separable(s, depthwise, sums, root, tile)


def schedule_with(s: Schedule, sums: Tensor, root: Tensor, tile: ConvolutionTile) -> IterVar:
    """Schedule such a convolution with a given tile."""
    schedule: Callable[..., IterVar]
    schedule = schedule_depthwise if is_depthwise(sums) else schedule_convolution
    return schedule(s, sums, root, tile)


__all__ = [
    "channels_last_storages",
    "is_convolution",
    "schedule_channels_last",
    "schedule_joined",
    "schedule_with",
]
