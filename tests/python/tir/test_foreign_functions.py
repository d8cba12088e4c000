"""Functions that a script defines in C, called in computes, in statements, and with pointers."""

import warnings

import numpy as np
import pytest

import texloom as tvm
from texloom import te, tir

RANDOM = np.random.default_rng(34)

GEMV = """
int gemv_update(__global float* c, __global const float* a, __global const float* b,
                int m, int l, int stride) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < l; ++j)
      c[i] += a[j] * b[i * stride + j];
  return 0;
}
int gemv_reset(__global float* c, int m) {
  for (int i = 0; i < m; ++i) c[i] = 0.0f;
  return 0;
}
"""


def integers(*shape):
    return RANDOM.integers(-4, 5, size=shape).astype("float32")


def thread(name="threadIdx.x"):
    return te.thread_axis(name)


def bind(s, tensor, *tags):
    for axis, tag in zip(s[tensor].op.axis, tags or ("threadIdx.x",), strict=False):
        s[tensor].bind(axis, thread(tag))


def call(name, *args):
    return tir.call_extern("int32", name, *args)


def intrin_gemv(m, n, steps):
    """Return the intrinsic of TVM's tutorial, with its body alone or with reset and update."""
    a = te.placeholder((n,), name="a")
    b = te.placeholder((m, n), name="b")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((m,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")
    views = {
        a: tir.decl_buffer(a.shape, a.dtype, name="A", offset_factor=1, strides=[1]),
        b: tir.decl_buffer(b.shape, b.dtype, name="B", strides=[te.var("s1"), 1]),
        c: tir.decl_buffer(c.shape, c.dtype, name="C", offset_factor=1, strides=[1]),
    }

    def intrin_func(ins, outs):
        aa, bb = ins
        (cc,) = outs

        def update(access):
            pointers = cc.access_ptr(access), aa.access_ptr("r"), bb.access_ptr(1)
            return call("gemv_update", *pointers, m, n, bb.strides[0])

        def reset():
            return call("gemv_reset", cc.access_ptr("w"), m)

        def body():
            ib = tir.ir_builder.create()
            ib.emit(reset())
            ib.emit(update("rw"))
            return ib.get()

        return (body(), reset(), update("rw"))[:steps]

    return te.decl_tensor_intrin(c.op, intrin_func, binds=views)


def matmul(steps):
    """Schedule C = A @ B.T with the intrinsic over 16 columns and all of k, or 8 of k each time."""
    a = te.placeholder((6, 32), name="A")
    b = te.placeholder((48, 32), name="B")
    k = te.reduce_axis((0, 32), name="k")
    c = te.compute((6, 48), lambda i, j: te.sum(a[i, k] * b[j, k], axis=k), name="C")
    s = te.create_schedule(c.op)
    x, y = c.op.axis
    yo, yi = s[c].split(y, factor=16)
    inside = 32 if steps == 1 else 8
    ko, ki = s[c].split(c.op.reduce_axis[0], factor=inside)
    s[c].reorder(x, yo, ko, yi, ki)
    s[c].bind(x, thread("blockIdx.x"))
    s[c].bind(yo, thread())
    s[c].tensorize(yi, intrin_gemv(16, inside, steps))
    s[c].pragma(x, "import_c", GEMV)
    return s, [a, b, c]


@pytest.mark.parametrize("steps", [1, 3])
def test_gemv_of_the_tensorize_tutorial(run, steps):
    """Each thread writes its own part of C, so no barrier separates the calls."""
    s, args = matmul(steps)
    a, b = integers(6, 32), integers(48, 32)
    assert (run(s, args, a, b) == a @ b.T).all()
    source = tvm.build(s, args, "opencl").get_source()
    assert source.count("int gemv_reset(") == 1 and "barrier(" not in source
    assert source.index("int gemv_update(") < source.index("__kernel")
    assert "gemv_update(C + " in source


def test_texts_hold_the_c_text(tmp_path, dev):
    """Texts of schedules and programs, and stored functions, contain the C source."""
    s, args = matmul(3)
    text = str(tvm.program(s, args))
    assert str(tvm.parse(text)) == text
    lowered = tvm.lower(s, args)
    assert str(tvm.lower(tvm.parse(text))) == str(lowered)
    again = tvm.parse(str(lowered))
    assert str(again) == str(lowered) and 'foreign "' in str(lowered)
    tvm.build(s, args).export_library(tmp_path / "gemv")
    stored = tvm.runtime.load_module(str(tmp_path / "gemv"))
    a, b = integers(6, 32), integers(48, 32)
    c = tvm.nd.empty((6, 48), device=dev)
    stored(tvm.nd.array(a, dev), tvm.nd.array(b, dev), c)
    assert (c.numpy() == a @ b.T).all()


def elementwise(body, text, shape=(12,), dtype="float32"):
    x = te.placeholder(shape, dtype, name="X")
    y = te.compute(shape, lambda *i: body(x(*i), *i), name="Y")
    s = te.create_schedule(y.op)
    s[y].pragma(y.op.axis[0], "import_c", text)
    return s, x, y


SCALED = "float scaled(float x, int i) { return x * 10.0f + i; }"


@pytest.mark.parametrize("function", [tir.call_extern, tir.call_pure_extern])
def test_value_of_a_compute(run, function):
    s, x, y = elementwise(lambda v, i: function("float32", "scaled", v, i) + 1.0, SCALED)
    bind(s, y)
    values = integers(12)
    assert (run(s, [x, y], values) == values * 10 + np.arange(12) + 1).all()


def test_one_text_of_several_stages_stands_once(run):
    s, x, y = elementwise(lambda v, i: tir.call_pure_extern("float32", "scaled", v, i), SCALED)
    cached = s.cache_write(y, "local")
    s[cached].pragma(cached.op.axis[0], "import_c", SCALED)
    s[y].pragma(s[y].op.axis[0], "import_c", SCALED)
    bind(s, y)
    s[cached].compute_at(s[y], s[y].op.axis[0])
    assert tvm.build(s, [x, y]).get_source().count("float scaled(") == 1
    values = integers(12)
    assert (run(s, [x, y], values) == values * 10 + np.arange(12)).all()


def test_two_texts_at_one_axis_of_an_inlined_stage(run):
    x = te.placeholder((12,), name="X")
    p = te.compute((12,), lambda i: tir.call_pure_extern("float32", "outer", x[i]), name="P")
    y = te.compute((12,), lambda i: p[i] + 1.0, name="Y")
    s = te.create_schedule(y.op)
    s[p].pragma(p.op.axis[0], "import_c", "float inner(float x) { return x * 3.0f; }")
    s[p].pragma(p.op.axis[0], "import_c", "float outer(float x) { return inner(x) + 2.0f; }")
    s[p].compute_inline()
    bind(s, y)
    values = integers(12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (run(s, [x, y], values) == values * 3 + 3).all()


def test_two_impure_calls_are_two(run):
    """Impure calls are not merged; of pure ones, the difference would fold to zero."""
    text = "int odd(int i) { return i % 2; }"
    for function, calls in ((tir.call_extern, 2), (tir.call_pure_extern, 0)):

        def difference(v, i, function=function):
            return v + (function("int32", "odd", i) - function("int32", "odd", i))

        s, x, y = elementwise(difference, text, dtype="int32")
        bind(s, y)
        values = np.arange(12, dtype="int32")
        assert (run(s, [x, y], values) == values).all()
        source = tvm.build(s, [x, y]).get_source()
        assert source.count("odd(") - source.count("int odd(") == calls


def test_call_is_not_made_where_a_condition_leaves_it_out(run):
    """The function loops forever outside the tensor, so guards and selects must skip the call."""
    text = "int steps(int i) { while (i > 9) i = 10 + i % 2; return 64 - i; }"
    s, x, y = elementwise(
        lambda v, i: tir.if_then_else(v > 0, tir.call_pure_extern("int32", "steps", i), 7),
        text,
        shape=(10,),
        dtype="int32",
    )
    outer, inner = s[y].split(y.op.axis[0], factor=4)
    s[y].bind(outer, thread("blockIdx.x"))
    s[y].bind(inner, thread())
    values = np.arange(10, dtype="int32") % 2
    assert (run(s, [x, y], values) == np.where(values > 0, 64 - np.arange(10), 7)).all()
    source = tvm.build(s, [x, y]).get_source()
    kernel = source[source.index("__kernel") :]
    assert kernel.index("if (") < kernel.index("steps(") and "? steps(" in kernel


def test_vectorized_pure_call_is_made_for_each_lane(run):
    s, x, y = elementwise(lambda v, i: tir.call_pure_extern("float32", "scaled", v, i), SCALED)
    outer, inner = s[y].split(y.op.axis[0], factor=4)
    s[y].bind(outer, thread())
    s[y].vectorize(inner)
    values = integers(12)
    assert (run(s, [x, y], values) == values * 10 + np.arange(12)).all()
    source = tvm.build(s, [x, y]).get_source()
    assert source.count("scaled(") == 5 and "(float4)(scaled(" in source


def test_loop_with_an_impure_call_stays_serial(run):
    s, x, y = elementwise(lambda v, i: tir.call_extern("float32", "scaled", v, i), SCALED)
    outer, inner = s[y].split(y.op.axis[0], factor=4)
    s[y].bind(outer, thread())
    s[y].vectorize(inner)
    values = integers(12)
    with pytest.warns(UserWarning, match="TL3021.*not pure"):
        assert (run(s, [x, y], values) == values * 10 + np.arange(12)).all()


REVERSED = """
void put(__local float* tile, __global const float* x, int i) { tile[i] = x[i]; }
float taken(__local const float* tile, int i) { return tile[i]; }
void twice(float* own, int n) { for (int i = 0; i < n; ++i) own[i] *= 2.0f; }
"""


def reversed_rows(ins, outs):
    """Each block reverses a row through shared memory, using only pointers."""
    (x,), (y,) = ins, outs
    ib = tir.ir_builder.create()
    row, i = thread("blockIdx.x"), thread()
    ib.scope_attr(row, "thread_extent", 3)
    ib.scope_attr(i, "thread_extent", 16)
    tile = ib.allocate("float32", (16,), name="tile", scope="shared")
    own = ib.allocate("float32", (2,), name="own", scope="local")
    ib.emit(call("put", tile, x.access_ptr("r", offset=row.var * 16), i.var))
    own[0] = tir.call_extern("float32", "taken", tile.access_ptr("r"), 15 - i.var)
    own[1] = 1.0
    ib.emit(call("twice", own, 2))
    ib.emit(y.vstore((row.var, i.var), own[0] + own[1]))
    return ib.get()


def test_pointers_to_shared_and_local_memory(run):
    """A barrier precedes reads of shared memory that the function wrote."""
    x = te.placeholder((3, 16), name="X")
    y = te.extern((3, 16), [x], reversed_rows, name="Y")
    s = te.create_schedule(y.op)
    z = te.compute((3, 16), lambda i, j: y[i, j], name="Z")
    s = te.create_schedule(z.op)
    bind(s, z, "blockIdx.x", "threadIdx.x")
    s[z].pragma(z.op.axis[0], "import_c", REVERSED)
    values = integers(3, 16)
    assert (run(s, [x, z], values) == values[:, ::-1] * 2 + 2).all()
    kernel = tvm.build(s, [x, z]).get_source()
    assert kernel.index(" put(tile") < kernel.index("barrier(") < kernel.index(" = taken(tile,")


def test_pointers_to_halves(run):
    """The function sees halves in global memory; those of a thread are kept as float32."""

    def flipped(scope):
        def body(ins, outs):
            ib = tir.ir_builder.create()
            ib.scope_attr(thread(), "thread_extent", 1)
            own = ib.allocate("float16", (8,), name="own", scope=scope) if scope else None
            target = own.access_ptr("rw") if scope else outs[0].access_ptr("w")
            ib.emit(call("flipped", target, ins[0].access_ptr("r")))
            if scope:
                ib.emit(outs[0].vstore([0], own[0]))
            return ib.get()

        x = te.placeholder((8,), "float16", name="X")
        y = te.extern((8,), [x], body, name="Y", dtype="float16")
        z = te.compute((8,), lambda i: y[i], name="Z")
        s = te.create_schedule(z.op)
        bind(s, z)
        s[z].pragma(z.op.axis[0], "import_c", FLIPPED)
        return s, x, z

    s, x, z = flipped("")
    values = integers(8)
    assert (run(s, [x, z], values) == -values).all()
    s, x, z = flipped("local")
    with pytest.raises(
        tvm.TVMError, match="TL4005.*pointer to 'own': it is float16, which is kept"
    ):
        tvm.build(s, [x, z], "opencl")


FLIPPED = """
void flipped(__global half* y, __global const half* x) {
  __global ushort* to = (__global ushort*)y;
  __global const ushort* from = (__global const ushort*)x;
  for (int i = 0; i < 8; ++i) to[i] = from[i] ^ 0x8000;
}
"""


def test_kernel_does_not_take_the_name_of_a_function(run):
    s, x, y = elementwise(
        lambda v, i: tir.call_pure_extern("float32", "X", v, i), SCALED.replace("scaled", "X")
    )
    bind(s, y)
    values = integers(12)
    assert (run(s, [x, y], values) == values * 10 + np.arange(12)).all()


def test_refused_without_c_text():
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: tir.call_pure_extern("float32", "frobnicate", x[i]), name="Y")
    s = te.create_schedule(y.op)
    bind(s, y)
    with pytest.raises(tvm.TVMError, match=r"TL2042.*'frobnicate'(.|\n)*import_c"):
        tvm.lower(s, [x, y])


def test_wrong_c_text_is_a_diagnostic_with_the_log(dev):
    s, x, y = elementwise(
        lambda v, i: tir.call_pure_extern("float32", "scaled", v, i), "float scaled(float x) {"
    )
    bind(s, y)
    f = tvm.build(s, [x, y], "opencl")
    with pytest.raises(tvm.TVMError, match=r"TL5010(.|\n)*build log(.|\n)*error(.|\n)*C text"):
        f(tvm.nd.empty((12,), device=dev), tvm.nd.empty((12,), device=dev))


def test_pointer_into_a_texture():
    x = te.placeholder((4, 4), name="X")
    copy = te.compute((4, 4), lambda i, j: x[i, j], name="copy")

    def body(ins, outs):
        ib = tir.ir_builder.create()
        ib.scope_attr(thread(), "thread_extent", 1)
        ib.emit(call("f", outs[0].access_ptr("w"), ins[0].access_ptr("r")))
        return ib.get()

    y = te.extern((4, 4), [copy], body, name="Y")
    s = te.create_schedule(y.op)
    s[copy].set_scope("texture")
    bind(s, copy, "blockIdx.x")
    s[copy].pragma(copy.op.axis[0], "import_c", "")
    with pytest.raises(tvm.TVMError, match=r"TL3034.*'copy', which is a texture"):
        tvm.lower(s, [x, y])
