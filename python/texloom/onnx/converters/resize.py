"""Resizing of images."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor, isnan, nan
from typing import TypeAlias

import numpy as np

from ...extents import Extent, are_known, at_least, is_at_most, plain, quotient
from ...ops import resize as ops
from ...ops.resize.open_tables import TRANSFORMATIONS_OF_QUOTIENTS
from ...ops.resize.tables import ROUNDINGS, TRANSFORMATIONS, Real
from ..nodes import Node, Quotient, Value, empty
from .axes import normal_axes
from .registry import converts


@converts("Resize")
def resize(node: Node) -> Value:
    """Resize axes by interpolation."""
    x = node.input(0)
    if node.version < 11:  # as ONNX Runtime does; the standard does not define the sampling
        return _resized(node, x, _scaled(node, x, range(x.rank), _scales(node, 1)), _older(node))
    sampling = _sampling(node)
    given = node.attributes.get("axes")
    axes = range(x.rank) if given is None else normal_axes(node, given, x.rank)
    made = _axes(node, x, axes)
    if sampling.transformation == "tf_crop_and_resize":
        part = node.known(1)
        if part.size != 2 * len(axes):
            node.refuse(f"its roi has {part.size} numbers, not two for each of {len(axes)} axes")
        for number, axis in enumerate(axes):
            begin, end = float(part[number]), float(part[len(axes) + number])
            made[axis] = made[axis]._replace(begin=begin, end=end)
    return _resized(node, x, made, sampling)


@converts("Upsample")
def upsample(node: Node) -> Value:
    """Lengthen axes by factors."""
    x = node.input(0)
    scales = _scales(node, 1) if node.has(1) else node.attributes["scales"]
    axes = _scaled(node, x, range(x.rank), scales)
    return _resized(node, x, axes, _older(node))


def _interpolation(node: Node) -> ops.Interpolation:
    """Return the interpolation that the node names."""
    names: dict[str, ops.Interpolation]
    names = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "cubic": "cubic"}
    mode = node.attributes.get("mode", "nearest")
    if mode not in names:
        node.refuse(f"its mode is {mode!r}, not nearest, linear or cubic")
    return names[mode]


def _older(node: Node) -> ops.Sampling:
    """Return the sampling of Upsample and of version 10 of Resize."""
    return ops.Sampling(_interpolation(node), transformation="asymmetric", rounding="by_scale")


def _sampling(node: Node) -> ops.Sampling:
    """Return the sampling of Resize from version 11 on."""
    get = node.attributes.get
    made = ops.Sampling(
        _interpolation(node),
        get("coordinate_transformation_mode", "half_pixel"),
        get("nearest_mode", "round_prefer_floor"),
        float(get("cubic_coeff_a", -0.75)),
        bool(get("antialias", 0)),
        bool(get("exclude_outside", 0)),
    )
    if made.transformation not in TRANSFORMATIONS:
        node.refuse(f"its coordinate_transformation_mode {made.transformation!r} is not supported")
    if made.rounding not in ROUNDINGS:
        node.refuse(f"its nearest_mode {made.rounding!r} is not supported")
    return made


def _axes(node: Node, x: Value, axes: Sequence[int]) -> dict[int, ops.Axis]:
    """Return the axes to be resized, from the scales or from the sizes."""
    if node.has(3) and not are_known([*node.ints(3), *x.shape]):
        return _sized(node, x, axes, node.ints(3))
    sizes = node.known(3) if node.has(3) else np.zeros(0)
    if sizes.size == 0:
        return _scaled(node, x, axes, _scales(node, 2))
    if sizes.size != len(axes):
        node.refuse(f"{sizes.size} sizes are given for {len(axes)} axes")
    policy = node.attributes.get("keep_aspect_ratio_policy", "stretch")
    if policy not in ("stretch", "not_larger", "not_smaller"):
        node.refuse(f"its keep_aspect_ratio_policy {policy!r} is not supported")
    scales = [_scale(node, int(n), x.shape[axis]) for n, axis in zip(sizes, axes, strict=True)]
    if policy != "stretch":
        scales = [min(scales) if policy == "not_larger" else max(scales)] * len(axes)
    made = {}
    for axis, scale in zip(axes, scales, strict=True):
        extent = x.shape[axis]
        made[axis] = ops.Axis(extent, floor(scale * extent + Fraction(1, 2)), float(scale))
    return made


def _scale(node: Node, size: int, extent: int) -> Fraction:
    """Return the scale of an axis that is resized to a size."""
    if extent == 0 and size != 0:
        node.refuse(f"an axis without elements cannot be resized to {size} elements")
    return Fraction(size, extent) if extent else Fraction(1)


def _sized(
    node: Node, x: Value, axes: Sequence[int], sizes: Sequence[Extent]
) -> dict[int, ops.Axis]:
    """Return the axes to be resized to sizes, some of which are open."""
    if node.attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch":
        node.refuse("its keep_aspect_ratio_policy is not supported while extents are open")
    if len(sizes) != len(axes):
        node.refuse(f"{len(sizes)} sizes are given for {len(axes)} axes")
    made = {}
    for axis, size in zip(axes, sizes, strict=True):
        extent = x.shape[axis]
        if are_known([size, extent]):
            scale = float(_scale(node, size, extent))
        else:
            factor = quotient([size], [extent])
            scale = float(factor) if isinstance(factor, int) else nan
        made[axis] = ops.Axis(extent, size, scale, ratio=(size, extent))
    return made


Scale: TypeAlias = "float | Quotient | Extent"
"""A number, or a quotient of extents that is known only at a run."""


def _scales(node: Node, index: int) -> list[Scale]:
    """Return the scales that an input gives."""
    open_scales = node.input(index).sizes
    if open_scales is not None:
        return list(open_scales.reshape(-1))
    return list(map(float, node.known(index).reshape(-1)))


def _scaled(
    node: Node, x: Value, axes: Sequence[int], scales: Sequence[Scale]
) -> dict[int, ops.Axis]:
    """Return the axes to be resized by scales."""
    if len(scales) != len(axes):
        node.refuse(f"{len(scales)} scales are given for {len(axes)} axes")
    if any(isinstance(each, (int, float)) and each <= 0 for each in scales):
        node.refuse(f"its scales {list(scales)} are not all positive")
    made = {}
    for axis, given in zip(axes, scales, strict=True):
        extent = x.shape[axis]
        if not isinstance(given, (int, float)):
            made[axis] = _scaled_by_quotient(node, extent, given)
            continue
        scale = np.float32(given)
        if isinstance(extent, int):
            size = int(np.floor(scale * np.float32(extent)))
        else:
            parts = ops.parts_of(float(scale))
            if parts is None:
                node.refuse(
                    f"an open extent needs a scale that is a fraction of small numbers, not {scale}"
                )
            size = plain(extent * parts[0] // parts[1])
        ratio = float(scale).as_integer_ratio()
        made[axis] = ops.Axis(extent, size, float(scale), ratio=ratio)
    return made


def _scaled_by_quotient(node: Node, extent: Extent, scale: Quotient | Extent) -> ops.Axis:
    """Return an axis that is resized by a quotient of extents."""
    above, below = (scale.above, scale.below) if isinstance(scale, Quotient) else (scale, 1)
    size = quotient([extent, above], [below])
    if size is None:
        node.refuse(
            f"its scale {above} / {below}, times the extent {extent}, is not certainly whole"
        )
    return ops.Axis(extent, size, nan, ratio=(above, below))


def _resized(node: Node, x: Value, axes: dict[int, ops.Axis], sampling: ops.Sampling) -> Value:
    """Emit a resized tensor."""
    shape = tuple(axes[a].size if a in axes else n for a, n in enumerate(x.shape))
    if 0 in shape:
        return empty(shape, x.dtype)
    if 0 in x.shape:
        node.refuse(f"it cannot make elements from its empty input of the shape {x.shape}")
    if sampling.antialias and sampling.interpolation == "nearest":
        node.refuse("antialias is not for mode 'nearest'")
    is_part = sampling.transformation == "tf_crop_and_resize"
    changed_in_a_run = {
        axis: each
        for axis, each in axes.items()
        if not are_known([each.extent, each.size]) and each.scale != 1
    }
    if changed_in_a_run:
        return _open(node, x, axes, sampling)
    changed = {
        axis: ops.table(each, sampling, _real(x, sampling))
        for axis, each in axes.items()
        if each.scale != 1 or each.size != each.extent or (is_part and each[3:] != (0.0, 1.0))
    }
    if not changed:
        return x
    made = _interpolated(node, x, changed, sampling)
    outside = {axis: each.inside for axis, each in changed.items() if not each.inside.all()}
    if not outside:
        return made
    tables = [node.constant(each, "int32") for each in outside.values()]
    value = float(node.attributes.get("extrapolation_value", 0.0))
    given = {"axes": tuple(outside), "value": value}
    return node.emit("fill_outside", ops.fill_outside, [made, *tables], **given)


def _real(x: Value, sampling: ops.Sampling) -> Real:
    """Return the type in which the coordinates of a resized tensor are computed."""
    is_weighted = sampling.interpolation != "nearest"
    return np.float64 if is_weighted and x.dtype == "float64" else np.float32


_SAMPLES = (1, 2, 3, 5, 8, 13, 64)  # extents


def _open(node: Node, x: Value, axes: dict[int, ops.Axis], sampling: ops.Sampling) -> Value:
    """Emit a tensor resized along axes, some of which have open extents."""
    changed = {axis: each for axis, each in axes.items() if each.scale != 1}
    factors = [1] * x.rank
    for axis, each in changed.items():
        factors[axis] = _whole_factor(each, sampling)
    if all(factors):
        return node.emit("resize", ops.repeat, [x], factors=tuple(factors))
    real = _real(x, sampling)
    found = [
        None if isnan(e.scale) else ops.phases(e.scale, sampling, real) for e in changed.values()
    ]
    if None in found:
        return _by_open_tables(node, x, changed, sampling)
    if sampling.transformation == "pytorch_half_pixel" and not all(
        each.scale >= 1 or at_least(each.size, 2) for each in changed.values()
    ):
        node.refuse("an open extent may become 1, which pytorch_half_pixel treats differently")
    is_weighted = sampling.interpolation != "nearest"
    wide = "float64" if x.dtype == "float64" else "float32"
    tables = []
    for each in found:
        assert each is not None
        tables.append(node.constant(each.offsets, "int32"))
        tables += [node.constant(each.weights, wide)] if is_weighted else []
    return node.emit(
        "resize",
        ops.interpolate_open,
        [x, *tables],
        axes=tuple(changed),
        sizes=tuple(each.size for each in changed.values()),
        steps=tuple(each.step for each in found if each is not None),
        is_weighted=is_weighted,
    )


def _by_open_tables(
    node: Node, x: Value, axes: dict[int, ops.Axis], sampling: ops.Sampling
) -> Value:
    """Emit a tensor resized along axes whose tables a run computes."""
    _check_open(node, axes, sampling)
    is_weighted = sampling.interpolation != "nearest"
    tables = []
    for axis, each in axes.items():
        tables += node.emit_parts(
            f"table_of_axis_{axis}",
            "resize_table",
            ops.open_table,
            [],
            extent=each.extent,
            size=each.size,
            ratio=each.ratio,
            sampling=sampling,
            dtype=_sum_dtype(x.dtype),
        )
    function = ops.interpolate if is_weighted else ops.take_positions
    return node.emit("resize", function, [x, *tables], axes=tuple(axes))


def _check_open(node: Node, axes: dict[int, ops.Axis], sampling: ops.Sampling) -> None:
    """Refuse what tables that a run computes do not support."""
    name = sampling.transformation
    if name not in TRANSFORMATIONS_OF_QUOTIENTS:
        node.refuse(
            f"an axis is open, but coordinate_transformation_mode {name} needs to know its extent"
        )
    for each in axes.values():
        above, below = each.ratio
        if sampling.antialias and not is_at_most(below, above):
            node.refuse(f"antialias needs to know the scale {above} / {below}")


def _whole_factor(axis: ops.Axis, sampling: ops.Sampling) -> int:
    """Return how often each element is repeated; 0 if this depends on the element or the extent."""
    factor = 0 if isnan(axis.scale) else int(axis.scale)
    if sampling.interpolation != "nearest" or factor != axis.scale:
        return 0
    tables = [ops.table(axis._replace(extent=n, size=n * factor), sampling) for n in _SAMPLES]
    repeats = all(_factor(made, n) == factor for made, n in zip(tables, _SAMPLES, strict=True))
    return factor if repeats else 0


def _interpolated(
    node: Node, x: Value, changed: dict[int, ops.Table], sampling: ops.Sampling
) -> Value:
    """Emit the tensor resized by tables, axis by axis, first the axis that shrinks most."""
    if sampling.interpolation == "nearest":
        factors = [_factor(changed[a], n) if a in changed else 1 for a, n in enumerate(x.shape)]
        if all(factors):
            return node.emit("resize", ops.repeat, [x], factors=tuple(factors))
        tables = [node.constant(each.positions[:, 0]) for each in changed.values()]
        return node.emit("resize", ops.take_positions, [x, *tables], axes=tuple(changed))
    order = sorted(changed, key=lambda axis: len(changed[axis].weights) / x.shape[axis])
    tables = []
    for axis in order:
        tables.append(node.constant(changed[axis].positions))
        tables.append(node.constant(changed[axis].weights, _sum_dtype(x.dtype)))
    return node.emit("resize", ops.interpolate, [x, *tables], axes=tuple(order))


def _factor(table: ops.Table, extent: int) -> int:
    """Return how often each element is repeated; 0 if elements are repeated differently."""
    factor, rest = divmod(len(table.positions), extent)
    repeated = np.repeat(np.arange(extent), max(factor, 1))
    is_repeated = rest == 0 and np.array_equal(table.positions[:, 0], repeated)
    return factor if is_repeated else 0


def _sum_dtype(dtype: str) -> str:
    """Return the dtype in which weighted sums of elements are computed."""
    small = ("float32", "float16", "bfloat16", "int8", "uint8", "int16", "uint16")
    return "float32" if dtype in small else "float64"


__all__ = ["resize", "upsample"]
