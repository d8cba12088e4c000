"""te.scan: recurrences over the first axis, their schedules, and what is refused."""

import re

import numpy as np
import pytest

import texloom as tvm
from texloom import te


def block(which="x"):
    return te.thread_axis(f"blockIdx.{which}")


def thread(which="x"):
    return te.thread_axis(f"threadIdx.{which}")


def numbers(*shape, dtype="float32"):
    return np.random.default_rng(sum(shape)).integers(-4, 5, size=shape).astype(dtype)


def over_columns(s, t, factor=4):
    """The last axis over blocks of threads."""
    outer, inner = s[t].split(s[t].op.axis[-1], factor=factor)
    s[t].bind(outer, block())
    s[t].bind(inner, thread())
    return outer, inner


def over_threads(s, t, axis=-1):
    s[t].bind(s[t].op.axis[axis], thread())


class RunningSums:
    """Of the rows: state, init, update and scan."""

    def __init__(self, rows=6, columns=10):
        self.x = te.placeholder((rows, columns), name="X")
        self.state = te.placeholder((rows, columns), name="state")
        self.init = te.compute((1, columns), lambda _, i: self.x[0, i], name="init")
        self.update = te.compute(
            (rows, columns), lambda t, i: self.state[t - 1, i] + self.x[t, i], name="update"
        )
        self.scan = te.scan(self.init, self.update, self.state, inputs=[self.x])
        self.s = te.create_schedule(self.scan.op)

    def bound(self):
        for t in (self.init, self.update):
            over_columns(self.s, t)
        return self


# -- What a scan is


def test_attributes_of_a_scan():
    r = RunningSums()
    op = r.scan.op
    assert isinstance(op, te.ScanOp) and isinstance(op, te.tensor.ScanOp)
    assert tuple(int(n) for n in r.scan.shape) == (6, 10)
    assert r.scan.name == "scan" and op.num_outputs == 1
    assert op.scan_axis.var.name == "scan.idx"
    assert op.scan_axis.dom.min.value == 1 and op.scan_axis.dom.extent.value == 5
    assert op.scan_axis.iter_type == te.IterVar.Ordered
    assert [int(a.dom.extent) for a in op.spatial_axis_] == [10]
    assert op.init == [r.init] and op.update == [r.update]
    assert op.state_placeholder == [r.state]
    assert op.input_tensors == [r.init, r.update]
    assert not hasattr(r.update.op, "scan_axis")


def test_stages_of_a_scan():
    """The update is in the steps from the beginning; what depends on a state is, too."""
    r = RunningSums()
    s = r.s
    scan = s[r.scan]
    assert s[r.update].attach_type == 5 and s[r.update].attach_stage == scan
    assert s[r.update].group == scan and s.groups == [scan]
    assert s[r.init].attach_type == 1 and s[r.init].group is None
    assert [a.var.name for a in scan.leaf_iter_vars] == ["scan.idx"]
    bounds = te.schedule.InferBound(s)
    assert bounds[r.scan.op.scan_axis].min.value == 1
    assert bounds[r.update.op.axis[0]].extent.value == 1


def test_tag_and_attributes():
    r = RunningSums()
    scan = te.scan(r.init, r.update, r.state, name="sums", tag="mine", attrs={"n": 3})
    assert scan.op.tag == "mine" and scan.op.attrs["n"].value == 3
    assert scan.op.scan_axis.var.name == "sums.idx"


def test_trace_names_the_axis_of_the_steps():
    r = RunningSums(4, 8)
    cache = r.s.cache_read(r.x, "local", [r.update])
    r.s[cache].compute_at(r.s[r.scan], r.scan.op.scan_axis)
    assert "compute_at(s[scan], s[scan].op.scan_axis)" in r.s.trace()


# -- One kernel: each thread goes on from what it wrote itself


def test_running_sums(run):
    """The loop over the steps is in the kernel, and no thread waits for another."""
    r = RunningSums().bound()
    text = str(tvm.lower(r.s, [r.x, r.scan]))
    assert re.search(r"for \S+ < 5 \{", text) and "barrier" not in text
    assert text.count("\nkernel ") == 2
    v = numbers(6, 10)
    np.testing.assert_array_equal(run(r.s, [r.x, r.scan], v), v.cumsum(axis=0))


