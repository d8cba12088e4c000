"""Calls of tensor intrinsics as bodies of computes: ``intrin(A[i, 0:16], B[k, 0:16])``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from .. import _core
from .._core import (
    Analyzer,
    Expr,
    IterVar,
    Operation,
    Schedule,
    Stage,
    Tensor,
    TensorIntrin,
    TensorSlice,
)
from ..checks.argument_kinds import kind_of
from ..errors import refuse
from ..tir.op import const
from .attributes import call_of

_refuse = partial(refuse, "BadIntrinsic")

# The method without the wrapper of te/tracing.py, because traces have only the user's calls.
_reorder = Stage.reorder


@dataclass(frozen=True)
class TensorRegion:
    """A region of a tensor, ``A[i, 0:16]``, which a tensor intrinsic takes.

    Attributes
    ----------
    tensor : Tensor
        The tensor.
    first : list of Expr
        For each axis, the first index.
    extents : list of int
        For each axis, the number of indices.
    """

    tensor: Tensor
    first: list[Any]
    extents: list[int]


def _whole_number(value: Any) -> int:
    """Return an extent, which must be constant."""
    number = Analyzer().simplify(_core.to_expr(value))
    if number._class != "IntImm":
        _refuse(
            f"a part of a tensor in a call of an intrinsic has the extent {number}, which is not "
            "constant",
            "split the axis by a constant, and take that many indices: A[i, j : j + 16]",
        )
    return int(number)


def _region(tensor: Tensor, indices: Sequence[Any]) -> TensorRegion:
    if len(indices) != tensor.ndim:
        _refuse(
            f"'{tensor.name}' has {tensor.ndim} axes, but is given {len(indices)} "
            f"{'index' if len(indices) == 1 else 'indices'}",
            "give an index, or a range, for each axis",
        )
    first, extents = [], []
    for index, whole in zip(indices, tensor.shape, strict=True):
        if not isinstance(index, slice):
            first.append(index)
            extents.append(1)
            continue
        if index.step not in (None, 1):
            _refuse(f"a part of '{tensor.name}' has a step", "take consecutive elements")
        start = 0 if index.start is None else index.start
        stop = whole if index.stop is None else index.stop
        first.append(start)
        extents.append(_whole_number(_core.to_expr(stop) - start))
    return TensorRegion(tensor, first, extents)


def _sliced(element: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Make indexing return a region if an index is a slice, and otherwise an element."""

    def getitem(self: Any, index: Any) -> Any:
        entries = list(index) if isinstance(index, (list, tuple)) else [index]
        if not any(isinstance(each, slice) for each in entries):
            return element(self, index)
        if isinstance(self, TensorSlice):
            return _region(self.tensor, [*self.indices, *entries])
        return _region(self, entries)

    getitem.__doc__ = element.__doc__
    return getitem


@dataclass(frozen=True)
class AppliedIntrinsic:
    """A compute made from a call: its schedule leaves the inner axes to the intrinsic."""

    intrinsic: TensorIntrin
    data_axes: list[IterVar]
    outer_reduction: list[IterVar]
    inner_reduction: list[IterVar]
    values: list[Expr]

    @property
    def inner(self) -> list[IterVar]:
        """The axes that belong to the intrinsic: the user's directives do not affect them."""
        return [*self.data_axes, *self.inner_reduction]

    def tensorize(self, stage: Stage) -> None:
        """Apply the intrinsic to the stage in a new schedule."""
        _reorder(stage, *self.outer_reduction, *self.inner)
        stage._tensorize(self.inner[0], self.intrinsic)


@dataclass(frozen=True)
class IntrinsicCall:
    """A call of an intrinsic, which can only be the body of a compute.

    Attributes
    ----------
    intrinsic : TensorIntrin
        The intrinsic.
    regions : list of TensorRegion
        The tensors that it reads, in the order of its inputs.
    scalars : list of Expr
        The values of the scalar parameters of the intrinsic.
    reduction : list of IterVar
        The axes to reduce over, in addition to the axes of the intrinsic.
    """

    intrinsic: TensorIntrin
    regions: list[TensorRegion]
    scalars: list[Expr]
    reduction: list[IterVar]

    def applied(self, shape: Sequence[Expr]) -> AppliedIntrinsic:
        """Apply the call in a compute; `shape` has the extents after the compute's outer axes."""
        op = self.intrinsic.op
        own = [_whole_number(n) for n in op.output(0).shape]
        given = [_whole_number(n) for n in shape]
        skipped = len(own) - len(given)
        if skipped < 0 or own[skipped:] != given or own[:skipped] != [1] * skipped:
            _refuse(
                f"the result of the intrinsic '{self.intrinsic.name}' has the extents {own}, but "
                f"the compute that calls it has the extents {given} after its outer axes",
                "end the shape of the compute with the extents of the intrinsic, and give the "
                "function one parameter for each extent before them",
            )
        axes = [
            _core.data_axis(axis.name, n) for axis, n in zip(op.axis[skipped:], given, strict=True)
        ]
        called, values, inner = _core.apply_intrinsic(
            self.intrinsic,
            [region.tensor for region in self.regions],
            [region.first for region in self.regions],
            self.scalars,
            axes,
            self.reduction,
        )
        if not axes and not inner:
            _refuse(
                f"the intrinsic '{self.intrinsic.name}' computes a single element",
                "write its expression as the body of the compute",
            )
        return AppliedIntrinsic(called, axes, self.reduction, inner, values)


