"""Products with a matrix of integers of a few bits, packed into bytes.

A column of the matrix consists of blocks. An integer q stands for ``(q - zero) * scale``, with the
zero point and the scale of its block.
"""

from __future__ import annotations

from typing import Any

from ... import te
from ..._core import Tensor
from ..contraction import Contraction
from ..precision import sum_dtype
from .matrix import rounded


def matmul_packed(
    a: Tensor,
    b: Tensor,
    scale: Tensor,
    zero: Tensor | None = None,
    *,
    bits: int,
    block_size: int,
) -> Tensor:
    """Multiply by a packed matrix, which is unpacked where it is read.

    Parameters
    ----------
    a : Tensor
        ``[..., K]``, of floating point.
    b : Tensor
        ``[blocks, block_size * bits / 8, N]`` of uint8; the lowest bits of a byte come first.
    scale : Tensor
        ``[blocks, N]``, of floating point.
    zero : Tensor, optional
        ``[blocks, N]`` of floating point, or ``[ceil(blocks * bits / 8), N]`` of uint8, packed as
        `b`. Half of the integers' range by default.
    bits : int
        1, 2, 4 or 8.
    block_size : int
        A multiple of ``8 / bits``.

    Returns
    -------
    Tensor
        ``[..., N]`` of the dtype of `a`; sums of float16 and bfloat16 are float32.
    """
    dtype, per_byte = sum_dtype(a.dtype), 8 // bits

    def unpacked(byte: Any, place: Any) -> Any:
        if per_byte == 1:
            return byte.astype(dtype)
        shift = (place % per_byte * bits).astype("int32")
        return ((byte.astype("int32") >> shift) & ((1 << bits) - 1)).astype(dtype)

    def zero_of(block: Any, n: Any) -> Any:
        if zero is None:
            return te.const(1 << (bits - 1), dtype)
        if zero.dtype != "uint8":
            return zero(block, n).astype(dtype)
        return unpacked(zero(block // per_byte, n), block)

    k = te.reduce_axis((0, a.shape[-1]), name="k")

    def product(*i: Any) -> Any:
        *rows, n = i
        block, place = k.var // block_size, k.var % block_size
        steps = unpacked(b(block, place // per_byte, n), place) - zero_of(block, n)
        weight = steps * scale(block, n).astype(dtype)
        return te.sum(a(*rows, k.var).astype(dtype) * weight, axis=k)

    shape = (*a.shape[:-1], b.shape[2])
    marks = Contraction(rows=len(shape) - 2 if len(shape) > 1 else None).marks()
    return rounded(te.compute(shape, product, name="sums", **marks), a.dtype)


__all__ = ["matmul_packed"]
