"""Converters of ONNX operators, by family.

A converter takes a :class:`texloom.onnx.nodes.Node` and returns its outputs. A converter reads
attributes and known inputs, and emits functions of :mod:`texloom.ops`. Importing a module registers
its converters.
"""

from __future__ import annotations

from . import (
    activations,
    attention,
    branches,
    casts,
    convolution,
    counted,
    elementwise,
    indexing,
    loops,
    losses,
    microsoft,
    ml,
    movement,
    normalization,
    pooling,
    products,
    random,
    recurrent,
    reductions,
    resize,
    sampling,
    sequences,
    shapes,
    signal,
)
from .registry import converter_of, supported

__all__ = [
    "activations",
    "attention",
    "branches",
    "casts",
    "converter_of",
    "convolution",
    "counted",
    "elementwise",
    "indexing",
    "loops",
    "losses",
    "microsoft",
    "ml",
    "movement",
    "normalization",
    "pooling",
    "products",
    "random",
    "recurrent",
    "reductions",
    "resize",
    "sampling",
    "sequences",
    "shapes",
    "signal",
    "supported",
]
