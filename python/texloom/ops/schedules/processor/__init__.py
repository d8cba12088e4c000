"""Schedules of kernels for processors: with channels last, and row-major by native code."""

from .channels_last import schedule_channels_last, suits_row_major, weight_layout
from .elements import bind_channels, order_channels
from .row_major import schedule_elements
from .winograd import is_transform, schedule_transform

__all__ = [
    "bind_channels",
    "is_transform",
    "order_channels",
    "schedule_channels_last",
    "schedule_elements",
    "schedule_transform",
    "suits_row_major",
    "weight_layout",
]
