"""Convolutions as neural networks compute them, without mirroring the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from ..precision import sum_dtype
from ..windows import Windows

TAG = "convolution"
"""The tag of the stage that sums, by which schedules find it."""


def convolution(
    data: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    strides: Sequence[int] = (),
    pads: Sequence[int] = (),
    dilations: Sequence[int] = (),
    groups: int = 1,
) -> Tensor:
    """Convolve a tensor with weights, along any number of spatial axes.

    Parameters
    ----------
    data : Tensor
        ``[N, C, *spatial]``.
    weight : Tensor
        ``[O, C / groups, *kernel]`` of the same dtype. With as many groups as channels it is a
        depthwise convolution.
    bias : Tensor, optional
        ``[O]``, of the same dtype.
    strides, dilations : sequence of int, optional
        For each spatial axis; 1 by default.
    pads : sequence of int, optional
        Zeros before each spatial axis, then those after each; none by default.
    groups : int
        Output channels of a group read only the input channels of that group.

    Returns
    -------
    Tensor
        ``[N, O, *windows]`` of the dtype of `data`; see :class:`texloom.ops.windows.Windows`. Sums
        of float16 and bfloat16 are float32.

    Raises
    ------
    ValueError
        For shapes that do not match.
    """
    dtype = sum_dtype(data.dtype)
    outputs, inner, *kernel = (int(extent) for extent in weight.shape)
    channels = int(data.shape[1])
    check_groups(channels, outputs, inner, groups)
    windows = Windows.of(kernel, strides, pads, dilations)
    shape = (data.shape[0], outputs, *windows.counts(data.shape[2:]))
    own = windows.pad(data, 0, dtype)
    c = te.reduce_axis((0, inner), name="c")
    taps = windows.axes()

    def product(n: Any, o: Any, *window: Any) -> Any:
        channel = grouped(o, outputs, groups, inner, c.var)
        pixel = own(n, channel, *windows.positions(window, taps))
        return te.sum(pixel * weight(o, c, *taps).astype(dtype), axis=[c, *taps])

    sums = te.compute(shape, product, name="sums", tag=TAG)
    return finished(sums, bias, data.dtype)


def check_groups(channels: int, outputs: int, inner: int, groups: int) -> None:
    """Refuse channels that do not form groups.

    Raises
    ------
    ValueError
    """
    if groups < 1 or channels != inner * groups or outputs % groups:
        raise ValueError(
            f"{channels} input and {outputs} output channels do not form {groups} groups with "
            f"{inner} input channels each"
        )


def grouped(o: Any, outputs: int, groups: int, inner: int, c: Any) -> Any:
    """Return input channel `c` of the `inner` ones in the group of output channel `o`."""
    if groups == 1:
        return c
    per_group = outputs // groups
    group = o if per_group == 1 else te.indexdiv(o, per_group)
    return group if inner == 1 else group * inner + c


def finished(sums: Tensor, bias: Tensor | None, dtype: str) -> Tensor:
    """Return sums ``[N, O, ...]``, plus a bias ``[O]``, rounded to a dtype."""
    if bias is None and sums.dtype == dtype:
        return sums

    def element(*i: Any) -> Any:
        value = sums(*i)
        if bias is not None:
            value = value + bias(i[1]).astype(sums.dtype)
        return value.astype(dtype)

    return te.compute(sums.shape, element, name="output")


__all__ = ["TAG", "check_groups", "convolution", "finished", "grouped"]
