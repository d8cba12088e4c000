"""Conversions of element types, and quantization."""
