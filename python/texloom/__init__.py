"""Texloom: a tensor compiler in which GPU texture memory is a schedulable memory scope.

Scripts written for TVM's ``te`` run after ``import texloom as tvm`` and
``from texloom import te``.
"""

from __future__ import annotations

from . import error, errors, ir, nd, runtime, target, te, tir, transform
from ._core import Device, devices
from .driver import build, decl_buffer, lower, lower_texts, parse, program
from .errors import TexloomWarning, TVMError

__version__ = "0.1.0"


def opencl(index: int = 0) -> Device:
    """The OpenCL device of this number, GPUs first; see :func:`devices`."""
    return Device(index)


def device(kind: str, index: int = 0) -> Device:
    """A device by the first word of a target string and its number."""
    word = kind.split()[0] if kind.split() else kind
    if word not in ("opencl", "cl"):
        raise ValueError(f"unknown device kind {kind!r}: use 'opencl'")
    return Device(index)


cl = opencl

__all__ = [
    "Device",
    "TVMError",
    "TexloomWarning",
    "build",
    "cl",
    "decl_buffer",
    "device",
    "devices",
    "error",
    "errors",
    "ir",
    "lower",
    "lower_texts",
    "nd",
    "opencl",
    "parse",
    "program",
    "runtime",
    "target",
    "te",
    "tir",
    "transform",
]
