"""Samples images at positions given by data, and assembles images from blocks."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...ops import movement
from ...ops import resize as ops
from ..nodes import Node, Value, empty
from .registry import converts
from .windows import numbers


@converts("GridSample")
def grid_sample(node: Node) -> Value:
    """Sample images at the positions of a grid."""
    x, grid = node.input(0), node.input(1)
    if x.rank < 3:
        node.refuse(f"its images have the shape {x.shape}; at least 3 axes are required")
    if grid.rank != x.rank or grid.shape[-1] != x.rank - 2:
        node.refuse(
            f"a grid of shape {grid.shape} does not fit images of shape {x.shape}: it must have "
            f"{x.rank} axes, the last of extent {x.rank - 2}"
        )
    names = {"bilinear": "linear", "bicubic": "cubic"}
    mode = node.attributes.get("mode", "linear")
    mode = names.get(mode, mode)
    if mode not in ("nearest", "linear", "cubic"):
        node.refuse(f"its mode is {mode!r}, not nearest, linear or cubic")
    outside = node.attributes.get("padding_mode", "zeros")
    if outside not in ("zeros", "border", "reflection"):
        node.refuse(f"its padding_mode is {outside!r}, not zeros, border or reflection")
    shape = (*x.shape[:2], *grid.shape[1:-1])
    if 0 in shape:
        return empty(shape, x.dtype)
    given: dict[str, Any] = {"interpolation": mode, "outside": outside}
    align = bool(node.attributes.get("align_corners", 0))
    return node.emit("grid_sample", ops.grid_sample, [x, grid], align_corners=align, **given)


@converts("AffineGrid")
def affine_grid(node: Node) -> Value:
    """Compute the grid of an affine transformation."""
    theta, size = node.input(0), node.ints(1)[2:]
    if theta.shape[1:] != (len(size), len(size) + 1):
        node.refuse(
            f"matrices of shape {theta.shape} do not fit images of {len(size)} axes: each must be "
            f"{len(size)} x {len(size) + 1}"
        )
    shape = (theta.shape[0], *size, len(size))
    if 0 in shape:
        return empty(shape, theta.dtype)
    align = bool(node.attributes.get("align_corners", 0))
    places = node.constant(ops.grid_places(size, theta.dtype, align))
    return node.emit("affine_grid", ops.affine_grid, [theta, places], size=tuple(size))


@converts("RoiAlign")
def roi_align(node: Node) -> Value:
    """Sample regions by linear interpolation."""
    x, rois, images = node.input(0), node.input(1), node.input(2)
    get = node.attributes.get
    size = (int(get("output_height", 1)), int(get("output_width", 1)))
    older = "output_half_pixel" if node.version < 16 else "half_pixel"
    half_pixel = get("coordinate_transformation_mode", older) == "half_pixel"
    if get("mode", "avg") not in ("avg", "max"):
        node.refuse(f"its mode is {get('mode')!r}, neither avg nor max")
    shape = (rois.shape[0], x.shape[1], *size)
    if 0 in shape:
        return empty(shape, x.dtype)
    scale = float(get("spatial_scale", 1.0))
    ratio = int(get("sampling_ratio", 0))
    inputs, samples = [x, rois, images], (ratio, ratio)
    if ratio <= 0:  # then each bin has as many samples as pixels
        counts = _samples(node.known(1), scale, half_pixel, size)
        inputs.append(node.constant(counts, "int32"))
        samples = (max(1, int(counts[:, 0].max())), max(1, int(counts[:, 1].max())))
    given: dict[str, Any] = {"size": size, "samples": samples, "scale": scale}
    given |= {"half_pixel": half_pixel, "largest": get("mode", "avg") == "max"}
    return node.emit("roi_align", ops.roi_align, inputs, **given)


def _samples(rois: Any, scale: float, half_pixel: bool, size: tuple[int, int]) -> Any:
    """Return the number of samples of each region's bins along rows and columns."""
    corners = rois.astype(np.float32) * np.float32(scale) - np.float32(0.5 * half_pixel)
    lengths = (corners[:, 2:] - corners[:, :2])[:, ::-1]
    if not half_pixel:
        lengths = np.maximum(lengths, np.float32(1))
    return np.maximum(np.ceil(lengths / np.float32(size)), 0)


@converts("MaxRoiPool")
def max_roi_pool(node: Node) -> Value:
    """Find the largest elements of each region's bins."""
    x, rois = node.input(0), node.input(1)
    height, width = node.attributes["pooled_shape"]
    shape = (rois.shape[0], x.shape[1], height, width)
    if 0 in shape:
        return empty(shape, x.dtype)
    scale = float(node.attributes.get("spatial_scale", 1.0))
    given: dict[str, Any] = {"size": (height, width), "scale": scale}
    return node.emit("max_roi_pool", ops.max_roi_pool, [x, rois], **given)


@converts("Col2Im")
def col2im(node: Node) -> Value:
    """Add up overlapping blocks to an image."""
    x, image, block = node.input(0), node.ints(1), node.ints(2)
    axes = len(image)
    strides, dilations = numbers(node, "strides", axes, 1), numbers(node, "dilations", axes, 1)
    pads = numbers(node, "pads", 2 * axes, 0)
    if len(block) != axes or min(block, default=1) < 1:
        node.refuse(f"its blocks of {block} are not of positive extents along {axes} axes")
    counts = [
        (image[a] + pads[a] + pads[axes + a] - dilations[a] * (block[a] - 1) - 1) // strides[a] + 1
        for a in range(axes)
    ]
    fits = x.rank == 3 and x.shape[1] % prod(block) == 0
    if not fits or min(counts) < 1 or x.shape[2] != prod(counts):
        node.refuse(
            f"a tensor of shape {x.shape} does not hold blocks of {block} of an image of {image}"
        )
    shape = (x.shape[0], x.shape[1] // prod(block), *image)
    if 0 in shape:
        return empty(shape, x.dtype)
    given: dict[str, Any] = {"image": image, "block": block, "strides": strides}
    given |= {"dilations": dilations, "before": pads[:axes], "counts": counts}
    return node.emit("col2im", movement.columns_to_image, [x], **given)


__all__ = ["affine_grid", "col2im", "grid_sample", "max_roi_pool", "roi_align"]
