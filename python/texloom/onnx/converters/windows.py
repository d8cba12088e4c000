"""Attributes that convolutions and pooling share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...extents import are_known
from ..nodes import Node

SAME = ("SAME_UPPER", "SAME_LOWER")
_MODES = ("NOTSET", "VALID", *SAME)


def padding_mode(node: Node) -> str:
    """Return the attribute `auto_pad`, one of the standard's four values."""
    mode = node.attributes.get("auto_pad", "NOTSET")
    if mode not in _MODES:
        node.refuse(f"its auto_pad is {mode!r}, not one of {', '.join(_MODES)}")
    return str(mode)


def numbers(node: Node, name: str, count: int, least: int) -> list[int]:
    """Return an attribute of `count` numbers; a missing one is all 1 or, if 0 is allowed, all 0."""
    made = [int(each) for each in node.attributes.get(name, [least] * count)]
    if len(made) != count:
        node.refuse(
            f"{name}={made} has not {count} numbers, but its input has {node.input(0).rank} axes"
        )
    if any(each < least for each in made):
        node.refuse(f"{name}={made} has a number below {least}")
    return made


def check_kernel(node: Node, kernel: Sequence[int]) -> None:
    """Refuse a `kernel_shape` that contradicts the weights."""
    given = node.attributes.get("kernel_shape")
    if given is not None and numbers(node, "kernel_shape", len(kernel), 1) != list(kernel):
        node.refuse(f"its kernel_shape is {list(given)}, but its weights have {list(kernel)}")


def window_attributes(node: Node, spatial: Sequence[int], kernel: Sequence[int]) -> dict[str, Any]:
    """Return strides, dilations and pads, one or two for each spatial axis.

    With an `auto_pad` of SAME, the number of windows is the extent divided by the stride, rounded
    up. An odd element of padding is at the end for SAME_UPPER, at the begin for SAME_LOWER.
    """
    rank = len(spatial)
    check_kernel(node, kernel)
    strides = numbers(node, "strides", rank, 1)
    dilations = numbers(node, "dilations", rank, 1)
    pads = numbers(node, "pads", 2 * rank, 0)
    mode = padding_mode(node)
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
    return {"strides": strides, "dilations": dilations, "pads": pads}


def shared_out(totals: Sequence[int], more_at_begin: bool) -> list[int]:
    """Halve the total pads of each axis; return the pads before all axes, then after all axes."""
    less = [total // 2 for total in totals]
    more = [total - half for total, half in zip(totals, less, strict=True)]
    return [*more, *less] if more_at_begin else [*less, *more]


__all__ = ["SAME", "check_kernel", "numbers", "padding_mode", "shared_out", "window_attributes"]
