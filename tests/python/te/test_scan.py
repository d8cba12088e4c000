"""te.scan: recurrences over the first axis, their text, and refused programs."""

import re

import numpy as np
import pytest
from scans import Cell, RunningSums, block, numbers, over_columns, over_threads, thread

import texloom as tvm
from texloom import te

# -- The stages of a scan


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
    """The update is attached to the scan from the start; so are stages that depend on a state."""
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


# -- One kernel: each thread reads only elements that it wrote itself


def test_running_sums(run):
    """One kernel has the loop over the steps, without barriers: no thread waits for another."""
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
    """The first rows of the result are the init: both share one buffer."""
    r = RunningSums()
    y = te.compute((6, 10), lambda t, i: r.scan[t, i] - r.init[0, i], name="Y")
    r.s = te.create_schedule(y.op)
    r.bound()
    over_columns(r.s, y)
    v = numbers(6, 10)
    np.testing.assert_array_equal(run(r.s, [r.x, y], v), v.cumsum(axis=0) - v[0])


def test_two_rows_back(run):
    """Every column is a Fibonacci sequence."""
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
    """A state without other axes uses one thread."""
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
    """Quotient and remainder of a fused axis determine which thread owns an element."""
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
    """With only one row, the result is the init."""
    r = RunningSums(te.var("m"), te.var("n")).bound()
    out = tvm.nd.empty((1, 5), "float32", dev)
    v = numbers(1, 5)
    tvm.build(r.s, [r.x, r.scan])(tvm.nd.array(v, dev), out)
    np.testing.assert_array_equal(out.numpy(), v)


def test_two_states(run):
    """Each state reads the other's earlier rows; one has fewer columns."""
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
    """An update may read the current row of another update, which is computed first."""
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
    """If the call asks for fewer rows than the init has, only these rows are computed."""
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


# -- Refused programs


def refused(code, help_text=""):
    return pytest.raises(tvm.TVMError, match=f"(?s){code}.*help: .*{help_text}")


def test_blocks_among_threads_of_one_are_refused():
    """A kernel cannot order its blocks; a state that no thread computes belongs to no kernel."""
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
    """Even one block needs two launches per step: no kernel owns global memory."""
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
    """The guard keeps row 1 from reading row -1."""
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
    """A stage read at another row would be computed from a row that the state lacks."""
    state = te.placeholder((6, 8), name="state")
    init = te.compute((1, 8), lambda t, i: 0.0, name="init")
    half = te.compute((6, 8), lambda t, i: state[t - 1, i] / 2, name="half")
    update = te.compute((6, 8), lambda t, i: half[t - 1, i], name="update")
    with refused("TL1024"):
        te.scan(init, update, state)


def test_lists_of_different_lengths():
    r = RunningSums()
    with pytest.raises(ValueError, match="different numbers"):
        te.scan([r.init], [r.update, r.update], [r.state])
    with pytest.raises(ValueError, match="not a tensor"):
        te.scan(r.init, r.update, 3)


def test_reader_of_an_update_is_refused():
    r = RunningSums()
    y = te.compute((6, 10), lambda t, i: r.scan[t, i] + r.update[t, i], name="Y")
    s = te.create_schedule(y.op)
    for t in (r.init, r.update, y):
        over_columns(s, t)
    with refused("TL3024", "read the result"):
        tvm.lower(s, [r.x, y])
