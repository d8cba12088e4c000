"""Error bounds of sums of floating-point products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FLOAT32_ROUNDOFF = 2.0**-24
FLOAT64_ROUNDOFF = 2.0**-53


def gamma(terms: int, roundoff: float) -> float:
    """gamma_n = n*u / (1 - n*u), the factor of the error bounds of sums of `terms` products."""
    return terms * roundoff / (1 - terms * roundoff)


def sum_error_bound(terms: int, magnitudes: NDArray[Any]) -> NDArray[np.float64]:
    r"""Bound the difference of float32 sums of `terms` products from float64 sums, per element.

    A float32 sum of n products, in any order, with or without fused multiply-add, has an error of
    at most gamma_n(u) * sum(\|w\| * \|x\|) with u = 2^-24, if nothing overflows or underflows: N.
    J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, SIAM 2002, section
    3.1. The same bound with u = 2^-53 holds for the float64 sum and for the `magnitudes`, the sums
    of the products' absolute values in float64.
    """
    own = gamma(terms, FLOAT64_ROUNDOFF)
    return (gamma(terms, FLOAT32_ROUNDOFF) + own) / (1 - own) * magnitudes
