"""Arrays without elements: they are made and copied, and calls launch what writes elements."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te

SHAPES = [(0,), (0, 4), (3, 0), (2, 0, 5)]


def axis(tag):
    return te.thread_axis(tag)


def bound(s, t):
    outer, inner = s[t].split(s[t].op.axis[0], factor=8)
    s[t].bind(outer, axis("blockIdx.x"))
    s[t].bind(inner, axis("threadIdx.x"))


@pytest.mark.parametrize("scope", ["global", "texture", "texture:weight"])
@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_are_made_and_copied(dev, shape, scope):
    values = np.zeros(shape, "float16")
    array = tvm.nd.array(values, dev, scope)
    assert array.shape == shape and array.scope == scope
    for copy in (array, array.copyto(dev), array.copyto(tvm.cpu())):
        assert copy.shape == shape and copy.dtype == "float16"
        assert copy.numpy().shape == shape
    empty = tvm.nd.empty(shape, "float16", dev, scope)
    empty[:] = 3
    assert empty.copyfrom(array).asnumpy().shape == shape
    with pytest.raises(tvm.TVMError, match="TL5003"):
        empty.copyfrom(np.zeros((1, *shape[1:]) if shape[0] == 0 else (7, *shape[1:])))


def test_arrays_in_a_layout_are_copied(dev):
    layout = "texture[(h, w, c) -> rows=(h), cols=(c/4, w), lanes=c%4, padding=zero]"
    array = tvm.nd.array(np.zeros((3, 0, 5), "float32"), dev, layout=layout)
    assert array.copyto(dev).numpy().shape == (3, 0, 5)


def test_negative_extents_are_refused(dev):
    with pytest.raises(tvm.TVMError, match=r"TL1001.*the extent -1"):
        tvm.nd.empty((4, -1), "float32", dev)


@pytest.mark.parametrize("scope", ["global", "global.texture"])
@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (5, 6)])
def test_a_function_of_empty_arrays_returns_one(dev, shape, scope):
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="X")
    between = te.compute((n, m), lambda *i: x(*i) * 2, name="T")
    y = te.compute((n, m), lambda *i: between(*i) + 1, name="Y")
    s = te.create_schedule(y.op)
    bound(s, between)
    bound(s, y)
    binds = {t: tvm.decl_buffer(t.shape, t.dtype, scope=scope) for t in (x, y)}
    f = tvm.build(s, [x, y], binds=binds)
    values = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    np.testing.assert_array_equal(f(values), values * 2 + 1)
    out = tvm.nd.empty(shape, "float32", dev, "global" if scope == "global" else "texture")
    given = tvm.nd.array(values, dev, out.scope)
    f(given, out)
    f.enqueue(3, given, out)
    np.testing.assert_array_equal(out.numpy(), values * 2 + 1)


def split(s, t, k):
    s[t].split(k, factor=16)
    bound(s, t)


def factored(s, t, k):
    _, inner = s[t].split(k, factor=16)
    for each in (s.rfactor(t, inner), t):
        bound(s, each)


def across_threads(s, t, k):
    _, inner = s[t].split(k, factor=16)
    s[t].bind(inner, axis("threadIdx.x"))
    s[t].bind(s[t].op.axis[0], axis("blockIdx.x"))


@pytest.mark.parametrize("schedule", [split, factored, across_threads])
@pytest.mark.parametrize(("reducer", "identity"), [("sum", 0), ("max", np.finfo("float32").min)])
def test_reductions_over_nothing_give_the_identity(dev, reducer, identity, schedule):
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="X")
    k = te.reduce_axis((0, m), name="k")
    y = te.compute((n,), lambda i: getattr(te, reducer)(x[i, k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    schedule(s, y, s[y].op.reduce_axis[0])
    f = tvm.build(s, [x, y])
    out = tvm.nd.array(np.full(5, 7, "float32"), dev)
    f(tvm.nd.array(np.zeros((5, 0), "float32"), dev), out)
    np.testing.assert_array_equal(out.numpy(), np.full(5, identity, "float32"))
    assert f(tvm.nd.empty((0, 4), "float32", dev)).shape == (0,)
    ones = tvm.nd.array(np.ones((5, 20), "float32"), dev)
    assert (f(ones).numpy() == (20 if reducer == "sum" else 1)).all()


@pytest.mark.parametrize("double", [False, True])
def test_products_of_any_sizes(dev, double):
    """Tiles in shared memory, which double_buffer fills ahead of a loop that may be empty."""
    n, m, count = (te.var(name) for name in "nmk")
    x, y = te.placeholder((n, count), name="X"), te.placeholder((count, m), name="Y")
    k = te.reduce_axis((0, count), name="k")
    z = te.compute((n, m), lambda i, j: te.sum(x[i, k] * y[k, j], axis=k), name="Z")
    s = te.create_schedule(z.op)
    local = s.cache_write(z, "local")
    tiles = [s.cache_read(t, "shared", [local]) for t in (x, y)]
    tags = [axis(f"threadIdx.{d}") for d in "yx"]
    io, jo, *inner = s[z].tile(*s[z].op.axis, 8, 8)
    for loop, tag in zip(
        [io, jo, *inner], [axis("blockIdx.y"), axis("blockIdx.x"), *tags], strict=True
    ):
        s[z].bind(loop, tag)
    s[local].compute_at(s[z], inner[1])
    outer, _ = s[local].split(s[local].op.reduce_axis[0], factor=8)
    for tile in tiles:
        s[tile].compute_at(s[local], outer)
        for loop, tag in zip(s[tile].op.axis, tags, strict=True):
            s[tile].bind(loop, tag)
        if double:
            s[tile].double_buffer()
    f = tvm.build(s, [x, y, z])
    for rows, inside, columns in ((5, 0, 7), (0, 3, 4), (3, 4, 0), (5, 3, 7), (9, 17, 10)):
        a = np.arange(rows * inside, dtype="float32").reshape(rows, inside)
        b = np.ones((inside, columns), "float32")
        c = tvm.nd.array(np.full((rows, columns), 9, "float32"), dev)
        f(tvm.nd.array(a, dev), tvm.nd.array(b, dev), c)
        np.testing.assert_array_equal(c.numpy(), a @ b)


def test_a_loaded_module_takes_empty_arrays(dev, tmp_path):
    n = te.var("n")
    x = te.placeholder((n, 4), name="X")
    y = te.compute((n, 4), lambda *i: x(*i) + 1, name="Y")
    s = te.create_schedule(y.op)
    bound(s, y)
    tvm.build(s, [x, y]).save(str(tmp_path / "f.tlm"))
    loaded = tvm.runtime.load_module(str(tmp_path / "f.tlm"))
    assert loaded(tvm.nd.empty((0, 4), "float32", dev)).shape == (0, 4)


def test_a_custom_operator_does_not_run_for_empty_outputs(dev):
    op = tvm.custom.host_operator("test::fails", {"x": "read", "y": "write"})(_fails)
    empty, one = (tvm.nd.empty((n,), "float32", dev) for n in (0, 1))
    op(empty, tvm.nd.empty((0,), "float32", dev))
    with pytest.raises(tvm.TVMError, match=r"TL5003.*an empty array of shape \(0,\)"):
        op(empty, one)


def _fails(x, y):
    raise AssertionError("called")
