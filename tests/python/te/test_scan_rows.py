"""A scan step may read any row of a state that provably precedes the step's own row."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te

COLUMNS = 6


def triangle(state, t, i, rows):
    k = te.reduce_axis((0, t), "k")
    return te.sum(state[k, i], axis=k)


def window(state, t, i, rows):
    """Return the sum of the last two rows, or of row 0 alone for row 1."""
    k = te.reduce_axis((te.max(t - 2, 0), t), "k")
    return te.sum(state[k, i], axis=k)


def guarded_sum(state, t, i, rows):
    k = te.reduce_axis((0, rows), "k")
    return te.sum(state[k, i], axis=k, where=k < t)


def guarded_element(state, t, i, rows):
    k = te.reduce_axis((0, rows), "k")
    return te.sum(te.if_then_else(te.all(k < t, k % 2 == 0), state[k, i], 1), axis=k)


def clamped(state, t, i, rows):
    k = te.reduce_axis((0, 3), "k")
    return te.sum(state[te.min(k, t - 1), i], axis=k)


def first_or_later(state, t, i, rows):
    return state[te.max(t - 3, 0), i]


def half(state, t, i, rows):
    return state[t // 2, i]


def one_of_two(state, t, i, rows):
    return state[te.if_then_else(t % 2 == 0, t // 2, t - 1), i]


def remainder(state, t, i, rows):
    return state[(t * 5 + i) % t, i]


def diagonal(state, t, i, rows):
    return te.if_then_else(i < t, state[i, i], 2)


FORMS = {
    triangle: lambda y, t: y[:t].sum(axis=0),
    window: lambda y, t: y[max(t - 2, 0) : t].sum(axis=0),
    guarded_sum: lambda y, t: y[:t].sum(axis=0),
    guarded_element: lambda y, t: y[:t:2].sum(axis=0) + len(y) - len(y[:t:2]),
    clamped: lambda y, t: sum(y[min(k, t - 1)] for k in range(3)),
    first_or_later: lambda y, t: y[max(t - 3, 0)],
    half: lambda y, t: y[t // 2],
    one_of_two: lambda y, t: y[t // 2 if t % 2 == 0 else t - 1],
    remainder: lambda y, t: np.array([y[(t * 5 + i) % t, i] for i in range(COLUMNS)]),
    diagonal: lambda y, t: np.array([y[i, i] if i < t else 2 for i in range(COLUMNS)]),
}


class Rows:
    """A scan whose rows are `form` of the rows before, plus an input."""

    def __init__(self, form, rows=7):
        self.x = te.placeholder((rows, COLUMNS), "int32", name="X")
        self.state = te.placeholder((rows, COLUMNS), "int32", name="state")
        self.init = te.compute((1, COLUMNS), lambda t, i: self.x[t, i], name="init")
        self.past = te.compute(
            (rows, COLUMNS), lambda t, i: form(self.state, t, i, rows), name="past"
        )
        self.update = te.compute(
            (rows, COLUMNS), lambda t, i: te.floormod(self.past[t, i], 9) + self.x[t, i], name="U"
        )
        self.scan = te.scan(self.init, self.update, self.state)
        self.s = te.create_schedule(self.scan.op)
        for t in (self.init, self.update):
            self.s[t].bind(t.op.axis[1], te.thread_axis("threadIdx.x"))
        self.s[self.past].compute_at(self.s[self.update], self.update.op.axis[1])

    @property
    def args(self):
        return [self.x, self.scan]


def numbers(rows=7):
    return np.random.default_rng(rows).integers(-4, 5, size=(rows, COLUMNS)).astype("int32")


def expected(form, v):
    y = np.zeros_like(v)
    y[0] = v[0]
    for t in range(1, len(v)):
        y[t] = FORMS[form](y, t) % 9 + v[t]
    return y


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_rows_before_the_step(run, form):
    r = Rows(form)
    text = str(tvm.program(r.s, r.args))
    assert str(tvm.parse(text)) == text
    v = numbers()
    np.testing.assert_array_equal(run(r.s, r.args, v), expected(form, v))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_symbolic_numbers_of_rows(dev, form):
    """The proofs hold for symbolic numbers of rows."""
    r = Rows(form, te.var("n"))
    f = tvm.build(r.s, r.args)
    for rows in (2, 7):
        v, out = numbers(rows), tvm.nd.empty((rows, COLUMNS), "int32", dev)
        f(tvm.nd.array(v, dev), out)
        np.testing.assert_array_equal(out.numpy(), expected(form, v))


@pytest.mark.parametrize("place", ["thread", "step", "shared"])
def test_caches_of_all_earlier_rows(run, place):
    """The box that a cache covers includes rows that do not exist yet: these must not be copied,
    since other threads may be writing them."""

    def all_before(state, t, i, rows):
        k, j = te.reduce_axis((0, t), "k"), te.reduce_axis((0, COLUMNS), "j")
        return te.sum(state[k, j], axis=[k, j])

    r = Rows(all_before)
    cache = r.s.cache_read(r.state, "shared" if place == "shared" else "local", [r.past])
    if place == "thread":
        r.s[cache].compute_at(r.s[r.update], r.update.op.axis[1])
    else:
        r.s[cache].compute_at(r.s[r.scan], r.scan.op.scan_axis)
    assert "if ax0 < scan.idx + 1" in str(tvm.lower(r.s, r.args))
    v = numbers()
    y = np.zeros_like(v)
    y[0] = v[0]
    for t in range(1, len(v)):
        y[t] = y[:t].sum() % 9 + v[t]
    np.testing.assert_array_equal(run(r.s, r.args, v), y)


def test_cache_of_one_earlier_row_is_copied_without_a_test():
    r = Rows(half)
    cache = r.s.cache_read(r.state, "local", [r.past])
    r.s[cache].compute_at(r.s[r.update], r.update.op.axis[1])
    assert "if " not in str(tvm.lower(r.s, r.args))


def test_rows_of_all_columns(run):
    """Threads read each other's columns, so each step waits for the previous one."""
    k = te.reduce_axis((0, COLUMNS), "k")
    r = Rows(lambda s, t, i, rows: te.sum(s[te.min(k, t - 1), k], axis=k))
    assert "barrier" in str(tvm.lower(r.s, r.args))
    v = numbers()
    y = np.zeros_like(v)
    y[0] = v[0]
    for t in range(1, len(v)):
        y[t] = sum(y[min(c, t - 1), c] for c in range(COLUMNS)) % 9 + v[t]
    np.testing.assert_array_equal(run(r.s, r.args, v), y)


@pytest.mark.parametrize(
    "row",
    [
        lambda t, i: te.min(i, t),
        lambda t, i: te.max(i, t - 1),
        lambda t, i: (t + 1) // 2,
        lambda t, i: te.if_then_else(i < t, t, i),
        lambda t, i: (t + i) % (t + 1),
        lambda t, i: te.min(i, t - 1) - 1,
    ],
)
def test_rows_that_may_not_be_there(row):
    with pytest.raises(tvm.TVMError, match="TL1024.*not known to be computed"):
        Rows(lambda s, t, i, rows: s[row(t, i), i])
