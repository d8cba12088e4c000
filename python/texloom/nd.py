"""Arrays on devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._core import Device, NDArray
from .device_kinds import AbsentDevice, cl, cpu, cuda, device, metal, opencl, refuse, vulkan
from .target import Target, resolve


def empty(
    shape: int | Sequence[int],
    dtype: str = "float32",
    device: Device | None = None,
    mem_scope: str | None = None,
    *,
    target: str | Target | None = None,
    origin: tuple[int, int] = (0, 0),
    image: tuple[int, int] | None = None,
    layout: str = "",
) -> NDArray:
    """A new array; its values are undefined.

    Parameters
    ----------
    shape : int or sequence of int
        Extents, all positive.
    dtype : str
        Element type.
    device : Device, optional
        ``texloom.opencl(0)`` by default.
    mem_scope : str, optional
        ``global`` (a buffer) by default, ``texture``, ``texture:weight`` or ``texture:nhwc``.
    target : str or Target, optional
        Whose image limits decide the fold of a large texture; as of ``build``.
    origin : (int, int)
        Where a texture's rectangle begins in its image, x and y in texels; for arguments that are
        declared with an origin.
    image : (int, int), optional
        Width and height of the image in texels; by default origin and array just fit.
    layout : str
        How the array lies in the scope, where the scope's own rule is not wanted:
        ``"texture[(h, w, c) -> rows=(h), cols=(c/4, w), lanes=c%4]"``; the scope may then be left
        out.

    Raises
    ------
    TVMError
        TL2001 for an unknown scope, TL2017 for a bad layout, TL1001 for a bad shape, TL4002 for a
        texture that no fold makes fit, TL5006 when there is no such device.
    """
    if isinstance(device, AbsentDevice):
        refuse(device)
    extents = [int(shape)] if isinstance(shape, (int, np.integer)) else [int(n) for n in shape]
    return _core.empty(
        extents,
        str(dtype),
        device or Device(0),
        mem_scope or "",
        resolve(target),
        origin,
        image,
        layout,
    )


def array(
    source: Any,
    device: Device | None = None,
    mem_scope: str | None = None,
    *,
    target: str | Target | None = None,
    layout: str = "",
) -> NDArray:
    """A device copy of an array, NumPy's or of a device, or of numbers; see :func:`empty`."""
    host = np.asarray(source)
    host = host.astype(host.dtype.newbyteorder("="), copy=False)
    result = empty(host.shape, host.dtype.name, device, mem_scope, target=target, layout=layout)
    result.copyfrom(host)
    return result


def from_dlpack(source: Any) -> NDArray:
    """A device copy of an array of the host that speaks DLPack."""
    return array(np.from_dlpack(source))


def _copyto(self: NDArray, target: NDArray | Device, mem_scope: str | None = None) -> NDArray:
    """Copies to another array, or to a new one on a device; returns it. Through the host."""
    if isinstance(target, NDArray):
        return target.copyfrom(self)
    if not isinstance(target, (Device, AbsentDevice)):
        raise ValueError(
            f"copyto copies to an array of a device or to a device, not to a "
            f"{type(target).__name__}: use numpy() for a copy on the host"
        )
    return array(self.numpy(), target, mem_scope)


def _copyfrom(self: NDArray, source_array: Any) -> NDArray:
    """Takes the values of an array of the same shape, NumPy's or of a device, or of numbers.

    They are converted to the dtype of this array. Returns this array.
    """
    host = np.asarray(source_array)
    if host.dtype.kind not in "biufV":  # V: bfloat16, where NumPy knows it
        raise TypeError(f"an array takes numbers, not a {type(source_array).__name__}")
    self._assign(host.astype(self.dtype, copy=False))
    return self


def _as_numpy(self: NDArray, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """What ``np.asarray`` makes of an array: always a copy, as its values lie on a device."""
    if copy is False:
        raise ValueError("an array of a device has no memory to share: NumPy gets a copy")
    host = self.numpy()
    return host if dtype is None else host.astype(dtype)


def _setitem(self: NDArray, key: Any, value: Any) -> None:
    """``a[:] = value``."""
    if key != slice(None):
        raise ValueError("an array is assigned as a whole: a[:] = value")
    self.copyfrom(np.broadcast_to(np.asarray(value), self.shape))


NDArray.asnumpy = NDArray.numpy
NDArray.copyfrom = _copyfrom
NDArray.copyto = _copyto
NDArray.__array__ = _as_numpy
NDArray.__setitem__ = _setitem

__all__ = [
    "NDArray",
    "array",
    "cl",
    "cpu",
    "cuda",
    "device",
    "empty",
    "from_dlpack",
    "metal",
    "opencl",
    "vulkan",
]
