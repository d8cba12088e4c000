"""Schedules of kernels for processors: with channels last, and row-major by native code."""

from .channels_last import suits_row_major
from .elements import bind_channels, order_channels
from .row_major import schedule_elements
from .winograd import is_transform

__all__ = [
    "bind_channels",
    "is_transform",
    "order_channels",
    "schedule_elements",
    "suits_row_major",
]
