"""Devices by kind and number, and what scripts ask of them."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import NoReturn

from . import _core, errors
from ._core import Device
from .argument_kinds import shown
from .checked_calls import check_calls

# TVM's numbers of device kinds.
_KINDS = {"cpu": 1, "cuda": 2, "opencl": 4, "vulkan": 7, "metal": 8, "rocm": 10}
_OTHER_NAMES = {"llvm": "cpu", "c": "cpu", "cl": "opencl", "gpu": "cuda", "nvptx": "cuda"}
_NO_DEVICE = "TL5006"


@dataclass(frozen=True)
class AbsentDevice:
    """A device of a kind that Texloom has no driver for: to be asked whether it is there.

    ``cpu()`` is the host: arrays lie there, and no kernel runs.
    """

    kind: str
    device_id: int = 0

    exist = False

    @property
    def device_type(self) -> int:
        """TVM's number of the kind."""
        return _KINDS[self.kind]

    def sync(self) -> None:
        """Refused, as nothing can run on it; on the host there is nothing to wait for."""
        if self.kind != "cpu":
            refuse(self)

    def __repr__(self) -> str:
        return f"{self.kind}({self.device_id})"


def refuse(device: AbsentDevice) -> NoReturn:
    """Raises the TVMError for the use of a device that has no driver."""
    errors.refuse(
        "NoDevice", f"there is no driver for {device}", "use texloom.opencl(); PoCL is the host"
    )


def device(kind: str | int, index: int = 0) -> Device | AbsentDevice:
    """A device by its kind, the first word of a target string or TVM's number, and its number.

    Of the kinds that TVM knows only OpenCL's devices can be used; the others do not ``exist``.
    """
    if isinstance(kind, int):
        kind = next((word for word, number in _KINDS.items() if number == kind), str(kind))
    word = kind.split()[0] if kind.split() else kind
    word = _OTHER_NAMES.get(word, word)
    if word not in _KINDS:
        errors.refuse("UnknownName", f"there is no device kind {kind!r}", 'use "opencl"')
    return opencl(index) if word == "opencl" else AbsentDevice(word, _number(index))


def _number(index: int) -> int:
    """The number of a device, checked."""
    try:
        number = operator.index(index)
    except TypeError:
        number = -1
    if not 0 <= number < 2**63:
        errors.refuse(
            "BadDirectiveArgument",
            f"the number of a device is {shown(index)}, not one from 0 on",
            "the first is texloom.opencl(0)",
        )
    return number


def opencl(index: int = 0) -> Device:
    """The OpenCL device of this number, GPUs first; see :func:`devices`."""
    return Device(_number(index))


cl = opencl


def cpu(index: int = 0) -> AbsentDevice:
    """The host: arrays lie there. PoCL makes it an OpenCL device that runs kernels."""
    return AbsentDevice("cpu", _number(index))


def cuda(index: int = 0) -> AbsentDevice:
    """A CUDA device: Texloom reaches it through OpenCL alone."""
    return AbsentDevice("cuda", _number(index))


def metal(index: int = 0) -> AbsentDevice:
    """A Metal device."""
    return AbsentDevice("metal", _number(index))


def vulkan(index: int = 0) -> AbsentDevice:
    """A Vulkan device."""
    return AbsentDevice("vulkan", _number(index))


def _exist(self: Device) -> bool:
    """Whether there is a device of this number; none is where OpenCL is not."""
    try:
        return self.device_id < len(_core.devices())
    except errors.TVMError as error:
        if error.code == _NO_DEVICE:
            return False
        raise


Device.exist = property(_exist)
Device.device_type = property(lambda _: _KINDS["opencl"], doc="TVM's number of the kind.")
Device.device_name = property(lambda self: self.info["name"])
Device.max_threads_per_block = property(lambda self: self.info["max_threads_per_block"])
Device.max_thread_dimensions = property(lambda self: self.info["max_thread_dimensions"])
Device.warp_size = property(lambda _: 1, doc="1: OpenCL does not tell it before a kernel is there.")
Device.max_shared_memory_per_block = property(lambda self: self.info["max_shared_memory_per_block"])
Device.multi_processor_count = property(lambda self: self.info["compute_units"])
Device.texture_spatial_limit = property(
    lambda self: min(self.info["max_image_width"], self.info["max_image_height"]),
    doc="Texels that an image may have along each side.",
)

__all__ = ["AbsentDevice", "Device", "cl", "cpu", "cuda", "device", "metal", "opencl", "vulkan"]
check_calls(globals())
