"""Schedules of the stages that compute a scan step."""

import numpy as np
from scans import Cell, RunningSums, numbers, over_columns, over_threads, thread

import texloom as tvm
from texloom import te


def test_product_inside_the_update(run):
    """All threads of the block read the whole previous row: one barrier per step."""
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
    """The previous row is cached in shared memory; the update's sum is in a register."""
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
    """A stage that does not depend on a state may also be computed at the loop over the steps."""
    r = RunningSums(6, 12)
    cache = r.s.cache_read(r.x, "shared", [r.update])
    r.s[cache].compute_at(r.s[r.scan], r.scan.op.scan_axis)
    r.s[cache].bind(r.s[cache].op.axis[1], thread())
    over_threads(r.s, r.init)
    over_threads(r.s, r.update)
    v = numbers(6, 12)
    np.testing.assert_array_equal(run(r.s, [r.x, r.scan], v), v.cumsum(axis=0))


def test_region_of_a_cache_of_the_input():
    """The cache covers what a block of columns reads."""
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
