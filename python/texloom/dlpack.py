"""DLPack: memory that libraries of arrays share without a copy.

The protocol is that of the Python array API, 2023.12: data-apis.org/array-api, ``__dlpack__``.

Arrays of the host are shared both ways. Arrays of OpenCL devices are not: the host sees a buffer
while it is mapped, and no kernel may use it meanwhile, so that no pointer is right as long as both
sides have the array. A copy is made where the consumer asks for one, with ``dl_device=(1, 0)``, as
``numpy.from_dlpack(array, device="cpu")`` does.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from .argument_kinds import shown
from .errors import MisuseError, refuse

if TYPE_CHECKING:
    from ._core import NDArray

CPU = (1, 0)
"""The host as DLPack knows it: kDLCPU, number 0."""

OPENCL = 4
"""kDLOpenCL: what device arrays say that they lie on."""

# kDLCPU, kDLCUDAHost, kDLROCMHost, kDLCUDAManaged: what NumPy reads in place.
_HOST_KINDS = {1, 3, 11, 13}

# Before, NumPy's arrays took stream= alone.
_TAKES_VERSIONS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def _check_stream(stream: Any) -> None:
    if stream is not None:
        raise BufferError(f"neither the host nor OpenCL has streams: stream is {stream!r}")


def export_host(
    values: np.ndarray,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """The capsule of an array of the host, which shares its memory unless `copy` is true.

    Raises
    ------
    BufferError
        For a stream, for another device, and for a read-only array where the consumer knows no
        capsules with versions, which alone can say so.
    """
    _check_stream(stream)
    if dl_device is not None and tuple(dl_device) != CPU:
        raise BufferError(
            f"the array lies in the host's memory, not on DLPack's device {tuple(dl_device)}: "
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
    """The capsule of a copy on the host, where that is asked for.

    Raises
    ------
    BufferError
        For anything else.
    """
    _check_stream(stream)
    if dl_device is not None and tuple(dl_device) == CPU and copy is not False:
        return export_host(array.numpy(), max_version=max_version)
    raise BufferError(
        f"an array of {array.device} has no memory to share: OpenCL shows it to the host while no "
        "kernel uses it. Copy it with numpy(), or ask for a copy on the host: "
        'np.from_dlpack(array, device="cpu")'
    )


def imported(source: Any) -> np.ndarray:
    """What speaks DLPack as an array of NumPy's that shares its memory; read-only where it is.

    Raises
    ------
    TVMError
        Where it does not lie in memory of the host.
    BufferError
        What the source says, or for a dtype that NumPy does not have.
    """
    if not hasattr(source, "__dlpack__") or not hasattr(source, "__dlpack_device__"):
        refuse(
            "BadDirectiveArgument",
            f"{shown(source)} does not speak DLPack",
            "use nd.array, which copies, too",
        )
    kind = _device_kind(source)
    if kind not in _HOST_KINDS:
        refuse(
            "WrongDevice",
            f"{shown(source)} lies on a device of DLPack's kind {kind}, not on the host",
            "copy it to the host first, with its own library",
            MisuseError,
        )
    return np.from_dlpack(source)


def _device_kind(source: Any) -> int:
    """DLPack's number of the kind of device that the source says it lies on."""
    told = source.__dlpack_device__()
    try:
        kind, number = told
        operator.index(number)
        return operator.index(kind)
    except (TypeError, ValueError):
        refuse(
            "BadDirectiveArgument",
            f"__dlpack_device__ of {shown(source)} returns {shown(told)}, not two numbers",
            "DLPack wants the kind of the device and its number: (1, 0) is the host",
        )
