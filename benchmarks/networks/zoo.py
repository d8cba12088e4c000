"""The networks that benchmarks measure, by name, all with inputs of fixed sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import onnx
from light_models import NAMES, light_model
from models import NETWORKS

from texloom.demo.ocr.models import find

TEXT_SIZES = {"detection": (640, 640), "direction": (48, 192), "recognition": (48, 320)}
"""Rows and columns of the inputs of PP-OCR's networks."""


def networks() -> dict[str, Callable[[], onnx.ModelProto]]:
    """Return what makes each network: those of PP-OCR, of ``models.py``, and the light ones.

    Those of PP-OCR are missing without the package that has them.
    """
    made: dict[str, Callable[[], onnx.ModelProto]] = {}
    for name, file in (find() or {}).items():
        made[name] = partial(text_network, file, TEXT_SIZES[name])
    made |= NETWORKS
    return made | {f"light_{name}": partial(light_model, name) for name in NAMES}


def text_network(file: Path, size: tuple[int, int]) -> onnx.ModelProto:
    """Return a network of PP-OCR for one picture of a size."""
    model = onnx.load(file)
    (given,) = model.graph.input
    shape = (1, 3, *size)
    for dimension, extent in zip(given.type.tensor_type.shape.dim, shape, strict=True):
        dimension.dim_value = extent
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    return model


__all__ = ["TEXT_SIZES", "networks", "text_network"]
