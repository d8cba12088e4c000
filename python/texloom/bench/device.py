"""The OpenCL device that a command line asks for."""

from __future__ import annotations

from typing import Any

from .. import Device, TVMError, devices


class NoSuchDeviceError(LookupError):
    """A device that is not there, or of no use here."""


def describe(number: int, info: dict[str, Any]) -> str:
    """One line about a device."""
    images = f"images up to {info['max_image_width']} x {info['max_image_height']}"
    return (
        f"{number}: {info['name']} ({info['type'].upper()}, {info['platform']} "
        f"{info['driver_version']}, {images if info['images'] else 'no images'})"
    )


def choose(number: int | None) -> tuple[Device, str]:
    """The device of that number, or the first with images (GPUs come first), and its description.

    Raises
    ------
    TVMError
        If there is no OpenCL implementation.
    NoSuchDeviceError
        If there is no such device, or it has no images.
    """
    infos = devices()
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
    """A diagnostic without its place, which would be a line of the program that catches it."""
    return "\n".join(
        "\n  ".join([f"{d.severity}[{d.code}]: {d.message}", *d.notes, f"help: {d.help}"])
        for d in error.diagnostics
    ) or str(error)
