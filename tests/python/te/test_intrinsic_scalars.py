"""Scalars of tensor intrinsics: numbers from a call, or values that loops compute with."""

import numpy as np
import pytest
from intrinsics import integers, lowered_text

import texloom as tvm
from texloom import te


def scaled(count=4, dtype="float32", with_offset=True):
    """Declare y[i] = x[i] * v + w, or y[i] = x[i] * v."""
    x = te.placeholder((count,), dtype, name="x")
    v, w = te.var("v", dtype), te.var("w", dtype)
    scalars = [v, w] if with_offset else [v]
    y = te.compute((count,), lambda i: x[i] * v + w if with_offset else x[i] * v, name="y")

    def body(ins, outs, sp):
        assert all(a.same_as(b) for a, b in zip(sp, scalars, strict=True))
        ib = tvm.tir.ir_builder.create()
        source, result = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, count) as i:
            result[i] = source[i] * sp[0] + (sp[1] if with_offset else 0)
        return ib.get()

    return te.decl_tensor_intrin(y.op, body, "scaled", scalar_params=scalars)


def block_of_rows(s, tensor):
    s[tensor].bind(s[tensor].op.axis[0], te.thread_axis("blockIdx.x"))


def test_scalar_params_of_the_intrinsic():
    intrinsic = scaled()
    assert [p.name for p in intrinsic.scalar_params] == ["v", "w"]
    assert [p.dtype for p in intrinsic.scalar_params] == ["float32", "float32"]


def test_inputs_and_buffers_of_the_intrinsic():
    intrinsic = scaled()
    assert [t.name for t in intrinsic.inputs] == ["x"]
    assert intrinsic.inputs[0] == intrinsic.op.input_tensors[0]
    assert [(b.name, b.dtype) for b in intrinsic.buffers] == [("x", "float32"), ("y", "float32")]
    assert list(intrinsic.buffers[0].shape) == list(intrinsic.inputs[0].shape)


VALUES = {
    "constants": (lambda i, r: 2.5, lambda i, r: -1, lambda n, rows: (2.5, -1)),
    "one and zero": (lambda i, r: 1, lambda i, r: 0.0, lambda n, rows: (1, 0)),
    "loop variables": (
        lambda i, r: i.astype("float32") - 1.0,
        lambda i, r: te.if_then_else(i > 2, 1.0, te.exp(te.const(0.0))),
        lambda n, rows: (n - 1, 1),
    ),
    "elements": (
        lambda i, r: r(i),
        lambda i, r: r[i] * r[5 - i] + 1.0,
        lambda n, rows: (rows, rows * rows[::-1] + 1),
    ),
}


@pytest.mark.parametrize("values", VALUES)
def test_values_that_a_call_gives(run, values):
    first, second, expected = VALUES[values]
    a, r = te.placeholder((6, 8), name="A"), te.placeholder((6,), name="R")
    f = scaled()
    c = te.compute(
        (6, 2, 4),
        lambda i, j: f(a[i, j * 4 : j * 4 + 4], first(i, r), second(i, r) + 0),
        name="C",
    )
    s = te.create_schedule(c.op)
    block_of_rows(s, c)
    args = [a, r, c] if r in c.op.input_tensors else [a, c]
    lowered_text(s, args)
    x, rows = integers(6, 8), integers(6)
    inputs = [x, rows] if r in c.op.input_tensors else [x]
    by, plus = (np.reshape(e, (-1, 1)) for e in expected(np.arange(6), rows))
    assert (run(s, args, *inputs) == (x * by + plus).reshape(6, 2, 4)).all()


def test_elements_between_parts(run):
    """Inputs and scalars may alternate; an element is an input only while inputs are missing."""
    a = te.placeholder((5, 8), "int32", name="A")
    f = scaled(4, "int32")
    c = te.compute((5, 4), lambda i: f(i * i, a[i, 0:4], i + 3), name="C")
    d = te.compute((5, 4), lambda i: f(a[i, 4:8], a[i, 0], a[0, i]), name="D")
    s = te.create_schedule([c.op, d.op])
    block_of_rows(s, c)
    block_of_rows(s, d)
    lowered_text(s, [a, c, d])
    x = integers(5, 8, dtype="int32")
    i = np.arange(5)[:, None]
    one, two = run(s, [a, c, d], x)
    assert (one == x[:, :4] * i * i + i + 3).all()
    assert (two == x[:, 4:] * x[:, :1] + x[0, :5, None]).all()


def test_loop_that_runs_once(run):
    """The loop's variable is zero, so scalars may fold in the stage and in the intrinsic."""
    a = te.placeholder((1, 8), "int32", name="A")
    c = te.compute((1, 8), lambda i, j: a[i, j] * (i + 1) + i, name="C")
    s = te.create_schedule(c.op)
    _, inner = s[c].split(s[c].op.axis[1], factor=4)
    block_of_rows(s, c)
    s[c].tensorize(inner, scaled(4, "int32"))
    lowered_text(s, [a, c])
    x = integers(1, 8, dtype="int32")
    assert (run(s, [a, c], x) == x).all()


