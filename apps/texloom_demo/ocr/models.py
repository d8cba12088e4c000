"""The networks of PP-OCR (Apache-2.0), which the package ``rapidocr-onnxruntime`` carries."""

from __future__ import annotations

import importlib.util
from pathlib import Path

FILES = {
    "detection": "ch_PP-OCRv4_det_infer.onnx",
    "direction": "ch_ppocr_mobile_v2.0_cls_infer.onnx",
    "recognition": "ch_PP-OCRv4_rec_infer.onnx",
}


def find() -> dict[str, Path] | None:
    """Return the files of the networks by name, or None if the package is not installed."""
    found = importlib.util.find_spec("rapidocr_onnxruntime")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "models"
    return {name: folder / file for name, file in FILES.items()}


__all__ = ["FILES", "find"]
