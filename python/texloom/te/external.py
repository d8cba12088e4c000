"""Tensors whose elements a statement writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _core
from .._core import Buffer, Expr, Stmt, Tensor
from ..checked_calls import check_calls
from ..dtypes import DType
from ..errors import refuse
from ..tir.buffer import decl_buffer
from .attributes import Attributes
from .tag import tag_of


def extern(
    shape: Any,
    inputs: Sequence[Tensor],
    fcompute: Callable[..., Any],
    name: str = "extern",
    dtype: DType | Sequence[DType] | None = None,
    in_buffers: Buffer | Sequence[Buffer] | None = None,
    out_buffers: Buffer | Sequence[Buffer] | None = None,
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
) -> Any:
    """Tensors whose elements are written by a statement, which ``tir.ir_builder`` makes.

    The statement runs as it stands: it has no axes that a schedule could split or bind, and binds
    threads itself, by ``ib.scope_attr(te.thread_axis("blockIdx.x"), "thread_extent", n)``. Its
    stage is never inlined, nor are those that it reads.

    It may use symbols, which are extents of arrays or arguments of the function: for the numbers of
    blocks, ends of loops, in conditions and values.

    Parameters
    ----------
    shape : sequence of int or Expr, or list of them
        The shape of the output, or one for each of several outputs; of constants and symbols.
    inputs : sequence of Tensor
        What the statement reads.
    fcompute : callable
        Takes a list of buffers for the inputs and one for the outputs, and returns the statement.
    name : str
        For messages, texts and stages.
    dtype : str, a dtype of NumPy's, or a sequence of them, optional
        Element types of the outputs; the inputs' own where they have one in common.
    in_buffers, out_buffers : Buffer or sequence of Buffer, optional
        What `fcompute` is given, made by ``tir.decl_buffer``.
    tag : str
        The user's own word; kept and shown. That of an enclosing ``te.tag_scope`` otherwise.
    attrs : mapping, optional
        Numbers, strings and lists of them, kept as the operation's ``attrs``.

    Returns
    -------
    Tensor or list of Tensor
        A list where there are several outputs.

    Raises
    ------
    TVMError
        TL1020, a ValueError as well, for outputs without a dtype, for a function that returns no
        statement, and where the statement is none that a program may have: where it accesses a
        buffer outside its shape, writes an input, or uses what it does not declare.
    """
    if not isinstance(inputs, (list, tuple)) or not all(isinstance(t, Tensor) for t in inputs):
        refuse(
            "BadExtern",
            f"the inputs of the extern '{name}' are no list of tensors",
            "give a list of what te.placeholder, te.compute and the like return",
        )
    reads = _several(in_buffers) if in_buffers else [_buffer_of(t) for t in inputs]
    writes = _several(out_buffers) if out_buffers else _outputs(shape, inputs, name, dtype)
    body = fcompute(list(reads), list(writes))
    if isinstance(body, Expr):
        body = _core.evaluated(body)
    if not isinstance(body, Stmt):
        effect = ", which has no effect" if isinstance(body, Expr) else ""
        refuse(
            "BadExtern",
            f"the function of the extern '{name}' returns a {type(body).__name__}{effect}",
            "return a statement, as ib.get() and buffer.vstore() do",
        )
    kept = None if attrs is None else Attributes(attrs)
    outputs = _core.extern(name, tag_of(tag), inputs, reads, writes, body, kept)
    return outputs[0] if len(outputs) == 1 else outputs


def _several(buffers: Buffer | Sequence[Buffer]) -> Sequence[Buffer]:
    return [buffers] if isinstance(buffers, Buffer) else buffers


def _buffer_of(tensor: Tensor) -> Buffer:
    return decl_buffer(tensor.shape, tensor.dtype, tensor.op.name)


def _outputs(
    shape: Any, inputs: Sequence[Tensor], name: str, dtype: DType | Sequence[DType] | None
) -> list[Buffer]:
    several = isinstance(shape, (list, tuple)) and shape and isinstance(shape[0], (list, tuple))
    shapes = list(shape) if several else [shape]
    if dtype is None:
        known = {t.dtype for t in inputs}
        if len(known) != 1:
            refuse(
                "BadExtern",
                f"the inputs of the extern '{name}' have no one dtype",
                "give that of its outputs by dtype=",
            )
        dtype = known.pop()
    dtypes = list(dtype) if isinstance(dtype, (list, tuple)) else [dtype] * len(shapes)
    if len(dtypes) != len(shapes):
        refuse(
            "BadExtern",
            f"the extern '{name}' has {len(shapes)} outputs, but {len(dtypes)} dtypes",
            "give one dtype for all, or a list of one for each",
        )
    # One of several is named by its number.
    names = [name] if len(shapes) == 1 else [f"{name}.v{i}" for i in range(len(shapes))]
    return [decl_buffer(s, d, n) for s, d, n in zip(shapes, dtypes, names, strict=True)]


__all__ = ["extern"]
check_calls(globals())