def _argument(intrinsic: TensorIntrin, value: Any, wanted: Tensor) -> TensorRegion:
    if isinstance(value, Tensor):
        value = _region(value, [slice(None)] * value.ndim)
    elif isinstance(value, TensorSlice):
        value = _region(value.tensor, list(value.indices))
    shape = [_whole_number(n) for n in wanted.shape]
    skipped = len(value.extents) - len(shape)
    fits = skipped >= 0 and value.extents == [1] * skipped + shape
    if fits and value.tensor.dtype == wanted.dtype:
        return value
    _refuse(
        f"the intrinsic '{intrinsic.name}' takes {wanted.dtype}{shape} for '{wanted.name}', not "
        f"{value.tensor.dtype}{value.extents} of '{value.tensor.name}'",
        "give it a part of that shape and dtype",
    )


def _scalar(intrinsic: TensorIntrin, value: Any, wanted: Expr) -> Expr:
    whole = isinstance(value, int)
    if whole or (isinstance(value, float) and wanted.dtype.startswith("float")):
        return const(value, wanted.dtype)
    try:
        given = _core.to_expr(value)
    except TypeError:
        _refuse(
            f"the intrinsic '{intrinsic.name}' is called with {kind_of(value)}",
            "give it parts of tensors, such as A[i, 0:16], and numbers for its scalars",
        )
    if given.dtype == wanted.dtype:
        return given
    _refuse(
        f"the intrinsic '{intrinsic.name}' takes {wanted.dtype} for its scalar '{wanted}', not "
        f"the {given.dtype} {given}",
        f'convert it: .astype("{wanted.dtype}")',
    )


def _call(self: TensorIntrin, *args: Any, reduce_axis: Any = None) -> IntrinsicCall:
    """Return a call of the intrinsic on regions of tensors, as the body of a ``te.compute``.

    Parameters
    ----------
    args
        In any order, a region for each input (``A[i, 0:16]``, a whole tensor, or an element ``A[i,
        j]``), and for each scalar an expression of the compute's axes. If there are more elements
        than inputs, the last ones are scalars.
    reduce_axis : IterVar or list of IterVar, optional
        Axes to reduce over, in addition to the intrinsic's own.
    """
    axes = list(reduce_axis) if isinstance(reduce_axis, (list, tuple)) else [reduce_axis]
    reduction = [axis for axis in axes if axis is not None]
    if reduction and not self.op.reduce_axis:
        _refuse(
            f"the intrinsic '{self.name}' has no reduction, but is called with reduce_axis=",
            "leave it out",
        )
    inputs, params = self.op.input_tensors, self.scalar_params
    parts: list[Any] = []
    scalars: list[Any] = []
    for arg in args:
        is_element = isinstance(arg, TensorSlice) and len(parts) < len(inputs)
        is_part = is_element or isinstance(arg, (Tensor, TensorRegion))
        (parts if is_part else scalars).append(arg)
    if len(parts) != len(inputs) or len(scalars) != len(params):
        _refuse(
            f"the intrinsic '{self.name}' has {len(inputs)} inputs and {len(params)} scalars, but "
            f"is called with {len(parts)} parts of tensors and {len(scalars)} scalars",
            "give a part of a tensor for each input, and a number for each of scalar_params",
        )
    regions = [_argument(self, *pair) for pair in zip(parts, inputs, strict=True)]
    values = [_scalar(self, *pair) for pair in zip(scalars, params, strict=True)]
    return IntrinsicCall(self, regions, values, reduction)


def _own_axes(axes: Callable[[Operation], list[IterVar]], doc: str) -> property:
    def own(self: Operation) -> list[IterVar]:
        call = call_of(self)
        if call is None:
            return axes(self)
        return [axis for axis in axes(self) if not any(axis.same_as(each) for each in call.inner)]

    return property(own, doc=f"{doc}, without those inside a call of an intrinsic.")


def _refuse_calls(name: str) -> Callable[..., Any]:
    directive = getattr(Schedule, name)

    def call(self: Schedule, tensor: Any, *args: Any, **options: Any) -> Any:
        for each in tensor if isinstance(tensor, (list, tuple)) else [tensor]:
            if call_of(each.op) is not None:
                _refuse(
                    f"cannot apply {name} to '{each.name}': it is a call of a tensor intrinsic",
                    "write the compute without the intrinsic, and tensorize the stage that "
                    f"{name} makes",
                )
        return directive(self, tensor, *args, **options)

    call.__doc__ = directive.__doc__
    return call


TensorIntrin.__call__ = _call
Tensor.__getitem__ = _sliced(Tensor.__getitem__)
TensorSlice.__getitem__ = _sliced(TensorSlice.__getitem__)
Operation.axis = _own_axes(Operation.axis.fget, "The axes of its results, in order")
Operation.reduce_axis = _own_axes(Operation.reduce_axis.fget, "The axes of its reduction")
Schedule.cache_write = _refuse_calls("cache_write")
Schedule.rfactor = _refuse_calls("rfactor")

__all__ = ["AppliedIntrinsic", "IntrinsicCall", "TensorRegion"]
