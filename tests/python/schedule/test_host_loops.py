"""Serial loops outside all threads run in the launch plan, with one launch per iteration."""

import re

import numpy as np
import pytest

import texloom as tvm
from texloom import te

VALUES = np.random.default_rng(8).integers(-9, 9, size=(24, 24)).astype("float32")
BLOCK, THREAD = "blockIdx.x", "threadIdx.x"


def bind(stage, axis, tag):
    stage.bind(axis, te.thread_axis(tag))


def launches_of(program):
    """Return how many launches one run of the plan makes."""

    def count(nodes, values):
        total = 0
        for node in nodes:
            if node["kind"] == "loop":
                extent = eval(node["extent"], {"min": min, "max": max}, dict(values))
                total += sum(count(node["body"], values | {node["name"]: i}) for i in range(extent))
            elif node["kind"] == "launch":
                total += 1
            else:
                total += count(node.get("body", []), values)
        return total

    return count(program._body, {})


def product(n=24):
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return a, b, c, te.create_schedule(c.op)


def step_by_step(n=24):
    """Return a product with one launch per step."""
    a, b, c, s = product(n)
    i, j = s[c].op.axis
    (k,) = s[c].op.reduce_axis
    s[c].reorder(k, i, j)
    bind(s[c], i, BLOCK)
    bind(s[c], j, THREAD)
    return a, b, c, s


def test_each_iteration_is_a_launch(run):
    a, b, c, s = step_by_step()
    program = tvm.lower(s, [a, b, c])
    assert "for k < 24 {\n    launch main_kernel1(C, A, B, k)" in str(program)
    assert launches_of(program) == 1 + 24  # the initialization is one launch
    assert len(tvm.build(s, [a, b, c]).kernels) == 2
    np.testing.assert_array_equal(run(s, [a, b, c], VALUES, VALUES.T), VALUES @ VALUES.T)


def test_the_variable_is_an_argument_of_the_kernel():
    a, b, c, s = step_by_step()
    start, step = tvm.build(s, [a, b, c]).kernels
    assert [p["name"] for p in start.args] == ["C"]
    assert step.args[-1] == {"name": "k", "kind": "constant", "dtype": "int32"}
    assert "const int k" in step.source


def test_loop_of_one_iteration_disappears(run):
    a, b, c, s = step_by_step(1)
    assert "for k" not in str(tvm.lower(s, [a, b, c]))
    one = VALUES[:1, :1]
    np.testing.assert_array_equal(run(s, [a, b, c], one, one), one * one)


