"""Operators that move elements: transpose, concatenate, split, pad, tile."""

from __future__ import annotations

from .columns import columns_to_image
from .joining import concatenate, part
from .padding import pad
from .permuting import depth_to_space, space_to_depth, transpose
from .repeating import counted, expand, filled, listed, tile
from .reshaping import reshape
from .slicing import strided_slice, triangle

__all__ = [
    "columns_to_image",
    "concatenate",
    "counted",
    "depth_to_space",
    "expand",
    "filled",
    "listed",
    "pad",
    "part",
    "reshape",
    "space_to_depth",
    "strided_slice",
    "tile",
    "transpose",
    "triangle",
]
