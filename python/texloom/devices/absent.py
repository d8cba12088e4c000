"""Devices of kinds without a driver, such as TVM's ``cuda(0)``; the host is one of them."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import NoReturn

from .. import errors
from ..checks.argument_kinds import shown
from ..checks.checked_calls import check_calls
from ..tvm.spellings import device_number


@dataclass(frozen=True)
class AbsentDevice:
    """A device of a kind without a driver; scripts can test whether it exists.

    ``cpu()`` is the host: it stores arrays, which functions for the target ``"llvm"`` take.

    Attributes
    ----------
    kind : str
        The kind, such as ``"cuda"``.
    device_id : int
        The number among the devices of its kind.
    """

    kind: str
    device_id: int = 0

    exist = False

    @property
    def device_type(self) -> int:
        """TVM's number for this kind of device."""
        return device_number(self.kind)

    def sync(self) -> None:
        """Do nothing on the host, which runs no kernels; refuse other devices without a driver."""
        if self.kind != "cpu":
            refuse(self)

    def __repr__(self) -> str:
        return f"{self.kind}({self.device_id})"


def refuse(device: AbsentDevice) -> NoReturn:
    """Raise the TVMError for the use of a device without a driver."""
    if device.kind == "metal":
        errors.refuse(
            "NoDevice",
            f"{device} cannot be used: Texloom has a driver for Metal only on Apple's systems",
            'build for "metal" and read or save the kernels, or run them in the interpreter, the '
            'device "host:0"; in a checkout, `./dev build` makes a software Metal for tests',
        )
    errors.refuse(
        "NoDevice",
        f"{device} cannot run kernels: Texloom has no driver for it",
        'use the device "opencl:0"; with PoCL installed, OpenCL runs on the processor',
    )


def device_index(index: int) -> int:
    """Return the number of a device; refuse anything but a non-negative integer."""
    try:
        number = operator.index(index)
    except TypeError:
        number = -1
    if not 0 <= number < 2**63:
        errors.refuse(
            "BadArgument",
            f"the device number is {shown(index)}, not a non-negative integer",
            'the first device of a kind has the number 0, as "opencl:0"',
        )
    return number


def cpu(index: int = 0) -> AbsentDevice:
    """Return the host, which stores arrays; functions for ``"llvm"`` take them, and write them."""
    return AbsentDevice("cpu", device_index(index))


def cuda(index: int = 0) -> AbsentDevice:
    """Return a CUDA device, which Texloom uses only through OpenCL."""
    return AbsentDevice("cuda", device_index(index))


def vulkan(index: int = 0) -> AbsentDevice:
    """A Vulkan device."""
    return AbsentDevice("vulkan", device_index(index))


__all__ = ["AbsentDevice", "cpu", "cuda", "vulkan"]
check_calls(globals())
