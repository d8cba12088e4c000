"""Formats measured quantities."""

from __future__ import annotations


def scaled(value: float, unit: str) -> str:
    """Return a value with three digits and a decimal prefix."""
    for prefix, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3)):
        if abs(value) >= scale * 0.9995:
            return f"{value / scale:.{_decimals(value / scale)}f} {prefix}{unit}"
    if value == 0:
        return f"0 {unit}"
    prefix, scale = ("u", 1e-6) if value >= 0.9995e-6 else ("n", 1e-9)
    return f"{value / scale:.{_decimals(value / scale)}f} {prefix}{unit}"


def _decimals(value: float) -> int:
    return 2 if value < 9.995 else 1 if value < 99.95 else 0


__all__ = ["scaled"]
