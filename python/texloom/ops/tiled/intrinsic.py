"""The micro-kernels of mmt4d as tensor intrinsics."""

from __future__ import annotations

from typing import Any

from ... import te, tir
from ..._core import TensorIntrin
from .computations import mmt4d_dtype

LIBRARY = "mmt4d"
"""The library of micro-kernels, which the pragma ``import_library`` of a stage names."""

_ACCUMULATE = 1  # MMT4D_ACCUMULATE of mmt4d.h


def mmt4d_intrinsic(
    tile: Any, steps: int, left: str = "float32", right: str | None = None
) -> TensorIntrin:
    """Return the micro-kernel of a tile as an intrinsic for ``Stage.tensorize``.

    It computes the four inner axes m0, n0, k1 and k0 of :func:`texloom.ops.tiled.mmt4d`. The stage
    needs a pragma: ``s[sums].pragma(axis, "import_library", "mmt4d")``.

    Parameters
    ----------
    tile : texloom.target.Mmt4dTile
        A tile with a micro-kernel.
    steps : int
        The extent of k1 inside of the tensorized loop.
    left, right : str
        The types of the two sides; the right side's is the left side's by default.

    Raises
    ------
    ValueError
        If the tile has no micro-kernel, as those for other targets than llvm.
    """
    if tile.kernel is None:
        raise ValueError(f"{tile} has no micro-kernel: take a tile of mmt4d_tile for llvm")
    dtype = mmt4d_dtype(left)
    a = te.placeholder((steps, tile.m0, tile.k0), left, name="left")
    b = te.placeholder((steps, tile.n0, tile.k0), right or left, name="right")
    k1 = te.reduce_axis((0, steps), name="k1")
    k0 = te.reduce_axis((0, tile.k0), name="k0")
    c = te.compute(
        (tile.m0, tile.n0),
        lambda m, n: te.sum(a[k1, m, k0].astype(dtype) * b[k1, n, k0].astype(dtype), [k1, k0]),
        name="sums",
    )

    def view(tensor: Any) -> Any:
        strides = [1]
        for extent in reversed(tensor.shape[1:]):
            strides.insert(0, strides[0] * int(extent))
        return tir.decl_buffer(
            tensor.shape, tensor.dtype, tensor.op.name, strides=strides, offset_factor=1
        )

    def statements(ins: Any, outs: Any) -> Any:
        (x, y), (sums,) = ins, outs

        def call(flags: int) -> Any:
            return tir.call_extern(
                "int32",
                tile.kernel,
                sums.access_ptr("rw" if flags else "w"),
                x.access_ptr("r"),
                y.access_ptr("r"),
                te.const(steps, "int64"),
                te.const(flags, "int32"),
            )

        ib = tir.ir_builder.create()
        with ib.for_range(0, tile.m0) as m, ib.for_range(0, tile.n0) as n:
            ib.emit(sums.vstore([m, n], te.const(0, dtype)))
        return call(0), ib.get(), call(_ACCUMULATE)

    return te.decl_tensor_intrin(
        c.op, statements, tile.kernel, binds={each: view(each) for each in (a, b, c)}
    )


__all__ = ["LIBRARY", "mmt4d_intrinsic"]
