"""DLPack: sharing memory with other array libraries, without a copy.

The protocol is that of the Python array API, 2023.12: data-apis.org/array-api, ``__dlpack__``.

Arrays of the host are shared both ways. Arrays of devices are not: the host can access a buffer
only while no kernel uses it, so no pointer stays valid while both the device and the consumer use
the array. A copy is made if the consumer requests one, with ``dl_device=(1, 0)``, as
``numpy.from_dlpack(array, device="cpu")`` does.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks.argument_kinds import shown
from ..errors import MisuseError, refuse

if TYPE_CHECKING:
    from .._core import NDArray

CPU = (1, 0)
"""The host as DLPack knows it: kDLCPU, number 0."""

OPENCL = 4
"""kDLOpenCL: the device type of device arrays."""

# kDLCPU, kDLCUDAHost, kDLROCMHost, kDLCUDAManaged: devices whose memory NumPy reads in place.
_HOST_KINDS = {1, 3, 11, 13}

# Earlier versions of NumPy accept only stream=.
_TAKES_VERSIONS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def _check_stream(stream: Any) -> None:
    if stream is not None:
        raise BufferError(
            f"stream={stream!r}, but no array of Texloom has streams: give stream=None"
        )


def export_host(
    values: np.ndarray,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return a capsule of a host array, which shares its memory unless `copy` is true.

    Raises
    ------
    BufferError
        For a stream, for another device, and for a read-only array if the consumer does not support
        versioned capsules, because only these can mark an array as read-only.
    """
    _check_stream(stream)
    if dl_device is not None and tuple(dl_device) != CPU:
        raise BufferError(
            f"the array is in host memory, but dl_device={tuple(dl_device)} is requested: "
            "nd.array(x, device) copies it to a device"
        )
    if _TAKES_VERSIONS:
        return values.__dlpack__(max_version=max_version, copy=copy)
    return (values.copy() if copy else values).__dlpack__()


def export_device(
    array: NDArray,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return a capsule of a copy on the host, if one is requested.

    Raises
    ------
    BufferError
        If the consumer does not request a copy on the host.
    """
    _check_stream(stream)
    if dl_device is not None and tuple(dl_device) == CPU and copy is not False:
        return export_host(array.numpy(), max_version=max_version)
    raise BufferError(
        f"an array of {array.device} has no memory to share: the host can access it only while no "
        "kernel uses it. Copy it with numpy(), or ask for a copy on the host: "
        'np.from_dlpack(array, device="cpu")'
    )


def imported(source: Any) -> np.ndarray:
    """Return a NumPy array that shares the memory of a DLPack source; read-only if the source is.

    Raises
    ------
    TVMError
        If the source is not in host memory.
    BufferError
        If the source refuses to share its memory, or for a dtype that NumPy does not have.
    """
    if not hasattr(source, "__dlpack__") or not hasattr(source, "__dlpack_device__"):
        refuse(
            "BadArgument",
            f"{shown(source)} does not support DLPack",
            "use nd.array, which copies the elements",
        )
    kind = _device_kind(source)
    if kind not in _HOST_KINDS:
        refuse(
            "WrongDevice",
            f"{shown(source)} is on a device of DLPack's kind {kind}, not on the host",
            "copy it to the host first, with the library that made it",
            MisuseError,
        )
    return np.from_dlpack(source)


def _device_kind(source: Any) -> int:
    """Return DLPack's device type of the source."""
    told = source.__dlpack_device__()
    try:
        kind, number = told
        operator.index(number)
        return operator.index(kind)
    except (TypeError, ValueError):
        refuse(
            "BadArgument",
            f"__dlpack_device__ of {shown(source)} returns {shown(told)}, not two numbers",
            "DLPack requires the kind of the device and its number: (1, 0) is the host",
        )
