"""Operators that compute in another type than the one in which their tensors are stored.

The pass ``store_halves`` decides which tensors are stored as float16.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .. import te
from .._core import Tensor
from ..argument_kinds import shown
from ..errors import refuse
from .node_functions import Compute

Precision = Literal["fp32", "fp16"]
"""How float32 tensors between operators are stored."""


def check_precision(precision: str) -> None:
    """Refuse what is no precision.

    Raises
    ------
    TVMError
        TL2040.
    """
    if precision not in ("fp32", "fp16"):
        refuse(
            "BadDirectiveArgument",
            f"precision={shown(precision)} is not supported",
            "use 'fp32', or 'fp16' to store tensors as float16",
        )


def stored(compute: Compute, reads: Sequence[str], writes: Sequence[str]) -> Compute:
    """Return a function that computes with tensors as they are stored.

    Parameters
    ----------
    compute : callable
        What an operator computes, of tensors of the dtypes `reads`.
    reads : sequence of str
        The inputs have these dtypes, or narrower ones.
    writes : sequence of str
        The dtypes in which the outputs are stored.
    """

    def made(*inputs: Tensor) -> list[Tensor]:
        wide = [_as(x, dtype, "widened") for x, dtype in zip(inputs, reads, strict=True)]
        results = compute(*wide)
        outputs = list(results) if isinstance(results, (list, tuple)) else [results]
        return [_as(y, dtype, "rounded") for y, dtype in zip(outputs, writes, strict=True)]

    return made


def _as(x: Tensor, dtype: str, name: str) -> Tensor:
    if x.dtype == dtype:
        return x
    return te.compute(x.shape, lambda *i: x(*i).astype(dtype), name=name)


__all__ = ["Precision", "check_precision", "stored"]
