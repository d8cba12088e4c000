"""Operators of networks: TE computations by family, and schedules that fit any of them.

A computation states what is computed; :func:`texloom.ops.schedules.schedule_default` decides where
and how, by the storages of the tensors and the target. Computations that are scheduled by hand are
in ``texloom.examples``.
"""

from __future__ import annotations

from . import (
    attention,
    broadcast,
    convolution,
    counted,
    elementwise,
    estimators,
    indexing,
    movement,
    normalization,
    pooling,
    products,
    quantization,
    random,
    recurrent,
    reductions,
    resize,
    schedules,
    signal,
    sorting,
    tiled,
)
from .extrema import maximum, minimum

__all__ = [
    "attention",
    "broadcast",
    "convolution",
    "counted",
    "elementwise",
    "estimators",
    "indexing",
    "maximum",
    "minimum",
    "movement",
    "normalization",
    "pooling",
    "products",
    "quantization",
    "random",
    "recurrent",
    "reductions",
    "resize",
    "schedules",
    "signal",
    "sorting",
    "tiled",
]
