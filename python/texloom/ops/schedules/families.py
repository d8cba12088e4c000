"""All families of schedules, in the order in which they are tried."""

from __future__ import annotations

from enum import Enum
from math import inf
from typing import Any

from .contraction import REGISTER_TILES
from .family import Family, KernelTask
from .gpu import channels_last as gpu_channels_last
from .gpu import fragment_family, product_family
from .gpu.chains import CHAINS
from .gpu.separable import SEPARABLE
from .gpu.slices import PIXELS, PRODUCTS_OF_FEW_ROWS
from .group_moments import GROUP_MOMENTS
from .processor import channels_last as processor_channels_last
from .processor.products import PRODUCTS as PANELS
from .processor.winograd import TRANSFORMS
from .reduction_families import CHANNEL_GROUPS, REDUCTIONS
from .row_reductions import ROW_REDUCTIONS
from .texel_convolutions import TEXEL_CONVOLUTIONS


class KernelKind(Enum):
    """What a kernel computes, which decides what families it may have."""

    COMPUTATION = "a whole computation of one output, in a buffer"
    CONVOLUTION = "a convolution with channels last"
    TEXELS = "sums of products that are written to a texture"
    CONTRACTION = "other sums of products"
    REDUCTION = "another reduction"


FAMILIES: dict[KernelKind, tuple[Family[Any, Any], ...]] = {
    KernelKind.COMPUTATION: (TRANSFORMS, SEPARABLE, CHAINS, ROW_REDUCTIONS, GROUP_MOMENTS),
    KernelKind.CONVOLUTION: (
        fragment_family.CONVOLUTIONS,
        product_family.CONVOLUTIONS,
        gpu_channels_last.CONVOLUTIONS,
        gpu_channels_last.DEPTHWISE,
        processor_channels_last.CONVOLUTIONS,
    ),
    KernelKind.TEXELS: (TEXEL_CONVOLUTIONS,),
    KernelKind.CONTRACTION: (
        PANELS,
        PRODUCTS_OF_FEW_ROWS,
        fragment_family.PRODUCTS,
        product_family.PRODUCTS,
        REGISTER_TILES,
    ),
    KernelKind.REDUCTION: (PIXELS, CHANNEL_GROUPS, REDUCTIONS),
}
"""The families by kind of kernel. The first one that has a default for a task schedules it."""

_RIVALS = {product_family.CONVOLUTIONS: 1.1, gpu_channels_last.CONVOLUTIONS: 1.0}
"""Families for the same tasks, and how much an estimate of each counts.

The one whose default has the least estimate schedules a task. With these factors, the chosen one
takes 1.017 times as long as the faster one in the mean of 130 convolutions on an NVIDIA H200, and
1.021 times without.
"""


def family_for(kind: KernelKind, task: KernelTask) -> Family[Any, Any] | None:
    """Return the family that schedules a task; None if there is none."""
    first = next((each for each in FAMILIES[kind] if each.default(task) is not None), None)
    if first not in _RIVALS:
        return first
    return min(_RIVALS, key=lambda each: _RIVALS[each] * _least_estimate(each, task))


def least_seconds(kind: KernelKind, task: KernelTask, *, of_computed: bool = False) -> float:
    """Return the estimated seconds of a kernel by the family that schedules it.

    Infinity if there is none, or no estimate. With `of_computed`, the kernel also computes what its
    sums read, as not all families can.
    """
    family = family_for(kind, task)
    if family is not None and of_computed and not family.reads_computed:
        families = (each for each in FAMILIES[kind] if each.reads_computed)
        return min(_least_estimate(each, task) for each in families)
    return inf if family is None else _least_estimate(family, task)


def _least_estimate(family: Family[Any, Any], task: KernelTask) -> float:
    """Return the estimated seconds of the default; infinity if there is none."""
    knobs = family.default(task)
    seconds = None if knobs is None else family.estimate(task, knobs)
    return inf if seconds is None else seconds


__all__ = ["FAMILIES", "KernelKind", "family_for", "least_seconds"]
