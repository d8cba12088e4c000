"""Where scripts of TVM look for its exception."""

from . import base

__all__ = ["base"]
