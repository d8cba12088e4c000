"""Comparison of arrays, for test scripts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks.checked_calls import check_calls


def assert_allclose(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7) -> None:
    """Raise an AssertionError unless two NumPy or device arrays agree in shape and values.

    Close is ``|actual - desired| <= atol + rtol * |desired|``.
    """
    actual, desired = np.asarray(actual), np.asarray(desired)
    if actual.shape != desired.shape:
        raise AssertionError(f"the shapes differ: {actual.shape} and {desired.shape}")
    np.testing.assert_allclose(actual, desired, rtol=rtol, atol=atol)


__all__ = ["assert_allclose"]
check_calls(globals())
