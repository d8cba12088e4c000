"""Arrays on devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._core import Device, NDArray
from .device_kinds import AbsentDevice
from .errors import TVMError
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
        raise TVMError(
            f"there is no driver for {device}\n  help: use texloom.opencl(); PoCL is the host"
        )
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
    """A device copy of a NumPy array (or what NumPy makes one of); see :func:`empty`."""
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
        target.copyfrom(self.numpy())
        return target
    return array(self.numpy(), target, mem_scope)


def _setitem(self: NDArray, key: Any, value: Any) -> None:
    """``a[:] = value``."""
    if key != slice(None):
        raise ValueError("an array is assigned as a whole: a[:] = value")
    source = value.numpy() if isinstance(value, NDArray) else np.asarray(value)
    self.copyfrom(np.ascontiguousarray(np.broadcast_to(source, self.shape).astype(self.dtype)))


NDArray.asnumpy = NDArray.numpy
NDArray.copyto = _copyto
NDArray.__setitem__ = _setitem

__all__ = ["NDArray", "array", "empty", "from_dlpack"]
