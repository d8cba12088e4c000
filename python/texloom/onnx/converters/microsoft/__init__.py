"""Converters of the operators that onnxruntime's optimizer and quantizer write.

Most of them are combinations of ONNX's own operators, and are converted as such.
"""

from __future__ import annotations

from . import activations, attention, normalization, packed, products, quantized

__all__ = ["activations", "attention", "normalization", "packed", "products", "quantized"]
