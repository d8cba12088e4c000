"""Symbolic extents get their values at each call, so one module serves arrays of all sizes."""

import random

import numpy as np
import pytest

import texloom as tvm
from texloom import te

SIZES = [(1, 1, 1), (16, 8, 4), (17, 5, 9), (33, 40, 50)]


def axis(tag):
    return te.thread_axis(tag)


def numbers(*shape):
    return np.random.default_rng(sum(shape)).integers(-9, 9, size=shape).astype("float32")


def call(f, dev, shape, *values):
    """Return what the function writes to its last argument, of this shape."""
    out = tvm.nd.empty(shape, "float32", dev)
    f(*(tvm.nd.array(v, dev) if isinstance(v, np.ndarray) else v for v in values), out)
    return out.numpy()


def bound(s, t, factor=64):
    outer, inner = s[t].split(s[t].op.axis[0], factor=factor)
    s[t].bind(outer, axis("blockIdx.x"))
    s[t].bind(inner, axis("threadIdx.x"))
    return s


def scaled(shape=None, wanted=None):
    """Return Y = X times two."""
    shape = (te.var("n"),) if shape is None else shape
    x = te.placeholder(shape, name="X")
    y = te.compute(wanted or shape, lambda *i: x(*i) * 2, name="Y")
    return x, y, te.create_schedule(y.op)


def row_sums():
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="X")
    k = te.reduce_axis((0, m), name="k")
    y = te.compute((n,), lambda i: te.sum(x[i, k], axis=k), name="Y")
    return x, y, te.create_schedule(y.op)


# -- Values.


def test_one_module_for_all_sizes(dev):
    n = te.var("n")
    a, b = (te.placeholder((n,), name=name) for name in "AB")
    c = te.compute(a.shape, lambda i: a[i] + b[i], name="C")
    f = tvm.build(bound(te.create_schedule(c.op), c), [a, b, c], "opencl")
    assert f.get_source().count("__kernel") == 1 and "const int n" in f.get_source()
    for size in (1, 63, 64, 65, 1000, 3):
        x, y = numbers(size), numbers(size) + 1
        np.testing.assert_array_equal(call(f, dev, (size,), x, y), x + y)


def test_unsplit_axes_need_no_guard():
    x, y, s = scaled()
    s[y].bind(y.op.axis[0], axis("blockIdx.x"))
    assert "if (" not in tvm.build(s, [x, y]).get_source()


def test_factors_that_divide_need_no_guard(dev):
    m = te.var("m")
    x, y, s = scaled((8 * m,))
    bound(s, y, 8)
    f = tvm.build(s, [x, y])
    assert "if (" not in f.get_source() and "grid=(m, 1, 1)" in str(f)
    np.testing.assert_array_equal(call(f, dev, (24,), numbers(24)), numbers(24) * 2)
    with pytest.raises(tvm.TVMError, match=r"TL5003.*axis 0 of argument 0 \"X\" is 12"):
        call(f, dev, (12,), numbers(12))


@pytest.mark.parametrize("how", ["serial", "threads", "rfactor"])
def test_reductions_over_a_symbolic_axis(dev, how):
    x, y, s = row_sums()
    ko, ki = s[y].split(s[y].op.reduce_axis[0], factor=16)
    if how == "threads":
        s[y].bind(ki, axis("threadIdx.x"))
    if how == "rfactor":
        partial = s.rfactor(y, ki)
        s[partial].bind(s[partial].op.axis[0], axis("blockIdx.x"))
    s[y].bind(s[y].op.axis[0], axis("blockIdx.x"))
    f = tvm.build(s, [x, y])
    for n, m, _ in SIZES:
        np.testing.assert_array_equal(call(f, dev, (n,), numbers(n, m)), numbers(n, m).sum(1))


