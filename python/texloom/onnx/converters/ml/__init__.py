"""Converters of the domain ``ai.onnx.ml``: estimators and the features that they read.

Where the standard is silent, the results are those of onnxruntime. Where onnxruntime contradicts
the standard, nodes are refused, or computed as the standard says; `docs/onnx.md` names these cases.
"""

from __future__ import annotations

from . import features, linear, support_vectors, trees

__all__ = ["features", "linear", "support_vectors", "trees"]
