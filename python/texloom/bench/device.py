"""Selects the OpenCL device for a command line."""

from __future__ import annotations

from typing import Any

from .. import Device, TVMError, devices


class NoSuchDeviceError(LookupError):
    """A missing or unusable device."""


def describe(number: int, info: dict[str, Any]) -> str:
    """Describe a device in one line."""
    images = f"images up to {info['max_image_width']} x {info['max_image_height']}"
    return (
        f"{number}: {info['name']} ({info['type'].upper()}, {info['platform']} "
        f"{info['driver_version']}, {images if info['images'] else 'no images'})"
    )


def choose(number: int | None) -> tuple[Device, str]:
    """Return the device with this number, or the first with images (GPUs first), described.

    Raises
    ------
    TVMError
        If there is no OpenCL implementation.
    NoSuchDeviceError
        If there is no such device, or it has no images.
    """
    infos = devices("opencl")
    if number is None:
        number = next((i for i, info in enumerate(infos) if info["images"]), 0)
    if number >= len(infos):
        raise NoSuchDeviceError(
            f"there is no OpenCL device {number}: this machine has {len(infos)}"
        )
    if not infos[number]["images"]:
        raise NoSuchDeviceError(
            f"the OpenCL device {describe(number, infos[number])} lacks textures"
        )
    return Device(number), describe(number, infos[number])


def message(error: TVMError) -> str:
    """Return a diagnostic without its location, which would be a line of this program."""
    return "\n".join(
        "\n  ".join([f"{d.severity}[{d.code}]: {d.message}", *d.notes, f"help: {d.help}"])
        for d in error.diagnostics
    ) or str(error)
