"""Devices of this machine, by kind and number."""

from __future__ import annotations

from typing import Any

from .. import _core, errors
from .._core import Device
from ..checks.argument_kinds import shown
from ..checks.checked_calls import check_calls
from ..tvm.spellings import device_kind, is_device_kind
from .absent import AbsentDevice, device_index, refuse

_LIST = "`texloom devices` lists those of this machine"


def _parts(name: str) -> tuple[str, int | None]:
    """Return the kind and the number in a device's name; None for a name without a number."""
    word, *rest = name.split() or [""]
    kind, colon, number = word.partition(":")
    if not kind or (colon and not number.isdecimal()) or (rest and not rest[0].startswith("-")):
        errors.refuse(
            "BadArgument",
            f"{name!r} is not the name of a device, which is a kind and a number from 0",
            f'write it as "{device_kind(kind) or "opencl"}:0"; {_LIST}',
        )
    return device_kind(kind), device_index(int(number)) if colon else None


def device(kind: str | int, index: int = 0) -> Device | AbsentDevice:
    """Return a device by kind and number: ``device("opencl:0")`` or ``device("opencl", 0)``.

    Parameters
    ----------
    kind : str or int
        A driver of :func:`devices`, which may be followed by a colon and the number; the first word
        of a target string; or TVM's number of a kind. For a kind that TVM has but Texloom has no
        driver for, the result is a device that does not ``exist``.
    index : int
        The device's number in the driver's list.
    """
    if isinstance(kind, int):
        kind = device_kind(kind)
    word, number = _parts(kind)
    if number is not None:
        index = number
    if word in _core.driver_names():
        return Device(word, device_index(index))
    if not is_device_kind(word):
        errors.refuse(
            "UnknownName",
            f"there is no device kind {kind!r}",
            f'use "opencl", "metal" or "host", with a number as in "opencl:0"; {_LIST}',
        )
    return AbsentDevice(word, device_index(index))


def present(given: Device | str | None) -> Device:
    """Return a device that runs kernels: given or named; by default, the first OpenCL device."""
    found = Device(0) if given is None else device(given) if isinstance(given, str) else given
    if isinstance(found, AbsentDevice):
        refuse(found)
    if not isinstance(found, Device):
        errors.refuse(
            "BadArgument",
            f"{shown(given)} is not a device",
            f'name one, as "opencl:0"; {_LIST}',
        )
    return found


def name_of(device: Device) -> str:
    """Return the name that stands for a device in commands and targets, such as ``"opencl:0"``."""
    return f"{device.driver}:{device.device_id}"


def devices(driver: str | None = None) -> list[dict[str, Any]]:
    """Describe the devices of this machine.

    Each device is a dictionary with its ``driver``, ``name``, features and limits. The first device
    of a driver has the number 0. GPUs come first.

    Parameters
    ----------
    driver : str, optional
        ``"opencl"``, ``"metal"``, or ``"host"``, whose device runs kernels with the reference
        interpreter. By default all drivers that find a device, except ``"null"``, whose device
        computes nothing.

    Raises
    ------
    TVMError
        TL5006 when the driver finds no device.
    """
    if driver is None:
        return list(_core.all_devices())
    if driver not in _core.driver_names():
        names = ", ".join(name for name in _core.driver_names() if name != "null")
        errors.refuse("UnknownName", f"there is no driver {driver!r}", f"use one of {names}")
    return list(_core.devices_of(driver))


def opencl(index: int = 0) -> Device:
    """Return the OpenCL device with this number, GPUs first; see :func:`devices`."""
    return Device("opencl", device_index(index))


cl = opencl


def metal(index: int = 0) -> Device | AbsentDevice:
    """Return the Metal device with this number, as the system lists them; see :func:`devices`.

    If there is no driver for Metal, because the system is not Apple's, the device does not
    ``exist``: kernels can be built for it, but not run.
    """
    return device("metal", device_index(index))


__all__ = ["cl", "device", "devices", "metal", "name_of", "opencl", "present"]
check_calls(globals())
