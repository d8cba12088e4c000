"""The steps of fragments as tensor intrinsics, which ``Stage.tensorize`` takes by name."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .. import _core
from .._core import Stage, TensorIntrin
from ..errors import refuse
from ..tir import decl_buffer, fragments, ir_builder
from ..tir.op import var
from ..tir.reducers import sum as sum_of
from .intrinsic import NAMED, decl_tensor_intrin
from .operation import compute, placeholder, reduce_axis

_SHAPE = (fragments.FRAGMENT_SIDE, fragments.FRAGMENT_SIDE)


def _view(tensor: Any) -> Any:
    """Return a view in memory or in a fragment, of any stride."""
    stride = var(f"{tensor.op.name}_stride")
    return decl_buffer(_SHAPE, tensor.dtype, tensor.op.name, strides=[stride, 1])


@lru_cache(maxsize=64)
def _copy(name: str, dtype: str) -> TensorIntrin:
    source = placeholder(_SHAPE, dtype, name="source")
    result = compute(_SHAPE, lambda i, j: source[i, j], name="result")

    def statement(ins: Any, outs: Any) -> Any:
        (read,), (written,) = ins, outs
        pointers = written.access_ptr("w"), read.access_ptr("r")
        if name == "fragment.load":
            return fragments.fragment_load(*pointers, read.strides[0])
        return fragments.fragment_store(*pointers, written.strides[0])

    views = {each: _view(each) for each in (source, result)}
    return decl_tensor_intrin(result.op, statement, name, binds=views)


@lru_cache(maxsize=64)
def _mma(factors: str, sums: str, left_transposed: bool, right_transposed: bool) -> TensorIntrin:
    left, right = (placeholder(_SHAPE, factors, name=name) for name in ("left", "right"))
    k = reduce_axis((0, fragments.FRAGMENT_SIDE), name="k")

    def element(i: Any, j: Any) -> Any:
        a = left[k, i] if left_transposed else left[i, k]
        b = right[j, k] if right_transposed else right[k, j]
        return sum_of(a.astype(sums) * b.astype(sums), axis=k)

    result = compute(_SHAPE, element, name="sums")

    def statements(ins: Any, outs: Any) -> Any:
        (a, b), (c,) = ins, outs
        fill = fragments.fragment_fill(c.access_ptr("w"))
        add = fragments.fragment_mma(
            c.access_ptr("rw"),
            a.access_ptr("r"),
            b.access_ptr("r"),
            left_transposed=left_transposed,
            right_transposed=right_transposed,
        )
        ib = ir_builder.create()
        ib.emit(fill)
        ib.emit(add)
        return ib.get(), fill, add

    views = {each: _view(each) for each in (left, right, result)}
    return decl_tensor_intrin(result.op, statements, "fragment.mma", binds=views)


def _mma_of(stage: Stage) -> TensorIntrin:
    """Return the intrinsic for the product of a stage; TL3033 if it is none."""
    op = stage.op
    body = op.body[0]
    loads = list(_core.loads_of(body)) if body._class == "Reduce" else []
    axes = [axis.var for axis in op.axis]
    if len(loads) != 2 or len(axes) < 2 or not op.reduce_axis:
        refuse(
            "TensorizeMismatch",
            f"'{op.name}' is tensorized by 'fragment.mma', but it is no product of two matrices",
            "tensorize a te.sum of a[i, k] * b[k, j]",
        )
    row, column = axes[-2:]
    ends = [load.indices[-1] for load in loads]
    return _mma(
        loads[0].dtype,
        op.output(0).dtype,
        ends[0].same_as(row),
        not ends[1].same_as(column),
    )


NAMED.update(
    {
        "fragment.load": lambda stage: _copy("fragment.load", stage.op.output(0).dtype),
        "fragment.mma": _mma_of,
        "fragment.store": lambda stage: _copy("fragment.store", stage.op.output(0).dtype),
    }
)
