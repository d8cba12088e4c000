"""Arrays on devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._core import Device, NDArray
from .arrays import bfloat16, dlpack
from .arrays.arguments import check_scope_of_target, extents, numbers, refuse_shape, texels
from .arrays.host_array import HostArray
from .checks.argument_kinds import shown
from .checks.checked_calls import check_calls, check_methods
from .devices.absent import AbsentDevice, cpu, cuda, vulkan
from .devices.absent import refuse as refuse_device
from .devices.lookup import cl, device, metal, opencl
from .devices.shared import handle
from .dtypes import DType
from .errors import MisuseError, refuse
from .target import Target, resolve_for_arrays

_KIND = "BadArgument"


def _device(given: Device | AbsentDevice | str | None) -> Device | AbsentDevice:
    """Return the device or the host; refuse a device without a driver."""
    if isinstance(given, str):
        given = device(given)
    if isinstance(given, AbsentDevice):
        if given.kind != "cpu":
            refuse_device(given)
        return given
    if given is not None and not isinstance(given, Device):
        refuse(
            _KIND,
            f"device= is {shown(given)}, neither a device nor the name of one",
            'give texloom.opencl(0), or "opencl"',
        )
    return given or Device(0)


def empty(
    shape: int | Sequence[int],
    dtype: DType = "float32",
    device: Device | str | None = None,
    mem_scope: str | None = None,
    *,
    target: str | Target | None = None,
    origin: tuple[int, int] = (0, 0),
    image: tuple[int, int] | None = None,
    layout: str = "",
) -> NDArray | HostArray:
    """Create an array with undefined values. On ``cpu()`` it is in host memory.

    Parameters
    ----------
    shape : int or sequence of int
        Extents, 0 or more.
    dtype : str or NumPy dtype
        Element type.
    device : Device or str, optional
        ``texloom.opencl(0)`` by default; a name such as ``"opencl"`` is the first device of its
        kind.
    mem_scope : str, optional
        ``global`` (a buffer) by default, ``texture``, ``texture:weight`` or ``texture:nhwc``.
    target : str or Target, optional
        The target whose image limits determine the fold of a large texture, as for ``build``.
    origin : (int, int)
        Position of the texture's rectangle in its image, x and y in texels; for arguments declared
        with an origin.
    image : (int, int), optional
        Width and height of the image in texels; by default as large as the array and its origin
        need.
    layout : str
        The layout, which replaces the scope's own mapping: ``"texture[(h, w, c) -> rows=(h),
        cols=(c/4, w), lanes=c%4]"``; the scope can then be omitted.

    Raises
    ------
    TVMError
        TL2001 for an unknown scope, TL2017 for a bad layout, TL1001 for a bad shape, TL2040 for a
        bad origin or image, TL4002 for a texture that cannot be folded to fit, TL5006 if there is
        no such device.
    """
    on = _device(device)
    origin = texels("origin", origin, least=0)
    image = None if image is None else texels("image", image, least=1)
    if isinstance(on, AbsentDevice):
        if mem_scope not in (None, "", "global") or layout:
            refuse(
                "UnknownScope",
                f"an array of {on} cannot be in {(mem_scope or layout)!r}",
                'leave mem_scope and layout out, or make the array on a device: device="opencl:0"',
            )
        _core.check_host_array(extents(shape), dtype, resolve_for_arrays(target), origin, image)
        return HostArray(extents(shape), dtype, on)
    return _core.empty(
        extents(shape),
        dtype,
        on,
        mem_scope or "",
        resolve_for_arrays(target),
        origin,
        image,
        layout,
    )


def array(
    source: Any,
    device: Device | str | None = None,
    mem_scope: str | None = None,
    *,
    target: str | Target | None = None,
    layout: str = "",
) -> NDArray | HostArray:
    """Copy numbers, a NumPy array or an array on a device to a new array; see :func:`empty`."""
    values = source if isinstance(source, NDArray) else numbers(source)
    dtype = values.dtype if isinstance(values, NDArray) else values.dtype.newbyteorder("=").name
    return empty(values.shape, dtype, device, mem_scope, target=target, layout=layout).copyfrom(
        values
    )


def wrap(
    memory: Any,
    shape: int | Sequence[int],
    dtype: DType = "float32",
    *,
    device: Device,
    mem_scope: str | None = None,
    target: str | Target | None = None,
    offset: int = 0,
    origin: tuple[int, int] = (0, 0),
    layout: str = "",
) -> NDArray:
    """Return an array whose memory is an application's own, without a copy.

    The array retains the memory. Its elements are in the place that the scope and the layout give
    them, row-major in a buffer; padding, which some layouts have, must be zero.

    Parameters
    ----------
    memory : pyopencl.Buffer, pyopencl.Image or int
        The memory, or the address of a valid ``cl_mem`` of the device's context, or of an
        ``id<MTLBuffer>`` or ``id<MTLTexture>`` of its ``MTLDevice``.
    shape, dtype, mem_scope, target, layout
        As for :func:`empty`.
    device : Device
        The device of ``texloom.opencl_of`` or ``texloom.metal_of``.
    offset : int
        The byte of the buffer at which the array begins, a multiple of the device's alignment.
    origin : (int, int)
        The place of the array in the image, x and y in texels.

    Raises
    ------
    TVMError
        TL2040 for memory that the device cannot use or an offset that is not aligned, TL5003 for
        memory that is too small or an image of another format, and those of :func:`empty`.
    """
    on = _device(device)
    if isinstance(on, AbsentDevice):
        refuse(
            _KIND,
            f"memory of an application cannot be an array of {on}",
            "give the device that texloom.opencl_of or texloom.metal_of returned",
        )
    return _core.wrap(
        handle("memory", memory),
        extents(shape),
        dtype,
        on,
        mem_scope or "",
        resolve_for_arrays(target),
        offset,
        texels("origin", origin, least=0),
        layout,
    )


def from_dlpack(
    source: Any, device: Device | str | None = None, *, copy: bool | None = None
) -> NDArray | HostArray:
    """Return an array that shares memory through DLPack, or a copy on a device.

    Parameters
    ----------
    source : object
        An array of another library in host memory, or a Texloom array.
    device : Device or str, optional
        The device of the result; by default that of the source, which is ``cpu()`` for host memory.
        On other devices the result is a copy.
    copy : bool, optional
        True always copies, False never; by default the array is copied only if necessary.

    Raises
    ------
    TVMError
        TL2040 for a source without DLPack, TL5005 (a ValueError) for one that is neither on the
        host nor on a Texloom device, and a ValueError for ``copy=False`` if a copy is needed.
    BufferError
        If the source refuses to share its memory.
    """
    own = isinstance(source, NDArray)
    on = _device(device) if device is not None else (source.device if own else cpu())
    stays = on == source.device if own else isinstance(on, AbsentDevice)
    if not stays and copy is False:
        refuse(
            _KIND,
            f"{shown(source)} is not in the memory of {on!r}, so it cannot be shared",
            "leave copy=False out: then the array is copied",
            MisuseError,
        )
    if own:
        return source if stays and not copy else source.copyto(on)
    values = numbers(dlpack.imported(source))
    if not stays:
        return array(values, on)
    return HostArray.sharing(values.copy() if copy else values, on)


_elements = NDArray.numpy


def _numpy(self: NDArray) -> np.ndarray:
    """Copy to a NumPy array, after waiting for all work on the device.

    bfloat16 requires a library such as ml_dtypes, which adds the dtype to NumPy; ``np.asarray(a,
    "float32")`` always works.
    """
    if self.dtype != "bfloat16":
        return _elements(self)
    dtype = bfloat16.numpy_dtype()
    if dtype is None:
        refuse(
            "UnknownType",
            "the values are bfloat16, which NumPy lacks",
            'convert the values to float32, which represents them all: np.asarray(a, "float32")',
        )
    return _elements(self).view(dtype)


def _copyto(
    self: NDArray, target: NDArray | HostArray | Device, mem_scope: str | None = None
) -> NDArray | HostArray:
    """Copy to another array, or to a new one on a device, through the host; return it.

    A new array has the scope and the layout of this one, unless `mem_scope` is given; on ``cpu()``
    the new array is plain memory.
    """
    if isinstance(target, Device) and mem_scope is None:
        layout = "" if self.layout == "linear" else self.layout
        return array(self, target, self.scope, layout=layout)
    return _copied(self, target, mem_scope)


def _host_copyto(
    self: HostArray,
    target: HostArray | NDArray | Device | AbsentDevice,
    mem_scope: str | None = None,
) -> HostArray | NDArray:
    """Copy to another array, or to a new one on a device; return it."""
    return _copied(self, target, mem_scope)


def _copied(source: NDArray | HostArray, target: Any, mem_scope: str | None) -> NDArray | HostArray:
    if isinstance(target, (HostArray, NDArray)):
        check_scope_of_target(target.scope, mem_scope)
        return target.copyfrom(source)
    if isinstance(target, (Device, AbsentDevice)):
        return array(source, target, mem_scope)
    refuse(
        _KIND,
        f"copyto copies to an array or to a device, not to {shown(target)}",
        "use numpy() for a copy on the host",
        MisuseError,
    )


def _copyfrom(self: NDArray, source_array: Any) -> NDArray:
    """Copy numbers, or a NumPy or device array of the same shape, to this array; return it.

    The values are converted to the dtype of this array.
    """
    if isinstance(source_array, NDArray) and source_array.dtype == self.dtype:
        self._assign(_elements(source_array))
    elif self.dtype == "bfloat16":
        self._assign(bfloat16.from_numbers(numbers(source_array)))
    else:
        self._assign(numbers(source_array).astype(self.dtype, copy=False))
    return self


def _as_numpy(self: NDArray, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """Return a copy for ``np.asarray``; device memory cannot be shared."""
    if copy is False:
        raise ValueError(
            "an array of a device cannot share its memory with NumPy: leave out copy=False"
        )
    if dtype is None:
        return self.numpy()
    if self.dtype == "bfloat16":
        return bfloat16.to_float32(_elements(self)).astype(dtype, copy=False)
    return self.numpy().astype(dtype)


def _setitem(self: NDArray, key: Any, value: Any) -> None:
    """Assign ``a[:] = value``."""
    if key != slice(None):
        refuse(
            "WrongShape",
            f"cannot assign element {key!r}: arrays are assigned as a whole",
            "write a[:] = value, or a.copyfrom(value)",
            MisuseError,
        )
    host = numbers(value)
    try:
        whole = np.broadcast_to(host, self.shape)
    except ValueError:
        refuse_shape(self.shape, host.shape)
    self.copyfrom(whole)


def _dlpack_device(self: NDArray) -> tuple[int, int]:
    return self.device.device_type, self.device.device_id


def _dlpack(
    self: NDArray,
    *,
    stream: None = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Refused unless a copy on the host is requested: ``dl_device=(1, 0)``."""
    return dlpack.export_device(
        self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
    )


NDArray.numpy = _numpy
NDArray.asnumpy = _numpy
NDArray.copyfrom = _copyfrom
NDArray.copyto = _copyto
HostArray.copyto = _host_copyto
NDArray.__array__ = _as_numpy
NDArray.__dlpack__ = _dlpack
NDArray.__dlpack_device__ = _dlpack_device
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
    "wrap",
]
check_calls(globals())
check_methods(NDArray)
