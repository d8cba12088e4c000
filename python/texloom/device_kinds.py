"""Devices by kind and number, and their attributes."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, NoReturn

from . import _core, errors
from ._core import Device
from .argument_kinds import shown
from .checked_calls import check_calls
from .tvm_spellings import device_kind, device_number, is_device_kind

_NO_DEVICE = "TL5006"


@dataclass(frozen=True)
class AbsentDevice:
    """A device of a kind without a driver; scripts can test whether it exists.

    ``cpu()`` is the host: it stores arrays but runs no kernels.

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
        """TVM's number of the kind."""
        return device_number(self.kind)

    def sync(self) -> None:
        """Refused, because nothing runs on the device; on the host there is nothing to wait for."""
        if self.kind != "cpu":
            refuse(self)

    def __repr__(self) -> str:
        return f"{self.kind}({self.device_id})"


def refuse(device: AbsentDevice) -> NoReturn:
    """Raise the TVMError for the use of a device without a driver."""
    if device.kind == "metal":
        errors.refuse(
            "NoDevice",
            f"there is no Metal device: {device} has no driver here",
            'build for "metal" and read or save the kernels, or run them in the interpreter: '
            'texloom.device("host")',
        )
    errors.refuse(
        "NoDevice", f"there is no driver for {device}", "use texloom.opencl(); PoCL is the host"
    )


def device(kind: str | int, index: int = 0) -> Device | AbsentDevice:
    """Return a device by kind and number: ``device("opencl:0")`` or ``device("opencl", 0)``.

    Parameters
    ----------
    kind : str or int
        A driver of :func:`devices`, with the number after a colon if it is not `index`; the first
        word of a target string; or TVM's number of a kind. Kinds that TVM has but Texloom has no
        driver for return devices that do not ``exist``.
    index : int
        The device's number in the driver's list.
    """
    if isinstance(kind, int):
        kind = device_kind(kind)
    word = kind.split()[0] if kind.split() else kind
    word, colon, number = word.partition(":")
    if colon:
        index = int(number) if number.isdecimal() else _number(number)
    word = device_kind(word)
    if word in _core.driver_names():
        return Device(word, _number(index))
    if not is_device_kind(word):
        errors.refuse(
            "UnknownName",
            f"there is no device kind {kind!r}",
            'use "opencl", "metal" or "host"; texloom.devices() lists the devices of this machine',
        )
    return AbsentDevice(word, _number(index))


def present(given: Device | str | None) -> Device:
    """Return a device that runs kernels: the given one, of that name, or the first of OpenCL."""
    found = device(given) if isinstance(given, str) else given or Device(0)
    if isinstance(found, AbsentDevice):
        refuse(found)
    return found


def devices(driver: str | None = None) -> list[dict[str, Any]]:
    """Describe the devices of this machine.

    Each is a dictionary with its ``driver``, ``name``, features and limits. The first device of a
    driver has the number 0. GPUs come first.

    Parameters
    ----------
    driver : str, optional
        ``"opencl"``, or ``"host"``, whose device runs kernels with the reference interpreter. By
        default all drivers that find a device, except ``"null"``, whose device computes nothing.

    Raises
    ------
    TVMError
        TL5006 when the driver finds no device.
    """
    if driver is None:
        return list(_core.all_devices())
    if driver not in _core.driver_names():
        errors.refuse("UnknownName", f"there is no driver {driver!r}", 'use "opencl" or "host"')
    return list(_core.devices_of(driver))


def _number(index: int) -> int:
    """Return the number of a device, checked."""
    try:
        number = operator.index(index)
    except TypeError:
        number = -1
    if not 0 <= number < 2**63:
        errors.refuse(
            "BadArgument",
            f"the device number is {shown(index)}, not a non-negative integer",
            "the first device of a kind has the number 0, as texloom.opencl(0)",
        )
    return number


def opencl(index: int = 0) -> Device:
    """Return the OpenCL device with this number, GPUs first; see :func:`devices`."""
    return Device("opencl", _number(index))


cl = opencl


def cpu(index: int = 0) -> AbsentDevice:
    """Return the host, which stores arrays. With PoCL it is also an OpenCL device for kernels."""
    return AbsentDevice("cpu", _number(index))


def cuda(index: int = 0) -> AbsentDevice:
    """Return a CUDA device, which Texloom uses only through OpenCL."""
    return AbsentDevice("cuda", _number(index))


def metal(index: int = 0) -> Device | AbsentDevice:
    """Return the Metal device with this number, as the system lists them; see :func:`devices`.

    Without a driver for Metal, as on other systems than Apple's, the device does not ``exist``:
    kernels can be built for it, but not run.
    """
    return device("metal", _number(index))


def vulkan(index: int = 0) -> AbsentDevice:
    """A Vulkan device."""
    return AbsentDevice("vulkan", _number(index))


def _exist(self: Device) -> bool:
    """Whether its driver finds a device with this number."""
    try:
        return self.device_id < len(_core.devices_of(self.driver))
    except errors.TVMError as error:
        if error.code == _NO_DEVICE:
            return False
        raise


Device.exist = property(_exist)
Device.device_type = property(
    lambda self: device_number(self.driver), doc="TVM's number of the kind."
)
Device.device_name = property(
    lambda self: self.info["name"], doc="The name that the driver reports."
)
Device.max_threads_per_block = property(
    lambda self: self.info["max_threads_per_block"], doc="Threads that a block may have."
)
Device.max_thread_dimensions = property(
    lambda self: self.info["max_thread_dimensions"],
    doc="Threads that a block may have along x, y and z.",
)
Device.warp_size = property(lambda _: 1, doc="1: OpenCL reports it only for a compiled kernel.")
Device.max_shared_memory_per_block = property(
    lambda self: self.info["max_shared_memory_per_block"],
    doc="Bytes of shared memory that a block may have.",
)
Device.multi_processor_count = property(
    lambda self: self.info["compute_units"], doc="The number of processors that run blocks."
)
Device.texture_spatial_limit = property(
    lambda self: min(self.info["max_image_width"], self.info["max_image_height"]),
    doc="Texels that an image may have in each direction.",
)

__all__ = [
    "AbsentDevice",
    "Device",
    "cl",
    "cpu",
    "cuda",
    "device",
    "devices",
    "metal",
    "opencl",
    "vulkan",
]
check_calls(globals())
