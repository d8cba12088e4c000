"""Operators that read or write elements by index: slices, gathers, scatters."""

from __future__ import annotations