@pytest.mark.parametrize("values", [(3, 0), (0, 5), (1, 1)])
def test_constants_that_fold(run, values):
    """A multiplication by one or an addition of zero leaves no scalar."""
    a = te.placeholder((4, 4), "int32", name="A")
    f = scaled(4, "int32")
    if values[0] == 0:  # x * 0 folds, so the intrinsic does not read x
        with pytest.raises(ValueError, match="does not read each of its inputs"):
            te.compute((4, 4), lambda i: f(a[i, 0:4], *values), name="C")
        return
    c = te.compute((4, 4), lambda i: f(a[i, 0:4], *values), name="C")
    s = te.create_schedule(c.op)
    block_of_rows(s, c)
    lowered_text(s, [a, c])
    x = integers(4, 4, dtype="int32")
    assert (run(s, [a, c], x) == x * values[0] + values[1]).all()


def test_number_that_the_caller_passes(dev):
    """The scalar is an argument of the function."""
    a = te.placeholder((4, 8), name="A")
    alpha = te.var("alpha", "float32")
    f = scaled(8, with_offset=False)
    c = te.compute((4, 8), lambda i: f(a[i, 0:8], alpha), name="C")
    s = te.create_schedule(c.op)
    block_of_rows(s, c)
    lowered_text(s, [a, alpha, c])
    x = integers(4, 8)
    result = tvm.nd.empty((4, 8), "float32", dev)
    tvm.build(s, [a, alpha, c], "opencl")(tvm.nd.array(x, dev), 1.5, result)
    assert (result.numpy() == x * 1.5).all()


def dot(depth=4):
    """Declare z[0] = sum over k of x[k] * y[k] * s."""
    x, y = te.placeholder((depth,), name="x"), te.placeholder((depth,), name="y")
    k = te.reduce_axis((0, depth), name="k")
    by = te.var("by", "float32")
    z = te.compute((1,), lambda i: te.sum(x[k] * y[k] * by, axis=k), name="z")

    def body(ins, outs, sp):
        total = sum(ins[0].vload(k) * ins[1].vload(k) for k in range(depth)) * sp[0]
        return (
            outs[0].vstore(0, total),
            outs[0].vstore(0, 0.0),
            outs[0].vstore(0, outs[0].vload(0) + total),
        )

    return te.decl_tensor_intrin(z.op, body, "dot", scalar_params=[by])


def test_scalar_that_changes_from_step_to_step(run):
    """Only the update may use a scalar of the step; the reset runs before the steps."""
    a, b = te.placeholder((6, 12), name="A"), te.placeholder((12,), name="B")
    scale = te.placeholder((3,), name="scale")
    k = te.reduce_axis((0, 3), name="k")
    step = dot()
    c = te.compute(
        (6,),
        lambda i: step(a[i, k * 4 : k * 4 + 4], b[k * 4 : k * 4 + 4], scale(k), reduce_axis=k),
        name="C",
    )
    s = te.create_schedule(c.op)
    tile = s.cache_read(scale, "local", [c])
    block_of_rows(s, c)
    s[tile].compute_at(s[c], c.op.reduce_axis[0])
    lowered_text(s, [a, b, scale, c])
    x, y, by = integers(6, 12), integers(12), integers(3)
    expected = (x * y * np.repeat(by, 4)).sum(axis=1)
    assert (run(s, [a, b, scale, c], x, y, by) == expected).all()


def test_loops_say_what_the_scalars_are(run):
    """Where loops compute the same, also in a cache, each scalar is replaced by its value."""
    a, r = te.placeholder((6, 16), name="A"), te.placeholder((6,), name="R")
    c = te.compute((6, 16), lambda i, j: a[i, j] * (r[i] + 1) + 2.0, name="C")
    s = te.create_schedule(c.op)
    cache = s.cache_write(c, "local")
    i, j = s[c].op.axis
    jo, _ = s[c].split(j, factor=4)
    block_of_rows(s, c)
    s[cache].compute_at(s[c], jo)
    s[cache].tensorize(s[cache].op.axis[1], scaled())
    text = lowered_text(s, [a, r, c])  # a constant needs no `let`
    assert text.count("let v: float32 = R[blockIdx.x] + 1.0") == 1  # before the intrinsic's loop
    x, rows = integers(6, 16), integers(6)
    assert "let w" not in text
    assert (run(s, [a, r, c], x, rows) == x * (rows[:, None] + 1) + 2).all()


