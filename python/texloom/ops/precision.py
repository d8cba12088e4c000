"""The types in which sums are computed."""

from __future__ import annotations

_WIDER = {"float16": "float32", "bfloat16": "float32"}


def sum_dtype(dtype: str) -> str:
    """Return the type in which elements of a type are summed.

    Sums of float16 and bfloat16 are float32, and are rounded once at the end. Sums of integers wrap
    around in their own type.
    """
    return _WIDER.get(dtype, dtype)


__all__ = ["sum_dtype"]
