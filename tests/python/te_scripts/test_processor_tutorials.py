"""Scripts in the style of TVM's tutorials for processors: loops that are not bound to threads."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te, tir
from texloom.target import has_llvm

pytestmark = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")
N, BLOCK = 64, 16


def checked(s, args, *inputs):
    """Build for this machine's processor, run on arrays, and return the last argument."""
    f = tvm.build(s, args, target="llvm -mcpu=native", name="f")
    dev = tvm.device("llvm", 0)
    arrays = [tvm.nd.array(each, dev) for each in inputs]
    shape = [len(inputs[0]) if isinstance(n, tir.Var) else int(n) for n in args[-1].shape]
    result = tvm.nd.array(np.zeros(shape, args[-1].dtype), dev)
    f(*arrays, result)
    return result.numpy()


def test_a_schedule_without_directives_is_serial():
    n = te.var("n")
    A, B = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    C = te.compute(A.shape, lambda i: A[i] + B[i], name="C")
    s = te.create_schedule(C.op)
    a = np.arange(100, dtype="float32")
    np.testing.assert_array_equal(checked(s, [A, B, C], a, a), 2 * a)
    outer, _ = s[C].split(C.op.axis[0], factor=8)
    s[C].parallel(outer)
    np.testing.assert_array_equal(checked(s, [A, B, C], a, a), 2 * a)


def product(right, rows=N):
    """Declare a product whose right side `right(k, n)` gives."""
    A = te.placeholder((rows, N), name="A")
    k = te.reduce_axis((0, N), "k")
    return A, te.compute((rows, N), lambda m, n: te.sum(A[m, k] * right(k, n), axis=k), name="C")


def blocked(s, product):
    """Tile rows, columns and steps."""
    mo, no, mi, ni = s[product].tile(product.op.axis[0], product.op.axis[1], BLOCK, BLOCK)
    (k,) = s[product].op.reduce_axis
    ko, ki = s[product].split(k, factor=4)
    return mo, no, mi, ni, ko, ki


@pytest.mark.parametrize("step", ["none", "blocks", "vectors", "order", "parallel inside"])
def test_steps_of_the_product(step):
    B = te.placeholder((N, N), name="B")
    A, C = product(lambda k, n: B[k, n])
    s = te.create_schedule(C.op)
    if step != "none":
        mo, no, mi, ni, ko, ki = blocked(s, C)
        order = [mo, no, ko, mi, ki, ni] if step == "order" else [mo, no, ko, ki, mi, ni]
        s[C].reorder(*order)
        if step != "blocks":
            s[C].vectorize(ni)
        if step == "parallel inside":
            s[C].parallel(no)
    a, b = (np.random.default_rng(i).integers(-8, 8, (N, N)).astype("float32") for i in (0, 1))
    np.testing.assert_array_equal(checked(s, [A, B, C], a, b), a @ b)


@pytest.mark.parametrize("is_parallel", [False, True])
def test_a_packed_product_that_is_written_by_blocks(is_parallel):
    """A cache in global memory, computed inside of loops, belongs to the thread that runs them."""
    B = te.placeholder((N, N), name="B")
    packed = te.compute((N // BLOCK, N, BLOCK), lambda o, k, i: B[k, o * BLOCK + i], name="packedB")
    A, C = product(lambda k, n: packed[n // BLOCK, k, tir.indexmod(n, BLOCK)])
    s = te.create_schedule(C.op)
    cache = s.cache_write(C, "global")
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], BLOCK, BLOCK)
    s[cache].compute_at(s[C], no)
    mc, nc = s[cache].op.axis
    (k,) = s[cache].op.reduce_axis
    ko, ki = s[cache].split(k, factor=4)
    s[cache].reorder(ko, mc, ki, nc)
    s[cache].vectorize(nc)
    s[cache].unroll(ki)
    outer, _, lane = s[packed].op.axis
    s[packed].vectorize(lane)
    if is_parallel:
        s[C].parallel(mo)
        s[packed].parallel(outer)
    a, b = (np.random.default_rng(i).integers(-8, 8, (N, N)).astype("float32") for i in (2, 3))
    np.testing.assert_array_equal(checked(s, [A, B, C], a, b), a @ b)


def test_sums_and_recurrences_without_directives():
    x = te.placeholder((100,), name="x")
    r = te.reduce_axis((0, 100), "r")
    total = te.compute((1,), lambda i: te.sum(x[r], axis=r), name="total")
    values = np.arange(100, dtype="float32")
    assert checked(te.create_schedule(total.op), [x, total], values) == [4950]
    s = te.create_schedule(total.op)
    _, inner = s[total].split(r, factor=25)
    partial = s.rfactor(total, inner)
    s[partial].compute_at(s[total], s[total].op.reduce_axis[0])
    assert checked(s, [x, total], values) == [4950]

    X, state = te.placeholder((8, 4), name="X"), te.placeholder((8, 4), name="state")
    init = te.compute((1, 4), lambda _, i: X[0, i])
    update = te.compute((8, 4), lambda t, i: state[t - 1, i] + X[t, i])
    scan = te.scan(init, update, state, inputs=[X])
    x = np.random.default_rng(4).integers(-8, 8, (8, 4)).astype("float32")
    made = checked(te.create_schedule(scan.op), [X, scan], x)
    np.testing.assert_array_equal(made, np.cumsum(x, 0))


def test_a_lowered_program_is_built():
    B = te.placeholder((N, N), name="B")
    A, C = product(lambda k, n: B[k, n])
    s = te.create_schedule(C.op)
    cache = s.cache_write(C, "global")
    s[cache].compute_at(s[C], C.op.axis[0])
    a, b = (np.random.default_rng(i).integers(-8, 8, (N, N)).astype("float32") for i in (5, 6))
    with tvm.target.Target("llvm"):
        f = tvm.build(tvm.lower(s, [A, B, C]), target="llvm")
    np.testing.assert_array_equal(f(a, b), a @ b)


def test_arrays_of_the_host_are_timed():
    A = te.placeholder((N,), name="A")
    B = te.compute((N,), lambda i: A[i] + 1, name="B")
    f = tvm.build(te.create_schedule(B.op), [A, B], target="llvm", name="f")
    dev = tvm.cpu(0)
    a, b = tvm.nd.array(np.ones(N, "float32"), dev), tvm.nd.array(np.zeros(N, "float32"), dev)
    assert f.time_evaluator(f.entry_name, dev, number=3)(a, b).mean > 0
    assert (b.numpy() == 2).all()


def test_an_array_is_not_an_input_and_an_output():
    """Arrays of cpu(0) are refused as those of other devices are; NumPy's are copied first."""
    x = te.placeholder((8,), name="X")
    y = te.compute((8,), lambda i: x[7 - i] + 1, name="Y")
    f = tvm.build(te.create_schedule(y.op), [x, y], "llvm")
    values = np.arange(8, dtype="float32")
    array = tvm.nd.array(values, tvm.cpu(0))
    with pytest.raises(tvm.TVMError, match="TL5011(.|\n)*'X' and 'Y' overlap in memory"):
        f(array, array)
    assert (array.numpy() == values).all()
    f(array, tvm.nd.empty((8,), device=tvm.cpu(0)))
    f(values, values)
    assert (values == np.arange(8)[::-1] + 1).all()
