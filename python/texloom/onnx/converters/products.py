"""Products of matrices."""

from __future__ import annotations

import numpy as np

from ...extents import are_known
from ...ops import products
from ...ops.products.determinant import LARGEST
from ..nodes import Node, Value
from . import words
from .registry import converts


@converts("MatMul")
def matmul(node: Node) -> Value:
    """Multiply matrices or vectors."""
    factors = [node.input(0), node.input(1)]
    if any(each.is_empty for each in factors):
        return _of_nothing(node, *factors)
    return node.emit("matmul", products.matmul, factors)


def _of_nothing(
    node: Node, a: Value, b: Value, *, transpose_a: bool = False, transpose_b: bool = False
) -> Value:
    """Return a product that has no elements, or whose elements are empty sums."""
    if not are_known([*a.shape, *b.shape]):
        node.refuse("it multiplies a tensor without elements by a tensor with open extents")
    left, right = (np.broadcast_to(0, each.shape) for each in (a, b))
    shape = np.matmul(left.T if transpose_a else left, right.T if transpose_b else right).shape
    return node.constant(np.zeros(shape), a.dtype)


@converts("Gemm")
def gemm(node: Node) -> Value:
    """Multiply two matrices, scale the product, and add a scaled matrix."""
    inputs = [node.input(i) for i in range(3) if node.has(i)]
    factors = [node.attributes.get(name, 1.0) for name in ("alpha", "beta")]
    if "int" in inputs[0].dtype and not all(float(each).is_integer() for each in factors):
        node.refuse(
            f"it scales integers by alpha={factors[0]} and beta={factors[1]}, which must be whole "
            "numbers"
        )
    for each in inputs[:2]:
        if each.rank != 2:
            node.refuse(f"it multiplies a tensor of the shape {each.shape}; 2 axes are required")
    turned = {
        "transpose_a": bool(node.attributes.get("transA", 0)),
        "transpose_b": bool(node.attributes.get("transB", 0)),
    }
    if turned["transpose_b"] and inputs[1].is_constant and not inputs[1].is_empty:
        # Kernels of products read consecutive columns of a row.
        inputs[1] = node.convert("Transpose", [inputs[1]], perm=[1, 0])
        turned["transpose_b"] = False
    if any(each.is_empty for each in inputs[:2]):
        made = _of_nothing(node, *inputs[:2], **turned)
        return made if len(inputs) == 2 else _plus(node, made, inputs[2], factors[1])
    return node.emit(
        "gemm", products.general_matmul, inputs, alpha=factors[0], beta=factors[1], **turned
    )


def _plus(node: Node, product: Value, c: Value, beta: float) -> Value:
    """Return a product of zeros plus a scaled matrix."""
    if beta != 1:
        c = node.convert("Mul", [c, node.constant([beta], c.dtype)])
    return node.convert("Add", [product, c])


@converts("MatMulInteger")
def matmul_integer(node: Node) -> Value:
    """Multiply matrices of 8-bit integers with 32-bit sums."""
    given = [node.input(i) if node.has(i) else None for i in (2, 3)]
    made = words.matmul(node, node.input(0), node.input(1), *given)
    if made is not None:
        return made
    zeros = [node.constant([0], "int32") if each is None else each for each in given]
    inputs = [node.input(0), node.input(1), *zeros]
    return node.emit("matmul_integer", products.matmul_integer, inputs)


@converts("QLinearMatMul")
def qlinear_matmul(node: Node) -> Value:
    """Multiply quantized matrices."""
    inputs = [node.input(i) for i in range(8)]
    sums = words.matmul(node, inputs[0], inputs[3], inputs[2], inputs[5])
    is_along = all(each.rank <= 1 for each in (inputs[1], inputs[4], inputs[6], inputs[7]))
    if sums is not None and is_along:
        scales = inputs[1], inputs[4]
        return words.requantize(node, sums, scales, inputs[6], inputs[7], sums.rank - 1)
    return node.emit("qlinear_matmul", products.matmul_requantized, inputs)


@converts("Einsum")
def einsum(node: Node) -> Value:
    """Convert a sum of products in Einstein's notation."""
    inputs = [node.input(i) for i in range(len(node.inputs))]
    equation = node.attributes["equation"]
    try:
        products.Equation.parse(equation, [each.rank for each in inputs])
    except ValueError as error:
        node.refuse(str(error))
    return node.emit("einsum", products.einsum, inputs, equation=equation)


@converts("Det")
def det(node: Node) -> Value:
    """Compute the determinants of square matrices."""
    data = node.input(0)
    if data.rank < 2 or data.shape[-1] != data.shape[-2]:
        node.refuse(f"its input of the shape {data.shape} is not a square matrix")
    if data.shape[-1] > LARGEST:
        node.refuse(f"its matrices have {data.shape[-1]} rows, but at most {LARGEST} are supported")
    return node.emit("det", products.determinant, [data])


__all__ = ["det", "einsum", "gemm", "matmul", "matmul_integer", "qlinear_matmul"]
