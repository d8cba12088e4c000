"""Resizing and sampling of images."""

from __future__ import annotations

from .grid_sampling import affine_grid, grid_places, grid_sample
from .open_tables import open_table
from .regions import max_roi_pool, roi_align
from .resizing import fill_outside, interpolate, interpolate_open, repeat, take_positions
from .tables import Axis, Phases, Sampling, Table, parts_of, phases, table

__all__ = [
    "Axis",
    "Phases",
    "Sampling",
    "Table",
    "affine_grid",
    "fill_outside",
    "grid_places",
    "grid_sample",
    "interpolate",
    "interpolate_open",
    "max_roi_pool",
    "open_table",
    "parts_of",
    "phases",
    "repeat",
    "roi_align",
    "table",
    "take_positions",
]
