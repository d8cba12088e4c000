"""TVM's exception, for scripts that import it from this module."""

from . import base

__all__ = ["base"]