def test_result_that_a_reader_adds_to(run):
    r = RunningSums()
    y = te.compute((6, 10), lambda t, i: r.scan[t, i] * 2 + r.x[t, i], name="Y")
    r.s = te.create_schedule(y.op)
    r.bound()
    r.s[y].bind(y.op.axis[0], block())
    over_threads(r.s, y)
    v = numbers(6, 10)
    np.testing.assert_array_equal(run(r.s, [r.x, y], v), v.cumsum(axis=0) * 2 + v)


def test_init_that_another_stage_reads(run):
    """The first rows of the result are the init: both read one buffer."""
    r = RunningSums()
    y = te.compute((6, 10), lambda t, i: r.scan[t, i] - r.init[0, i], name="Y")
    r.s = te.create_schedule(y.op)
    r.bound()
    over_columns(r.s, y)
    v = numbers(6, 10)
    np.testing.assert_array_equal(run(r.s, [r.x, y], v), v.cumsum(axis=0) - v[0])


def test_two_rows_back(run):
    """Fibonacci's rule in every column."""
    x = te.placeholder((2, 9), name="X")
    state = te.placeholder((8, 9), name="state")
    init = te.compute((2, 9), lambda t, i: x[t, i], name="init")
    update = te.compute((8, 9), lambda t, i: state[t - 1, i] + state[t - 2, i], name="update")
    y = te.scan(init, update, state)
    assert y.op.scan_axis.dom.min.value == 2
    s = te.create_schedule(y.op)
    over_columns(s, init)
    over_columns(s, update)
    v = numbers(2, 9)
    expected = list(v)
    for _ in range(6):
        expected.append(expected[-1] + expected[-2])
    np.testing.assert_array_equal(run(s, [x, y], v), expected)


def test_scalar_recurrence(run):
    """A state without other axes: one thread."""
    x = te.placeholder((7,), name="X")
    state = te.placeholder((7,), name="state")
    init = te.compute((1,), lambda t: x[t], name="init")
    update = te.compute((7,), lambda t: state[t - 1] * 2 + x[t], name="update")
    y = te.scan(init, update, state)
    s = te.create_schedule(y.op)
    for t in (init, update):
        s[t].bind(s[t].fuse(), thread())
    v = numbers(7)
    expected = [v[0]]
    for t in range(1, 7):
        expected.append(expected[-1] * 2 + v[t])
    np.testing.assert_array_equal(run(s, [x, y], v), expected)


def test_fused_axes_of_the_state(run):
    """Quotient and remainder of a fused axis say which thread an element is of."""
    shape = (5, 3, 7)
    x = te.placeholder(shape, name="X")
    state = te.placeholder(shape, name="state")
    init = te.compute((1, 3, 7), lambda t, i, j: x[0, i, j], name="init")
    update = te.compute(shape, lambda t, i, j: state[t - 1, i, j] + x[t, i, j], name="update")
    y = te.scan(init, update, state)
    s = te.create_schedule(y.op)
    for t in (init, update):
        fused = s[t].fuse(*t.op.axis[1:])
        outer, inner = s[t].split(fused, factor=4)
        s[t].bind(outer, block())
        s[t].bind(inner, thread())
    assert "barrier" not in str(tvm.lower(s, [x, y]))
    v = numbers(*shape)
    np.testing.assert_array_equal(run(s, [x, y], v), v.cumsum(axis=0))


def test_several_columns_of_a_thread(run):
    r = RunningSums(5, 24)
    for t in (r.init, r.update):
        outer, inner = r.s[t].split(t.op.axis[1], factor=12)
        middle, lanes = r.s[t].split(inner, factor=4)
        r.s[t].bind(outer, block())
        r.s[t].bind(middle, thread())
        r.s[t].vectorize(lanes)
    assert "barrier" not in str(tvm.lower(r.s, [r.x, r.scan]))
    v = numbers(5, 24)
    np.testing.assert_array_equal(run(r.s, [r.x, r.scan], v), v.cumsum(axis=0))


