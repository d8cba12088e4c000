"""Products of onnxruntime with weights of a few bits, which stay packed in the graph."""

from __future__ import annotations

from math import prod

from ....extents import agree
from ....ops import products
from ...nodes import Node, Value
from ..registry import MICROSOFT, converts
from .activations import check_row

_BITS = (2, 4, 8)


@converts("MatMulNBits", domain=MICROSOFT)
def matmul_n_bits(node: Node) -> Value:
    """Multiply by the transpose of a matrix of small integers with a scale for each block.

    Constants are transposed at compile time, so that kernels read neighboring columns as vectors.
    """
    bits, size = node.attributes.get("bits", 4), node.attributes["block_size"]
    shared, columns = node.attributes["K"], node.attributes["N"]
    if bits not in _BITS:
        node.refuse(f"its bits are {bits}, not one of {', '.join(map(str, _BITS))}")
    if size < 16 or size & (size - 1):
        node.refuse(f"its block_size is {size}, not a power of 2 from 16 on")
    if node.has(4):
        node.refuse("its input g_idx, an order of the rows of weights, is not supported")
    a = node.input(0)
    if not a.rank or not agree(a.shape[-1], shared):
        node.refuse(f"its input has the shape {a.shape}, but its K is {shared}")
    blocks = -(-shared // size)
    inputs = [
        a,
        _transposed(node, 1, "B", (columns, blocks, size * bits // 8)),
        _transposed(node, 2, "scales", (columns, blocks)),
    ]
    if node.has(3):
        is_packed = node.input(3).dtype == "uint8"
        row = -(-blocks * bits // 8) if is_packed else blocks
        inputs.append(_transposed(node, 3, "zero_points", (columns, row)))
    made = node.emit("matmul_n_bits", products.matmul_packed, inputs, bits=bits, block_size=size)
    if not node.has(5):
        return made
    check_row(node, "bias", node.input(5), made)
    return node.convert("Add", [made, node.input(5)])


def _transposed(node: Node, index: int, name: str, shape: tuple[int, ...]) -> Value:
    """Return the transpose of an input of this shape, or of one row of its elements.

    The first axis becomes the last.
    """
    value = node.input(index)
    if value.shape not in (shape, (prod(shape),)):
        node.refuse(f"its {name} has the shape {value.shape}, not {shape}")
    if value.shape != shape:
        value = node.convert("Reshape", [value, node.constant(shape)])
    return node.convert("Transpose", [value], perm=[*range(1, value.rank), 0])


__all__ = ["matmul_n_bits"]
