"""Random numbers from a counter-based generator, which are the same on all devices."""

from __future__ import annotations

from .distributions import bernoulli, dropout, multinomial, normal, uniform
from .philox import Stream, random_words

__all__ = [
    "Stream",
    "bernoulli",
    "dropout",
    "multinomial",
    "normal",
    "random_words",
    "uniform",
]
