"""Arrays in the host's memory: where scripts stage what they copy to a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, dlpack
from .argument_kinds import shown
from .device_kinds import AbsentDevice, Device
from .errors import MisuseError, refuse

if TYPE_CHECKING:
    from ._core import NDArray
    from .dtypes import DType


class HostArray:
    """An array of ``tvm.cpu(0)``, made by ``nd.array`` and ``nd.empty``.

    It is copied from and to arrays of devices. Kernels take arrays of their own device alone.
    """

    scope = "global"

    def __init__(self, shape: list[int], dtype: DType, device: AbsentDevice) -> None:
        name = _core.dtype_name(dtype)
        if name == "bfloat16":
            refuse("UnknownType", "NumPy has no bfloat16", "keep it in an array of a device")
        self._values = np.empty(shape, name)
        self.device = device

    @classmethod
    def sharing(cls, values: np.ndarray, device: AbsentDevice) -> HostArray:
        """An array in the memory of NumPy's, which it keeps; read-only where that is."""
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
        """Takes the values of an array of the same shape, converted to the dtype of this one."""
        source = np.asarray(source_array)
        if source.shape != self.shape:
            refuse(
                "WrongShape",
                f"an array of shape {self.shape} is copied from one of {source.shape}",
                "give an array of its shape",
                MisuseError,
            )
        self._values[...] = source
        return self

    def copyto(
        self, target: HostArray | NDArray | Device | AbsentDevice, mem_scope: str | None = None
    ) -> HostArray | NDArray:
        """Copies to another array, or to a new one on a device; returns it."""
        from . import nd  # which makes arrays of this class

        if isinstance(target, (HostArray, nd.NDArray)):
            return target.copyfrom(self)
        if isinstance(target, (Device, AbsentDevice)):
            return nd.array(self, target, mem_scope)
        refuse(
            "BadDirectiveArgument",
            f"copyto copies to an array or to a device, not to {shown(target)}",
            "use numpy() for a copy on the host",
            MisuseError,
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
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
        """A capsule that shares the memory of this array; see :mod:`texloom.dlpack`."""
        return dlpack.export_host(
            self._values, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        """``a[:] = value``, or a part of it."""
        self._values[key] = value

    def __repr__(self) -> str:
        return f"HostArray({list(self.shape)}, {self.dtype}, {self.device})"


__all__ = ["HostArray"]
