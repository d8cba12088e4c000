"""Quantized numbers, and conversions of element types."""

from __future__ import annotations
