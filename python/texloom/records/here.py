"""The devices of this machine, as records name them."""

from __future__ import annotations

from .._core import Device
from ..devices.lookup import devices
from .trial import MeasuredDevice


def measured_device(device: Device) -> MeasuredDevice:
    """Return the identity of a device in records."""
    info = devices(device.driver)[device.device_id]
    return MeasuredDevice(
        info["name"], info["platform"], info["driver_version"], info["language_version"]
    )


__all__ = ["measured_device"]
