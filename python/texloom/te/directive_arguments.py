"""Kinds of the parameters of directives, and the check of their arguments."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from .._core import Expr, IterVar, Operation, Schedule, Stage, Tensor, TensorIntrin
from ..checks.argument_kinds import Kind, shown
from ..checks.argument_kinds import instance_of as _is


def _is_bool(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _is_integer(value: Any) -> bool:
    return (hasattr(value, "__index__") or isinstance(value, Expr)) and not _is_bool(value)


def _is_factor(value: Any) -> bool:
    is_number = isinstance(value, (numbers.Number, np.generic, Expr, IterVar))
    return value is None or (is_number and not _is_bool(value))


def _are(accepts: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a check for a value that `accepts` takes, or a list of such values."""
    return lambda value: (
        all(map(accepts, value)) if isinstance(value, (list, tuple)) else accepts(value)
    )


_is_source = _is(Tensor, Operation)
AXIS = Kind(
    "an axis",
    _is(IterVar),
    "name an axis of s[T].op.axis or s[T].op.reduce_axis, or one that split or fuse returned",
)
AXES = Kind("an axis", _are(_is(IterVar)), AXIS.help)
THREAD = Kind("a thread axis", _is(IterVar), 'make one by te.thread_axis("threadIdx.x")')
STAGE = Kind("a stage", _is(Stage), "name the stage of a tensor T as s[T]")
TENSOR = Kind("a tensor", _is(Tensor), "give the result of te.compute, te.placeholder or a cache")
TENSORS = Kind("a tensor or a list of them", _are(_is(Tensor)), TENSOR.help)
READERS = Kind("a tensor or a list of them", _are(_is_source), "name the tensors that read it: [B]")
FACTOR = Kind("a number", _is_factor, "give a positive constant")
FLAG = Kind("a bool", _is(bool), "give True or False")
INTEGER = Kind("an integer", _is_integer, "give a constant integer")
SCOPE = Kind("a string", _is(str), 'name a memory scope, as "shared", "local" or "global.texture"')
LAYOUT = Kind("a string", _is(str), 'describe a layout, as "texture[(h, c) -> rows=h, lanes=c]"')
KEY = Kind("a string", _is(str), 'name a pragma, as "auto_unroll_max_step"')
INTRINSIC = Kind(
    "a tensor intrinsic",
    _is(TensorIntrin, str),
    'make one by te.decl_tensor_intrin, or name one, as "fragment.mma"',
)
ANYTHING = Kind("a value", lambda _: True, "give a value")
CONDITION = Kind("a condition", _is(Expr, bool), "give a comparison such as tx.var.equal(0)")
FUNCTION = Kind("a function", callable, "give a function of the axes, as lambda h, w: [w, h]")

# The parameters of each directive, in order. The last parameter of fuse and reorder stands for all
# remaining arguments.
PARAMETERS: dict[str, dict[str, Kind]] = {
    "bind": {"ivar": AXIS, "thread_ivar": THREAD},
    "cache_read": {"tensor": TENSOR, "scope": SCOPE, "readers": READERS, "layout": LAYOUT},
    "cache_write": {"tensor": TENSORS, "scope": SCOPE, "layout": LAYOUT},
    "compute_at": {"parent": STAGE, "scope": AXIS},
    "compute_inline": {},
    "compute_root": {},
    "double_buffer": {},
    "fuse": {"args": AXES},
    "parallel": {"var": AXIS},
    "pipeline": {"stages": INTEGER, "asynchronous": FLAG},
    "pragma": {"var": AXIS, "pragma_type": KEY, "pragma_value": ANYTHING},
    "reorder": {"args": AXES},
    "rfactor": {"tensor": TENSOR, "axis": AXIS, "factor_axis": INTEGER},
    "set_scope": {"scope": SCOPE, "layout": LAYOUT},
    "set_store_predicate": {"predicate": CONDITION},
    "split": {"parent": AXIS, "factor": FACTOR, "nparts": FACTOR, "exact": FLAG},
    "storage_align": {"axis": AXIS, "factor": INTEGER, "offset": INTEGER},
    "tensorize": {"var": AXIS, "tensor_intrin": INTRINSIC},
    "tile": {"x_parent": AXIS, "y_parent": AXIS, "x_factor": FACTOR, "y_factor": FACTOR},
    "transform_layout": {"mapping_function": FUNCTION},
    "unroll": {"var": AXIS},
    "vectorize": {"var": AXIS},
}
VARIADIC = ("fuse", "reorder")


def check_arguments(
    directive: str, on: Stage | Schedule, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    """Refuse an argument of a kind that its parameter does not accept.

    The call itself checks the number of arguments.

    Raises
    ------
    TVMError
        TL2040, which is a TypeError.
    """
    parameters = PARAMETERS[directive]
    names = list(parameters)
    if directive in VARIADIC:
        names *= len(args)
    given = [*zip(names, args, strict=False), *options.items()]
    for name, value in given:
        kind = parameters.get(name)
        if kind is not None and kind.accepts(value):
            continue
        of = f" of '{on.op.name}'" if isinstance(on, Stage) else ""
        if kind is None:
            _core.refuse(
                "BadCall",
                f"{directive}{of} has no parameter {name}",
                f"call it as {directive}({', '.join(parameters)})",
            )
        what = "an argument" if directive in VARIADIC else name
        _core.refuse(
            "BadArgument",
            f"{directive}{of}: {what} is {shown(value)}, not {kind.words}",
            kind.help,
        )


__all__ = ["PARAMETERS", "check_arguments"]
