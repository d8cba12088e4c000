"""The exception's third name."""

from ...errors import TVMError

__all__ = ["TVMError"]
