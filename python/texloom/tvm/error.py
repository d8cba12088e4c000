"""TVM's exception, for scripts that import it from this module."""

from ..errors import TVMError

__all__ = ["TVMError"]
