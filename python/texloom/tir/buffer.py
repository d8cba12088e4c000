"""How arguments lie in memory."""

from __future__ import annotations

from typing import Any, NoReturn

from .. import _core
from .._core import Buffer, Expr
from ..checked_calls import check_calls, check_methods
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
    """How an argument's array lies in memory, for ``binds=`` of :func:`lower` and :func:`build`.

    Also the memory that the function of ``te.extern`` is given, for ``in_buffers=`` and
    ``out_buffers=``: in global memory, wherever the tensor lies; and the views of
    ``te.decl_tensor_intrin``, for its ``binds=``: wherever the tensor lies, too.

    Parameters
    ----------
    shape, dtype
        Those of the tensor; dtype is float32 by default.
    name : str
        The argument's name in kernels; the tensor's own by default.
    data
        None: memory is the tensor's.
    strides, elem_offset
        How far apart neighbours along each axis lie, a constant or a variable for each axis, and a
        variable for the place of the first element. Buffers of tensor intrinsics stand for parts
        of tensors, and these say which. All others are arrays, which are compact and begin where
        their memory does: variables that nothing else uses then have these values, in statements
        of te.extern, too; constants have to be them.
    scope : str
        ``global`` by default, or a texture scope. For buffers of tensor intrinsics any scope, in
        which the tensor then has to lie; by default it lies anywhere.
    data_alignment
        Accepted for the sake of existing scripts: no use is made of what it promises.
    offset_factor : int
        For buffers of tensor intrinsics: what the place of the first element is a multiple of, in
        elements; 0 as good as 1.
    buffer_type : str
        ``"auto_broadcast"`` is accepted where it changes nothing: of constant extents above 1.
    origin : bool
        Whether a texture may begin anywhere in its image: the kernel then takes the place of its
        corner as two constants.
    exact_image : bool
        A contract: the image of a texture has the texels of the tensor and no others. Padding by
        zeros then needs no condition in kernels where what lies outside of the tensor lies outside
        of the image, which reads as zero. A call with a larger image is refused (TL5014).
    layout : str
        How the array lies there, where the scope's own rule is not wanted:
        ``"texture[(h, w, c) -> rows=(h), cols=(c/4, w), lanes=c%4]"``; the names stand for the
        axes, in order.

    Raises
    ------
    TVMError
        TL2042 for `data`, and for extents that would be broadcast.
    """
    del data_alignment
    if data is not None:
        refuse(
            "NotProvided",
            "decl_buffer is given data: the memory of a buffer is that of a tensor",
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
    """Refuses extents that are 1 at some calls, where an element would stand for all."""
    for extent in map(_core.to_expr, extents):
        if extent._class != "IntImm" or int(extent) == 1:
            refuse(
                "NotProvided",
                f'decl_buffer of buffer_type="auto_broadcast" has the extent {extent}: no array is '
                "read as if it were longer than it is",
                "leave buffer_type out, and read the axis at 0 where its extent is 1",
            )


_READ, _WRITE = 1, 2


def _access_mask(buffer: Buffer, given: Any) -> int:
    """The bits of what TVM takes for an access: letters or a number."""
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
    """A pointer to the first element, as an argument of :func:`call_extern`.

    It has the address space of the memory: in OpenCL C 1.2 the function's parameter is a
    ``__global float*`` where a tensor lies in global memory, a ``__local float*`` where it lies in
    ``"shared"``, a ``float*`` where it lies in ``"local"``; ``__global const float*`` in global
    memory that the kernel only reads. The function is taken to access all of the buffer.

    Parameters
    ----------
    access_mask : str or int
        What the function does there: ``"r"``, ``"w"`` or ``"rw"``; 1, 2 or 3.
    ptr_type, extent
        Accepted for the sake of existing scripts, without effect.
    content_lanes : int
        1: it points to single elements.
    offset : Expr or int
        How many elements behind the first one it points to.

    Raises
    ------
    TVMError
        TL3034 where the access is none of these, and for elements that C has no type for; where
        the tensor does not lie in a row-major array, as one in a texture, when it is lowered.
    """
    del ptr_type, extent
    if content_lanes != 1:
        refuse(
            "BadForeignCall",
            f"access_ptr of '{self.name}' is to point to {content_lanes} lanes at a time",
            "leave content_lanes out, and use vload4 and its like in the function",
        )
    mask = _access_mask(self, access_mask)
    return _core.pointer(self, bool(mask & _READ), bool(mask & _WRITE), offset)


def _data(self: Buffer) -> NoReturn:
    """Refused: nothing says what is done with it."""
    refuse(
        "NotProvided",
        f"the pointer of '{self.name}' is taken by .data, which does not say for what",
        'use access_ptr("r"), "w" or "rw"',
    )


Buffer.access_ptr = _access_ptr
Buffer.data = property(_data)

__all__ = ["decl_buffer"]
check_calls(globals())
check_methods(Buffer)
