"""Quantization."""

from __future__ import annotations

from .linear import dequantize, quantize

__all__ = ["dequantize", "quantize"]
