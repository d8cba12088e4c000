"""Other implementations that models are compared with, and how far outputs are apart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import refuse
from .reports import missing_package


def import_onnxruntime() -> Any:
    """Import onnxruntime; refuse the comparison if it is not installed."""
    try:
        import onnxruntime
    except ModuleNotFoundError:
        missing_package("onnxruntime", "the comparison")
    return onnxruntime


def onnxruntime_session(model: Path | bytes, threads: int | None = None) -> Any:
    """Return a session on the processor; TL3043 for a model that onnxruntime refuses."""
    onnxruntime = import_onnxruntime()
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 3
    if threads is not None:
        settings.intra_op_num_threads = threads
    given = model if isinstance(model, bytes) else str(model)
    try:
        return onnxruntime.InferenceSession(given, settings, ["CPUExecutionProvider"])
    except Exception as error:  # exceptions of onnxruntime have no common class
        refuse("BadModel", f"onnxruntime refuses the model: {error}", "compare another model")


def largest_difference(
    ours: Mapping[str, NDArray[Any]], theirs: Mapping[str, NDArray[Any]], peer: str
) -> float:
    """Return the largest difference, relative to the largest magnitude in the same output.

    `peer` is the name of the other implementation.
    """
    largest = 0.0
    for name, expected in theirs.items():
        got = ours[name]
        if got.shape != expected.shape:
            refuse(
                "WrongShape",
                f"the output {name!r} has the shape {got.shape} in Texloom, but "
                f"{expected.shape} in {peer}",
                "compare with the ONNX model that the package was compiled from",
            )
        if expected.size == 0 or expected.dtype.kind not in "fiub":
            continue
        a, b = got.astype("float64"), expected.astype("float64")
        with np.errstate(invalid="ignore"):
            apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
        finite = b[np.isfinite(b)]
        scale = float(np.max(np.abs(finite))) if finite.size else 1.0
        worst = float(np.max(apart))
        largest = max(largest, worst / (scale or 1.0) if not np.isnan(worst) else np.inf)
    return largest


def difference_from(others: str, largest: float) -> str:
    """Return what :func:`largest_difference` says about outputs, as the end of a sentence."""
    if largest == 0:
        return f"are equal to {others}"
    return f"differ from {others} by up to {largest:.2g} of their largest magnitude"


__all__ = ["difference_from", "import_onnxruntime", "largest_difference", "onnxruntime_session"]
