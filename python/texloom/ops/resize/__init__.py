"""Resizing and sampling of images."""

from __future__ import annotations

from .resizing import fill_outside, interpolate, repeat, take_positions
from .tables import ROUNDINGS, TRANSFORMATIONS, Axis, Interpolation, Sampling, Table, table

__all__ = [
    "ROUNDINGS",
    "TRANSFORMATIONS",
    "Axis",
    "Interpolation",
    "Sampling",
    "Table",
    "fill_outside",
    "interpolate",
    "repeat",
    "table",
    "take_positions",
]
