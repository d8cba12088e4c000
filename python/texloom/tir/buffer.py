"""How arguments lie in memory."""

from __future__ import annotations

from typing import Any, NoReturn

from .. import _core
from .._core import Buffer
from ..errors import refuse


def decl_buffer(
    shape: Any,
    dtype: str | None = None,
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
        ``global`` by default, or a texture scope.
    data_alignment, offset_factor
        Accepted for the sake of existing scripts: no use is made of what they promise.
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
    del data_alignment, offset_factor
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
        dtype or "float32",
        name,
        scope,
        origin,
        exact_image,
        layout,
        strides or None,
        elem_offset,
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


def _access_ptr(self: Buffer, *args: Any, **options: Any) -> NoReturn:
    """Refused: there is no function that takes a pointer."""
    del args, options
    refuse(
        "NotProvided",
        f"access_ptr of '{self.name}': kernels call no function that takes a pointer",
        "access its elements by vload and vstore, or by ib.buffer_ptr",
    )


Buffer.access_ptr = _access_ptr

__all__ = ["decl_buffer"]