def test_an_extent_is_a_number_of_the_expression(dev):
    """Row means divide by the number of columns, a symbol that is no extent of the result."""
    x, total, _ = row_sums()
    n, m = x.shape
    y = te.compute((n,), lambda i: total[i] / m.astype("float32"), name="Mean")
    s = te.create_schedule(y.op)
    s[total].bind(total.op.axis[0], axis("blockIdx.x"))
    f = tvm.build(bound(s, y), [x, y])
    for size in (1, 70, 70, 3):
        np.testing.assert_allclose(
            call(f, dev, (size,), numbers(size, 4)), numbers(size, 4).mean(1)
        )


def tiled_matmul():
    n, m, l = te.var("n"), te.var("m"), te.var("l")  # noqa: E741
    a, b = te.placeholder((n, l), name="A"), te.placeholder((l, m), name="B")
    k = te.reduce_axis((0, l), name="k")
    c = te.compute((n, m), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    local = s.cache_write(c, "local")
    shared = [s.cache_read(t, "shared", [local]) for t in (a, b)]
    by, bx, i, j = s[c].tile(*c.op.axis, 16, 16)
    ty, tx, i, j = s[c].tile(i, j, 2, 2)
    threads = [axis("threadIdx.y"), axis("threadIdx.x")]
    for loop, thread in zip(
        (by, bx, ty, tx), [axis("blockIdx.y"), axis("blockIdx.x"), *threads], strict=True
    ):
        s[c].bind(loop, thread)
    s[local].compute_at(s[c], tx)
    ko, ki = s[local].split(s[local].op.reduce_axis[0], factor=8)
    s[local].reorder(ko, ki, *s[local].op.axis)
    for cache in shared:
        s[cache].compute_at(s[local], ko)
        rest = s[cache].fuse(*s[cache].op.axis)
        for thread in threads:
            loop, rest = s[cache].split(rest, nparts=8)
            s[cache].bind(loop, thread)
    return s, [a, b, c]


def test_tiles_in_shared_memory_and_registers(dev):
    f = tvm.build(*tiled_matmul())
    for n, m, l in SIZES:  # noqa: E741
        a, b = numbers(n, l), numbers(l, m)
        np.testing.assert_array_equal(call(f, dev, (n, m), a, b), a @ b)


@pytest.mark.parametrize("scope", ["shared", "local"])
def test_attached_stages_compute_a_tile_with_its_halo(dev, scope):
    n = te.var("n")
    x = te.placeholder((n,), name="X")
    p = te.compute((n,), lambda i: x[i] * 3, name="P")
    y = te.compute(
        (n,), lambda i: p[i] + te.if_then_else(te.all(i >= 2), p[te.max(i - 2, 0)], 0.0), name="Y"
    )
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(y.op.axis[0], factor=32)
    s[y].bind(outer, axis("blockIdx.x"))
    s[p].set_scope(scope)
    s[p].compute_at(s[y], outer)
    if scope == "shared":
        s[y].bind(inner, axis("threadIdx.x"))
    f = tvm.build(s, [x, y])
    for size in (1, 2, 31, 64, 77):
        v = numbers(size) * 3
        expected = v + np.concatenate([np.zeros(2, "float32"), v])[:size]
        np.testing.assert_array_equal(call(f, dev, (size,), numbers(size)), expected)


def test_fused_axes(dev):
    n, m = te.var("n"), te.var("m")
    x, y, s = scaled((n, m))
    fused = s[y].fuse(*y.op.axis)
    outer, inner = s[y].split(fused, factor=64)
    s[y].bind(outer, axis("blockIdx.x"))
    s[y].bind(inner, axis("threadIdx.x"))
    f = tvm.build(s, [x, y])
    for a, b, _ in SIZES:
        np.testing.assert_array_equal(call(f, dev, (a, b), numbers(a, b)), numbers(a, b) * 2)


def test_vectors_of_a_constant_part(dev):
    x, y, s = scaled((te.var("m"), te.var("n") * 4))
    outer, inner = s[y].split(y.op.axis[1], factor=4)
    s[y].vectorize(inner)
    s[y].bind(y.op.axis[0], axis("blockIdx.x"))
    f = tvm.build(s, [x, y])
    assert "vload4" in f.get_source() or "float4" in f.get_source()
    for rows, columns in ((1, 4), (3, 20)):
        v = numbers(rows, columns)
        np.testing.assert_array_equal(call(f, dev, v.shape, v), v * 2)


# -- Symbols at the call.


def test_extents_may_be_arguments(dev):
    k = te.var("k")
    x, y, s = scaled((te.var("n"),), wanted=(k,))
    f = tvm.build(bound(s, y), [x, k, y])
    np.testing.assert_array_equal(call(f, dev, (7,), numbers(9), 7), numbers(9)[:7] * 2)
    with pytest.raises(tvm.TVMError, match=r'argument 1 "Y" is 7, expected k = 8'):
        call(f, dev, (7,), numbers(9), 8)
    with pytest.raises(tvm.TVMError, match="TL5.*'k' is a float"):
        call(f, dev, (7,), numbers(9), 7.0)
    with pytest.raises(tvm.TVMError, match=r"call it as default_function\(X, k, Y\)"):
        call(f, dev, (7,), numbers(9))


def test_extents_that_follow_from_others(dev):
    n, m = te.var("n"), te.size_var("m")
    x = te.placeholder((n + 2, m), name="X")
    y = te.compute((n, m // 4), lambda i, j: x[i + 2, j * 4], name="Y")
    f = tvm.build(bound(te.create_schedule(y.op), y), [x, y])
    v = numbers(7, 9)
    np.testing.assert_array_equal(call(f, dev, (5, 2), v), v[2:, 0:8:4])
    with pytest.raises(tvm.TVMError, match=r'axis 1 of argument 1 "Y" is 3, expected .*m.* = 2'):
        call(f, dev, (5, 3), v)


def test_shapes_that_disagree(dev):
    n = te.var("n")
    a, b = te.placeholder((n,), name="A"), te.placeholder((n, 4), name="B")
    c = te.compute((n,), lambda i: a[i] + b[i, 0], name="C")
    f = tvm.build(bound(te.create_schedule(c.op), c), [a, b, c])
    with pytest.raises(
        tvm.TVMError, match=r'TL5003.*axis 0 of argument 1 "B" is 6, expected n = 5'
    ):
        call(f, dev, (5,), numbers(5), numbers(6, 4))
    with pytest.raises(tvm.TVMError, match=r'TL5003.*axis 1 of argument 1 "B" is 3, expected 4'):
        call(f, dev, (5,), numbers(5), numbers(5, 3))
    with pytest.raises(
        tvm.TVMError, match=r'TL5003.*argument 1 "B" has 2 axes, but the array has 1'
    ):
        call(f, dev, (5,), numbers(5), numbers(5))


def test_arrays_that_overlap(dev):
    x, y, s = scaled()
    f = tvm.build(bound(s, y), [x, y])
    array = tvm.nd.array(numbers(8), dev)
    with pytest.raises(tvm.TVMError, match="overlap in memory"):
        f(array, array)


# -- Queries.


def test_what_kernels_and_bounds_say():
    x, y, s = scaled()
    bound(s, y)
    kernel = tvm.build(s, [x, y]).kernels[0]
    assert [str(e) for e in kernel.grid] == ["floordiv(n + 63, 64)", "1", "1"]
    assert [a["name"] for a in kernel.args] == ["X", "Y", "n"]
    assert kernel.args[0]["shape"][0].same_as(x.shape[0])
    extents = {a.var.name: str(r.extent) for a, r in te.schedule.InferBound(s).items()}
    assert extents == {"i0": "n", "i0.outer": "floordiv(n + 63, 64)", "i0.inner": "64"}


def test_texts_are_read_back(dev):
    k = te.var("k")
    x, y, s = scaled((te.var("n"),), wanted=(k,))
    program = tvm.program(bound(s, y), [x, k, y])
    assert "param k symbol" in str(program)
    again = tvm.parse(str(program))
    assert str(again) == str(program)
    for text in tvm.lower_texts(program).values():
        assert str(tvm.parse(text)) == text
    f = tvm.build(again)
    np.testing.assert_array_equal(call(f, dev, (7,), numbers(9), 7), numbers(9)[:7] * 2)


# -- Refused programs.


def refused(message, s, args):
    with pytest.raises(tvm.TVMError, match=message):
        tvm.lower(s, args)


def test_extents_that_nothing_tells():
    x, y, s = scaled((te.var("n"),), wanted=(te.var("k") // 2,))
    refused("TL1001.*'k', which is neither an argument", bound(s, y), [x, y])


def test_memory_whose_size_the_call_tells():
    x, y, s = row_sums()
    cache = s.cache_read(x, "shared", [y])
    s[y].bind(y.op.axis[0], axis("blockIdx.x"))
    s[cache].compute_at(s[y], y.op.axis[0])
    refused(r"TL1001.*'X.shared' in shared memory is \[1, m\]", s, [x, y])


def test_threads_whose_number_the_call_tells():
    x, y, s = scaled()
    s[y].bind(y.op.axis[0], axis("threadIdx.x"))
    refused("TL3001.*threadIdx.x is not a positive constant: n", s, [x, y])


def test_vectors_whose_length_the_call_tells():
    x, y, s = scaled()
    s[y].vectorize(y.op.axis[0])
    refused("its extent is not constant", s, [x, y])


def test_pictures_of_what_the_call_tells():
    x, y, s = scaled()
    with pytest.raises(ValueError, match="'main' has extents that are known only at the call"):
        tvm.show(bound(s, y), [x, y])


# -- Random schedules.


def random_program(rng):
    """Return P of X, and Y, perhaps a reduction, of P, scheduled at random."""
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="X")
    p = te.compute((n, m), lambda i, j: x[i, j] * 2 + 1, name="P")
    shift = rng.randrange(3)
    reduces = rng.random() < 0.5
    k = te.reduce_axis((0, m), name="k")

    def at(i, j):
        inside = te.all(i >= shift, j + shift < m)
        read = p[te.max(i - shift, 0), te.min(j + shift, m - 1)]
        return te.if_then_else(inside, read, 0.0) if shift else p[i, j]

    if reduces:
        y = te.compute((n,), lambda i: te.sum(at(i, k), axis=k), name="Y")
    else:
        y = te.compute((n, m), at, name="Y")
    s = te.create_schedule(y.op)
    target = s.cache_write(y, "local") if rng.random() < 0.4 else y
    loops = []
    for loop in s[y].op.axis:
        parts = s[y].split(loop, factor=rng.choice([1, 3, 4, 16])) if rng.random() < 0.8 else [loop]
        loops += parts
    if target is y:
        loops += [
            part for r in s[y].op.reduce_axis for part in s[y].split(r, factor=rng.choice([2, 5]))
        ]
    s[y].bind(loops[0], axis("blockIdx.x"))
    if target is not y:
        s[target].compute_at(s[y], rng.choice(loops))
    elif rng.random() < 0.5:
        s[p].set_scope(rng.choice(["shared", "local"]))
    choice = rng.random()
    if choice < 0.3:
        s[p].compute_inline()
    elif choice < 0.8 and target is y:
        s[p].compute_at(s[y], rng.choice(loops))
    else:
        s[p].set_scope("global")
        bound(s, p, rng.choice([4, 7]))

    def expected(values):
        v = values * 2 + 1
        full = np.zeros_like(v)
        rows, columns = max(v.shape[0] - shift, 0), max(v.shape[1] - shift, 0)
        full[shift:, :columns] = v[:rows, shift:]
        return full.sum(1) if reduces else full

    return s, [x, y], expected


@pytest.mark.nightly
def test_random_schedules(dev):
    """Most random schedules are accepted; some are refused for the size of a computed region."""
    built = 0
    for seed in range(60):
        s, args, expected = random_program(random.Random(seed))
        try:
            f = tvm.build(s, args)
        except tvm.TVMError as error:
            assert "its size must not depend on the call" in str(error), seed
            continue
        built += 1
        for n, m in ((1, 1), (4, 16), (7, 5), (18, 33)):
            values = numbers(n, m)
            result = call(f, dev, expected(values).shape, values)
            np.testing.assert_array_equal(result, expected(values), err_msg=f"seed {seed}")
    assert built > 30
