"""Attributes that convolutions and pooling share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...extents import are_known
from ..nodes import Node

SAME = ("SAME_UPPER", "SAME_LOWER")


def window_attributes(node: Node, spatial: Sequence[int], kernel: Sequence[int]) -> dict[str, Any]:
    """Return strides, dilations and pads, one or two for each spatial axis.

    With an `auto_pad` of SAME, the number of windows is the extent divided by the stride, rounded
    up. An odd element of padding is at the end for SAME_UPPER, at the begin for SAME_LOWER.
    """
    rank = len(spatial)
    strides = list(node.attributes.get("strides", [1] * rank))
    dilations = list(node.attributes.get("dilations", [1] * rank))
    pads = list(node.attributes.get("pads", [0] * (2 * rank)))
    mode = node.attributes.get("auto_pad", "NOTSET")
    if len(kernel) != rank or len(strides) != rank or len(dilations) != rank:
        node.refuse(
            f"its kernel_shape, strides or dilations do not have {rank} numbers, one for each "
            "spatial axis of its input"
        )
    if mode in SAME:
        if any(s > 1 and not are_known([e]) for e, s in zip(spatial, strides, strict=True)):
            node.refuse(f"auto_pad {mode} with strides needs to know the extents")
        totals = [
            (k - 1) * dilation  # independent of the extent
            if stride == 1
            else max((-(-extent // stride) - 1) * stride + (k - 1) * dilation + 1 - extent, 0)
            for extent, k, stride, dilation in zip(spatial, kernel, strides, dilations, strict=True)
        ]
        pads = shared_out(totals, more_at_begin=mode == "SAME_LOWER")
    elif mode == "VALID":
        pads = [0] * (2 * rank)
    if len(pads) != 2 * rank:
        node.refuse(f"it has {len(pads)} pads, not two for each of {rank} spatial axes")
    return {"strides": strides, "dilations": dilations, "pads": pads}


def shared_out(totals: Sequence[int], more_at_begin: bool) -> list[int]:
    """Halve the total pads of each axis; return the pads before all axes, then after all axes."""
    less = [total // 2 for total in totals]
    more = [total - half for total, half in zip(totals, less, strict=True)]
    return [*more, *less] if more_at_begin else [*less, *more]


__all__ = ["SAME", "shared_out", "window_attributes"]
