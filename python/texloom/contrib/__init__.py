"""What scripts use beside the compiler."""

from . import cc, nvcc, utils

__all__ = ["cc", "nvcc", "utils"]