def test_virtual_threads(run):
    r = RunningSums(5, 24)
    over_columns(r.s, r.init)
    outer, inner = r.s[r.update].split(r.update.op.axis[1], factor=4)
    r.s[r.update].bind(outer, te.thread_axis("vthread"))
    r.s[r.update].bind(inner, thread())
    assert "barrier" not in str(tvm.lower(r.s, [r.x, r.scan]))
    v = numbers(5, 24)
    np.testing.assert_array_equal(run(r.s, [r.x, r.scan], v), v.cumsum(axis=0))


@pytest.mark.parametrize("shape", [(2, 1), (7, 20), (9, 3)])
def test_symbolic_numbers_of_rows_and_columns(dev, shape):
    m, n = te.var("m"), te.var("n")
    r = RunningSums(m, n).bound()
    assert tuple(r.scan.shape) == (m, n)
    f = tvm.build(r.s, [r.x, r.scan])
    v = numbers(*shape)
    out = tvm.nd.empty(shape, "float32", dev)
    f(tvm.nd.array(v, dev), out)
    np.testing.assert_array_equal(out.numpy(), v.cumsum(axis=0))


def test_symbolic_scan_without_a_step(dev):
    """One row alone: the result is the init."""
    r = RunningSums(te.var("m"), te.var("n")).bound()
    out = tvm.nd.empty((1, 5), "float32", dev)
    v = numbers(1, 5)
    tvm.build(r.s, [r.x, r.scan])(tvm.nd.array(v, dev), out)
    np.testing.assert_array_equal(out.numpy(), v)


def test_two_states(run):
    """Each reads the other's earlier rows, of which one has fewer columns."""
    x = te.placeholder((6, 8), name="X")
    a, b = te.placeholder((6, 8), name="a"), te.placeholder((6, 8), name="b")
    init_a = te.compute((1, 8), lambda t, i: x[0, i], name="init_a")
    init_b = te.compute((1, 8), lambda t, i: 1.0, name="init_b")
    next_a = te.compute((6, 8), lambda t, i: a[t - 1, i] + b[t - 1, i], name="next_a")
    next_b = te.compute((6, 8), lambda t, i: b[t - 1, i] - x[t, i], name="next_b")
    y, z = te.scan([init_a, init_b], [next_a, next_b], [a, b], inputs=[x])
    assert y.op.same_as(z.op) and z.value_index == 1
    s = te.create_schedule(y.op)
    for t in (init_a, init_b, next_a, next_b):
        over_columns(s, t)
    v = numbers(6, 8)
    expected_a, expected_b = [v[0]], [np.ones(8)]
    for t in range(1, 6):
        expected_a.append(expected_a[-1] + expected_b[-1])
        expected_b.append(expected_b[-1] - v[t])
    got = run(s, [x, y, z], v)
    np.testing.assert_array_equal(got[0], expected_a)
    np.testing.assert_array_equal(got[1], expected_b)
    assert "barrier" not in str(tvm.lower(s, [x, y, z]))


def test_update_that_reads_another_update(run):
    """The row of the step itself, which is computed before."""
    x = te.placeholder((5, 6), name="X")
    a, b = te.placeholder((5, 6), name="a"), te.placeholder((5, 6), name="b")
    init_a = te.compute((1, 6), lambda t, i: x[0, i], name="init_a")
    init_b = te.compute((1, 6), lambda t, i: x[0, i] * 2, name="init_b")
    next_a = te.compute((5, 6), lambda t, i: a[t - 1, i] + x[t, i], name="next_a")
    next_b = te.compute((5, 6), lambda t, i: next_a[t, 5 - i] + b[t - 1, i], name="next_b")
    y, z = te.scan([init_a, init_b], [next_a, next_b], [a, b])
    s = te.create_schedule(y.op)
    for t in (init_a, init_b, next_a, next_b):
        over_threads(s, t)
    assert "barrier" in str(tvm.lower(s, [x, y, z]))
    v = numbers(5, 6)
    sums = v.cumsum(axis=0)
    expected = [v[0] * 2]
    for t in range(1, 5):
        expected.append(sums[t, ::-1] + expected[-1])
    got = run(s, [x, y, z], v)
    np.testing.assert_array_equal(got[0], sums)
    np.testing.assert_array_equal(got[1], expected)