def test_producer_that_is_inlined_into_a_scalar(run):
    a, r = te.placeholder((6, 4), name="A"), te.placeholder((6,), name="R")
    twice = te.compute((6,), lambda i: r[i] * 2, name="twice")
    f = scaled(with_offset=False)
    c = te.compute((6, 4), lambda i: f(a[i, 0:4], twice(i)), name="C")
    s = te.create_schedule(c.op)
    s[twice].compute_inline()
    block_of_rows(s, c)
    lowered_text(s, [a, r, c])
    x, rows = integers(6, 4), integers(6)
    assert (run(s, [a, r, c], x, rows) == x * rows[:, None] * 2).all()


def test_scalars_in_a_trace():
    a = te.placeholder((6, 8), name="A")
    f = scaled()
    c = te.compute((6, 2, 4), lambda i, j: f(a[i, j * 4 : j * 4 + 4], 2.0, i * 0.5), name="C")
    s = te.create_schedule(c.op)
    block_of_rows(s, c)
    made = {"te": te, "C": c}
    exec(s.trace(), made)
    assert str(made["s"]) == str(s)


def test_intrinsic_of_each_constant():
    """Calls with different numbers are different intrinsics with one name; the text prints both."""
    a = te.placeholder((4, 4), name="A")
    f = scaled(with_offset=False)
    b = te.compute((4, 4), lambda i: f(a[i, 0:4], 2.0), name="B")
    c = te.compute((4, 4), lambda i: f(b[i, 0:4], 3.0), name="C")
    s = te.create_schedule(c.op)
    text = str(tvm.program(s, [a, c]))
    assert "intrinsic scaled\n" in text
    assert 'intrinsic "scaled.1"\n' in text or "intrinsic scaled.1\n" in text
    assert "scalar" not in text


def test_calls_with_wrong_scalars():
    a = te.placeholder((6, 8), name="A")
    f, g = scaled(), scaled(4, "int32")
    part, i = a[0, 0:4], te.var("i")
    wrong = [
        ("2 scalars, but is called with 1 parts of tensors and 1 scalars", lambda: f(part, 1.0)),
        ("called with 1 parts of tensors and 3 scalars", lambda: f(part, 1.0, 2.0, 3.0)),
        ("called with 2 parts of tensors and 1 scalars", lambda: f(part, a[0, 4:8], 1.0)),
        ("float32 for its scalar 'v', not the int32 i", lambda: f(part, i, 1.0)),
        ("int32 for its scalar 'w', not the float32 1.5", lambda: g(part, i, 1.5)),
        ("is called with a list", lambda: f(part, [1.0], 1.0)),
    ]
    for message, call in wrong[:4] + wrong[5:]:
        with pytest.raises(ValueError, match=message):
            call()
    whole = te.placeholder((4,), "int32", name="W")
    with pytest.raises(ValueError, match=wrong[4][0]):
        g(whole, i, 1.5)
    c = te.compute((6, 4), lambda i: f(a[i, 0:4], 1.0, 2.0), name="C")
    with pytest.raises(ValueError, match="cannot apply cache_write to 'C'"):
        te.create_schedule(c.op).cache_write(c, "local")


def sum_of_tile(tile, end, n=16):
    """Declare the sum of a tile, 0 from `end` on, where `tile` is the variable of an axis."""
    a = te.placeholder((n,), name="a")
    b = te.placeholder((n,), name="b")
    c = te.compute((n,), lambda i: tvm.tir.Select(tile * n + i < end, a[i] + b[i], 0.0), name="c")

    def body(ins, outs, scalars):
        ib = tvm.tir.ir_builder.create()
        with ib.for_range(0, n) as i, ib.if_scope(scalars[0] * n + i < end):
            ib.emit(outs[0].vstore(i, ins[0].vload(i) + ins[1].vload(i)))
        return ib.get()

    params = {"offset_factor": n}
    return te.decl_tensor_intrin(
        c.op, body, "sum_of_tile", scalar_params=[tile], default_buffer_params=params
    )


def test_axis_of_the_schedule(run):
    """For a partial last tile, cache_write adds the same condition that the intrinsic has."""
    m, n = 129, 16
    x = te.placeholder((m,), name="x")
    y = te.placeholder((m,), name="y")
    z = te.compute((m,), lambda i: x[i] + y[i], name="z")
    s = te.create_schedule(z.op)
    s[z].split(z.op.axis[0], factor=n)
    tiles = s.cache_write(z, "global")  # takes over both loops as axes
    tile, inner = tiles.op.axis
    for stage, axis in ((z, s[z].op.axis[0]), (tiles, tile)):
        s[stage].bind(axis, te.thread_axis("blockIdx.x"))
    s[tiles].tensorize(inner, sum_of_tile(tile.var, m))
    lowered_text(s, [x, y, z])
    values = integers(m), integers(m)
    np.testing.assert_array_equal(run(s, [x, y, z], *values), sum(values))
