"""The exception's home in TVM's packages."""

from ..errors import TVMError

__all__ = ["TVMError"]
