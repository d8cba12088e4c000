"""Tensor intrinsics: statements that replace loops of a schedule."""

import numpy as np
import pytest
from intrinsics import bind, integers, lowered_text, vector_add

import texloom as tvm
from texloom import te


def gemv(m, n, order=("reset", "update")):
    """Declare c[i] = sum over k of b[i, k] * a[k], as in TVM's tutorial, but with statements."""
    a = te.placeholder((n,), name="a")
    b = te.placeholder((m, n), name="b")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((m,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")
    stride = te.var("stride")
    binds = {
        a: tvm.tir.decl_buffer(a.shape, a.dtype, name="A", offset_factor=1, strides=[1]),
        b: tvm.tir.decl_buffer(b.shape, b.dtype, name="B", offset_factor=1, strides=[stride, 1]),
        c: tvm.tir.decl_buffer(c.shape, c.dtype, name="C", offset_factor=1, strides=[1]),
    }

    def intrin(ins, outs):
        def accumulate(reset):
            ib = tvm.tir.ir_builder.create()
            x, y, z = (ib.buffer_ptr(each) for each in (*ins, *outs))
            with ib.for_range(0, m) as i:
                if reset:
                    z[i] = 0.0
                with ib.for_range(0, n) as j:
                    z[i] += x[j] * y[i, j]
            return ib.get()

        def cleared():
            ib = tvm.tir.ir_builder.create()
            z = ib.buffer_ptr(outs[0])
            with ib.for_range(0, m) as i:
                z[i] = 0.0
            return ib.get()

        made = {"reset": cleared(), "update": accumulate(False), None: None}
        return accumulate(True), *(made[word] for word in order)

    return te.decl_tensor_intrin(c.op, intrin, binds=binds)


def matmul(rows=8, cols=16, depth=12):
    a = te.placeholder((rows, depth), name="A")
    b = te.placeholder((cols, depth), name="B")
    k = te.reduce_axis((0, depth), name="k")
    return (
        a,
        b,
        te.compute((rows, cols), lambda i, j: te.sum(a[i, k] * b[j, k], axis=k), name="C"),
    )


def test_gemv_over_the_inner_loops_of_a_matmul(run):
    """The intrinsic covers the whole reduction, so only its body is used."""
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    jo, ji = s[c].split(j, factor=4)
    s[c].reorder(i, jo, ji, c.op.reduce_axis[0])
    bind(s, c, i, jo)
    intrinsic = gemv(4, 12)
    s[c].tensorize(ji, intrinsic)
    assert s[c].iter_var_attrs[ji].tensor_intrin == intrinsic
    assert s[c].iter_var_attrs[ji].iter_type == 8
    lowered_text(s, [a, b, c])
    x, y = integers(8, 12), integers(16, 12)
    assert (run(s, [a, b, c], x, y) == x @ y.T).all()


@pytest.mark.parametrize("order", [("reset", "update"), (None, "update")])
def test_split_reduction_is_reset_and_updated(run, order):
    """Without a reset, the first step of the outer loop uses the body."""
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    jo, ji = s[c].split(j, factor=4)
    ko, ki = s[c].split(c.op.reduce_axis[0], factor=3)
    s[c].reorder(i, jo, ko, ji, ki)
    bind(s, c, i, jo)
    s[c].tensorize(ji, gemv(4, 3, order))
    lowered_text(s, [a, b, c])
    x, y = integers(8, 12), integers(16, 12)
    assert (run(s, [a, b, c], x, y) == x @ y.T).all()


def test_vector_addition(run):
    """The intrinsic's vector loads and stores start at the part's offset, a multiple of 16."""
    a = te.placeholder((6, 64), name="A")
    b = te.placeholder((6, 64), name="B")
    c = te.compute((6, 64), lambda i, j: a[i, j] + b[i, j], name="C")
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    jo, ji = s[c].split(j, factor=16)
    bind(s, c, i, jo)
    s[c].tensorize(ji, vector_add())
    lowered_text(s, [a, b, c])
    assert "vstore16" in tvm.build(s, [a, b, c], "opencl").get_source()
    x, y = integers(6, 64), integers(6, 64)
    assert (run(s, [a, b, c], x, y) == x + y).all()


def dot4(dtype="float32"):
    """Declare the sum of four products, such as those of the lanes of two texels."""
    a = te.placeholder((4,), dtype, name="a")
    b = te.placeholder((4,), dtype, name="b")
    k = te.reduce_axis((0, 4), name="k")
    c = te.compute(
        (1,),
        lambda i: te.sum(a[k].astype("float32") * b[k].astype("float32"), axis=k),
        name="c",
    )

    def intrin(ins, outs):
        total = sum(
            ins[0].vload(k).astype("float32") * ins[1].vload(k).astype("float32") for k in range(4)
        )
        return (
            outs[0].vstore(0, total),
            outs[0].vstore(0, 0.0),
            outs[0].vstore(0, outs[0].vload(0) + total),
        )

    return te.decl_tensor_intrin(c.op, intrin, "dot4")


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_lanes_of_textures(run, dtype):
    """Each step loads one texel of each texture, for all four lanes."""
    a = te.placeholder((8, 12), dtype, name="A")
    b = te.placeholder((16, 12), dtype, name="B")
    k = te.reduce_axis((0, 12), name="k")
    c = te.compute(
        (8, 16),
        lambda i, j: te.sum(a[i, k].astype("float32") * b[j, k].astype("float32"), axis=k),
        name="C",
    )
    s = te.create_schedule(c.op)
    local = s.cache_write(c, "local")
    i, j = s[c].op.axis
    bind(s, c, i, j)
    s[local].compute_at(s[c], j)
    _, ki = s[local].split(s[local].op.reduce_axis[0], factor=4)
    s[local].tensorize(ki, dot4(dtype))
    scopes = {a: "texture", b: "texture:weight"}
    binds = {t: tvm.decl_buffer(t.shape, dtype, scope=where) for t, where in scopes.items()}
    text = str(tvm.lower(s, [a, b, c], binds=binds))
    assert text.count("texture2d.load") == 2 * 3  # the steps are unrolled
    x, y = integers(8, 12), integers(16, 12)
    assert (run(s, [a, b, c], x, y, scopes=scopes) == x @ y.T).all()


def test_inside_a_kernel_that_fetches_together(run):
    """Tiles are in shared memory, sums in registers, and the output's edge is guarded."""
    a, b, c = matmul(rows=30, cols=32, depth=32)
    s = te.create_schedule(c.op)
    local = s.cache_write(c, "local")
    i, j = s[c].op.axis
    io, ii = s[c].split(i, factor=4)
    jo, ji = s[c].split(j, factor=16)
    ty, tx = s[c].split(ji, factor=4)
    s[c].reorder(io, jo, ii, ty, tx)
    s[c].bind(io, te.thread_axis("blockIdx.y"))
    s[c].bind(jo, te.thread_axis("blockIdx.x"))
    s[c].bind(ii, te.thread_axis("threadIdx.y"))
    s[c].bind(ty, te.thread_axis("threadIdx.x"))
    s[local].compute_at(s[c], ty)
    ko, ki = s[local].split(s[local].op.reduce_axis[0], factor=8)
    s[local].reorder(ko, *s[local].op.axis, ki)
    for source in (a, b):
        tile = s.cache_read(source, "shared", [local])
        s[tile].compute_at(s[local], ko)
        fused = s[tile].fuse(*s[tile].op.axis)
        rest, y = s[tile].split(fused, factor=4)
        _, x = s[tile].split(rest, factor=4)
        s[tile].bind(y, te.thread_axis("threadIdx.y"))
        s[tile].bind(x, te.thread_axis("threadIdx.x"))
    s[local].tensorize(s[local].op.axis[1], gemv(4, 8))
    text = lowered_text(s, [a, b, c])
    assert text.count("barrier") == 2
    x, y = integers(30, 32), integers(32, 32)
    assert (run(s, [a, b, c], x, y) == x @ y.T).all()


def test_several_outputs(run):
    x = te.placeholder((4,), name="x")
    low, high = te.compute((4,), lambda i: (x[i] - 1.0, x[i] + 1.0), name="both")

    def body(ins, outs):
        ib = tvm.tir.ir_builder.create()
        source, *results = (ib.buffer_ptr(each) for each in (*ins, *outs))
        with ib.for_range(0, 4) as i:
            for result, by in zip(results, (-1.0, 1.0), strict=True):
                result[i] = source[i] + by
        return ib.get()

    intrinsic = te.decl_tensor_intrin(low.op, body)
    a = te.placeholder((8, 4), name="A")
    b, c = te.compute((8, 4), lambda i, j: (a[i, j] - 1.0, a[i, j] + 1.0), name="D")
    s = te.create_schedule(b.op)
    bind(s, b, s[b].op.axis[0])
    s[b].tensorize(s[b].op.axis[1], intrinsic)
    lowered_text(s, [a, b, c])
    values = integers(8, 4)
    less, more = run(s, [a, b, c], values)
    assert (less == values - 1).all()
    assert (more == values + 1).all()


def test_fused_loops_and_windows(run):
    """Both taps of a window are one input; one intrinsic axis may span several loops."""
    x = te.placeholder((5,), name="x")
    y = te.compute((4,), lambda i: x[i] * 2.0 + x[i + 1], name="y")

    def body(ins, outs):
        ib = tvm.tir.ir_builder.create()
        source, result = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        before = ib.allocate("float32", 1, scope="local")
        before[0] = source[0]
        with ib.for_range(0, 4, kind="unroll") as i:
            result[i] = before[0] * 2.0 + source[i + 1]
            before[0] = source[i + 1]
        return ib.get()

    intrinsic = te.decl_tensor_intrin(y.op, body)
    a = te.placeholder((6, 17), name="A")
    b = te.compute((6, 16), lambda i, j: a[i, j] * 2.0 + a[i, j + 1], name="B")
    s = te.create_schedule(b.op)
    fused = s[b].fuse(*s[b].op.axis)
    outer, inner = s[b].split(fused, factor=4)
    middle, _ = s[b].split(inner, factor=2)
    bind(s, b, outer)
    s[b].tensorize(middle, intrinsic)
    lowered_text(s, [a, b])
    values = integers(6, 17)
    assert (run(s, [a, b], values) == values[:, :16] * 2 + values[:, 1:]).all()


def test_trace_names_the_intrinsic():
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    add = gemv(16, 12)
    s[c].tensorize(s[c].op.axis[1], add)
    assert "s[C].tensorize(s[C].op.axis[1], tensor_intrin)" in s.trace()
    made = {"te": te, "A": a, "B": b, "C": c, "tensor_intrin": add}
    exec(s.trace(), made)
    assert str(made["s"]) == str(s)


def test_misuse_is_a_value_error():
    a, _, c = matmul()
    with pytest.raises(TypeError, match="TL2040.*not an operation"):
        te.decl_tensor_intrin(c, lambda ins, outs: None)
    with pytest.raises(ValueError, match="TL1021.*returns None"):
        te.decl_tensor_intrin(c.op, lambda ins, outs: None)
    with pytest.raises(ValueError, match="which has no effect"):
        te.decl_tensor_intrin(c.op, lambda ins, outs: ins[0].vload([0, 0]))
    d = te.compute((8,), lambda i: c[i, 0], name="D")
    with pytest.raises(ValueError, match="not a placeholder"):
        te.decl_tensor_intrin(d.op, lambda ins, outs: None)
    s = te.create_schedule(c.op)
    with pytest.raises(TypeError, match="tensor_intrin is the tensor"):
        s[c].tensorize(s[c].op.axis[0], a)


def test_intrinsic_is_called_in_a_compute(run):
    """The intrinsic's axes come after the compute's own axes."""
    a = te.placeholder((6, 32), name="A")
    b = te.placeholder((32,), name="B")
    add = vector_add()
    c = te.compute((6, 2, 16), lambda i, j: add(a[i, j * 16 : j * 16 + 16], b[0:16]), name="C")
    assert isinstance(c.op, te.TensorComputeOp)
    assert not isinstance(c.op, te.ComputeOp)
    assert [axis.var.name for axis in c.op.axis] == ["i", "j"]
    assert [t.name for t in c.op.input_tensors] == ["A", "B"]
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    bind(s, c, s[c].fuse(i, j))
    lowered_text(s, [a, b, c])
    assert "vstore16" in tvm.build(s, [a, b, c], "opencl").get_source()
    x, y = integers(6, 32), integers(32)
    assert (run(s, [a, b, c], x, y) == x.reshape(6, 2, 16) + y[:16]).all()
    made = {"te": te, "C": c}
    exec(s.trace(), made)
    assert str(made["s"]) == str(s)


def test_what_an_intrinsic_computes_or_reads_is_not_inlined_by_form(run):
    a = te.placeholder((4, 16), name="A")
    twice = te.compute((4, 16), lambda i, j: a[i, j] * 2, name="twice")
    add = vector_add()
    b = te.compute((4, 16), lambda i: add(twice[i, 0:16], a[i, 0:16]), name="B")
    c = te.compute((4, 16), lambda i, j: b[i, j] - 1, name="C")
    s = te.create_schedule(c.op)
    te.schedule.AutoInlineInjective(s)
    for t in (twice, b, c):
        bind(s, t, s[t].op.axis[0])
    x = integers(4, 16)
    assert (run(s, [a, c], x) == 3 * x - 1).all()


def test_called_intrinsic_reduces_over_more_axes(run):
    """The schedule loops over one reduction axis, the intrinsic over the other."""
    a = te.placeholder((8, 3, 4), name="A")
    b = te.placeholder((3, 5, 4), name="B")
    k = te.reduce_axis((0, 3), name="k")
    step = gemv(5, 4)
    c = te.compute((8, 5), lambda i: step(a[i, k, 0:4], b[k, 0:5, 0:4], reduce_axis=k), name="C")
    assert [axis.var.name for axis in c.op.reduce_axis] == ["k"]
    s = te.create_schedule(c.op)
    tile = s.cache_read(a, "local", [c])
    bind(s, c, s[c].op.axis[0])
    s[tile].compute_at(s[c], s[c].op.reduce_axis[0])
    lowered_text(s, [a, b, c])
    x, y = integers(8, 3, 4), integers(3, 5, 4)
    assert (run(s, [a, b, c], x, y) == np.einsum("ikl,kjl->ij", x, y)).all()


def test_called_intrinsic_of_one_element(run):
    """The compute's axes replace the intrinsic's own axis of extent 1."""
    a, b = te.placeholder((8, 4), name="A"), te.placeholder((6, 4), name="B")
    dot = dot4()
    c = te.compute((8, 6), lambda i, j: dot(a[i, 0:4], b[j][0:4]), name="C")
    s = te.create_schedule(c.op)
    bind(s, c, *s[c].op.axis)
    lowered_text(s, [a, b, c])
    x, y = integers(8, 4), integers(6, 4)
    assert (run(s, [a, b, c], x, y) == x @ y.T).all()


def test_calls_that_do_not_fit():
    a = te.placeholder((6, 32), name="A")
    whole = te.placeholder((16,), "int32", name="W")
    add = vector_add()
    k = te.reduce_axis((0, 2), name="k")
    wrong = [
        ("has 2 inputs and 0 scalars, but is called with 1 parts", lambda: add(a[0, 0:16])),
        (r"not float32\[1, 8\] of 'A'", lambda: add(a[0, 0:8], a[0, 0:16])),
        (r"not int32\[16\] of 'W'", lambda: add(a[0, 0:16], whole)),
        ("called with 1 parts of tensors and 1 scalars", lambda: add(a[0, 0:16], 1.0)),
        ("has no reduction, but is called", lambda: add(a[0, 0:16], a[1, 0:16], reduce_axis=k)),
        ("has a step", lambda: a[0, 0:16:2]),
        ("has 2 axes, but is given 1 index", lambda: a[0:16]),
        ("has the extent .* not constant", lambda: a[0, 0 : te.var("n")]),
    ]
    for message, call in wrong:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(ValueError, match=r"has the extents \[16\]"):
        te.compute((6, 8), lambda i: add(a[i, 0:16], a[i, 0:16]))
    c = te.compute((6, 16), lambda i: add(a[i, 0:16], a[i, 16:32]), name="C")
    with pytest.raises(ValueError, match="cannot apply cache_write to 'C'"):
        te.create_schedule(c.op).cache_write(c, "local")


@pytest.mark.parametrize("order", [("reset", "update"), (None, "update")])
def test_steps_in_a_loop_fused_of_both_kinds(run, order):
    """In a fused loop, the reset runs at each reduction's first step, not at the loop's."""
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    jo, ji = s[c].split(j, factor=4)
    ko, ki = s[c].split(c.op.reduce_axis[0], factor=3)
    s[c].reorder(i, jo, ko, ji, ki)
    s[c].fuse(jo, ko)
    bind(s, c, i)
    s[c].tensorize(ji, gemv(4, 3, order))
    lowered_text(s, [a, b, c])
    x, y = integers(8, 12), integers(16, 12)
    assert (run(s, [a, b, c], x, y) == x @ y.T).all()


def test_cache_that_takes_over_the_computation():
    """After cache_write, a tensorized stage only copies, so the intrinsic no longer matches."""
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    bind(s, c, s[c].op.axis[0])
    s[c].tensorize(s[c].op.axis[1], gemv(16, 12))
    s[s.cache_write(c, "local")].compute_at(s[c], s[c].op.axis[0])
    with pytest.raises(tvm.TVMError, match="TL3033"):
        tvm.lower(s, [a, b, c])
