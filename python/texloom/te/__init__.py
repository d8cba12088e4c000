"""Tensor expressions and schedules, with the names and meanings of ``te`` in TVM 0.9."""

from __future__ import annotations

from typing import NoReturn

from .._core import Expr as PrimExpr
from .._core import IterVar, Operation, Schedule, Stage, Tensor, TensorSlice
from ..tir.calls import trace
from ..tir.op import (
    abs,
    acos,
    acosh,
    all,
    any,
    asin,
    asinh,
    atan,
    atanh,
    ceil,
    const,
    cos,
    cosh,
    div,
    erf,
    exp,
    exp2,
    floor,
    floordiv,
    floormod,
    fmod,
    if_then_else,
    indexdiv,
    indexmod,
    isfinite,
    isinf,
    isnan,
    log,
    log2,
    log10,
    max_value,
    min_value,
    nearbyint,
    popcount,
    pow,
    power,
    round,
    rsqrt,
    sigmoid,
    sin,
    sinh,
    size_var,
    sqrt,
    tan,
    tanh,
    trunc,
    truncdiv,
    truncmod,
    var,
)
from ..tir.reducers import comm_reducer, max, min, prod, sum
from ..tvm import out_of_scope
from . import (
    fragments,  # noqa: F401 (for its effect)
    not_provided,  # noqa: F401 (for its effect)
    prefetch,  # noqa: F401 (for its effect)
    schedule,
    tag,
    tensor,
    tracing,  # noqa: F401 (for its effect)
)
from .external import extern
from .intrinsic import TensorIntrin, decl_tensor_intrin
from .layouts import AXIS_SEPARATOR
from .operation import compute, create_schedule, placeholder, reduce_axis, thread_axis
from .recurrence import scan
from .specialized_condition import SpecializedCondition
from .tag import tag_scope
from .tensor import ComputeOp, ExternOp, PlaceholderOp, ScanOp, TensorComputeOp

__all__ = [
    "AXIS_SEPARATOR",
    "ComputeOp",
    "ExternOp",
    "IterVar",
    "Operation",
    "PlaceholderOp",
    "PrimExpr",
    "ScanOp",
    "Schedule",
    "SpecializedCondition",
    "Stage",
    "Tensor",
    "TensorComputeOp",
    "TensorIntrin",
    "TensorSlice",
    "abs",
    "acos",
    "acosh",
    "all",
    "any",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "comm_reducer",
    "compute",
    "const",
    "cos",
    "cosh",
    "create_schedule",
    "decl_tensor_intrin",
    "div",
    "erf",
    "exp",
    "exp2",
    "extern",
    "floor",
    "floordiv",
    "floormod",
    "fmod",
    "if_then_else",
    "indexdiv",
    "indexmod",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log10",
    "log2",
    "max",
    "max_value",
    "min",
    "min_value",
    "nearbyint",
    "placeholder",
    "popcount",
    "pow",
    "power",
    "prod",
    "reduce_axis",
    "round",
    "rsqrt",
    "scan",
    "schedule",
    "sigmoid",
    "sin",
    "sinh",
    "size_var",
    "sqrt",
    "sum",
    "tag",
    "tag_scope",
    "tan",
    "tanh",
    "tensor",
    "thread_axis",
    "trace",
    "trunc",
    "truncdiv",
    "truncmod",
    "var",
]


def __getattr__(name: str) -> NoReturn:
    out_of_scope.refuse_name(__name__, name)
