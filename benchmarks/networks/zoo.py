"""The networks that benchmarks measure, by name, all with inputs of fixed sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import onnx
from light_models import NAMES, light_model
from models import NETWORKS
from numpy.typing import NDArray

from texloom_demo.ocr.models import find

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


def input_of(name: str, shape: Sequence[int]) -> NDArray[np.float32]:
    """Return what a network reads: parts of a scanned page from -1 to 1, or random numbers.

    Random numbers have no text, where the outputs of text networks are all but zero.
    """
    if name not in TEXT_SIZES:
        return np.random.default_rng(1).standard_normal(shape, np.float32)
    from skimage.data import page

    scan = page().astype(np.float32) / 127.5 - 1
    rows, columns = shape[-2:]
    times = [-(-rows // scan.shape[0]), -(-columns // scan.shape[1])]
    return np.broadcast_to(np.tile(scan, times)[:rows, :columns], shape).copy()


__all__ = ["TEXT_SIZES", "input_of", "networks", "text_network"]
