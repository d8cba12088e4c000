"""A third name of TVM's exception."""

from ...errors import TVMError

__all__ = ["TVMError"]
