"""Arithmetic of whole tensors, and the classes of operations."""

from __future__ import annotations

from collections.abc import Callable
from operator import add, mul, sub, truediv
from typing import Any

from .. import _core
from .._core import Expr, IterVar, Operation, Tensor, TensorSlice
from ..checks.checked_calls import check_methods
from ..tir.op import const
from .attributes import call_of
from .operation import compute

Operator = Callable[[Any, Any], Any]
_NAMES = {add: "T_add", sub: "T_subtract", mul: "T_multiply", truediv: "T_divide"}


def _is_element(value: Any) -> bool:
    """Whether the value depends on axes, as in a function of ``te.compute``."""
    if isinstance(value, IterVar):
        return True
    node = _core.to_expr(value)
    return node._class not in ("Var", "IntImm", "FloatImm") and _core.has_variables(node)


def _combine(operator: Operator, a: Any, b: Any) -> Any:
    """Apply an operator elementwise; one of `a` and `b` is a tensor."""
    for tensor, other in ((a, b), (b, a)):
        if isinstance(tensor, Tensor) and not isinstance(other, Tensor):
            if tensor.ndim == 0 and _is_element(other):
                return operator(_core.to_expr(a), _core.to_expr(b))
            shape, tag = tensor.shape, "elemwise"
            break
    else:
        shape, tag = _broadcast_shape(a, b), "broadcast"

    def element(*indices: Expr) -> Any:
        return operator(_element(a, indices), _element(b, indices))

    names = [f"ax{i}" for i in range(len(shape))]
    return compute(shape, element, _NAMES[operator], tag, varargs_names=names)


def _element(value: Any, indices: tuple[Expr, ...]) -> Expr:
    if not isinstance(value, Tensor):
        return _core.to_expr(value)
    own = indices[len(indices) - value.ndim :]
    return value(*(0 if _is_one(n) else i for n, i in zip(value.shape, own, strict=True)))


def _is_one(extent: Any) -> bool:
    return bool(extent.equal(1)._class == "IntImm" and extent.equal(1))


def _broadcast_shape(a: Tensor, b: Tensor) -> list[Expr]:
    """Broadcast two shapes: axes are matched from the last axis on, and an extent may be 1."""
    longer, shorter = (a, b) if a.ndim >= b.ndim else (b, a)
    shape = list(longer.shape)
    for i in range(1, shorter.ndim + 1):
        one, other = shape[-i], shorter.shape[-i]
        same = one.equal(other)
        if _is_one(one):
            shape[-i] = other
        elif not _is_one(other) and same._class == "IntImm" and not same:
            _core.bad_broadcast(a, b)
    return shape


def _operators(operator: Operator) -> tuple[Operator, Operator]:
    def forward(self: Tensor, other: Any) -> Any:
        return _combine(operator, self, other)

    def reflected(self: Tensor, other: Any) -> Any:
        return _combine(operator, other, self)

    return forward, reflected


def _negative(self: Tensor) -> Tensor:
    return _combine(mul, self, const(-1, self.dtype))


def _astype(self: Tensor, dtype: str) -> Tensor:
    """Return a tensor whose elements are converted to a dtype, as ``Expr.astype`` does."""
    names = [f"ax{i}" for i in range(self.ndim)]
    return compute(
        self.shape, lambda *i: self(*i).astype(dtype), "T_cast", "elemwise", varargs_names=names
    )


def _equal(self: Tensor, other: Any) -> Expr:
    """Return the expression that compares the element of a tensor without axes with a value."""
    return _core.to_expr(self).equal(other)


Tensor.equal = _equal
Tensor.__add__, Tensor.__radd__ = _operators(add)
Tensor.__sub__, Tensor.__rsub__ = _operators(sub)
Tensor.__mul__, Tensor.__rmul__ = _operators(mul)
Tensor.__truediv__, Tensor.__rtruediv__ = _operators(truediv)
Tensor.__neg__ = _negative
Tensor.astype = _astype


def _of_input(attribute: str) -> property:
    """An attribute that only placeholders have."""

    def get(self: Operation) -> Any:
        if self._kind != "placeholder":
            raise AttributeError(f"{self} has no {attribute}: use its output(i)")
        return getattr(self.output(0), attribute)

    return property(get, doc=f"The {attribute} of a placeholder.")


Operation.shape = _of_input("shape")
Operation.dtype = _of_input("dtype")


def _kind(op: Operation) -> str:
    kind: str = op._kind
    return "tensor_compute" if kind == "compute" and call_of(op) is not None else kind


class _OperationClass(type):
    """A class whose instances are the operations of one kind."""

    kind: str

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Operation) and _kind(value) == cls.kind


class PlaceholderOp(metaclass=_OperationClass):
    """A class for isinstance: an operation that is an input, made by ``te.placeholder``."""

    kind = "placeholder"


class ComputeOp(metaclass=_OperationClass):
    """A class for isinstance: an operation made by ``te.compute``."""

    kind = "compute"


class TensorComputeOp(metaclass=_OperationClass):
    """A class for isinstance: a compute that calls a tensor intrinsic."""

    kind = "tensor_compute"


class ScanOp(metaclass=_OperationClass):
    """A class for isinstance: a recurrence made by ``te.scan``."""

    kind = "scan"


class ExternOp(metaclass=_OperationClass):
    """A class for isinstance: a statement over buffers, made by ``te.extern``."""

    kind = "extern"


__all__ = [
    "ComputeOp",
    "ExternOp",
    "Operation",
    "PlaceholderOp",
    "ScanOp",
    "Tensor",
    "TensorComputeOp",
    "TensorSlice",
]
check_methods(Expr, IterVar, Operation, Tensor, TensorSlice)
