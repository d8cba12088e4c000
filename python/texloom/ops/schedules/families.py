"""All families of schedules, in the order in which they are tried."""

from __future__ import annotations

from enum import Enum
from typing import Any

from .contraction import REGISTER_TILES
from .family import Family, KernelTask
from .gpu import channels_last as gpu_channels_last
from .gpu import fragment_family
from .gpu.chains import CHAINS
from .gpu.product_family import PRODUCTS
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
        gpu_channels_last.CONVOLUTIONS,
        gpu_channels_last.DEPTHWISE,
        processor_channels_last.CONVOLUTIONS,
    ),
    KernelKind.TEXELS: (TEXEL_CONVOLUTIONS,),
    KernelKind.CONTRACTION: (
        PANELS,
        PRODUCTS_OF_FEW_ROWS,
        fragment_family.PRODUCTS,
        PRODUCTS,
        REGISTER_TILES,
    ),
    KernelKind.REDUCTION: (PIXELS, CHANNEL_GROUPS, REDUCTIONS),
}
"""The families by kind of kernel. The first one that has a default for a task schedules it."""


def family_for(kind: KernelKind, task: KernelTask) -> Family[Any, Any] | None:
    """Return the first family that has a default for a task; None if there is none."""
    return next((each for each in FAMILIES[kind] if each.default(task) is not None), None)


__all__ = ["FAMILIES", "KernelKind", "family_for"]
