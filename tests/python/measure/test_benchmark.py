"""``benchmark``: its counts, its measurements, and its text."""

import re
from contextlib import contextmanager

import numpy as np
import pytest

import texloom as tvm
from texloom import te, tir
from texloom.measure import Benchmark
from texloom.measure.device_rates import Rates, rates_of

X = te.placeholder((8, 4), name="X")
K = te.reduce_axis((0, 4), name="k")


def built(*outputs, inputs=(X,), name="f"):
    """Build a function of the inputs, each output over a block per row."""
    s = te.create_schedule([t.op for t in outputs])
    for t in outputs:
        s[t].bind(t.op.axis[0], te.thread_axis("blockIdx.x"))
    return tvm.build(s, [*inputs, *outputs], name=name)


def operations(body, shape=(8, 4)):
    """Count the operations of a compute of X."""
    y = te.compute(shape, body, name="Y")
    return built(y)._operations(tvm.nd.empty((8, 4)), tvm.nd.empty(shape, y.dtype))


def twice(value):
    return value + value


@pytest.mark.parametrize(
    ("body", "per_element"),
    [
        (lambda i, j: X[i, j], 0),
        (lambda i, j: X[i, j] * 2 + 1, 2),
        (lambda i, j: X[(i + 1) % 8, 3 - j], 0),
        (lambda i, j: te.exp(te.max(X[i, j], 0.0)), 2),
        (lambda i, j: te.if_then_else(i + j < 5, X[i, j] * 2, X[i, j] / 3), 2),
        (lambda i, j: i * 2 & j, 2),
        (lambda i, j: twice(X[i, j] * 2), 2),
        (lambda i, j: X[i, j] * 2 + X[i, j] * 2, 3),
        (lambda i, j: tir.call_pure_extern("float32", "fma", X[i, j], X[i, j], X[0, 0]), 2),
    ],
    ids=[
        "copy",
        "two",
        "indices",
        "functions",
        "choice",
        "bits",
        "used twice",
        "written twice",
        "fma",
    ],
)
def test_operations_of_an_element(body, per_element):
    """Values count, indices and conditions do not; an expression that is used twice counts once."""
    assert operations(body) == 32 * per_element


def test_operations_of_a_reduction():
    assert operations(lambda i: te.sum(X[i, K] * X[i, K], axis=K), (8,)) == 2 * 32


def test_operations_of_all_stages_count_whatever_their_schedule():
    """An inlined stage counts once, though its readers repeat it."""
    y = te.compute((8, 4), lambda i, j: X[i, j] + 1, name="Y")
    z = te.compute((8, 4), lambda i, j: y[i, j] * y[7 - i, j], name="Z")
    s = te.create_schedule(z.op)
    s[y].compute_inline()
    s[z].bind(z.op.axis[0], te.thread_axis("blockIdx.x"))
    f = tvm.build(s, [X, z])
    assert f._operations(*(tvm.nd.empty((8, 4)) for _ in range(2))) == 2 * 32


def symbolic():
    n = te.var("n")
    x = te.placeholder((n,), name="X")
    return built(te.compute((n,), lambda i: x[i] * 3, name="Y"), inputs=[x])


def test_operations_of_symbolic_extents():
    f = symbolic()
    for n in (5, 9):
        assert f._operations(tvm.nd.empty((n,)), tvm.nd.empty((n,))) == n


def test_operations_of_functions_in_files(tmp_path):
    """A file stores the number of operations only if that number depends on no symbol."""
    arrays = [tvm.nd.empty((8, 4)) for _ in range(2)]
    built(te.compute((8, 4), lambda i, j: X[i, j] + 1)).export_library(tmp_path / "f")
    assert tvm.runtime.load_module(tmp_path / "f")._operations(*arrays) == 32
    symbolic().export_library(tmp_path / "g")
    lines = [tvm.nd.empty((5,)) for _ in range(2)]
    assert tvm.runtime.load_module(tmp_path / "g")._operations(*lines) is None


