"""Schedules of kernels with channels last for processors."""

from .channels_last import schedule_channels_last, weight_layout
from .elements import bind_channels, order_channels

__all__ = ["bind_channels", "order_channels", "schedule_channels_last", "weight_layout"]
