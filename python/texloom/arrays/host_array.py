"""Arrays in host memory, from which scripts copy to devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..devices.absent import AbsentDevice
from ..errors import MisuseError, refuse
from . import dlpack
from .arguments import numbers, refuse_shape

if TYPE_CHECKING:
    from ..dtypes import DType

_KIND = "BadArgument"


class HostArray:
    """An array of ``tvm.cpu(0)``, made by ``nd.array`` and ``nd.empty``.

    Host arrays can be copied from and to device arrays (``nd.py`` adds ``copyto``); functions for
    the target ``"llvm"`` take them, others only arrays of their own device. Values are checked as
    for device arrays; ``nd.empty`` checks shapes.
    """

    scope = "global"

    def __init__(self, shape: list[int], dtype: DType, device: AbsentDevice) -> None:
        name = _core.dtype_name(dtype)
        if name == "bfloat16":
            refuse(
                "UnknownType",
                "an array on the host cannot be bfloat16, which NumPy lacks",
                "make it on a device, or as float32",
            )
        try:
            self._values = np.empty(shape, name)
        except MemoryError:
            words = ", ".join(map(str, shape))
            refuse(
                "OutOfDeviceMemory",
                f"the host has no memory for an array of shape ({words})",
                "use smaller arrays",
            )
        self.device = device

    @classmethod
    def sharing(cls, values: np.ndarray, device: AbsentDevice) -> HostArray:
        """Make an array that shares and retains a NumPy array; read-only if the NumPy array is."""
        made = cls.__new__(cls)
        made._values = values
        made.device = device
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self._values.shape

    @property
    def dtype(self) -> str:
        """The name of the element type."""
        return self._values.dtype.name

    def numpy(self) -> np.ndarray:
        """A copy."""
        return self._values.copy()

    asnumpy = numpy

    def copyfrom(self, source_array: Any) -> HostArray:
        """Copy the values of an array of the same shape, converted to this array's dtype."""
        source = numbers(source_array)
        if source.shape != self.shape:
            refuse(
                "WrongShape",
                f"an array of shape {source.shape} cannot be copied to one of shape {self.shape}",
                f"give an array of shape {self.shape}",
                MisuseError,
            )
        self._check_writable()
        self._values[...] = source
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            if dtype is not None and self._values.dtype != dtype:
                raise ValueError(
                    f"{self.dtype} as {np.dtype(dtype)} needs a copy: leave out copy=False"
                )
            return self._values
        return self._values.astype(dtype or self._values.dtype)

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CPU

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a capsule that shares the memory of this array: see ``texloom.arrays.dlpack``."""
        return dlpack.export_host(
            self._values, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign all elements (``a[:] = value``), or a part of the array."""
        source = numbers(value)
        self._check_writable()
        try:
            part = self._values[key]
        except IndexError as error:
            refuse("WrongShape", str(error), f"the shape of the array is {self.shape}", MisuseError)
        try:
            self._values[key] = source
        except ValueError:
            refuse_shape(np.shape(part), source.shape)

    def _check_writable(self) -> None:
        if not self._values.flags.writeable:
            refuse(
                "ReadOnlyArray",
                "the array is read-only, because it shares read-only memory",
                "copy it: from_dlpack(x, copy=True)",
                MisuseError,
            )

    def __repr__(self) -> str:
        return f"HostArray({list(self.shape)}, {self.dtype}, {self.device})"


__all__ = ["HostArray"]
