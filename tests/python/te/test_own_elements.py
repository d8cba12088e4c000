"""A branch needs no barrier inside if each thread accesses only its own elements."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te, tir

N = 8
X = np.float32([3, 1, 4, 1, 5, 9, 2, 6])


def function_of(body, scope, target, elements=N):
    """Build a function of 4 threads; body(ib, t, S, swap) changes the elements of S."""
    threads = 4

    def statement(ins, outs):
        ib = tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        thread = te.thread_axis("threadIdx.x")
        ib.scope_attr(thread, "thread_extent", threads)
        t = thread.var
        values = (
            ib.allocate("float32", (elements,), name="S", scope="shared")
            if scope == "shared"
            else y
        )
        for first in range(0, elements, threads):
            values[t + first] = x[t + first]
        kept = ib.allocate("float32", (1,), name="kept", scope="local")

        def swap(a, b):
            with ib.if_scope(values[a] < values[b]):
                kept[0] = values[a]
                values[a] = values[b]
                values[b] = kept[0]

        body(ib, t, values, swap)
        if scope == "shared":
            for first in range(0, elements, threads):
                y[t + first] = values[t + first]
        return ib.get()

    x = te.placeholder((elements,), name="X")
    y = te.extern((elements,), [x], statement, name="E", dtype="float32")
    return tvm.build(te.create_schedule(y.op), [x, y], target)


def two_stores(ib, t, values, swap):
    with ib.if_scope(t < 3):
        values[2 * t] = 5.0
        values[2 * t + 1] = 6.0


def odd_even_sort(ib, t, values, swap):
    with ib.for_range(0, N, name="k") as k, ib.if_scope(2 * t + k % 2 + 1 < N):
        swap(2 * t + k % 2, 2 * t + k % 2 + 1)


def bitonic_sort(ib, t, values, swap):
    size = 2
    while size <= N:
        step = size // 2
        while step:
            low = (t // step) * (2 * step) + t % step
            up = (low // size) % 2 == 0
            swap(te.if_then_else(up, low, low + step), te.if_then_else(up, low + step, low))
            step //= 2
        size *= 2


STRIDED = -np.sort(-X.reshape(2, 2, 2), 1).ravel()
CASES = {
    "two_stores": (two_stores, np.append(np.float32([5, 6] * 3), X[6:])),
    "halves": (
        lambda ib, t, values, swap: swap(t, t + 4),
        np.concatenate([np.maximum(X[:4], X[4:]), np.minimum(X[:4], X[4:])]),
    ),
    "pairs": (
        lambda ib, t, values, swap: swap(2 * t, 2 * t + 1),
        -np.sort(-X.reshape(4, 2)).ravel(),
    ),
    "strided_pairs": (
        lambda ib, t, values, swap: swap((t // 2) * 4 + t % 2, (t // 2) * 4 + t % 2 + 2),
        STRIDED,
    ),
    "odd_even_sort": (odd_even_sort, -np.sort(-X)),
    "bitonic_sort": (bitonic_sort, -np.sort(-X)),
}


@pytest.mark.parametrize("scope", ["global", "shared"])
@pytest.mark.parametrize("case", list(CASES))
def test_threads_swap_elements_of_their_own(case, scope, dev):
    body, expected = CASES[case]
    function = function_of(body, scope, tvm.target.Target.from_device(dev))
    for device in (dev, tvm.device("host")):  # the host finds races
        x, y = tvm.nd.array(X, device), tvm.nd.empty((N,), "float32", device)
        function(x, y)
        np.testing.assert_array_equal(y.numpy(), expected)


@pytest.mark.parametrize("scope", ["global", "shared"])
def test_each_block_has_elements_of_its_own(scope, dev):
    """Shared memory has no index of the block, and threads of another block need no barrier."""

    def statement(ins, outs):
        ib = tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        b, t, single = map(te.thread_axis, ("blockIdx.x", "threadIdx.x", "threadIdx.y"))
        for axis, extent in ((b, 2), (t, 4), (single, 1)):
            ib.scope_attr(axis, "thread_extent", extent)
        shared = ib.allocate("float32", (N,), name="S", scope="shared")
        values, row = (shared, ()) if scope == "shared" else (y, (b,))
        for first in (0, 4):
            values[(*row, t + first)] = x[b, t + first]
        with ib.if_scope(t < 3):
            values[(*row, 2 * t)] = 5.0
            values[(*row, 2 * t + 1)] = 6.0
        if scope == "shared":
            for first in (0, 4):
                y[b, t + first] = shared[t + first]
        return ib.get()

    x = te.placeholder((2, N), name="X")
    e = te.extern((2, N), [x], statement, name="E", dtype="float32")
    target = tvm.target.Target.from_device(dev)
    function = tvm.build(te.create_schedule(e.op), [x, e], target)
    values = np.stack([X, X + 1])
    expected = values.copy()
    expected[:, :6] = [5, 6] * 3
    for device in (dev, tvm.device("host")):
        y = tvm.nd.empty((2, N), "float32", device)
        function(tvm.nd.array(values, device), y)
        np.testing.assert_array_equal(y.numpy(), expected)


@pytest.mark.parametrize("scope", ["global", "shared"])
def test_a_condition_leaves_the_threads_that_own_pairs(scope, dev):
    """Four threads, of which two swap elements t and t + 2."""

    def body(ib, t, values, swap):
        with ib.if_scope(t < 2):
            swap(t, t + 2)

    function = function_of(body, scope, tvm.target.Target.from_device(dev))
    expected = np.concatenate([np.maximum(X[:2], X[2:4]), np.minimum(X[:2], X[2:4]), X[4:]])
    for device in (dev, tvm.device("host")):
        y = tvm.nd.empty((N,), "float32", device)
        function(tvm.nd.array(X, device), y)
        np.testing.assert_array_equal(y.numpy(), expected)


def test_elements_of_the_next_thread_are_not_own():
    """A branch in which thread t swaps its element with that of thread t + 1 is refused."""
    with pytest.raises(tvm.TVMError, match="TL3027"):
        function_of(lambda ib, t, values, swap: swap(t, t + 1), "shared", "opencl")


@pytest.mark.parametrize("reads_by_let", [False, True])
def test_a_store_of_a_let_is_seen_before_reads_of_other_threads(reads_by_let, dev):
    """Stores after a let count as one update only if no store reads what another writes."""

    def statement(ins, outs):
        ib = tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        thread = te.thread_axis("threadIdx.x")
        ib.scope_attr(thread, "thread_extent", N)
        t = thread.var
        values = ib.allocate("float32", (N,), name="S", scope="shared")
        values[t] = ib.let("v", x[t] * 2.0)
        y[t] = ib.let("w", values[N - 1 - t]) if reads_by_let else values[N - 1 - t]
        return ib.get()

    x = te.placeholder((N,), name="X")
    y = te.extern((N,), [x], statement, name="E", dtype="float32")
    f = tvm.build(te.create_schedule(y.op), [x, y], tvm.target.Target.from_device(dev))
    result = tvm.nd.empty((N,), "float32", dev)
    f(tvm.nd.array(X, dev), result)
    np.testing.assert_array_equal(result.numpy(), 2 * X[::-1])


def random_indices(rng, t, k):
    """Return two indices of at most 31: sums that differ in a constant, or selects of such sums."""
    terms = [t * int(rng.integers(0, 5)), (t // 2) * int(rng.integers(0, 5)), (t % 2) * 3, k, k % 2]
    chosen = rng.choice(len(terms), 2, replace=False)
    one = terms[chosen[0]] + terms[chosen[1]] + int(rng.integers(0, 6))
    other = one + int(rng.integers(0, 6))
    if rng.random() < 0.2:
        return te.if_then_else(t % 2 == 0, one, other), te.if_then_else(t % 2 == 0, other, one)
    return one, other


@pytest.mark.nightly
def test_accepted_branches_have_no_races():
    """Branches of random accesses are refused, or give the result of threads run one by one.

    The host's interpreter refuses a program in which a thread reads what another thread writes
    without a barrier between them.
    """
    rng = np.random.default_rng(5)
    accepted = 0
    for _ in range(300):

        def body(ib, t, values, swap):
            with ib.for_range(0, 3, name="k") as k, ib.if_scope(t % 3 < 2):
                one, other = random_indices(rng, t, k)
                values[one] = values[other] + 1.0
                values[other] = values[one] * 2.0

        try:
            function = function_of(body, "shared", "opencl", elements=32)
        except tvm.TVMError as error:
            assert error.code == "TL3027"
            continue
        accepted += 1
        x = np.arange(32, dtype="float32")
        host = tvm.device("host")
        function(tvm.nd.array(x, host), tvm.nd.empty((32,), "float32", host))
    assert 20 < accepted < 280
