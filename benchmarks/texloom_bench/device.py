"""Selects the device for a command line."""

from __future__ import annotations

from typing import Any

from texloom import Device, TVMError, _core, devices

# The drivers that command lines take devices of, with the names of their APIs. No schedules of the
# demonstration and the benchmarks are for native code.
DRIVERS: dict[str, str] = {
    _core.driver_of_kind(kind): api
    for kind, api in _core.target_kinds().items()
    if _core.driver_of_kind(kind) != "host"
}


class NoSuchDeviceError(LookupError):
    """A missing or unusable device."""


def describe(number: int, info: dict[str, Any]) -> str:
    """Describe a device in one line."""
    images = f"images up to {info['max_image_width']} x {info['max_image_height']}"
    return (
        f"{number}: {info['name']} ({info['type'].upper()}, {info['platform']} "
        f"{info['driver_version']}, {images if info['images'] else 'no images'})"
    )


def choose(given: tuple[str, int] | None) -> tuple[Device, str]:
    """Return the device of a driver and a number, described; by default the first with images.

    The default is one of OpenCL, whose GPUs come first.

    Raises
    ------
    TVMError
        If the driver finds no device.
    NoSuchDeviceError
        If there is no such device, or it has no images.
    """
    driver, number = given or ("opencl", None)
    infos = devices(driver)
    if number is None:
        number = next((i for i, info in enumerate(infos) if info["images"]), 0)
    if number >= len(infos):
        raise NoSuchDeviceError(
            f"there is no {DRIVERS[driver]} device {number}: this machine has {len(infos)}"
        )
    described = f"{DRIVERS[driver]} device {describe(number, infos[number])}"
    if not infos[number]["images"]:
        raise NoSuchDeviceError(f"the {described} lacks textures")
    return Device(driver, number), described


def message(error: TVMError) -> str:
    """Return a diagnostic without its location, which would be a line of this program."""
    return "\n".join(
        "\n  ".join([f"{d.severity}[{d.code}]: {d.message}", *d.notes, f"help: {d.help}"])
        for d in error.diagnostics
    ) or str(error)
