"""Examples of operators: TE computations, and schedules for them, as separate functions.

A computation states what is computed; a schedule states where and how. An operator can therefore
have variants that differ only in storage (``storage="texture"`` or ``"buffer"``). Each module is
meant to be read and copied; no network uses them. The operators of networks are in
:mod:`texloom.ops`.
"""

from __future__ import annotations

from .conv2d import conv2d_nchw4c, schedule_conv2d_nchw4c
from .layer import Conv2dLayer
from .packing import pack_nchw4c, pack_oihw4o, unpack_nchw4c, unpack_oihw4o

__all__ = [
    "Conv2dLayer",
    "conv2d_nchw4c",
    "pack_nchw4c",
    "pack_oihw4o",
    "schedule_conv2d_nchw4c",
    "unpack_nchw4c",
    "unpack_oihw4o",
]
