"""Products of matrices and vectors, as ``np.matmul`` computes them, and in BLAS's general form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import agreed
from ..broadcast import broadcast_shape, element
from ..contraction import Contraction
from ..precision import sum_dtype


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Multiply matrices.

    Parameters
    ----------
    a : Tensor
        ``[..., M, K]``, or ``[K]``.
    b : Tensor
        ``[..., K, N]``, or ``[K]``, of the same dtype. The leading axes are broadcast.

    Returns
    -------
    Tensor
        ``[..., M, N]`` of the dtype of `a`, without M if `a` is a vector, and without N if `b` is a
        vector. Sums of float16 and bfloat16 are float32; sums of integers wrap around.

    Raises
    ------
    ValueError
        For shapes that do not match.
    """
    dtype = sum_dtype(a.dtype)
    made = contracted(a, b, lambda x, y: x.astype(dtype) * y.astype(dtype), dtype)
    return rounded(made, a.dtype)


def contracted(a: Tensor, b: Tensor, product: Callable[[Any, Any], Any], dtype: str) -> Tensor:
    """Return the sums of ``product(x, y)``, of type `dtype`, of the elements of two matrices.

    Parameters and errors are those of :func:`matmul`.
    """
    if not a.shape or not b.shape:
        raise ValueError(f"shapes {a.shape}, {b.shape} are not both of vectors or matrices")
    shared = agreed([a.shape[-1], b.shape[0 if len(b.shape) == 1 else -2]])
    if shared is None:
        raise ValueError(f"shapes {a.shape}, {b.shape} do not share the axis to sum over")
    rows, columns = len(a.shape) > 1, len(b.shape) > 1
    batch = broadcast_shape(a.shape[:-2], b.shape[:-2])
    shape = (*batch, *(a.shape[-2:-1] if rows else ()), *(b.shape[-1:] if columns else ()))
    k = te.reduce_axis((0, shared), name="k")

    def summed(*i: Any) -> Any:
        outer = i[: len(batch)]
        row = i[len(batch) : len(batch) + rows]
        column = i[len(batch) + rows :]
        left = element(a, (*outer, *row, k.var))
        right = element(b, (*outer, k.var, *column))
        return te.sum(product(left, right), axis=k)

    marks = Contraction(len(batch) if rows else None).marks() if columns else {}
    return te.compute(shape, summed, name="sums", **marks)


def rounded(sums: Tensor, dtype: str) -> Tensor:
    """Return sums in the dtype of the result."""
    if sums.dtype == dtype:
        return sums
    return te.compute(sums.shape, lambda *i: sums(*i).astype(dtype), name="output")


def general_matmul(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> Tensor:
    """Return ``alpha * A * B + beta * C``.

    Parameters
    ----------
    a : Tensor
        ``[M, K]``, or ``[K, M]`` if it is to be transposed.
    b : Tensor
        ``[K, N]``, or ``[N, K]`` if it is to be transposed, of the same dtype.
    c : Tensor, optional
        Broadcast to ``[M, N]``, of the same dtype.
    alpha, beta : float
        Integers for tensors of integers.
    transpose_a, transpose_b : bool

    Returns
    -------
    Tensor
        ``[M, N]`` of the dtype of `a`.

    Raises
    ------
    ValueError
        For shapes that do not match.
    """
    if len(a.shape) != 2 or len(b.shape) != 2:
        raise ValueError(f"shapes {a.shape}, {b.shape} are not both of matrices")
    rows, shared = (a.shape[axis] for axis in ((1, 0) if transpose_a else (0, 1)))
    other, columns = (b.shape[axis] for axis in ((1, 0) if transpose_b else (0, 1)))
    shared = agreed([shared, other])
    if shared is None:
        raise ValueError(f"shapes {a.shape}, {b.shape} do not share the axis to sum over")
    if c is not None and broadcast_shape((rows, columns), c.shape) != (rows, columns):
        raise ValueError(f"a matrix of the shape {c.shape} does not broadcast to {rows, columns}")
    dtype = sum_dtype(a.dtype)
    k = te.reduce_axis((0, shared), name="k")

    def product(i: Any, j: Any) -> Any:
        left = a(k, i) if transpose_a else a(i, k)
        right = b(j, k) if transpose_b else b(k, j)
        return te.sum(left.astype(dtype) * right.astype(dtype), axis=k)

    marks = {} if transpose_b else Contraction(rows=0).marks()
    sums = te.compute((rows, columns), product, name="sums", **marks)
    if c is None and alpha == 1:
        return rounded(sums, a.dtype)

    def scaled(value: Any, factor: float) -> Any:
        return value if factor == 1 else value * te.const(factor, dtype)

    def output(i: Any, j: Any) -> Any:
        value = scaled(sums(i, j), alpha)
        if c is not None:
            value = value + scaled(element(c, (i, j)).astype(dtype), beta)
        return value.astype(a.dtype)

    return te.compute((rows, columns), output, name="output")


__all__ = ["general_matmul", "matmul", "rounded"]
