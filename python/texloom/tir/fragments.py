"""Steps of products of matrices that the threads of a SIMD-group make together.

A step is of parts of 16 x 16 elements. The threads along ``threadIdx.x``, of which there are 32,
make it together: no operand depends on their index, and no condition around it. The values are
those of a thread that has all elements of its fragments alone.
"""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Buffer, Expr, Stmt
from ..checks.argument_kinds import kind_of
from ..checks.checked_calls import check_calls
from ..errors import refuse
from .ir_builder import BufferVar
from .op import const

FRAGMENT_SIDE = 16


def _pointer(value: Any) -> Expr:
    """Refuse what is no pointer."""
    if not isinstance(value, Expr) or value._class != "Pointer":
        refuse(
            "BadFragmentStep",
            f"a step of fragments is given {kind_of(value)}, not a pointer",
            'give the results of fragment_part, or of buffer.access_ptr("r")',
        )
    return value


def fragment_part(buffer: Buffer | BufferVar, access: str, *indices: Any) -> Expr:
    """Return a pointer to the part of a buffer that begins at these indices.

    Parameters
    ----------
    buffer : Buffer or BufferVar
        Its last two axes are rows and columns.
    access : str
        ``"r"``, ``"w"`` or ``"rw"``: what the step does with the part.
    indices : Expr or int
        Of the first element, one for each axis; in a fragment, multiples of 16 along rows and
        columns.

    Raises
    ------
    TVMError
        TL3036 for another buffer, access or number of indices.
    """
    own = buffer.buffer if isinstance(buffer, BufferVar) else buffer
    if not isinstance(own, Buffer) or len(own.shape) != len(indices) or len(indices) < 2:
        refuse(
            "BadFragmentStep",
            f"fragment_part is given {len(indices)} indices of {kind_of(buffer)}",
            "give a buffer of rows and columns, and an index for each of its axes",
        )
    if not isinstance(access, str) or not access or not set(access) <= {"r", "w"}:
        refuse(
            "BadFragmentStep",
            f"fragment_part is given the access {access!r}",
            'use "r", "w" or "rw"',
        )
    extents = [1] * (len(indices) - 2) + [FRAGMENT_SIDE] * 2
    return _core.pointer_to_box(own, "r" in access, "w" in access, list(indices), extents)


def fragment_fill(fragment: Expr, value: Any = 0.0) -> Stmt:
    """Return the step that sets all elements of a part to a value.

    Parameters
    ----------
    fragment : Expr
        A pointer to write.
    value : Expr or float

    Raises
    ------
    TVMError
        TL3036 for other operands.
    """
    return _core.fragment_step(
        "fill", [_pointer(fragment), const(value, fragment.dtype)], False, False
    )


def fragment_load(fragment: Expr, source: Expr, stride: Any) -> Stmt:
    """Return the step that loads a part of a fragment from memory.

    Parameters
    ----------
    fragment, source : Expr
        A pointer to write, and one to read, of the same type.
    stride : Expr or int
        Elements from a row of the source to the next.

    Raises
    ------
    TVMError
        TL3036 for other operands.
    """
    return _core.fragment_step("load", [_pointer(fragment), _pointer(source), stride], False, False)


def fragment_mma(
    sums: Expr,
    left: Expr,
    right: Expr,
    *,
    left_transposed: bool = False,
    right_transposed: bool = False,
) -> Stmt:
    """Return the step ``sums += left * right``.

    The elements are multiplied and added in the type of the sums; the order of the additions is
    the device's.

    Parameters
    ----------
    sums, left, right : Expr
        A pointer to read and write, and two to read.
    left_transposed, right_transposed : bool
        Whether the part holds the transpose of the factor.

    Raises
    ------
    TVMError
        TL3036 for other operands.
    """
    return _core.fragment_step(
        "mma", [*map(_pointer, (sums, left, right))], left_transposed, right_transposed
    )


def fragment_store(destination: Expr, fragment: Expr, stride: Any) -> Stmt:
    """Return the step that stores a part of a fragment to memory.

    Parameters
    ----------
    destination, fragment : Expr
        A pointer to write, and one to read, of the same type.
    stride : Expr or int
        Elements from a row of the destination to the next.

    Raises
    ------
    TVMError
        TL3036 for other operands.
    """
    return _core.fragment_step(
        "store", [_pointer(destination), _pointer(fragment), stride], False, False
    )


__all__ = [
    "fragment_fill",
    "fragment_load",
    "fragment_mma",
    "fragment_part",
    "fragment_store",
]
check_calls(globals())
