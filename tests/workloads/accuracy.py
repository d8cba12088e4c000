"""How far results of floating-point sums may be from the exact ones."""

from dataclasses import dataclass

import numpy as np

from texloom.ops.rounding import FLOAT32_ROUNDOFF, FLOAT64_ROUNDOFF, gamma

ROUNDOFF = {"float16": 2.0**-11, "float32": FLOAT32_ROUNDOFF, "float64": FLOAT64_ROUNDOFF}
# Half the distance of the smallest numbers: what rounding may add where it is not relative.
UNDERFLOW = {"float16": 2.0**-25, "float32": 2.0**-126, "float64": 2.0**-1022}


@dataclass(frozen=True)
class Sums:
    """Sums of products in float64, with the sums of the products' absolute values.

    `terms` is the number of roundings that a term goes through at most: that of the terms, as a
    rule (Higham, "Accuracy and Stability of Numerical Algorithms", section 3.1), and one more for
    each rounding of a factor.
    """

    exact: np.ndarray
    magnitudes: np.ndarray
    terms: int

    @staticmethod
    def of(function, terms, *operands):
        """`function` of the operands, which is a sum of products of them."""
        exact = [np.asarray(v, "float64") for v in operands]
        return Sums(function(*exact), function(*map(np.abs, exact)), terms)

    def bound(self, accumulate, result=None):
        """What sums in dtype `accumulate`, stored in dtype `result`, may be away from `exact`."""
        own = gamma(self.terms, FLOAT64_ROUNDOFF)
        factor = (gamma(self.terms, ROUNDOFF[accumulate]) + own) / (1 - own)
        bound = factor * self.magnitudes + self.terms * UNDERFLOW[accumulate]
        if result in (None, accumulate):
            return bound
        return bound + ROUNDOFF[result] * (np.abs(self.exact) + bound) + UNDERFLOW[result]


def assert_sums(got, sums, accumulate="float32"):
    """`got`, summed in `accumulate`, is as near to the exact sums as it has to be."""
    bound = sums.bound(accumulate, str(got.dtype))
    error = np.abs(got - sums.exact)
    assert got.shape == sums.exact.shape
    assert np.all(error <= bound), f"{np.max(error - bound)} over the bound"
    assert np.max(bound) < np.max(np.abs(sums.exact)), "a bound that no error exceeds"


def small_integers(rng, shape, dtype):
    """Values of which short sums of products are exact in every dtype here, in any order."""
    return rng.integers(-3, 4, size=shape).astype(dtype)
