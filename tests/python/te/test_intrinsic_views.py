"""Buffers of tensor intrinsics: strides, offsets and scopes of the tensor parts they view."""

import numpy as np
import pytest
from intrinsics import bind, integers, lowered_text, vector_add

import texloom as tvm
from texloom import te


def test_strides_and_offsets_have_values(run):
    """A statement may compute with the strides and offsets of its views: this one writes them."""
    x = te.placeholder((2, 4), "int32", name="x")
    y = te.compute((2, 4), lambda i, j: x[i, j] + 1, name="y")
    stride, offset = te.var("stride"), te.var("offset")
    binds = {y: tvm.tir.decl_buffer((2, 4), "int32", strides=[stride, 1], elem_offset=offset)}

    def body(ins, outs):
        assert [str(e) for e in outs[0].strides] == ["stride", "1"]
        ib = tvm.tir.ir_builder.create()
        z = ib.buffer_ptr(outs[0])
        with ib.for_range(0, 2) as i, ib.for_range(0, 4) as j:
            z[i, j] = offset + i * stride + j
        return ib.get()

    a = te.placeholder((4, 8), "int32", name="A")
    b = te.compute((4, 8), lambda i, j: a[i, j] + 1, name="B")
    s = te.create_schedule(b.op)
    i, j = s[b].op.axis
    io, jo, ii, _ = s[b].tile(i, j, 2, 4)
    bind(s, b, io, jo)
    s[b].tensorize(ii, te.decl_tensor_intrin(y.op, body, binds=binds))
    lowered_text(s, [a, b])
    assert (run(s, [a, b], integers(4, 8)).ravel() == np.arange(32)).all()


def test_views_that_lie_in_local_memory(run):
    """A declared scope must match the tensor's: local caches match, global arrays do not."""
    a = te.placeholder((6, 64), name="A")
    b = te.placeholder((6, 64), name="B")
    c = te.compute((6, 64), lambda i, j: a[i, j] + b[i, j], name="C")
    s = te.create_schedule(c.op)
    cache = s.cache_write(c, "local")
    inputs = [s.cache_read(t, "local", [cache]) for t in (a, b)]
    i, j = s[c].op.axis
    jo, _ = s[c].split(j, factor=16)
    bind(s, c, i, jo)
    for each in (cache, *inputs):
        s[each].compute_at(s[c], jo)
    s[cache].tensorize(s[cache].op.axis[1], vector_add("local"))
    lowered_text(s, [a, b, c])
    x, y = integers(6, 64), integers(6, 64)
    assert (run(s, [a, b, c], x, y) == x + y).all()


def test_parts_of_arrays_of_symbolic_extents(dev):
    """The number of rows is known only at the call, but the parts' offsets are known before."""
    n = te.var("n")
    a, b = te.placeholder((n, 64), name="A"), te.placeholder((n, 64), name="B")
    c = te.compute((n, 64), lambda i, j: a[i, j] + b[i, j], name="C")
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    _, inner = s[c].split(j, factor=16)
    bind(s, c, i)
    s[c].tensorize(inner, vector_add())
    x, y = (tvm.nd.array(integers(6, 64), dev) for _ in range(2))
    z = tvm.nd.empty((6, 64), "float32", dev)
    tvm.build(s, [a, b, c], "opencl")(x, y, z)
    assert (z.numpy() == x.numpy() + y.numpy()).all()


@pytest.mark.parametrize(("align", "row"), [(8, 8), (4, 4)])
def test_aligned_rows_begin_at_multiples(run, align, row):
    x = te.placeholder((4,), name="x")
    y = te.compute((4,), lambda i: x[i] * 2, name="y")
    binds = {y: tvm.tir.decl_buffer((4,), offset_factor=8)}
    double = te.decl_tensor_intrin(
        y.op,
        lambda ins, outs: outs[0].vstore(0, ins[0].vload(0, "float32x4") * 2),
        "double",
        binds=binds,
    )
    a = te.placeholder((6, 3, 4), name="A")
    p = te.compute((6, 3, 4), lambda *i: a(*i) * 2, name="P")
    c = te.compute((6, 3, 4), lambda b, i, j: p[b, i, j] + p[b, 2 - i, 3 - j], name="C")
    s = te.create_schedule(c.op)
    bind(s, c, s[c].op.axis[0])
    s[p].compute_at(s[c], s[c].op.axis[0])
    s[p].storage_align(s[p].op.axis[1], align, 0)
    s[p].tensorize(s[p].op.axis[2], double)
    if row == 4:
        with pytest.raises(
            tvm.TVMError, match="TL3033.*multiple of 8.*along axis 1, it begins at index"
        ):
            tvm.lower(s, [a, c])
        return
    lowered_text(s, [a, c])
    values = integers(6, 3, 4)
    assert (run(s, [a, c], values) == 2 * (values + values[:, ::-1, ::-1])).all()
