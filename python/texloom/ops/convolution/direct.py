"""Convolutions as neural networks compute them, without mirroring the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import plain, product, shape_of
from ..contraction import Contraction, whole_columns
from ..precision import sum_dtype
from ..raveling import raveled, unraveled
from ..windows import Windows


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
        The number of groups; output channels of a group read only input channels of the same group.

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
    sums, counts = sums_of_windows(
        data,
        weight,
        lambda pixel, factor: pixel * factor.astype(dtype),
        dtype,
        strides=strides,
        pads=pads,
        dilations=dilations,
        groups=groups,
    )
    return finished(sums, bias, data.dtype, counts)


def sums_of_windows(
    data: Tensor,
    weight: Tensor,
    multiply: Callable[[Any, Any], Any],
    dtype: str,
    *,
    padding: int = 0,
    strides: Sequence[int] = (),
    pads: Sequence[int] = (),
    dilations: Sequence[int] = (),
    groups: int = 1,
) -> tuple[Tensor, tuple[int, ...]]:
    """Return the sums of ``multiply(pixel, weight)``, and the extents that :func:`finished` needs.

    Pixels have the type `dtype` of the sums; those around the tensor are `padding`. Other
    parameters and errors are those of :func:`convolution`.
    """
    outputs, inner, *kernel = shape_of(weight)
    channels = plain(data.shape[1])
    check_groups(channels, outputs, inner, groups)
    windows = Windows.of(kernel, strides, pads, dilations)
    counts = windows.counts(data.shape[2:])
    is_strided = windows.strides[-1] > 1
    # If each window is one element, the sums are a matrix product, whose columns are all elements.
    if windows.are_elements:
        computed, own = (product(counts),), _in_a_row(data, dtype)
    else:
        computed = (*counts[:-1], whole_columns(counts[-1]))
        pad = windows.pad_by_phase if is_strided else windows.pad
        own = pad(data, padding, dtype, computed)
    c = te.reduce_axis((0, inner), name="c")
    taps = windows.axes()

    def tap(n: Any, o: Any, *place: Any) -> Any:
        channel = grouped(o, outputs, groups, inner, c.var)
        positions = windows.positions_by_phase if is_strided else windows.positions
        at = place if windows.are_elements else positions(place, taps)
        pixel = own(n, channel, *at)
        return te.sum(multiply(pixel, weight(o, c, *taps)), axis=[c, *taps])

    roles = Contraction(1, outputs // groups, is_convolution=True)
    sums = te.compute((data.shape[0], outputs, *computed), tap, name="sums", **roles.marks())
    return sums, counts


def _in_a_row(data: Tensor, dtype: str) -> Tensor:
    """Return ``[N, C, *spatial]`` as ``[N, C, elements]`` of a dtype."""
    spatial = shape_of(data)[2:]

    def element(n: Any, c: Any, place: Any) -> Any:
        return data(n, c, *unraveled(place, spatial)).astype(dtype)

    return te.compute((*data.shape[:2], product(spatial)), element, name="elements")


def check_groups(channels: int, outputs: int, inner: int, groups: int) -> None:
    """Refuse channels that do not form groups.

    Raises
    ------
    ValueError
    """
    if groups < 1 or channels != inner * groups or outputs % groups:
        raise ValueError(
            f"{channels} input and {outputs} output channels do not divide into {groups} groups "
            f"with {inner} input channels each"
        )


def grouped(o: Any, outputs: int, groups: int, inner: int, c: Any) -> Any:
    """Return the input channel with number `c` in the group of output channel `o`."""
    if groups == 1:
        return c
    per_group = outputs // groups
    group = o if per_group == 1 else te.indexdiv(o, per_group)
    return group if inner == 1 else group * inner + c


def finished(sums: Tensor, bias: Tensor | None, dtype: str, extents: Sequence[int]) -> Tensor:
    """Return sums plus a bias ``[O]``, rounded to a dtype, as ``[N, O, *extents]``.

    The sums may have a single fused axis instead of `extents`, or more columns than the result.
    """
    computed = list(shape_of(sums)[2:])
    is_flat = len(computed) < len(extents)
    if bias is None and sums.dtype == dtype and computed == list(extents):
        return sums

    def element(n: Any, o: Any, *place: Any) -> Any:
        value = sums(n, o, *([raveled(place, extents)] if is_flat else place))
        if bias is not None:
            value = value + bias(o).astype(sums.dtype)
        return value.astype(dtype)

    return te.compute((*sums.shape[:2], *extents), element, name="output")


__all__ = ["check_groups", "convolution", "finished", "grouped", "sums_of_windows"]
