"""``te.extern``: tensors whose elements are written by a statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _core
from .._core import Buffer, Expr, Stmt, Tensor
from ..checks.argument_kinds import kind_of
from ..checks.checked_calls import check_calls
from ..dtypes import DType
from ..errors import refuse
from ..tir.buffer import decl_buffer
from .attributes import Attributes
from .statement_function import statement_of
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
    """Return tensors whose elements are written by a statement of ``tir.ir_builder``.

    The statement runs unchanged: it has no axes that a schedule could split or bind. The statement
    binds threads itself, by ``ib.scope_attr(te.thread_axis("blockIdx.x"), "thread_extent", n)``.
    Neither its stage nor the stages that it reads are ever inlined.

    The statement may use symbols (extents of arrays, or arguments of the function) in block counts,
    loop bounds, conditions and values.

    Parameters
    ----------
    shape : sequence of int or Expr, or list of them
        The shape of the output, or a list with the shape of each output. Extents are made of
        constants and symbols.
    inputs : sequence of Tensor
        The tensors that the statement reads.
    fcompute : callable
        Takes a list of buffers for the inputs and one for the outputs, and returns the statement.
    name : str
        The name used in messages, texts and stages.
    dtype : str, NumPy dtype, or a sequence of them, optional
        Element types of the outputs; by default that of the inputs, if they all have the same.
    in_buffers, out_buffers : Buffer or sequence of Buffer, optional
        The buffers passed to `fcompute`, made by ``tir.decl_buffer``.
    tag : str
        A tag, which is stored and shown; by default the tag of an enclosing ``te.tag_scope``.
    attrs : mapping, optional
        Numbers, strings and lists of them, stored as the operation's ``attrs``.

    Returns
    -------
    Tensor or list of Tensor
        A list if there are several outputs.

    Raises
    ------
    TVMError
        TL1020 (also a ValueError) for outputs without a dtype, for a function that does not return
        a statement, and for an invalid statement: one that accesses a buffer outside its shape,
        writes an input, or uses undeclared names.
    """
    if not isinstance(inputs, (list, tuple)) or not all(isinstance(t, Tensor) for t in inputs):
        refuse(
            "BadExtern",
            f"the inputs of the extern '{name}' are not a list of tensors",
            "give a list of tensors, as te.placeholder and te.compute return them",
        )
    reads = _several(in_buffers) if in_buffers else [_buffer_of(t) for t in inputs]
    writes = _several(out_buffers) if out_buffers else _outputs(shape, inputs, name, dtype)
    body = statement_of(fcompute, f"the extern '{name}'", "BadExtern", list(reads), list(writes))
    if isinstance(body, Expr):
        body = _core.evaluated(body)
    if not isinstance(body, Stmt):
        effect = ", which has no effect" if isinstance(body, Expr) else ""
        refuse(
            "BadExtern",
            f"the function of the extern '{name}' returns {kind_of(body)}{effect}",
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
                f"the dtype of the extern '{name}' is unknown: its inputs do not have one common "
                "dtype",
                "give the dtype of the outputs as dtype=",
            )
        dtype = known.pop()
    dtypes = list(dtype) if isinstance(dtype, (list, tuple)) else [dtype] * len(shapes)
    if len(dtypes) != len(shapes):
        refuse(
            "BadExtern",
            f"the extern '{name}' has {len(shapes)} outputs, but {len(dtypes)} dtypes",
            "give one dtype for all outputs, or a list with one for each",
        )
    # If there are several outputs, the names end with their numbers.
    names = [name] if len(shapes) == 1 else [f"{name}.v{i}" for i in range(len(shapes))]
    return [decl_buffer(s, d, n) for s, d, n in zip(shapes, dtypes, names, strict=True)]


__all__ = ["extern"]
check_calls(globals())