# -- Stages of a step


class Cell:
    """state[t] = W @ state[t - 1] + X[t], the product a stage of its own."""

    def __init__(self, rows=5, size=8):
        self.x = te.placeholder((rows, size), name="X")
        self.w = te.placeholder((size, size), name="W")
        self.state = te.placeholder((rows, size), name="state")
        k = te.reduce_axis((0, size), name="k")
        self.init = te.compute((1, size), lambda t, i: self.x[0, i], name="init")
        self.product = te.compute(
            (rows, size),
            lambda t, i: te.sum(self.w[i, k] * self.state[t - 1, k], axis=k),
            name="product",
        )
        self.update = te.compute(
            (rows, size), lambda t, i: self.product[t, i] + self.x[t, i], name="update"
        )
        self.scan = te.scan(self.init, self.update, self.state, name="cell")
        self.s = te.create_schedule(self.scan.op)
        self.args = [self.x, self.w, self.scan]
        over_threads(self.s, self.init)

    def expected(self, v, w):
        rows = [v[0]]
        for t in range(1, len(v)):
            rows.append(w @ rows[-1] + v[t])
        return rows

    def check(self, run):
        rows, size = (int(n) for n in self.x.shape)
        v, w = numbers(rows, size), np.sign(numbers(size, size))
        np.testing.assert_array_equal(run(self.s, self.args, v, w), self.expected(v, w))


def test_product_inside_the_update(run):
    """All threads of the block read all of the row before: one barrier in each step."""
    c = Cell()
    over_threads(c.s, c.update)
    c.s[c.product].compute_at(c.s[c.update], c.update.op.axis[1])
    text = str(tvm.lower(c.s, c.args))
    assert text.count("barrier") == 1
    source = tvm.build(c.s, c.args).imported_modules[0].get_source()
    assert "CLK_GLOBAL_MEM_FENCE" in source
    c.check(run)


def test_product_in_shared_memory_between_the_stages_of_a_step(run):
    c = Cell()
    over_threads(c.s, c.update)
    assert c.s[c.product].attach_stage == c.s[c.scan]
    c.s[c.product].set_scope("shared")
    over_threads(c.s, c.product)
    c.check(run)


def test_caches_of_the_state_and_of_the_update(run):
    """The row before is copied into shared memory, and summed up in a register."""
    c = Cell()
    row = c.s.cache_read(c.state, "shared", [c.product])
    c.s[row].bind(c.s[row].op.axis[1], thread())
    total = c.s.cache_write(c.product, "local")
    c.s[total].compute_at(c.s[c.product], c.product.op.axis[1])
    c.s[c.product].set_scope("shared")
    over_threads(c.s, c.product)
    over_threads(c.s, c.update)
    assert c.s[row].group == c.s[c.scan] and c.s[total].group == c.s[c.scan]
    c.check(run)


def test_reduction_over_threads(run):
    c = Cell(size=8)
    s = c.s
    s[c.product].set_scope("shared")
    s[c.product].bind(c.product.op.reduce_axis[0], thread())
    over_threads(s, c.update)
    c.check(run)


def test_rfactor_of_an_update(run):
    x = te.placeholder((4, 6), name="X")
    w = te.placeholder((6, 6), name="W")
    state = te.placeholder((4, 6), name="state")
    k = te.reduce_axis((0, 6), name="k")
    init = te.compute((1, 6), lambda t, i: x[0, i], name="init")
    update = te.compute(
        (4, 6), lambda t, i: te.sum(w[i, k] * state[t - 1, k], axis=k), name="update"
    )
    y = te.scan(init, update, state)
    s = te.create_schedule(y.op)
    _, inner = s[update].split(k, factor=2)
    parts = s.rfactor(update, inner)
    assert s[parts].group == s[y]
    over_threads(s, init)
    over_threads(s, update)
    s[parts].compute_at(s[update], s[update].op.axis[1])
    v, m = numbers(4, 6), np.sign(numbers(6, 6))
    expected = [v[0]]
    for _ in range(3):
        expected.append(m @ expected[-1])
    np.testing.assert_array_equal(run(s, [x, w, y], v, m), expected)


