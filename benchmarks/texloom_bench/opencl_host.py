"""A small OpenCL host, which times kernels of any origin in the same way.

It calls the OpenCL loader directly, without Texloom.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_ulong, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DEVICE_TYPE_ALL = 0xFFFFFFFF
_DEVICE_NAME = 0x102B
_BUILD_LOG = 0x1183
_MEM_READ_WRITE = 1
_MEM_COPY_HOST_POINTER = 32
_RGBA, _FLOAT = 0x10B5, 0x10DE
_IMAGE2D = 0x10F1
_LANES = 4

_POINTER_RESULTS = (
    "clCreateContext",
    "clCreateCommandQueue",
    "clCreateBuffer",
    "clCreateImage",
    "clCreateProgramWithSource",
    "clCreateKernel",
)


class OpenCLError(RuntimeError):
    """A failed OpenCL call."""


class _ImageFormat(ctypes.Structure):
    _fields_ = (("order", c_uint), ("type", c_uint))


class _ImageDesc(ctypes.Structure):
    _fields_ = (
        ("type", c_uint),
        *((name, c_size_t) for name in ("width", "height", "depth", "array_size")),
        *((name, c_size_t) for name in ("row_pitch", "slice_pitch")),
        *((name, c_uint) for name in ("mip_levels", "samples")),
        ("memory", c_void_p),
    )


def _check(code: int, call: str, detail: str = "") -> None:
    if code != 0:
        raise OpenCLError(f"{call} failed with error {code}{detail}")


class Memory:
    """A buffer or an image on the device; lives as long as its host."""

    def __init__(self, handle: int, size: int) -> None:
        self.handle = c_void_p(handle)
        self.size = size


class Kernel:
    """A compiled kernel with its arguments, ready to launch."""

    def __init__(self, host: Host, handle: int, grid: Sequence[int], block: Sequence[int]) -> None:
        self._host = host
        self._handle = c_void_p(handle)
        threads = [g * b for g, b in zip(grid, block, strict=True)]
        self._rank = len(threads)
        self._global = (c_size_t * self._rank)(*threads)
        self._local = (c_size_t * self._rank)(*block)

    def set_arguments(self, arguments: Sequence[Memory | int]) -> None:
        """Set the arguments, in order: memory, or 32-bit numbers."""
        for place, argument in enumerate(arguments):
            value = argument.handle if isinstance(argument, Memory) else c_int(argument)
            code = self._host.cl.clSetKernelArg(
                self._handle, c_uint(place), c_size_t(ctypes.sizeof(value)), byref(value)
            )
            _check(code, f"clSetKernelArg({place})")

    def launch(self) -> None:
        """Launch the kernel once, without waiting."""
        code = self._host.cl.clEnqueueNDRangeKernel(
            *(self._host.queue, self._handle, c_uint(self._rank), None),
            *(self._global, self._local, c_uint(0), None, None),
        )
        _check(code, "clEnqueueNDRangeKernel")


class Host:
    """A context with one queue on the device with this name.

    Raises
    ------
    OSError
        If there is no OpenCL loader.
    OpenCLError
        If there is no such device, or a call fails.
    """

    def __init__(self, device_name: str) -> None:
        self.cl: Any = ctypes.CDLL("libOpenCL.so.1")
        for name in _POINTER_RESULTS:
            getattr(self.cl, name).restype = c_void_p
        self._device = self._find(device_name)
        code = c_int()
        context = self.cl.clCreateContext(
            None, c_uint(1), byref(self._device), None, None, byref(code)
        )
        _check(code.value, "clCreateContext")
        self._context = c_void_p(context)
        queue = self.cl.clCreateCommandQueue(self._context, self._device, c_ulong(0), byref(code))
        _check(code.value, "clCreateCommandQueue")
        self.queue = c_void_p(queue)

    def _find(self, device_name: str) -> c_void_p:
        platforms = (c_void_p * 16)()
        count = c_uint()
        _check(self.cl.clGetPlatformIDs(16, platforms, byref(count)), "clGetPlatformIDs")
        for platform in platforms[: count.value]:
            devices = (c_void_p * 16)()
            found = c_uint()
            self.cl.clGetDeviceIDs(
                c_void_p(platform), c_ulong(_DEVICE_TYPE_ALL), 16, devices, byref(found)
            )
            for device in devices[: found.value]:
                name = ctypes.create_string_buffer(1024)
                self.cl.clGetDeviceInfo(c_void_p(device), _DEVICE_NAME, c_size_t(1024), name, None)
                if name.value.decode().strip() == device_name.strip():
                    return c_void_p(device)
        raise OpenCLError(f"there is no OpenCL device named {device_name!r}")

    def buffer(self, values: NDArray[Any]) -> Memory:
        """Make a buffer with a copy of the values."""
        host = np.ascontiguousarray(values)
        code = c_int()
        flags = c_ulong(_MEM_READ_WRITE | _MEM_COPY_HOST_POINTER)
        handle = self.cl.clCreateBuffer(
            self._context, flags, c_size_t(host.nbytes), c_void_p(host.ctypes.data), byref(code)
        )
        _check(code.value, "clCreateBuffer")
        return Memory(handle, host.nbytes)

    def image(self, values: NDArray[np.float32]) -> Memory:
        """Make an image with a row for each row of the matrix and four columns per texel."""
        host = np.ascontiguousarray(values)
        rows, columns = host.shape
        desc = _ImageDesc(type=_IMAGE2D, width=columns // _LANES, height=rows)
        code = c_int()
        flags = c_ulong(_MEM_READ_WRITE | _MEM_COPY_HOST_POINTER)
        handle = self.cl.clCreateImage(
            *(self._context, flags, byref(_ImageFormat(_RGBA, _FLOAT)), byref(desc)),
            *(c_void_p(host.ctypes.data), byref(code)),
        )
        _check(code.value, "clCreateImage")
        return Memory(handle, host.nbytes)

    def read(self, memory: Memory, into: NDArray[Any]) -> None:
        """Copy a buffer to the host, after all earlier commands."""
        code = self.cl.clEnqueueReadBuffer(
            *(self.queue, memory.handle, c_uint(1), c_size_t(0), c_size_t(into.nbytes)),
            *(c_void_p(into.ctypes.data), c_uint(0), None, None),
        )
        _check(code, "clEnqueueReadBuffer")

    def write(self, memory: Memory, values: NDArray[Any]) -> None:
        """Copy to a buffer, after all earlier commands."""
        host = np.ascontiguousarray(values)
        code = self.cl.clEnqueueWriteBuffer(
            *(self.queue, memory.handle, c_uint(1), c_size_t(0), c_size_t(host.nbytes)),
            *(c_void_p(host.ctypes.data), c_uint(0), None, None),
        )
        _check(code, "clEnqueueWriteBuffer")

    def sync(self) -> None:
        """Wait until all launches are done."""
        _check(self.cl.clFinish(self.queue), "clFinish")

    def kernel(
        self, source: str, name: str, options: str, grid: Sequence[int], block: Sequence[int]
    ) -> Kernel:
        """Compile a source, with numbers of blocks and of threads per block along each axis."""
        text = c_char_p(source.encode())
        code = c_int()
        program = self.cl.clCreateProgramWithSource(
            self._context, c_uint(1), byref(text), None, byref(code)
        )
        _check(code.value, "clCreateProgramWithSource")
        built = self.cl.clBuildProgram(
            c_void_p(program), c_uint(1), byref(self._device), options.encode(), None, None
        )
        if built != 0:
            log = ctypes.create_string_buffer(1 << 16)
            self.cl.clGetProgramBuildInfo(
                *(c_void_p(program), self._device, _BUILD_LOG, c_size_t(len(log)), log, None)
            )
            _check(built, "clBuildProgram", f":\n{log.value.decode(errors='replace')}")
        handle = self.cl.clCreateKernel(c_void_p(program), name.encode(), byref(code))
        _check(code.value, "clCreateKernel")
        return Kernel(self, handle, grid, block)
