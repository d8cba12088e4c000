"""Tensor intrinsics: statements that replace the loops of a small computation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _core
from .._core import Buffer, Expr, IterVar, Operation, Stage, Stmt, Tensor, TensorIntrin
from ..checks.argument_kinds import kind_of
from ..checks.checked_calls import check_calls
from ..errors import refuse
from ..tir.buffer import decl_buffer
from .statement_function import statement_of

NAMED: dict[str, Callable[[Stage], TensorIntrin]] = {}
"""The intrinsics that ``Stage.tensorize`` takes by name, each for what a stage computes."""


def decl_tensor_intrin(
    op: Operation,
    fcompute: Callable[..., Any],
    name: str = "tensor_intrin",
    binds: Mapping[Tensor, Buffer] | None = None,
    scalar_params: Sequence[Any] | None = None,
    default_buffer_params: Mapping[str, Any] | None = None,
) -> TensorIntrin:
    """Declare a tensor intrinsic, for ``Stage.tensorize`` and for calls in a compute.

    The statements access *views*: buffers that stand for a region of a tensor and whose indices
    count from its first element, in any memory.

    Parameters
    ----------
    op : Operation
        The computation that the statements implement: a compute of constant shape over
        placeholders, which reads every element of them.
    fcompute : callable
        Takes a list of buffers for the inputs, one for the outputs and, if there are any, the list
        `scalar_params`. Returns the statement, or three: the whole computation, the reset of its
        reduction (or None if the whole computation is the first step), and the update for one step.
    name : str
        The name used in messages and texts.
    binds : mapping, optional
        Buffers for inputs and outputs, made by ``tir.decl_buffer``. Their strides and offsets may
        be variables, whose values in the statements are those of the tensor's memory. A region
        matches a buffer only if it is in the buffer's scope, if any, and is proven to start at a
        multiple of its ``offset_factor``.
    scalar_params : list of Expr, optional
        Variables of the computation that are numbers in the statements. A call gives their values;
        for ``Stage.tensorize``, the values are the corresponding expressions in the loops, which
        must not vary inside the loops.
    default_buffer_params : mapping, optional
        Arguments of ``tir.decl_buffer`` for all other buffers.

    Raises
    ------
    TVMError
        TL1021 (also a ValueError) if the operation is not such a compute, a buffer does not fit its
        tensor, a scalar is not a variable of the computation, the function does not return a
        statement, or a statement is invalid.
    """
    if not isinstance(op, Operation):
        refuse(
            "BadArgument",
            f"decl_tensor_intrin is given {kind_of(op)}, not an operation",
            "give the operation of a tensor that te.compute returned: C.op",
        )
    scalars = list(scalar_params or [])
    for scalar in scalars:
        if not isinstance(scalar, Expr):
            refuse(
                "BadIntrinsic",
                f"the intrinsic '{name}' has {kind_of(scalar)} among its scalar_params",
                'make each by te.var("s", "float32"), and use it in the computation',
            )
    for t in op.input_tensors:
        if t.op._kind != "placeholder":
            refuse(
                "BadIntrinsic",
                f"the input '{t.op.name}' of the intrinsic '{name}' is not a placeholder",
                "make its inputs with te.placeholder and read them in one te.compute",
            )
    params = dict(default_buffer_params or {})
    declared = dict(binds or {})

    def buffer(tensor: Tensor) -> Buffer:
        own = declared.get(tensor)
        return own or decl_buffer(tensor.shape, tensor.dtype, tensor.name, **params)

    ins = [buffer(t) for t in op.input_tensors]
    outs = [buffer(op.output(i)) for i in range(op.num_outputs)]
    lists = [list(ins), list(outs)] + ([scalars] if scalars else [])
    body = statement_of(fcompute, f"the intrinsic '{name}'", "BadIntrinsic", *lists)
    statements = list(body) if isinstance(body, (list, tuple)) else [body]
    statements = [_core.evaluated(s) if isinstance(s, Expr) else s for s in statements]
    statements += [None] * (3 - len(statements))
    for given in statements[:1] + [s for s in statements[1:] if s is not None]:
        if not isinstance(given, Stmt):
            effect = ", which has no effect" if isinstance(given, Expr) else ""
            refuse(
                "BadIntrinsic",
                f"the function of the intrinsic '{name}' returns {kind_of(given)}{effect}",
                "return a statement, as ib.get() and buffer.vstore() do, or a tuple of three",
            )
    if len(statements) > 3:
        refuse(
            "BadIntrinsic",
            f"the function of the intrinsic '{name}' returns {len(statements)} statements",
            "return at most three: the whole computation, the reset and the update",
        )
    return TensorIntrin(name, op, ins, outs, scalars, *statements)


def _tensorize(self: Stage, var: IterVar, tensor_intrin: TensorIntrin | str) -> None:
    """Replace a loop and the loops inside it by a tensor intrinsic.

    ``lower`` checks that the loops compute what the intrinsic computes: axes before those of the
    intrinsic have extent 1 inside the loop, and the loops are never partial. If outer loops split
    the reduction into steps, the intrinsic's reset and update are used. Scalars of the intrinsic
    get their values from the loops' expressions.

    Parameters
    ----------
    var : IterVar
        A loop of this stage, the outermost that the intrinsic replaces.
    tensor_intrin : TensorIntrin or str
        The intrinsic, made by ``te.decl_tensor_intrin``, or the name of a step of fragments:
        ``"fragment.load"``, ``"fragment.mma"`` or ``"fragment.store"``.

    Raises
    ------
    TVMError
        TL2005 if the axis is not a loop of this stage, TL2016 if it is bound or annotated; at
        lower, TL3033 if the loops compute something else; TL2044 for an unknown name.
    """
    if isinstance(tensor_intrin, str):
        if tensor_intrin not in NAMED:
            refuse(
                "BadValue",
                f"no intrinsic has the name '{tensor_intrin}'",
                f"use one of {', '.join(NAMED)}",
            )
        tensor_intrin = NAMED[tensor_intrin](self)
    self._tensorize(var, tensor_intrin)


Stage.tensorize = _tensorize

__all__ = ["TensorIntrin", "decl_tensor_intrin"]
check_calls(globals())
