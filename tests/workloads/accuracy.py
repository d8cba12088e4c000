"""Error bounds for sums in floating point."""

from dataclasses import dataclass

import numpy as np

from texloom.examples.rounding import FLOAT32_ROUNDOFF, FLOAT64_ROUNDOFF, gamma

ROUNDOFF = {"float16": 2.0**-11, "float32": FLOAT32_ROUNDOFF, "float64": FLOAT64_ROUNDOFF}
# The absolute rounding error near zero: half the least float16, or the least normal number of the
# other types, whose smaller numbers a device may flush to zero.
UNDERFLOW = {"float16": 2.0**-25, "float32": 2.0**-126, "float64": 2.0**-1022}


@dataclass(frozen=True)
class Sums:
    """Exact sums of products, in float64, and the sums of the products' absolute values.

    `terms` bounds the number of roundings of a term: usually the number of terms
    (Higham, "Accuracy and Stability of Numerical Algorithms", section 3.1), plus one for each
    rounded factor.
    """

    exact: np.ndarray
    magnitudes: np.ndarray
    terms: int

    @staticmethod
    def of(function, terms, *operands):
        """Evaluate `function`, a sum of products of the operands, in float64."""
        exact = [np.asarray(v, "float64") for v in operands]
        return Sums(function(*exact), function(*map(np.abs, exact)), terms)

    def bound(self, accumulate, result=None):
        """Bound the error of sums computed in dtype `accumulate` and stored in dtype `result`."""
        own = gamma(self.terms, FLOAT64_ROUNDOFF)
        factor = (gamma(self.terms, ROUNDOFF[accumulate]) + own) / (1 - own)
        bound = factor * self.magnitudes + self.terms * UNDERFLOW[accumulate]
        if result in (None, accumulate):
            return bound
        return bound + ROUNDOFF[result] * (np.abs(self.exact) + bound) + UNDERFLOW[result]


def assert_sums(got, sums, accumulate="float32"):
    """Assert that `got`, summed in `accumulate`, is within the error bound of the exact sums."""
    bound = sums.bound(accumulate, str(got.dtype))
    error = np.abs(got - sums.exact)
    assert got.shape == sums.exact.shape
    assert np.all(error <= bound), f"{np.max(error - bound)} over the bound"
    assert np.max(bound) < np.max(np.abs(sums.exact)), "a bound that no error exceeds"


def small_integers(rng, shape, dtype):
    """Return values whose short sums of products are exact in every tested dtype, in any order."""
    return rng.integers(-3, 4, size=shape).astype(dtype)
