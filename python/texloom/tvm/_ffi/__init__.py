"""Home of TVM's exception, for scripts that import it from here."""

from . import base

__all__ = ["base"]
