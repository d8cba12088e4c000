"""Schedules of kernels with channels last for GPUs."""

from .channels_last import schedule_channels_last, schedule_joined, weight_layout
from .elements import bind_channels, order_channels

__all__ = [
    "bind_channels",
    "order_channels",
    "schedule_channels_last",
    "schedule_joined",
    "weight_layout",
]
