"""Random choices and tensors, from which tests draw nodes."""

import numpy as np

UNIT = {"bfloat16": 2.0**-8, "float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}
"""The largest relative error of rounding to a type."""


class Source:
    """Random choices and tensors; `seed` is a number or a sequence of numbers."""

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)
        self.dtype = self.of("float32", "float32", "float16")

    @property
    def unit(self):
        return UNIT[self.dtype]

    def of(self, *choices):
        return choices[int(self.generator.integers(len(choices)))]

    def up_to(self, most):
        return int(self.generator.integers(1, most + 1))

    def shape(self, least, most):
        """From `least` to `most` extents of at most 5."""
        rank = int(self.generator.integers(least, most + 1))
        return [self.up_to(5) for _ in range(rank)]

    def chance(self):
        return bool(self.generator.integers(2))

    def floats(self, *shape):
        return self.generator.standard_normal(shape).astype(self.dtype)

    def maybe(self, *shape):
        """Numbers, or None for an input that is left out."""
        return self.floats(*shape) if self.chance() else None

    def integers(self, dtype, *shape):
        limits = np.iinfo(dtype)
        return np.asarray(self.generator.integers(limits.min, limits.max + 1, shape), dtype)
