"""Schedules of kernels for GPUs: with channels last, and of products of matrices."""

from .chains import ProductChain
from .channels_last import schedule_channels_last, schedule_joined, weight_layout
from .elements import bind_channels, order_channels
from .slices import Slices, schedule_pixels

__all__ = [
    "ProductChain",
    "Slices",
    "bind_channels",
    "order_channels",
    "schedule_channels_last",
    "schedule_joined",
    "schedule_pixels",
    "weight_layout",
]