@pytest.mark.parametrize("scope", ["global", "global.texture"])
def test_attached_stage_has_a_kernel_in_the_loop(run, scope):
    """The attached stage's memory is one row, which lives for one iteration."""
    x = te.placeholder((8, 16, 4), name="X")
    t = te.compute((8, 16, 4), lambda i, j, c: x[i, j, c] * 2, name="T")
    y = te.compute((8, 16, 4), lambda i, j, c: t[i, 15 - j, c] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[t].set_scope(scope)
    s[t].compute_at(s[y], s[y].op.axis[0])
    bind(s[y], s[y].op.axis[1], BLOCK)
    bind(s[t], s[t].op.axis[1], THREAD)
    program = tvm.lower(s, [x, y])
    assert re.search(r"for i < 8 \{\n    \w+\.alloca T: [^\n]*\[1, 16, 4\]", str(program))
    assert launches_of(program) == 16
    values = np.arange(8 * 16 * 4, dtype="float32").reshape(8, 16, 4)
    np.testing.assert_array_equal(run(s, [x, y], values), 2 * values[:, ::-1] + 1)


def test_chain_of_attached_stages(run):
    """Two nested loops make three launches per iteration."""
    x = te.placeholder((4, 6, 8), name="X")
    t = te.compute(x.shape, lambda i, j, k: x[i, j, k] * 2, name="T")
    u = te.compute(x.shape, lambda i, j, k: t[i, j, 7 - k] + t[i, j, k], name="U")
    y = te.compute(x.shape, lambda i, j, k: u[i, j, k] - 1, name="Y")
    s = te.create_schedule(y.op)
    for stage in (t, u):
        s[stage].compute_at(s[y], s[y].op.axis[1])
    for stage in (t, u, y):
        bind(s[stage], s[stage].op.axis[2], THREAD)
    program = tvm.lower(s, [x, y])
    assert launches_of(program) == 3 * 4 * 6
    values = np.arange(4 * 6 * 8, dtype="float32").reshape(4, 6, 8)
    expected = 2 * values + 2 * values[:, :, ::-1] - 1
    np.testing.assert_array_equal(run(s, [x, y], values), expected)


@pytest.mark.parametrize("scope", ["global", "global.texture"])
def test_attached_stage_computes_into_the_array_of_the_caller(dev, scope):
    """Each iteration writes its row into the caller's array, with no other memory and no copy."""
    x = te.placeholder((4, 8), name="X")
    t = te.compute((4, 8), lambda i, j: x[i, j] * 2, name="T")
    y = te.compute((4, 8), lambda i, j: t[i, 7 - j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[t].set_scope(scope)
    s[t].compute_at(s[y], s[y].op.axis[0])
    bind(s[y], s[y].op.axis[1], THREAD)
    bind(s[t], s[t].op.axis[0], BLOCK)
    program = tvm.lower(s, [x, t, y])
    assert launches_of(program) == 8 and "alloca" not in str(program)
    values = VALUES[:4, :8].copy()
    arrays = [
        tvm.nd.array(values, dev),
        tvm.nd.empty((4, 8), "float32", dev, mem_scope=scope),
        tvm.nd.empty((4, 8), "float32", dev),
    ]
    tvm.build(program)(*arrays)
    np.testing.assert_array_equal(arrays[1].numpy(), 2 * values)
    np.testing.assert_array_equal(arrays[2].numpy(), 2 * values[:, ::-1] + 1)


def test_attached_outputs_of_which_the_caller_wants_one(dev):
    """Iterations compute overlapping rows: 0 and 1, 1 and 2, ... Both outputs have one layout."""
    x = te.placeholder((4, 8), name="X")
    k = te.reduce_axis((0, 2), name="k")
    two = te.compute((4, 8), lambda i, j: (x[i, j] * 2, x[i, j] + 1), name="two")
    r = te.compute((4, 8), lambda i, j: te.sum(two[0][i, (j + k) % 8] + two[1][i, j], axis=k))
    y = te.compute((3, 8), lambda i, j: r[i, 7 - j] - r[i + 1, j], name="Y")
    s = te.create_schedule(y.op)
    for stage in (two[0], r):
        s[stage].compute_at(s[y], s[y].op.axis[0])
    for stage in (two[0], r, y):
        bind(s[stage], s[stage].op.axis[1], THREAD)
    values = VALUES[:4, :8].copy()
    arrays = [tvm.nd.array(v, dev) for v in (values, 0 * values, 0 * values, 0 * values[:3])]
    tvm.build(s, [x, two[1], r, y])(*arrays)
    sums = 2 * (values + 1) + 2 * values + 2 * np.roll(values, -1, axis=1)
    np.testing.assert_array_equal(arrays[1].numpy(), values + 1)
    np.testing.assert_array_equal(arrays[2].numpy(), sums)
    np.testing.assert_array_equal(arrays[3].numpy(), sums[:3, ::-1] - sums[1:])


def test_memory_of_a_block_keeps_its_loop_in_the_kernel(run):
    """Shared memory does not live across kernels, so the loop that fills it stays in the kernel."""
    a, b, c, s = product()
    i, j = s[c].op.axis
    (k,) = s[c].op.reduce_axis
    cache = s.cache_write(c, "local")
    bind(s[c], i, BLOCK)
    bind(s[c], j, THREAD)
    s[cache].compute_at(s[c], j)
    shared = s.cache_read(a, "shared", [cache])
    s[shared].compute_at(s[cache], s[cache].op.reduce_axis[0])
    assert launches_of(tvm.lower(s, [a, b, c])) == 1
    np.testing.assert_array_equal(run(s, [a, b, c], VALUES, VALUES), VALUES @ VALUES)


def added_one(directive):
    """Return rows of eight, with `directive` applied to the loop over them."""
    x = te.placeholder((6, 8), name="X")
    y = te.compute((6, 8), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    getattr(s[y], directive)(s[y].op.axis[0])
    s[y].pragma(s[y].op.axis[0], "auto_unroll_max_step", 64)
    bind(s[y], s[y].op.axis[1], THREAD)
    return x, y, s


def test_an_unrolled_loop_is_that_many_launches(run):
    """An unrolled host loop launches one kernel once per iteration."""
    x, y, s = added_one("unroll")
    assert launches_of(tvm.lower(s, [x, y])) == 6
    assert len(tvm.build(s, [x, y]).kernels) == 1
    np.testing.assert_array_equal(run(s, [x, y], VALUES[:6, :8]), VALUES[:6, :8] + 1)


@pytest.mark.parametrize(("directive", "launches"), [("parallel", 6), ("vectorize", 1)])
def test_loops_that_stay_serial(run, directive, launches):
    """A parallel loop is one launch per iteration; a vectorized loop moves into the kernel."""
    x, y, s = added_one(directive)
    with pytest.warns(tvm.TexloomWarning, match="TL3021.*stays serial"):
        assert launches_of(tvm.lower(s, [x, y])) == launches
    with pytest.warns(tvm.TexloomWarning, match="TL3021"):
        np.testing.assert_array_equal(run(s, [x, y], VALUES[:6, :8]), VALUES[:6, :8] + 1)


def test_threads_that_share_a_reduction(run):
    """The memory for the threads' partial results is allocated inside the kernel."""
    x = te.placeholder((6, 64), name="X")
    k = te.reduce_axis((0, 64), name="k")
    y = te.compute((6,), lambda i: te.sum(x[i, k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    bind(s[y], k, THREAD)
    assert launches_of(tvm.lower(s, [x, y])) == 6
    values = np.arange(6 * 64, dtype="float32").reshape(6, 64)
    np.testing.assert_array_equal(run(s, [x, y], values), values.sum(axis=1))


def test_symbolic_loop(dev):
    """The value of the symbol at the call determines the number of launches."""
    n = te.var("n")
    x = te.placeholder((n, 8), name="X")
    y = te.compute((n, 8), lambda i, j: x[i, j] + i, name="Y")
    s = te.create_schedule(y.op)
    bind(s[y], s[y].op.axis[1], THREAD)
    assert "for i < n {\n    launch main_kernel0(X, Y, n, i)" in str(tvm.lower(s, [x, y]))
    function = tvm.build(s, [x, y])
    for rows in (3, 1, 24):
        values = VALUES[:rows, :8].copy()
        out = tvm.nd.empty(values.shape, "float32", dev)
        function(tvm.nd.array(values, dev), out)
        np.testing.assert_array_equal(out.numpy(), values + np.arange(rows)[:, None])


def test_ten_thousand_launches(dev):
    """Launches are submitted by the thousand; `enqueue` and the evaluator repeat all of them."""
    x = te.placeholder((10_000, 2), name="X")
    y = te.compute(x.shape, lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    bind(s[y], s[y].op.axis[1], THREAD)
    function = tvm.build(s, [x, y])
    values = np.arange(20_000, dtype="float32").reshape(10_000, 2)
    arrays = tvm.nd.array(values, dev), tvm.nd.empty(values.shape, "float32", dev)
    function.enqueue(2, *arrays)
    np.testing.assert_array_equal(arrays[1].numpy(), values + 1)
    assert function.time_evaluator(function.entry_name, dev, number=1)(*arrays).mean > 0


def test_too_many_launches_are_refused(dev):
    x = te.placeholder((1_000_001, 1), name="X")
    y = te.compute(x.shape, lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    bind(s[y], s[y].op.axis[1], THREAD)
    arrays = [tvm.nd.empty(x.shape, "float32", dev) for _ in range(2)]
    with pytest.raises(tvm.TVMError, match="TL5015.*one run would make more than 1000000 launches"):
        tvm.build(s, [x, y])(*arrays)


def test_loops_of_an_extern(dev):
    """The grid depends on the host loop's variable; all iterations share one allocation."""

    def triangle(ins, outs):
        ib = tvm.tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        row = ib.allocate("float32", (8,), name="row", scope="global")
        with ib.for_range(0, 8, name="i") as i:
            with ib.new_scope():
                j = te.thread_axis(BLOCK)
                ib.scope_attr(j, "thread_extent", i + 1)
                row[j] = x[i, j] * 2.0
            with ib.new_scope():
                j = te.thread_axis(BLOCK)
                ib.scope_attr(j, "thread_extent", i + 1)
                y[i, j] = row[i - j] + 1.0
        return ib.get()

    x = te.placeholder((8, 8), name="X")
    y = te.extern((8, 8), [x], triangle, name="Y", dtype="float32")
    s = te.create_schedule(y.op)
    program = tvm.lower(s, [x, y])
    assert "grid=(i + 1, 1, 1)" in str(program)
    assert launches_of(program) == 16
    out = tvm.nd.array(np.zeros((8, 8), "float32"), dev)
    values = np.arange(64, dtype="float32").reshape(8, 8)
    tvm.build(program)(tvm.nd.array(values, dev), out)
    expected = np.zeros((8, 8), "float32")
    for i in range(8):
        expected[i, : i + 1] = 2 * values[i, : i + 1][::-1] + 1
    np.testing.assert_array_equal(out.numpy(), expected)


def test_saved_module(dev, tmp_path):
    a, b, c, s = step_by_step()
    path = str(tmp_path / "steps.tlp")
    tvm.build(s, [a, b, c]).export_library(path)
    arrays = [tvm.nd.array(v, dev) for v in (VALUES, VALUES.T.copy(), np.zeros_like(VALUES))]
    tvm.runtime.load_module(path)(*arrays)
    np.testing.assert_array_equal(arrays[2].numpy(), VALUES @ VALUES.T)


def test_picture():
    a, b, c, s = step_by_step()
    picture = str(tvm.show(s, [a, b, c]).svg)
    assert "main_kernel0" in picture and "main_kernel1" in picture


@pytest.mark.parametrize("is_argument", [False, True])
def test_global_stage_in_a_kernel_is_refused(is_argument):
    """A global stage needs its own launch, which a kernel cannot contain."""
    x = te.placeholder((8, 16), name="X")
    t = te.compute((8, 16), lambda i, j: x[i, j] * 2, name="T")
    y = te.compute((8, 16), lambda i, j: t[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[t].set_scope("global")
    s[t].compute_at(s[y], s[y].op.axis[0])
    bind(s[y], s[y].op.axis[0], BLOCK)
    with pytest.raises(tvm.TVMError, match=r"TL3013.*inside a kernel of 'Y'"):
        tvm.lower(s, [x, t, y] if is_argument else [x, y])


def random_schedule(rng):
    """Return three computes of the same shape, with random threads and random attachments."""
    shape = tuple(int(n) for n in rng.integers(1, 7, 3))
    x = te.placeholder(shape, name="X")
    t = te.compute(shape, lambda i, j, k: x[i, j, k] * 2, name="T")
    last = shape[2] - 1
    u = te.compute(shape, lambda i, j, k: t[i, j, last - k] + x[i, j, k], name="U")
    y = te.compute(shape, lambda i, j, k: u[i, j, k] - t[i, j, k], name="Y")
    s = te.create_schedule(y.op)
    loops = list(s[y].op.axis[:2])
    if rng.random() < 0.5:
        parts = s[y].split(loops.pop(), factor=int(rng.integers(1, 5)))
        loops += parts
    host = int(rng.integers(0, len(loops) + 1))
    thread = s[y].op.axis[2]
    s[y].reorder(*loops[:host], thread, *loops[host:])
    bind(s[y], thread, rng.choice([BLOCK, THREAD]))
    # The depth of the loop of Y at which U and T are computed (0: the root); U reads T.
    level_u = int(rng.integers(0, host + 1))
    level_t = int(rng.integers(0, level_u + 1))
    for stage, level in ((u, level_u), (t, level_t)):
        if level:
            s[stage].compute_at(s[y], loops[level - 1])
        bind(s[stage], s[stage].op.axis[int(rng.integers(0, 3))], BLOCK)
    values = rng.integers(-9, 9, shape).astype("float32")
    expected = 2 * values[:, :, ::-1] + values - 2 * values
    return s, x, y, values, expected


@pytest.mark.parametrize("seed", range(12))
def test_random_loops(run, seed):
    s, x, y, values, expected = random_schedule(np.random.default_rng(seed))
    np.testing.assert_array_equal(run(s, [x, y], values), expected)
