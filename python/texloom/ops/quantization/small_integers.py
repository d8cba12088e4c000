"""Integer types of less than 8 bits, whose numbers are stored in int8 or uint8, one in each."""

from __future__ import annotations

from typing import Any

from ... import te
from ..._core import Tensor
from ..broadcast import elementwise
from ..elementwise.conversion import converted


def wrapped(x: Tensor, dtype: str, bits: int) -> Tensor:
    """Return `x` as integers of some bits, stored in `dtype`.

    Numbers become int32 first, as :func:`texloom.ops.elementwise.cast` says, and wrap around then.

    Parameters
    ----------
    x : Tensor
    dtype : str
        ``"int8"`` or ``"uint8"``.
    bits : int
    """

    def low(value: Any) -> Any:
        number = converted(value, "int32")
        rest = number & ((1 << bits) - 1)
        if dtype == "int8":  # the highest bit is the sign
            rest = te.if_then_else(rest >= 1 << (bits - 1), rest - (1 << bits), rest)
        return rest.astype(dtype)

    return elementwise(low, x, name="wrapped")


__all__ = ["wrapped"]
