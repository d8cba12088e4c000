"""Products of matrices, and determinants."""

from __future__ import annotations

from .determinant import determinant
from .einsum import Equation, einsum
from .matrix import general_matmul, matmul
from .packed import matmul_packed
from .quantized import matmul_integer, matmul_requantized
from .words import matmul_words

__all__ = [
    "Equation",
    "determinant",
    "einsum",
    "general_matmul",
    "matmul",
    "matmul_integer",
    "matmul_packed",
    "matmul_requantized",
    "matmul_words",
]