def test_stage_of_a_step_inline(run):
    x = te.placeholder((5, 8), name="X")
    state = te.placeholder((5, 8), name="state")
    init = te.compute((1, 8), lambda t, i: x[0, i], name="init")
    doubled = te.compute((5, 8), lambda t, i: state[t - 1, i] * 2, name="doubled")
    update = te.compute((5, 8), lambda t, i: doubled[t, i] + x[t, i], name="update")
    y = te.scan(init, update, state)
    s = te.create_schedule(y.op)
    te.schedule.AutoInlineInjective(s)
    assert s[doubled].attach_type == 2 and s[update].attach_type == 5
    over_columns(s, init)
    over_columns(s, update)
    v = numbers(5, 8)
    expected = [v[0]]
    for t in range(1, 5):
        expected.append(expected[-1] * 2 + v[t])
    np.testing.assert_array_equal(run(s, [x, y], v), expected)


def test_cache_of_an_input_inside_the_steps(run):
    """What does not depend on a state may be computed at the loop over the steps, too."""
    r = RunningSums(6, 12)
    cache = r.s.cache_read(r.x, "shared", [r.update])
    r.s[cache].compute_at(r.s[r.scan], r.scan.op.scan_axis)
    r.s[cache].bind(r.s[cache].op.axis[1], thread())
    over_threads(r.s, r.init)
    over_threads(r.s, r.update)
    v = numbers(6, 12)
    np.testing.assert_array_equal(run(r.s, [r.x, r.scan], v), v.cumsum(axis=0))


def test_region_of_a_cache_of_the_input():
    """As far as a block of columns is concerned."""
    m, n = te.var("m"), te.var("n")
    x = te.compute((m, n), lambda i, j: te.const(1, "float32"), name="x")
    state = te.placeholder((m, n))
    init = te.compute((1, n), lambda _, i: x[0, i])
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + x[t, i])
    y = te.scan(init, update, state)
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "local", update)
    outer, _ = s[update].split(update.op.axis[1], factor=4)
    s[cache].compute_at(s[update], outer)
    s = s.normalize()
    bounds = te.schedule.InferBound(s)
    assert bounds[cache.op.axis[1]].extent.value == 4


# -- Text


def test_text_is_read_back():
    c = Cell()
    row = c.s.cache_read(c.state, "shared", [c.product])
    over_threads(c.s, c.update)
    c.s[c.product].compute_at(c.s[c.update], c.update.op.axis[1])
    c.s[c.scan].pragma(c.scan.op.scan_axis, "mine", 1)
    c.s[row].compute_at(c.s[c.scan], c.scan.op.scan_axis)
    text = str(tvm.program(c.s, c.args))
    assert "scan cell(cell.idx)\n  state state init=init update=update\n  output\n" in text
    assert str(tvm.parse(text)) == text
    lowered = str(tvm.lower(c.s, c.args))
    assert str(tvm.lower(tvm.parse(text))) == lowered


def test_fewer_rows_than_the_init_has(dev):
    """Of a result that the call makes shorter than that, the init computes what there is."""
    m = te.var("m")
    x, state = te.placeholder((m, 8), name="X"), te.placeholder((m, 8), name="state")
    init = te.compute((3, 8), lambda t, i: te.const(7.0), name="init")
    update = te.compute((m, 8), lambda t, i: state[t - 1, i] + x[t, i], name="update")
    scan = te.scan(init, update, state)
    s = te.create_schedule(scan.op)
    for t in (init, update):
        s[t].bind(t.op.axis[1], te.thread_axis("threadIdx.x"))
    f = tvm.build(s, [x, scan], checked=True)
    for rows in (1, 2, 3, 5):
        values, out = np.ones((rows, 8), "float32"), tvm.nd.empty((rows, 8), "float32", dev)
        f(tvm.nd.array(values, dev), out)
        expected = 7 + np.maximum(np.arange(rows) - 2, 0)[:, None] * values
        np.testing.assert_array_equal(out.numpy(), expected)


# -- What is refused


def refused(code, help_text=""):
    return pytest.raises(tvm.TVMError, match=f"(?s){code}.*help: .*{help_text}")


