"""Operators that read or write elements by index: slices, gathers, scatters."""
