"""Sums of products, and the facts about their axes that schedules need."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .._core import Tensor
from ..extents import Extent, plain

PADDED = "padded"
"""The tag of a copy of a tensor with a border, which is stored so that sums can read it."""
RECURRENT = "recurrent"
"""The tag of the sums of a recurrent layer: of products of a state and weights."""
_TAG = "contraction"


def whole_columns(extent: Extent) -> Extent:
    """Return the number of columns to compute for an axis, rounded up to whole vectors.

    Vectors of four lanes or more are worth a few unused columns.
    """
    if not isinstance(extent, int):
        return plain((extent + 7) // 8 * 8)
    return extent if extent % 4 == 0 or extent < 6 else -(-extent // 8) * 8


@dataclass(frozen=True)
class Contraction:
    """The axes of a sum of products that decide how it is computed.

    The last axis is that of the columns. Along it, the elements of the "column factor" are
    contiguous.

    Attributes
    ----------
    rows : int or None
        An axis along which the column factor does not change.
    rows_per_group : int
        How many consecutive rows read the same elements of the column factor.
    is_convolution : bool
        Whether the sums are a convolution of ``[N, C, *spatial]`` with weights
        ``[O, C / groups, *kernel]``, reduced over all axes of the weights but the first.
    """

    rows: int | None
    rows_per_group: int = 1 << 30
    is_convolution: bool = False

    def marks(self) -> dict[str, Any]:
        """Return the `tag` and the `attrs` of ``te.compute`` for the sums."""
        return {
            "tag": _TAG,
            "attrs": {
                **asdict(self),
                "rows": -1 if self.rows is None else self.rows,
                "is_convolution": int(self.is_convolution),
            },
        }

    @classmethod
    def of(cls, tensor: Tensor) -> Contraction | None:
        """Return the marks of a tensor that :meth:`marks` stored, or None."""
        if tensor.op.tag != _TAG:
            return None
        given = {name: value.value for name, value in tensor.op.attrs.items()}
        rows = None if given["rows"] < 0 else given["rows"]
        return cls(rows, given["rows_per_group"], bool(given["is_convolution"]))


def is_depthwise(sums: Tensor) -> bool:
    """Whether these are the sums of a convolution whose groups have one channel each."""
    roles = Contraction.of(sums)
    weight = sums.op.input_tensors[-1]
    is_convolution = roles is not None and roles.is_convolution
    return is_convolution and roles.rows_per_group == 1 and plain(weight.shape[1]) == 1


__all__ = ["PADDED", "RECURRENT", "Contraction", "is_depthwise", "whole_columns"]
