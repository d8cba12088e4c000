"""oneDNN's product of matrices, through the C interface of its library."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from ctypes import byref, c_int, c_int64, c_uint, c_void_p
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

# Numbers of dnnl_types.h.
_TYPES = {"float32": 3, "int32": 4, "int8": 5, "uint8": 6}
_ANY, _ROWS = 1, 3  # formats: oneDNN chooses, row-major
_WEIGHTS_OF_PRIMITIVE = 131
_SRC, _WEIGHTS, _DST, _FROM, _TO = 1, 33, 17, 1, 17


class _Argument(ctypes.Structure):
    _fields_ = [("place", c_int), ("memory", c_void_p)]


class OneDnn:
    """The library: an engine of the processor, and a stream.

    Attributes
    ----------
    version : str
    """

    def __init__(self) -> None:
        self._library = _library()
        self._library.dnnl_version.restype = ctypes.POINTER(_Version)
        found = self._library.dnnl_version().contents
        self.version = f"{found.major}.{found.minor}.{found.patch}"
        self._engine, self._stream = c_void_p(), c_void_p()
        self._call("engine_create", byref(self._engine), 1, 0)
        self._call("stream_create", byref(self._stream), self._engine, c_uint(1))
        self._kept: list[Any] = []

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, f"dnnl_{name}")(*arguments)
        if status != 0:
            raise OSError(f"oneDNN's dnnl_{name} fails with status {status}")

    def _layout(self, shape: tuple[int, ...], dtype: str, tag: int) -> c_void_p:
        made = c_void_p()
        extents = (c_int64 * len(shape))(*shape)
        self._call(
            "memory_desc_create_with_tag", byref(made), len(shape), extents, _TYPES[dtype], tag
        )
        return made

    def _memory(self, layout: c_void_p, array: NDArray[Any] | None = None) -> c_void_p:
        made = c_void_p()
        place = c_void_p(-1) if array is None else array.ctypes.data_as(c_void_p)
        self._kept.append(array)
        self._call("memory_create", byref(made), layout, self._engine, place)
        return made

    def _run(self, primitive: c_void_p, **memories: c_void_p) -> Callable[[], None]:
        arguments = (_Argument * len(memories))(
            *(_Argument(int(place[1:]), memory) for place, memory in memories.items())
        )

        def run() -> None:
            self._call("primitive_execute", primitive, self._stream, len(arguments), arguments)
            self._call("stream_wait", self._stream)

        return run

    def product(
        self, left: NDArray[Any], right: NDArray[Any], result: NDArray[Any]
    ) -> Callable[[], None]:
        """Return a function for ``left @ right``; `right` is packed as oneDNN likes it."""
        plain = self._layout(right.shape, str(right.dtype), _ROWS)
        description, primitive = c_void_p(), c_void_p()
        self._call(
            "matmul_primitive_desc_create",
            byref(description),
            self._engine,
            source := self._layout(left.shape, str(left.dtype), _ROWS),
            self._layout(right.shape, str(right.dtype), _ANY),
            None,
            target := self._layout(result.shape, str(result.dtype), _ROWS),
            None,
        )
        self._call("primitive_create", byref(primitive), description)
        query = self._library.dnnl_primitive_desc_query_md
        query.restype = c_void_p
        layout = c_void_p(query(description, _WEIGHTS_OF_PRIMITIVE, 0))
        packed = self._memory(layout)
        reorder, reordering = c_void_p(), c_void_p()
        self._call(
            "reorder_primitive_desc_create",
            byref(reorder),
            plain,
            self._engine,
            layout,
            self._engine,
            None,
        )
        self._call("primitive_create", byref(reordering), reorder)
        unpacked = self._memory(plain, right)
        self._run(reordering, **{f"_{_FROM}": unpacked, f"_{_TO}": packed})()
        return self._run(
            primitive,
            **{
                f"_{_SRC}": self._memory(source, left),
                f"_{_WEIGHTS}": packed,
                f"_{_DST}": self._memory(target, result),
            },
        )


class _Version(ctypes.Structure):
    _fields_ = [("major", c_int), ("minor", c_int), ("patch", c_int)]


def _library() -> ctypes.CDLL:
    """Load the library that pip has installed; ModuleNotFoundError if there is none."""
    found = sorted(Path(sys.prefix, "lib").glob("libdnnl.so.3*"))
    if not found:
        raise ModuleNotFoundError("no oneDNN", name="onednn-cpu-gomp")
    return ctypes.CDLL(str(found[0]))


__all__ = ["OneDnn"]
