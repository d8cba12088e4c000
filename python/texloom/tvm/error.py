"""TVM's module of the exception."""

from ..errors import TVMError

__all__ = ["TVMError"]
