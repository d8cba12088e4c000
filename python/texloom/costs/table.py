"""Costs of call sites on one device: measured, or predicted by a model of measured costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from ..records import kernel_digest
from .fitted import FittedModel
from .measured import MeasuredCost

_KEY_LENGTH = 32  # hexadecimal digits
_NS_PER_BYTE = 0.01  # without a model


class CostTable:
    """The function by which the compiler looks up the cost of a call site.

    Parameters
    ----------
    costs : mapping of str to MeasuredCost
        Measured costs by key.
    model : FittedModel, optional
        Predicts the costs of call sites without a measurement. Without it, costs grow with bytes
        alone.

    Attributes
    ----------
    model : FittedModel or None
    asked : dict of str to MeasuredCost
        All call sites that the compiler looked up, by key; unmeasured ones have the predicted
        cost.
    kernels : dict of str to tuple of str
        The digests of their kernels, by key.
    """

    def __init__(
        self,
        costs: Mapping[str, MeasuredCost],
        model: FittedModel | None = None,
    ) -> None:
        self._costs = costs
        self.model = model
        self.asked: dict[str, MeasuredCost] = {}
        self.kernels: dict[str, tuple[str, ...]] = {}

    def __call__(
        self,
        kind: str,
        signature: str,
        sources: Sequence[str],
        size: float,
        operations: float,
        launches: int,
        textures: int,
        work: object,
    ) -> tuple[float, str]:
        """Return the nanoseconds of a call site, and its key.

        Measurements need not know the `work` of its kernels.
        """
        del work
        key = key_of(signature, sources)
        known = self._costs.get(key)
        if known is None:
            storage = "texture" if textures else "buffer"
            facts = (kind, storage, launches, size, operations)
            ns = size * _NS_PER_BYTE + launches if self.model is None else self.model.ns(*facts)
            known = MeasuredCost(key, kind, storage, size, operations, launches, ns, 0.0, 0)
        self.asked[key] = known
        self.kernels[key] = tuple(map(kernel_digest, sources))
        return known.ns, key


def key_of(signature: str, sources: Sequence[str]) -> str:
    """Return the digest of a call site: of its schedule, its storages and its kernels."""
    digest = sha256(signature.encode())
    for source in sources:
        digest.update(b"\0" + source.encode())
    return digest.hexdigest()[:_KEY_LENGTH]


__all__ = ["CostTable", "key_of"]
