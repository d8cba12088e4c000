"""Checked functions: each index is checked where it is used; the first bad one is reported."""

import functools

import numpy as np
import pytest

import texloom as tvm
from texloom import te
from texloom_fuzz import check
from texloom_fuzz.job import text_of


def line_of(word):
    """Return the number of this file's first line with the word, which callers split in two."""
    with open(__file__) as file:
        return next(n for n, text in enumerate(file, 1) if word in text)


def gather(scope="", dtype="int32"):
    x = te.placeholder((4, 8), "float32", name="X")
    z = te.placeholder((16,), dtype, name="Z")
    y = te.compute((16,), lambda i: x[2, z[i]] + 1, name="Y")  # gathers
    s = te.create_schedule(y.op)
    if scope:
        cache = s.cache_read(x, scope, [y])
        s[cache].bind(s[cache].op.axis[0], te.thread_axis("blockIdx.x"))
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    return s, [x, z, y]


def call(dev, s, args, *values, **options):
    """Build a checked function, call it, and return the result."""
    function = tvm.build(s, args, checked=True, **options)
    arrays = [tvm.nd.array(v, dev) for v in values]
    shape = [int(n) for n in args[-1].shape]
    y = tvm.nd.array(np.full(shape, -1, args[-1].dtype), dev)
    function(*arrays, y)
    return y.numpy()


X = np.arange(32, dtype="float32").reshape(4, 8)


@pytest.mark.parametrize("scope", ["", "texture"])
def test_good_indices(dev, scope):
    z = np.arange(16, dtype="int32") % 8
    np.testing.assert_array_equal(call(dev, *gather(scope), X, z), X[2, z] + 1)


@pytest.mark.parametrize("scope", ["", "texture"])
@pytest.mark.parametrize("bad", [-1, 8, 2**31 - 1, -(2**31)])
def test_index_from_memory(dev, bad, scope):
    """Each axis is checked: index 8 leaves its row of 8, although it stays in the buffer."""
    z = np.zeros(16, "int32")
    z[5] = bad
    with pytest.raises(tvm.TVMError) as error:
        call(dev, *gather(scope), X, z)
    name = "X.texture" if scope else "X"
    assert f"error[TL5013]: index {bad} is out of bounds for axis 1 of '{name}'" in str(error.value)
    assert f"compile/test_checked.py:{line_of('# gath' + 'ers')}" in str(error.value)


def test_index_that_is_cut_to_32_bits(dev):
    z = np.zeros(16, "int64")
    z[3] = 2**32 + 1
    with pytest.raises(tvm.TVMError, match=f"index {2**32 + 1} is out of bounds for axis 1 of 'X'"):
        call(dev, *gather(dtype="int64"), X, z)


def test_the_access_is_left_out(dev):
    """A read out of bounds gives zero, and the function can be called again."""
    s, args = gather()
    function = tvm.build(s, args, checked=True)
    z = np.arange(16, dtype="int32")
    y = tvm.nd.empty((16,), "float32", dev)
    with pytest.raises(tvm.TVMError, match="TL5013"):
        function(tvm.nd.array(X, dev), tvm.nd.array(z, dev), y)
    np.testing.assert_array_equal(y.numpy(), np.where(z < 8, X[2, z % 8], 0) + 1)
    function(tvm.nd.array(X, dev), tvm.nd.array(z % 8, dev), y)
    np.testing.assert_array_equal(y.numpy(), X[2, z % 8] + 1)


def test_guarded_access_is_tested_where_it_is_evaluated(dev):
    """A guard prevents the error only if it excludes all indices that are out of bounds."""
    x = te.placeholder((10,), "float32", name="X")
    z = te.placeholder((16,), "int32", name="Z")

    def with_guard(last):
        y = te.compute(
            (16,),
            lambda i: te.if_then_else(te.all(z[i] >= 0, z[i] <= last), x[z[i]], -2.0),
            name="Y",
        )
        s = te.create_schedule(y.op)
        o, i = s[y].split(y.op.axis[0], 4)
        s[y].bind(o, te.thread_axis("threadIdx.x"))
        s[y].vectorize(i)
        return s, [x, z, y]

    values, indices = np.arange(10, dtype="float32"), np.arange(-3, 13, dtype="int32")
    inside = (indices >= 0) & (indices < 10)
    expected = np.where(inside, values[indices % 10], -2)
    np.testing.assert_array_equal(call(dev, *with_guard(9), values, indices), expected)
    with pytest.raises(tvm.TVMError, match="index 1[012] is out of bounds for axis 0 of 'X'"):
        call(dev, *with_guard(12), values, indices)


