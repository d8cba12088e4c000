"""Products of matrices."""

from __future__ import annotations

from .einsum import Equation, einsum
from .matrix import general_matmul, matmul
from .quantized import matmul_integer, matmul_requantized

__all__ = ["Equation", "einsum", "general_matmul", "matmul", "matmul_integer", "matmul_requantized"]
