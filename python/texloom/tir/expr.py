"""The classes of expressions, for ``isinstance`` and for construction.

All expressions are objects of :class:`PrimExpr`, which stores the kind of their node. A class here
stands for one kind: ``isinstance(e, tir.Add)``, ``tir.Cast("float32", e)``.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from types import SimpleNamespace

from .. import _core
from .._core import Expr as PrimExpr
from .._core import IterVar, Tensor
from ..errors import refuse
from . import calls, op
from .string_imm import StringImm


class NodeClass(type):
    """A class whose instances are the expressions of one kind of node."""

    node: str
    make: Callable[..., PrimExpr] | None

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, PrimExpr) and value._class == cls.node

    def __call__(cls, *args: typing.Any, **keywords: typing.Any) -> PrimExpr:
        if cls.make is None:
            refuse(
                "BadCall",
                f"the class {cls.__name__} is only for isinstance, and cannot be called",
                "make one with the functions of te",
            )
        return cls.make(*args, **keywords)


def _node_class(
    name: str, doc: str, make: Callable[..., PrimExpr] | None = None, node: str | None = None
) -> NodeClass:
    members = {"__doc__": doc, "node": node or name, "make": make and staticmethod(make)}
    return NodeClass(name, (), members)


def _var(name: str, dtype: str = "int32") -> PrimExpr:
    return op.var(name, dtype)


def _int_imm(dtype: str, value: int) -> PrimExpr:
    return op.const(int(value), dtype)


def _float_imm(dtype: str, value: float) -> PrimExpr:
    return op.const(float(value), dtype)


def _cast(dtype: str, value: typing.Any) -> PrimExpr:
    return _core.to_expr(value).astype(dtype)


def _call(dtype: str | None, op: str, args: typing.Any) -> typing.Any:
    return calls.call_intrin(dtype, op, *args)


def _select(condition: typing.Any, true_value: typing.Any, false_value: typing.Any) -> PrimExpr:
    return op.if_then_else(condition, true_value, false_value)


def _producer_load(producer: Tensor, indices: typing.Any) -> PrimExpr:
    return producer(*indices)


Var = _node_class("Var", "A variable: ``Var(name, dtype)``.", _var)
SizeVar = _node_class("SizeVar", "A variable that is never negative.", _var, node="Var")
IntImm = _node_class("IntImm", "An integer: ``IntImm(dtype, value)``.", _int_imm)
FloatImm = _node_class("FloatImm", "A number: ``FloatImm(dtype, value)``.", _float_imm)
Cast = _node_class("Cast", "A conversion: ``Cast(dtype, value)``.", _cast)
Select = _node_class(
    "Select",
    "One of two values: ``Select(condition, true_value, false_value)``. Reads in the other one do "
    "not happen, as with ``if_then_else``.",
    _select,
)
ProducerLoad = _node_class("ProducerLoad", "An element of a tensor.", _producer_load)
Reduce = _node_class("Reduce", "A reduction over axes.")
Call = _node_class("Call", "An element function, or an operator on bits.", _call)
Ramp = _node_class("Ramp", "A vector of equidistant values.")
Broadcast = _node_class("Broadcast", "A vector of equal values.")

Add = _node_class("Add", "a + b", lambda a, b: _core.to_expr(a) + b)
Sub = _node_class("Sub", "a - b", lambda a, b: _core.to_expr(a) - b)
Mul = _node_class("Mul", "a * b", lambda a, b: _core.to_expr(a) * b)
Div = _node_class("Div", "a / b, of integers rounded towards zero", op.div)
Mod = _node_class("Mod", "The remainder of Div.", op.truncmod)
FloorDiv = _node_class("FloorDiv", "a // b", op.floordiv)
FloorMod = _node_class("FloorMod", "a % b", op.floormod)
Min = _node_class("Min", "The smaller of two.", _core.min)
Max = _node_class("Max", "The larger of two.", _core.max)
EQ = _node_class("EQ", "a == b", lambda a, b: _core.to_expr(a) == b)
NE = _node_class("NE", "a != b", lambda a, b: _core.to_expr(a) != b)
LT = _node_class("LT", "a < b", lambda a, b: _core.to_expr(a) < b)
LE = _node_class("LE", "a <= b", lambda a, b: _core.to_expr(a) <= b)
GT = _node_class("GT", "a > b", lambda a, b: _core.to_expr(a) > b)
GE = _node_class("GE", "a >= b", lambda a, b: _core.to_expr(a) >= b)
And = _node_class("And", "Both conditions hold.", _core.logical_and)
Or = _node_class("Or", "One of two conditions holds.", _core.logical_or)
Not = _node_class("Not", "The condition does not hold.", _core.logical_not)
Any = _node_class("Any", "An unknown extent; no expression is one.")


def _call_op(self: PrimExpr) -> SimpleNamespace:
    """The function of a Call, with its ``.name``."""
    return SimpleNamespace(name=f"tir.{self._function}")


PrimExpr.op = property(_call_op)

__all__ = [
    "EQ",
    "GE",
    "GT",
    "LE",
    "LT",
    "NE",
    "Add",
    "And",
    "Any",
    "Broadcast",
    "Call",
    "Cast",
    "Div",
    "FloatImm",
    "FloorDiv",
    "FloorMod",
    "IntImm",
    "IterVar",
    "Max",
    "Min",
    "Mod",
    "Mul",
    "Not",
    "Or",
    "PrimExpr",
    "ProducerLoad",
    "Ramp",
    "Reduce",
    "Select",
    "SizeVar",
    "StringImm",
    "Sub",
    "Var",
]