def test_blocks_among_threads_of_one_are_refused():
    """Within a kernel nothing orders two blocks, and a state without threads is no kernel."""
    x = te.placeholder((4, 8), name="X")
    states = [te.placeholder((4, 8), name=name) for name in "PQ"]
    inits = [te.compute((1, 8), lambda t, i: x[0, i], name=f"init{n}") for n in range(2)]
    updates = [
        te.compute((4, 8), lambda t, i: states[0][t - 1, 7 - i] + x[t, i], name="U"),
        te.compute((4, 8), lambda t, i: states[1][t - 1, i] + x[t, i], name="V"),
    ]
    results = te.scan(inits, updates, states)
    s = te.create_schedule(results[0].op)
    for t in (*inits, updates[0]):
        s[t].bind(t.op.axis[1], te.thread_axis("blockIdx.x"))
    with refused("TL3026", "bind axes of all"):
        tvm.lower(s, [x, *results])


def test_stage_of_a_step_in_global_memory(run):
    """One block, and yet two launches a step: no kernel has memory of all kernels to itself."""
    c = Cell()
    over_threads(c.s, c.update)
    over_threads(c.s, c.product)
    program = str(tvm.lower(c.s, c.args))
    assert program.count("    launch ") == 2 and "barrier" not in program
    c.check(run)


def test_stage_of_a_step_without_threads_is_refused():
    c = Cell()
    over_threads(c.s, c.update)
    with refused("TL3013", "bind its own axes"):
        tvm.lower(c.s, c.args)


@pytest.mark.parametrize(
    "row",
    [
        lambda state, t, i: state[t, i],
        lambda state, t, i: state[t + 1, i],
        lambda state, t, i: state[t - 2, i],
        lambda state, t, i: state[5 - t, i],
        lambda state, t, i: te.if_then_else(i > 2, state[t, i], 0.0),
    ],
)
def test_rows_that_are_not_there_yet(row):
    state = te.placeholder((6, 8), name="state")
    init = te.compute((1, 8), lambda t, i: 0.0, name="init")
    update = te.compute((6, 8), lambda t, i: row(state, t, i), name="update")
    with refused("TL1024", "t - 1"):
        te.scan(init, update, state)


def test_guarded_rows_before_the_first(run):
    """Where the second row has only one before it."""
    x = te.placeholder((6, 8), name="X")
    state = te.placeholder((6, 8), name="state")
    init = te.compute((1, 8), lambda t, i: x[0, i], name="init")
    update = te.compute(
        (6, 8),
        lambda t, i: x[t, i] + te.if_then_else(t >= 2, state[t - 2, i], 0.0),
        name="update",
    )
    y = te.scan(init, update, state)
    s = te.create_schedule(y.op)
    over_columns(s, init)
    over_columns(s, update)
    v = numbers(6, 8)
    expected = [v[0], v[1]]
    for t in range(2, 6):
        expected.append(v[t] + expected[t - 2])
    np.testing.assert_array_equal(run(s, [x, y], v), expected)


def test_stage_that_is_read_at_another_row_is_refused():
    """It would be computed from a state that has no such row."""
    state = te.placeholder((6, 8), name="state")
    init = te.compute((1, 8), lambda t, i: 0.0, name="init")
    half = te.compute((6, 8), lambda t, i: state[t - 1, i] / 2, name="half")
    update = te.compute((6, 8), lambda t, i: half[t - 1, i], name="update")
    with refused("TL1024"):
        te.scan(init, update, state)


def test_lists_of_different_lengths():
    r = RunningSums()
    with pytest.raises(ValueError, match="as many"):
        te.scan([r.init], [r.update, r.update], [r.state])
    with pytest.raises(ValueError, match="no tensor"):
        te.scan(r.init, r.update, 3)


def test_reader_of_an_update_is_refused():
    r = RunningSums()
    y = te.compute((6, 10), lambda t, i: r.scan[t, i] + r.update[t, i], name="Y")
    s = te.create_schedule(y.op)
    for t in (r.init, r.update, y):
        over_columns(s, t)
    with refused("TL3024", "read the result"):
        tvm.lower(s, [r.x, y])
