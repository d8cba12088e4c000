"""Tensor intrinsics: statements that stand for the loops of a small computation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _core
from .._core import Buffer, Expr, IterVar, Operation, Stage, Stmt, Tensor, TensorIntrin
from ..checked_calls import check_calls
from ..errors import refuse
from ..tir.buffer import decl_buffer


def decl_tensor_intrin(
    op: Operation,
    fcompute: Callable[..., Any],
    name: str = "tensor_intrin",
    binds: Mapping[Tensor, Buffer] | None = None,
    scalar_params: Sequence[Any] | None = None,
    default_buffer_params: Mapping[str, Any] | None = None,
) -> TensorIntrin:
    """A tensor intrinsic, for ``Stage.tensorize`` and for calls in a compute.

    The statements access *views*: buffers whose indices count from the first element of the part
    of a tensor that they stand for, wherever that tensor lies.

    Parameters
    ----------
    op : Operation
        What the statements compute: a compute of constant shape, over placeholders of which it
        reads each element.
    fcompute : callable
        Takes a list of buffers for the inputs, one for the outputs and, where there are any, the
        list `scalar_params`; returns the statement, or three: the whole computation, the start of
        its reduction (or None: the first step is the whole computation), and one step of it.
    name : str
        For messages and texts.
    binds : mapping, optional
        Buffers for inputs and outputs, made by ``tir.decl_buffer``. Their strides and offsets may
        be variables, which have the values of the tensor's memory in the statements. A part of a
        tensor stands for a buffer only where it lies in the buffer's scope, if that names one, and
        is known to begin at a multiple of its ``offset_factor``.
    scalar_params : list of Expr, optional
        Variables that the computation uses, and that are numbers to the statements. A call gives
        their values; where ``Stage.tensorize`` names the intrinsic, they are what the loops
        compute with in these places, the same throughout.
    default_buffer_params : mapping, optional
        Arguments of ``tir.decl_buffer`` for all other buffers.

    Raises
    ------
    TVMError
        TL1021, a ValueError as well, where the operation is no such compute, a buffer is none of
        its tensor, a scalar is no variable of the computation, the function returns no statement,
        or a statement is none that a program may have.
    """
    if not isinstance(op, Operation):
        refuse(
            "BadDirectiveArgument",
            f"decl_tensor_intrin is given a {type(op).__name__}, no operation",
            "give the operation of what te.compute returns: C.op",
        )
    scalars = list(scalar_params or [])
    for scalar in scalars:
        if not isinstance(scalar, Expr):
            refuse(
                "BadIntrinsic",
                f"the intrinsic '{name}' has a {type(scalar).__name__} among its scalar_params",
                'make each by te.var("s", "float32"), and use it in the computation',
            )
    for t in op.input_tensors:
        if t.op._kind != "placeholder":
            refuse(
                "BadIntrinsic",
                f"the input '{t.op.name}' of the intrinsic '{name}' is no placeholder",
                "make its inputs by te.placeholder, and read them in one te.compute",
            )
    params = dict(default_buffer_params or {})
    declared = dict(binds or {})

    def buffer(tensor: Tensor) -> Buffer:
        own = declared.get(tensor)
        return own or decl_buffer(tensor.shape, tensor.dtype, tensor.name, **params)

    ins = [buffer(t) for t in op.input_tensors]
    outs = [buffer(op.output(i)) for i in range(op.num_outputs)]
    body = fcompute(list(ins), list(outs), *([scalars] if scalars else []))
    statements = list(body) if isinstance(body, (list, tuple)) else [body]
    statements = [_core.evaluated(s) if isinstance(s, Expr) else s for s in statements]
    statements += [None] * (3 - len(statements))
    for given in statements[:1] + [s for s in statements[1:] if s is not None]:
        if not isinstance(given, Stmt):
            effect = ", which has no effect" if isinstance(given, Expr) else ""
            refuse(
                "BadIntrinsic",
                f"the function of the intrinsic '{name}' returns a {type(given).__name__}{effect}",
                "return a statement, as ib.get() and buffer.vstore() do, or three",
            )
    if len(statements) > 3:
        refuse(
            "BadIntrinsic",
            f"the function of the intrinsic '{name}' returns {len(statements)} statements",
            "return the body, the reset and the update",
        )
    return TensorIntrin(name, op, ins, outs, scalars, *statements)


def _tensorize(self: Stage, var: IterVar, tensor_intrin: TensorIntrin) -> None:
    """Leave what a loop, and those inside it, compute to a tensor intrinsic.

    That they compute what the intrinsic does is looked at by ``lower``: axes in front of the
    intrinsic's own have extent 1 inside, and the loops are whole everywhere. A reduction that loops
    around divide into steps takes the intrinsic's reset and update. Scalars of the intrinsic have
    the values that the loops compute with in their places.

    Raises
    ------
    TVMError
        TL2005 where the axis is no loop of this stage, TL2016 where it is bound or annotated; at
        lower TL3033 where the loops compute something else.
    """
    self._tensorize(var, tensor_intrin)


Stage.tensorize = _tensorize

__all__ = ["TensorIntrin", "decl_tensor_intrin"]
check_calls(globals())
