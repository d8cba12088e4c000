"""Buffers: declarations of tensors in memory."""

from __future__ import annotations

from typing import Any, NoReturn

from .. import _core
from .._core import Buffer, Expr
from ..checks.checked_calls import check_calls, check_methods
from ..dtypes import DType
from ..errors import refuse


def decl_buffer(
    shape: Any,
    dtype: DType | None = None,
    name: str = "",
    data: None = None,
    strides: Any = None,
    elem_offset: Any = None,
    scope: str = "",
    data_alignment: int = -1,
    offset_factor: int = 0,
    buffer_type: str = "",
    *,
    origin: bool = False,
    exact_image: bool = False,
    layout: str = "",
) -> Buffer:
    """Declare an argument's array in memory, for ``binds=`` of :func:`lower` and :func:`build`.

    A buffer also declares the memory passed to the function of ``te.extern``, for ``in_buffers=``
    and ``out_buffers=`` (in global memory, wherever the tensor is), and the views of
    ``te.decl_tensor_intrin``, for its ``binds=`` (in any memory).

    Parameters
    ----------
    shape, dtype
        The shape and dtype of the tensor; the dtype is float32 by default.
    name : str
        The argument's name in kernels; the tensor's own by default.
    data
        Must be None: the memory is the tensor's.
    strides, elem_offset
        The stride of each axis, a constant or a variable, and a variable for the position of the
        first element. For buffers of tensor intrinsics they describe the region of the tensor. All
        other buffers are compact arrays that start at the beginning of their memory: a variable
        that nothing else uses gets the stride or offset of that array, also in statements of
        te.extern; a constant must equal it.
    scope : str
        ``global`` by default, or a texture scope. For buffers of tensor intrinsics, the scope that
        the tensor must have; by default, any scope is accepted.
    data_alignment
        Accepted for compatibility and ignored.
    offset_factor : int
        For buffers of tensor intrinsics: the first element's position, in elements, must be a
        multiple of this number; 0 means 1.
    buffer_type : str
        ``"auto_broadcast"`` is accepted if it has no effect, for constant extents above 1.
    origin : bool
        Whether a texture may start anywhere in its image: the kernel then has two arguments for the
        position of its corner.
    exact_image : bool
        A contract: the image of a texture has exactly the texels of the tensor. Zero padding then
        needs no condition in kernels if elements outside the tensor are outside the image, where
        reads return zero. A call with a larger image is refused (TL5014).
    layout : str
        The layout, which replaces the scope's own mapping: ``"texture[(h, w, c) -> rows=(h),
        cols=(c/4, w), lanes=c%4]"``; the names stand for the axes, in order.

    Raises
    ------
    TVMError
        TL2042 for `data`, and for extents that would be broadcast.
    """
    del data_alignment
    if data is not None:
        refuse(
            "NotProvided",
            "decl_buffer is given data, but a buffer always uses the memory of its tensor",
            "leave data= out",
        )
    extents = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
    if buffer_type == "auto_broadcast":
        _check_broadcast(extents)
    return _core.decl_buffer(
        extents,
        "float32" if dtype is None else dtype,
        name,
        scope,
        origin,
        exact_image,
        layout,
        strides or None,
        elem_offset,
        offset_factor,
    )


def _check_broadcast(extents: tuple[Any, ...]) -> None:
    """Refuse extents that are 1 in some calls: TVM would broadcast such arrays."""
    for extent in map(_core.to_expr, extents):
        if extent._class != "IntImm" or int(extent) == 1:
            refuse(
                "NotProvided",
                f'decl_buffer of buffer_type="auto_broadcast" has the extent {extent}: arrays are '
                "not broadcast",
                "leave buffer_type out, and read the axis at 0 if its extent is 1",
            )


_READ, _WRITE = 1, 2


def _access_mask(buffer: Buffer, given: Any) -> int:
    """Return the bits of an access, given as letters or as TVM's number."""
    if isinstance(given, str) and given and set(given) <= {"r", "w"}:
        return (_READ if "r" in given else 0) | (_WRITE if "w" in given else 0)
    if isinstance(given, int) and _READ <= given <= _READ | _WRITE:
        return int(given)
    refuse(
        "BadForeignCall",
        f"access_ptr of '{buffer.name}' is given the access {given!r}",
        'use "r", "w" or "rw", or 1, 2 or 3',
    )


def _access_ptr(
    self: Buffer,
    access_mask: str | int,
    ptr_type: str = "handle",
    content_lanes: int = 1,
    offset: Any = 0,
    extent: Any = None,
) -> Expr:
    """Return a pointer to the first element, as an argument of :func:`call_extern`.

    The pointer has the address space of the memory: in OpenCL C 1.2 the function's parameter is a
    ``__global float*`` for a tensor in global memory, a ``__local float*`` for ``"shared"``, a
    ``float*`` for ``"local"``, and ``__global const float*`` for global memory that the kernel only
    reads. The function is assumed to access the whole buffer.

    Parameters
    ----------
    access_mask : str or int
        The function's access: ``"r"``, ``"w"`` or ``"rw"``, or 1, 2 or 3.
    ptr_type, extent
        Accepted for compatibility, without effect.
    content_lanes : int
        Must be 1: the pointer is to single elements.
    offset : Expr or int
        The number of elements past the first one.

    Raises
    ------
    TVMError
        TL3034 for another access, and for element types that C lacks; when lowered, also for a
        tensor that is not in a row-major buffer, such as a texture.
    """
    del ptr_type, extent
    if content_lanes != 1:
        refuse(
            "BadForeignCall",
            f"access_ptr of '{self.name}' cannot point to {content_lanes} lanes at a time",
            "leave content_lanes out, and use vload4 or a similar function",
        )
    mask = _access_mask(self, access_mask)
    return _core.pointer(self, bool(mask & _READ), bool(mask & _WRITE), offset)


def _data(self: Buffer) -> NoReturn:
    """Refused, because ``data`` does not state how the memory is accessed."""
    refuse(
        "NotProvided",
        f"the pointer of '{self.name}' is requested by .data, which does not state the access",
        'use access_ptr("r"), "w" or "rw"',
    )


def _getitem(self: Buffer, index: Any) -> NoReturn:
    """Refused: an index does not say whether an element or a vector is read."""
    refuse(
        "BadExtern",
        f"the buffer '{self.name}' is indexed by [{_shown_index(index)}], which does not say "
        "whether an element or a vector is read",
        f"read an element as {self.name}.vload(index), or through b = ib.buffer_ptr({self.name})",
    )


def _setitem(self: Buffer, index: Any, value: Any) -> NoReturn:
    """Refused: only a builder knows where to put the store."""
    del value
    refuse(
        "BadExtern",
        f"the element [{_shown_index(index)}] of the buffer '{self.name}' is assigned outside of a "
        "builder",
        f"emit {self.name}.vstore(index, value), or assign through b = ib.buffer_ptr({self.name})",
    )


def _shown_index(index: Any) -> str:
    return ", ".join(map(str, index)) if isinstance(index, tuple) else str(index)


Buffer.access_ptr = _access_ptr
Buffer.__getitem__ = _getitem
Buffer.__setitem__ = _setitem
Buffer.__iter__ = None  # Python would iterate by __getitem__
Buffer.data = property(_data)

__all__ = ["decl_buffer"]
check_calls(globals())
check_methods(Buffer)
