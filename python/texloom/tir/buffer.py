"""How arguments lie in memory."""

from __future__ import annotations

from typing import Any, NoReturn

from .. import _core
from .._core import Buffer
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
        For buffers of tensor intrinsics, which stand for parts of tensors: how far apart
        neighbours along each axis lie, a constant or a variable for each axis, and a variable for
        the place of the first element. None elsewhere: an array is compact and begins where its
        memory does.
    scope : str
        ``global`` by default, or a texture scope. For buffers of tensor intrinsics any scope, in
        which the tensor then has to lie; by default it lies anywhere.
    data_alignment, buffer_type
        Accepted for the sake of existing scripts: no use is made of what they promise.
    offset_factor : int
        For buffers of tensor intrinsics: what the place of the first element is a multiple of, in
        elements; 0 as good as 1.
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
        TL2042 for `data`.
    """
    del data_alignment, buffer_type
    if data is not None:
        refuse(
            "NotProvided",
            "decl_buffer is given data: the memory of a buffer is that of a tensor",
            "leave data= out",
        )
    extents = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
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
check_calls(globals())
check_methods(Buffer)
