"""Calls of compiled functions: their order, repetition, and timing."""

import threading
import time

import numpy as np
import pytest

import texloom as tvm
from texloom import te


def scaled(factor=2, n=8, name="f"):
    x = te.placeholder((n,), name="X")
    y = te.compute((n,), lambda i: x[i] * factor, name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "texture", [y])
    s[cache].bind(s[cache].fuse(), te.thread_axis("blockIdx.x"))
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    return tvm.build(s, [x, y], "opencl", name=name)


def test_returns_nothing_and_writes_its_outputs(dev):
    f = scaled()
    x = tvm.nd.array(np.arange(8, dtype="float32"), dev)
    y = tvm.nd.empty((8,), device=dev)
    assert f(x, y) is None
    np.testing.assert_array_equal(y.numpy(), np.arange(8) * 2)
    np.testing.assert_array_equal(x.numpy(), np.arange(8))


def test_calls_run_in_order(dev):
    """Work on one device runs in the order of the calls, even on the same arrays."""
    f = scaled(2)
    a = tvm.nd.array(np.ones(8, "float32"), dev)
    b = tvm.nd.empty((8,), device=dev)
    for _ in range(5):
        f(a, b)
        f(b, a)
    np.testing.assert_array_equal(a.numpy(), 2.0**10)


def test_one_function_many_arrays(dev):
    f = scaled()
    pairs = [
        (tvm.nd.array(np.full(8, n, "float32"), dev), tvm.nd.empty((8,), device=dev))
        for n in range(4)
    ]
    for x, y in pairs:
        f(x, y)
    for n, (_, y) in enumerate(pairs):
        np.testing.assert_array_equal(y.numpy(), 2 * n)


def test_output_before_input(dev):
    """Arguments keep the order given to build, even with the output first."""
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: x[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    f = tvm.build(s, [y, x])
    out = tvm.nd.empty((4,), device=dev)
    f(out, tvm.nd.array(np.zeros(4, "float32"), dev))
    np.testing.assert_array_equal(out.numpy(), 1)


def test_function_outlives_its_schedule(dev):
    f = scaled()
    g = scaled(3)
    x, y = tvm.nd.array(np.ones(8, "float32"), dev), tvm.nd.empty((8,), device=dev)
    f(x, y)
    del f
    g(x, y)
    np.testing.assert_array_equal(y.numpy(), 3)


def test_arrays_may_go_before_the_result_is_there(dev):
    """A call keeps everything it needs alive until the device is done."""
    f = scaled()
    y = tvm.nd.empty((8,), device=dev)
    for n in range(20):
        f(tvm.nd.array(np.full(8, n, "float32"), dev), y)
    np.testing.assert_array_equal(y.numpy(), 38)


def test_calls_from_several_threads(dev):
    """Threads share one function; each has its own arrays."""
    f = scaled()
    wrong = []

    def work(n):
        for turn in range(20):
            x = tvm.nd.array(np.full(8, n + turn, "float32"), dev)
            y = tvm.nd.empty((8,), device=dev)
            f(x, y)
            if (y.numpy() != 2 * (n + turn)).any():
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_building_from_several_threads():
    """Threads have their own schedules; the compiler keeps no state between builds."""
    sources = {}

    def work(n):
        sources[n] = scaled(n + 1).get_source()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sources == {n: scaled(n + 1).get_source() for n in range(8)}


def test_no_kernels(dev):
    """A schedule whose only output is an input still builds and runs."""
    x = te.placeholder((4,), name="X")
    s = te.create_schedule(x.op)
    f = tvm.build(s, [x])
    assert f.kernels == []
    f(tvm.nd.empty((4,), device=dev))


def test_names():
    f = scaled(name="scale_it")
    assert f.name == f.entry_name == "scale_it"
    assert [k.name for k in f.kernels] == ["scale_it_kernel0", "scale_it_kernel1"]
    assert repr(f.kernels[0]) == "Kernel(scale_it_kernel0, grid=(1, 1, 1), block=(1, 1, 1))"


@pytest.mark.parametrize("name", ["a b", "float", "Größe", "1st", "x-y", "kernel", "main"])
def test_any_function_name_runs(dev, name):
    f = scaled(name=name)
    y = tvm.nd.empty((8,), device=dev)
    f(tvm.nd.array(np.ones(8, "float32"), dev), y)
    np.testing.assert_array_equal(y.numpy(), 2)


def test_time_evaluator(dev):
    """time_evaluator returns seconds per run; the arguments hold the result afterwards."""
    f = scaled()
    x, y = tvm.nd.array(np.ones(8, "float32"), dev), tvm.nd.empty((8,), device=dev)
    times = f.time_evaluator(f.entry_name, dev, number=3, repeat=4)(x, y)
    assert len(times.results) == 4
    assert all(0 < t for t in times.results)
    assert times.min <= times.median <= times.max
    assert times.min <= times.mean <= times.max
    assert times.std >= 0
    np.testing.assert_array_equal(y.numpy(), 2)


def test_time_evaluator_runs_at_least_so_long(dev):
    f = scaled()
    x, y = tvm.nd.array(np.ones(8, "float32"), dev), tvm.nd.empty((8,), device=dev)
    begin = time.perf_counter()
    times = f.time_evaluator("f", dev, number=1, repeat=3, min_repeat_ms=30)(x, y)
    assert len(times.results) == 3
    assert time.perf_counter() - begin > 3 * 0.03 / 2  # later batches may take less than 30 ms


def test_time_evaluator_wants_the_arrays_of_its_device(dev):
    f = scaled()
    x, y = tvm.nd.array(np.ones(8, "float32"), dev), tvm.nd.empty((8,), device=dev)
    with pytest.raises(tvm.TVMError, match="TL5005.*not all arrays are on"):
        f.time_evaluator("f", tvm.opencl(99))(x, y)