def test_operations_of_externs_are_unknown():
    def copy(ins, outs):
        ib = tir.ir_builder.create()
        source, target = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        i = te.thread_axis("threadIdx.x")
        ib.scope_attr(i, "thread_extent", 8)
        target[i.var] = source[i.var] * 2.0
        return ib.get()

    x = te.placeholder((8,), name="X")
    y = te.extern((8,), [x], copy, dtype="float32", name="Y")
    f = tvm.build(te.create_schedule(y.op), [x, y])
    assert f._operations(tvm.nd.empty((8,)), tvm.nd.empty((8,))) is None


def test_benchmark(dev):
    """Arguments may be NumPy arrays, and outputs may be left out; half elements have two bytes."""
    x = te.placeholder((64, 4), "float16", name="X")
    y = te.compute((64, 4), lambda i, j: x[i, j].astype("float32") + 1, name="Y")
    f = built(y, inputs=[x], name="widened")
    values = np.ones((64, 4), "float16")
    on_device, out = tvm.nd.array(values, dev), tvm.nd.empty((64, 4), device=dev)
    for args in ((on_device,), (on_device, out), (on_device, np.zeros((64, 4), "float32"))):
        result = f.benchmark(*args, repeat=3, min_repeat_ms=0.5)
        assert result.bytes == 64 * 4 * (2 + 4)
        assert result.operations == 64 * 4
        assert result.device == dev
        assert len(result.results) == 3
        assert 0 < result.min <= result.quartiles[0] <= result.median <= result.max
        assert result.bytes_per_second == result.bytes / result.median
        assert result.operations_per_second == result.operations / result.median
    np.testing.assert_array_equal(out.numpy(), 2)
    assert f.benchmark(values, repeat=1).device == tvm.opencl(0)


def test_the_device_is_measured_once(dev, capsys):
    rates_of.cache_clear()
    first, second = rates_of(dev), rates_of(dev)
    assert first is second
    assert first.bytes > 0
    assert first.operations > 0
    assert capsys.readouterr().err == f"texloom: measuring what {dev} can do ...\n"
    with notices_off():
        rates_of.cache_clear()
        rates_of(dev)
    assert capsys.readouterr().err == ""


@contextmanager
def notices_off():
    """Print no notices; by default the process prints them."""
    tvm.runtime.show_notices(False)
    try:
        yield
    finally:
        tvm.runtime.show_notices(True)


def result_of(**changes):
    fields = {
        "name": "f",
        "device": tvm.opencl(0),
        "results": (1e-3, 3e-3, 2e-3),
        "runs": 5,
        "bytes": 4_000_000,
        "operations": 2e6,
        "device_rates": Rates(bytes=10e9, operations=1e12),
    }
    return Benchmark(**{**fields, **changes})


def test_text():
    assert repr(result_of()) == (
        "f on opencl(0): 3 x 5 runs\n"
        "  time            2.00 ms  quartiles 1.50 ms to 2.50 ms, all 1.00 ms to 3.00 ms\n"
        "  memory        2.00 GB/s  20 % of 10.0 GB/s, 4.00 MB a run\n"
        "  arithmetic   1.00 Gop/s  0.1 % of 1.00 Top/s, 2.00 Mop a run"
    )
    assert repr(result_of(operations=None)).splitlines()[-1] == (
        "  arithmetic      unknown  the number of operations is not known"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(9.996e-7, "1.00 us"), (1.5e-8, "15.0 ns"), (0.9996, "1.00 s"), (123.4e-3, "123 ms")],
)
def test_text_of_times(seconds, text):
    assert re.search(rf"time +{text}  ", repr(result_of(results=(seconds,))))


def test_a_function_without_arrays_has_no_device():
    y = te.compute((8,), lambda i: i, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    f = tvm.build(s, [], name="nothing")
    with pytest.raises(tvm.TVMError, match="TL5001.*no array argument"):
        f.benchmark()
