"""Converters of the operators that onnxruntime's optimizer and quantizer write.

Most of them are combinations of ONNX's own operators, and are converted as such.
"""

from __future__ import annotations

from . import activations, normalization, products, quantized

__all__ = ["activations", "normalization", "products", "quantized"]
