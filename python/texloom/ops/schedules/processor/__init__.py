"""Schedules of kernels for processors: with channels last, and row-major by native code."""

from .channels_last import schedule_channels_last, weight_layout
from .elements import bind_channels, order_channels
from .row_major import schedule_elements

__all__ = [
    "bind_channels",
    "order_channels",
    "schedule_channels_last",
    "schedule_elements",
    "weight_layout",
]
