"""What scripts use beside the compiler."""

from . import utils

__all__ = ["utils"]
