"""Attributes that convolutions and pooling share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ...extents import Extent, plain
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


def window_attributes(
    node: Node, spatial: Sequence[Extent], kernel: Sequence[int]
) -> dict[str, Any]:
    """Return strides, dilations and pads, one or two for each spatial axis.

    With an `auto_pad` of SAME, the number of windows is the extent divided by the stride, rounded
    up. An odd element of padding is at the end for SAME_UPPER, at the begin for SAME_LOWER.
    """
    rank = len(spatial)
    check_kernel(node, kernel)
    strides = numbers(node, "strides", rank, 1)
    dilations = numbers(node, "dilations", rank, 1)
    pads: list[Extent] = [*numbers(node, "pads", 2 * rank, 0)]
    mode = padding_mode(node)
    if mode in SAME:
        totals = [
            _same_total(extent, (k - 1) * dilation, stride)
            for extent, k, stride, dilation in zip(spatial, kernel, strides, dilations, strict=True)
        ]
        pads = shared_out(totals, more_at_begin=mode == "SAME_LOWER")
    elif mode == "VALID":
        pads = [0] * (2 * rank)
    return {"strides": strides, "dilations": dilations, "pads": pads}


def _same_total(extent: Extent, span: int, stride: int) -> Extent:
    """Return the padding of an axis with which it has as many windows as it has strides.

    The last window begins at the last multiple of the stride in the axis; `span` is the distance
    from its first element to its last.
    """
    if stride == 1 or span == 0:
        return span
    total = plain(span - (extent - 1) % stride)
    return total if span >= stride - 1 else positive_part(total)


def positive_part(extent: Extent) -> Extent:
    """Return an extent, or 0 if it is negative."""
    return max(extent, 0) if isinstance(extent, int) else plain(te.max(extent, 0))


def shared_out(totals: Sequence[Extent], more_at_begin: bool) -> list[Extent]:
    """Halve the total pads of each axis; return the pads before all axes, then after all axes."""
    less = [plain(total // 2) for total in totals]
    more = [plain(total - half) for total, half in zip(totals, less, strict=True)]
    return [*more, *less] if more_at_begin else [*less, *more]


__all__ = ["SAME", "check_kernel", "numbers", "padding_mode", "positive_part", "shared_out"]
__all__ += ["window_attributes"]
