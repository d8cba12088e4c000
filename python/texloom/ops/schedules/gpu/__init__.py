"""Schedules of kernels for GPUs: with channels last, and of products of matrices."""

from .elements import bind_channels, order_channels

__all__ = ["bind_channels", "order_channels"]
