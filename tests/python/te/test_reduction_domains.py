"""Reduction axes whose domain depends on the computed element."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te

VALUES = np.random.default_rng(8).integers(-9, 9, size=(16, 16)).astype("float32")
TAGS = ("blockIdx.x", "threadIdx.x")


def triangle(domain=lambda i: (0, i + 1), n=16):
    """Return a compute that sums the part of each row in `domain`."""
    x = te.placeholder((n, n), name="X")

    def element(i):
        k = te.reduce_axis(domain(i), name="k")
        return te.sum(x[i, k], axis=k)

    y = te.compute((n,), element, name="Y")
    return x, y, te.create_schedule(y.op)


def sums(first, last):
    return np.array([VALUES[i, first(i) : last(i)].sum() for i in range(16)], "float32")


LOWER = sums(lambda i: 0, lambda i: i + 1)


def loops(s, args):
    return tvm.lower_texts(s, args)["build_loops"]


def test_the_loop_ends_with_the_row(run):
    x, y, s = triangle()
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    assert "for k < i + 1 {" in loops(s, [x, y])
    assert "if " not in str(tvm.lower(s, [x, y]))
    np.testing.assert_array_equal(run(s, [x, y], VALUES), LOWER)


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        (lambda i: (i, 16), sums(lambda i: i, lambda i: 16)),
        (lambda i: (i // 2, i), sums(lambda i: i // 2, lambda i: i)),
        (lambda i: (0, i - 3), sums(lambda i: 0, lambda i: max(i - 3, 0))),
        (lambda i: (2, te.min(i + 3, 16)), sums(lambda i: 2, lambda i: min(i + 3, 16))),
    ],
)
def test_other_domains(run, domain, expected):
    x, y, s = triangle(domain)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    np.testing.assert_array_equal(run(s, [x, y], VALUES), expected)


def split_axis(s, y):
    s[y].split(s[y].op.reduce_axis[0], factor=4)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))


def outside(s, y):
    """The loop over k runs to the end of the longest row; each step is a launch."""
    s[y].reorder(s[y].op.reduce_axis[0], s[y].op.axis[0])
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))


def shared_by_threads(s, y):
    s[y].bind(s[y].op.axis[0], te.thread_axis("blockIdx.x"))
    s[y].bind(s[y].op.reduce_axis[0], te.thread_axis("threadIdx.x"))


def in_registers(s, y):
    cache = s.cache_write(y, "local")
    block, thread = s[y].split(s[y].op.axis[0], factor=5)
    s[y].bind(block, te.thread_axis("blockIdx.x"))
    s[y].bind(thread, te.thread_axis("threadIdx.x"))
    s[cache].compute_at(s[y], thread)


def factored(s, y):
    _, inner = s[y].split(s[y].op.reduce_axis[0], factor=4)
    part = s.rfactor(y, inner)
    s[part].bind(s[part].op.axis[0], te.thread_axis("threadIdx.x"))
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))


def through_shared_memory(s, y):
    """All threads fill the memory, even if their own row is shorter."""
    (x,) = y.op.input_tensors
    cache = s.cache_read(x, "shared", [y])
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    outer, _ = s[y].split(s[y].op.reduce_axis[0], factor=4)
    s[cache].compute_at(s[y], outer)
    s[cache].bind(s[cache].op.axis[0], te.thread_axis("threadIdx.x"))


@pytest.mark.parametrize(
    "directives",
    [split_axis, outside, shared_by_threads, in_registers, factored, through_shared_memory],
)
def test_schedules(run, directives):
    x, y, s = triangle()
    directives(s, y)
    np.testing.assert_array_equal(run(s, [x, y], VALUES), LOWER)


def test_axis_of_another(run):
    """The second axis runs up to the first one."""
    x = te.placeholder((8, 8, 8), name="X")

    def element(i):
        k = te.reduce_axis((0, i + 1), name="k")
        m = te.reduce_axis((0, k + 1), name="m")
        return te.sum(x[i, k, m], axis=[k, m])

    y = te.compute((8,), element, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    values = np.arange(512, dtype="float32").reshape(8, 8, 8)
    expected = [sum(values[i, k, : k + 1].sum() for k in range(i + 1)) for i in range(8)]
    np.testing.assert_array_equal(run(s, [x, y], values), expected)
    assert "for m < k + 1 {" in loops(s, [x, y])


def test_symbolic_rows(dev):
    n = te.var("n")
    x, y, s = triangle(n=n)
    block, thread = s[y].split(s[y].op.axis[0], factor=8)
    for axis, tag in zip((block, thread), TAGS, strict=True):
        s[y].bind(axis, te.thread_axis(tag))
    function = tvm.build(s, [x, y])
    for size in (1, 5, 16):
        values = VALUES[:size, :size].copy()
        out = tvm.nd.empty((size,), "float32", dev)
        function(tvm.nd.array(values, dev), out)
        np.testing.assert_array_equal(out.numpy(), np.tril(values).sum(axis=1))


def test_no_loop_ends_early_around_threads_that_reduce_together(run):
    """Threads with different ends would not meet at the barriers of the inner reduction."""
    x = te.placeholder((8, 8, 4), name="X")
    r, k = te.reduce_axis((0, 4), name="r"), te.reduce_axis((0, 8), name="k")
    z = te.compute((8, 8), lambda i, k: te.sum(x[i, k, r], axis=r), name="Z")
    y = te.compute((8,), lambda i: te.sum(z[i, k], axis=k, where=k <= i), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    s[z].set_scope("local")
    s[z].compute_at(s[y], k)
    s[z].bind(r, te.thread_axis("threadIdx.y"))
    values = np.random.default_rng(9).integers(-9, 9, size=(8, 8, 4)).astype("float32")
    np.testing.assert_array_equal(run(s, [x, y], values), np.tril(values.sum(axis=2)).sum(axis=1))


def test_text_comes_back(run):
    x, y, s = triangle()
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    text = str(tvm.program(s, [x, y]))
    assert "reduce(sum, [k < 16], X[i, k], where=k < i + 1)" in text
    written = text.replace("[k < 16], X[i, k], where=k < i + 1", "[k < i + 1], X[i, k]")
    assert str(tvm.parse(written)) == text


def test_how_far_an_axis_runs_has_to_be_known():
    lengths = te.placeholder((16,), "int32", name="L")
    x = te.placeholder((16, 16), name="X")

    def element(i):
        k = te.reduce_axis((0, lengths[i]), name="k")
        return te.sum(x[i, k], axis=k)

    with pytest.raises(
        tvm.TVMError, match=r"the largest value of the reduction axis 'k' of 'Y' is unknown"
    ):
        te.compute((16,), element, name="Y")


@pytest.mark.parametrize("seed", range(10))
def test_random_domains(run, seed):
    """Random domains are computed under random loop orders."""
    rng = np.random.default_rng(seed)
    a, b, c, d = (int(n) for n in rng.integers(-2, 4, 4))
    x = te.placeholder((9, 40), name="X")

    def bounds(i, j):
        first = a * i + b * j + 12
        return first, first + c * i + d * j + 4

    def element(i, j):
        k = te.reduce_axis(bounds(i, j), name="k")
        inside = te.all(k >= 0, k < 40)
        return te.sum(te.if_then_else(inside, x[i, k], 0.0), axis=k)

    y = te.compute((9, 7), element, name="Y")
    s = te.create_schedule(y.op)
    axes = [*s[y].op.axis, *s[y].split(s[y].op.reduce_axis[0], factor=int(rng.integers(1, 6)))]
    thread = axes.pop(int(rng.integers(0, 2)))
    s[y].bind(thread, te.thread_axis("threadIdx.x"))
    order = [axes[n] for n in rng.permutation(3)]
    order.insert(int(rng.integers(0, 4)), thread)
    s[y].reorder(*order)
    values = rng.integers(-9, 9, (9, 40)).astype("float32")
    expected = np.zeros((9, 7), "float32")
    for i in range(9):
        for j in range(7):
            first, last = bounds(i, j)
            expected[i, j] = values[i, max(first, 0) : max(min(last, 40), 0)].sum()
    np.testing.assert_array_equal(run(s, [x, y], values), expected)
