"""Resizing and sampling of images."""

from __future__ import annotations

from .grid_sampling import affine_grid, grid_sample
from .regions import max_roi_pool, roi_align
from .resizing import fill_outside, interpolate, repeat, take_positions
from .tables import Axis, Sampling, Table, table

__all__ = [
    "Axis",
    "Sampling",
    "Table",
    "affine_grid",
    "fill_outside",
    "grid_sample",
    "interpolate",
    "max_roi_pool",
    "repeat",
    "roi_align",
    "table",
    "take_positions",
]