def test_wrong_guard_without_indices_from_memory(dev):
    x = te.placeholder((6,), "float32", name="X")
    end = te.var("end")
    y = te.compute((8,), lambda i: te.if_then_else(i < end, x[i], 0.0), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    values, result = tvm.nd.array(np.ones(6, "float32"), dev), tvm.nd.empty((8,), device=dev)
    function = tvm.build(s, [x, end, y], checked=True)
    function(values, 6, result)
    with pytest.raises(tvm.TVMError, match="index 6 is out of bounds for axis 0 of 'X'"):
        function(values, 7, result)


def test_index_into_an_index(dev):
    """An inner read out of bounds is skipped, and gives the index 0 to the outer read."""
    x = te.placeholder((4,), "float32", name="X")
    z = te.placeholder((4,), "int32", name="Z")
    y = te.compute((4,), lambda i: x[z[z[i]]], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("threadIdx.x"))
    with pytest.raises(tvm.TVMError, match="index -7 is out of bounds for axis 0 of 'Z'"):
        call(dev, s, [x, z, y], np.ones(4, "float32"), np.int32([1, 2, 3, -7]))


@pytest.mark.parametrize("of", ["first", "second", "third"])
def test_each_index_of_values_that_are_updated_together(dev, of):
    """Each value's index is checked; none is updated before all of them are computed."""
    n, m = 4, 8
    x = te.placeholder((16,), "float32", name="X")
    at = {name: te.placeholder((n, m), "int32", name=name) for name in ("first", "second", "third")}
    k = te.reduce_axis((0, m), "k")
    total = te.comm_reducer(
        lambda a, b: tuple(p + q for p, q in zip(a, b, strict=True)),
        lambda *types: tuple(te.const(0, t) for t in types),
    )
    ys = te.compute((n,), lambda i: total(tuple(x[z[i, k]] for z in at.values()), k), name="Y")
    s = te.create_schedule(ys[0].op)
    s[ys[0]].bind(ys[0].op.axis[0], te.thread_axis("threadIdx.x"))
    function = tvm.build(s, [x, *at.values(), *ys], checked=True)

    rng = np.random.default_rng(11)
    values = rng.integers(0, 100, 16).astype("float32")
    indices = {name: rng.integers(0, 16, (n, m)).astype("int32") for name in at}
    outputs = [tvm.nd.array(np.zeros(n, "float32"), dev) for _ in ys]
    inputs = [tvm.nd.array(v, dev) for v in (values, *indices.values())]
    function(*inputs, *outputs)
    for output, z in zip(outputs, indices.values(), strict=True):
        np.testing.assert_array_equal(output.numpy(), values[z].sum(axis=1))

    indices[of][2, 5] = 16
    inputs = [tvm.nd.array(v, dev) for v in (values, *indices.values())]
    with pytest.raises(tvm.TVMError, match="index 16 is out of bounds for axis 0 of 'X'"):
        function(*inputs, *outputs)


def test_what_is_proven_costs_nothing():
    """Reads that lowering has guarded get no checks: checked=True gives the same kernels."""
    x = te.placeholder((50, 7), name="X")
    k = te.reduce_axis((0, 7), name="k")
    y = te.compute((50,), lambda i: te.sum(x[i, k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    xt = s.cache_read(x, "texture", [y])
    for stage, axis in ((xt, xt.op.axis[0]), (y, y.op.axis[0])):
        o, i = s[stage].split(axis, 16)
        s[stage].bind(o, te.thread_axis("blockIdx.x"))
        s[stage].bind(i, te.thread_axis("threadIdx.x"))
    assert tvm.build(s, [x, y], checked=True).get_source() == tvm.build(s, [x, y]).get_source()


def test_checked_is_an_attribute_of_the_target():
    s, args = gather()
    function = tvm.build(s, args, "opencl -checked=1")
    assert function.get_source() == tvm.build(s, args, "opencl", checked=True).get_source()
    assert "bad_indices" in function.get_source()
    assert "bad_indices" not in tvm.build(s, args).get_source()
    with pytest.raises(tvm.TVMError, match=r"call it as default_function\(X, Z, Y\)"):
        function()


@pytest.mark.parametrize("seed", range(10))
def test_random_programs(dev, monkeypatch, seed):
    """Checks report nothing in random programs, which stay in bounds, and change no value."""
    monkeypatch.setattr(check, "build", functools.partial(tvm.build, checked=True))
    assert not check.check(text_of(seed), [dev]).failed


def test_an_extent_that_each_call_gives(dev):
    n = te.var("n")
    x, z = te.placeholder((n,), name="X"), te.placeholder((n,), "int32", name="Z")
    y = te.compute((n,), lambda i: x[z[i]] + 1, name="Y")
    s = te.create_schedule(y.op)
    block, thread = s[y].split(y.op.axis[0], 4)
    s[y].bind(block, te.thread_axis("blockIdx.x"))
    s[y].bind(thread, te.thread_axis("threadIdx.x"))
    function = tvm.build(s, [x, z, y], checked=True)
    values, result = tvm.nd.array(X[0, :6], dev), tvm.nd.empty((6,), "float32", dev)
    function(values, tvm.nd.array(np.int32([5, 4, 3, 2, 1, 0]), dev), result)
    np.testing.assert_array_equal(result.numpy(), X[0, 5::-1] + 1)
    with pytest.raises(tvm.TVMError, match="index 6 .* axis 0 of 'X' .0 to n - 1"):
        function(values, tvm.nd.array(np.int32([5, 4, 6, 2, 1, 0]), dev), result)


def test_a_checked_function_is_not_stored(tmp_path):
    """A checked function cannot be saved, because a file stores no lines of the script."""
    s, args = gather()
    with pytest.raises(tvm.TVMError, match="TL5012.*a checked function cannot be saved"):
        tvm.build(s, args, checked=True).export_library(tmp_path / "gather.tlp")
