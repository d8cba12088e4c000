"""Numbers passed by value: variables of every scalar type in bodies."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te

N = 6
VALUES = np.arange(N, dtype="float32")


def added(dtype="float32", checked=False):
    """Return D = A + x, with the type of x."""
    x = te.var("x", dtype)
    a = te.placeholder((N,), dtype, name="A")
    d = te.compute((N,), lambda i: a[i] + x, name="D")
    s = te.create_schedule(d.op)
    s[d].bind(d.op.axis[0], te.thread_axis("blockIdx.x"))
    return tvm.build(s, [x, a, d], "opencl", checked=checked), tvm.program(s, [x, a, d])


def result(f, dev, x, dtype="float32"):
    a = tvm.nd.array(VALUES.astype(dtype), dev)
    d = tvm.nd.empty((N,), dtype, dev)
    f(x, a, d)
    return d.numpy()


@pytest.mark.parametrize(
    ("dtype", "x"),
    [
        ("int8", -100),
        ("int16", -30000),
        ("int32", 2**31 - 10),
        ("int64", -(2**62)),
        ("uint8", 250),
        ("uint16", 65000),
        ("uint32", 2**32 - 10),
        ("uint64", 2**64 - 10),
        ("float16", 0.1),
        ("float32", 0.1),
    ],
)
def test_types(dev, dtype, x):
    f, program = added(dtype)
    np.testing.assert_array_equal(
        result(f, dev, x, dtype), VALUES.astype(dtype) + np.dtype(dtype).type(x)
    )
    assert str(tvm.parse(str(program))) == str(program)


def test_a_bool_chooses(dev):
    x = te.var("x", "bool")
    d = te.compute((N,), lambda i: te.if_then_else(x, i, -i), name="D")
    s = te.create_schedule(d.op)
    s[d].bind(d.op.axis[0], te.thread_axis("blockIdx.x"))
    f = tvm.build(s, [d, x], "opencl")
    for value in (True, False, np.bool_(True), 0):
        out = tvm.nd.empty((N,), "int32", dev)
        f(out, value)
        np.testing.assert_array_equal(out.numpy(), np.arange(N) * (1 if value else -1))


@pytest.mark.parametrize(
    ("dtype", "x", "problem"),
    [
        ("float32", 1, "'x' is an int, not a float"),
        ("float32", "1", "'x' is a str, not a float"),
        ("float32", 1e300, r"'x' is 1e\+300, which is not a valid float32"),
        ("float16", 1e5, "'x' is 100000.0, which is not a valid float16"),
        ("int8", 128, "'x' is 128, which is not a valid int8"),
        ("uint64", -1, "'x' is -1, which is not a valid uint64"),
        ("int32", 1.0, "'x' is a float, not an integer"),
    ],
)
def test_values_of_another_type_are_refused(dev, dtype, x, problem):
    with pytest.raises(tvm.TVMError, match=f"TL5002.*{problem}"):
        result(added(dtype)[0], dev, x, dtype)


def test_kernels_get_the_scalars_that_they_use(dev):
    """Two kernels use two scalars, one of them also in an index."""
    x, y = te.var("x", "float32"), te.var("y")
    a = te.placeholder((N,), name="A")
    b = te.compute((N,), lambda i: a[te.floormod(i + y, N)], name="B")
    c = te.compute((N,), lambda i: b[i] * x, name="C")
    s = te.create_schedule(c.op)
    for t in (b, c):
        s[t].bind(t.op.axis[0], te.thread_axis("threadIdx.x"))
    f = tvm.build(s, [a, x, c, y], "opencl")
    assert [[p["name"] for p in k.args if p["kind"] == "constant"] for k in f.kernels] == [
        ["y"],
        ["x"],
    ]
    arrays = [tvm.nd.array(VALUES, dev), tvm.nd.empty((N,), device=dev)]
    f(arrays[0], 0.5, arrays[1], 2)
    np.testing.assert_array_equal(arrays[1].numpy(), np.roll(VALUES, -2) * 0.5)


def test_a_tensor_of_symbolic_extent_beside_scalars(dev):
    n, x = te.var("n"), te.var("x", "int16")
    a = te.placeholder((n,), "int32", name="A")
    d = te.compute((n,), lambda i: a[i] * n + x, name="D")
    s = te.create_schedule(d.op)
    s[d].bind(d.op.axis[0], te.thread_axis("blockIdx.x"))
    f = tvm.build(s, [a, d, x], "opencl")
    v = np.arange(5, dtype="int32")
    out = tvm.nd.empty((5,), "int32", dev)
    f(tvm.nd.array(v, dev), out, -7)
    np.testing.assert_array_equal(out.numpy(), v * 5 - 7)


def test_other_ways_to_run(dev, tmp_path):
    """Scalars work with enqueue, time_evaluator, checked functions and files."""
    f, _ = added("int8")
    a, d = tvm.nd.array(np.zeros(N, "int8"), dev), tvm.nd.empty((N,), "int8", dev)
    f.enqueue(2, -3, a, d)
    np.testing.assert_array_equal(d.numpy(), np.full(N, -3))
    assert f.time_evaluator(f.entry_name, dev, number=1)(4, a, d).mean > 0
    np.testing.assert_array_equal(d.numpy(), np.full(N, 4))
    np.testing.assert_array_equal(
        result(added("int8", checked=True)[0], dev, 1, "int8"), VALUES + 1
    )
    f.export_library(tmp_path / "f")
    g = tvm.runtime.load_module(tmp_path / "f")
    np.testing.assert_array_equal(result(g, dev, -1, "int8"), VALUES - 1)
    with pytest.raises(tvm.TVMError, match="TL5002.*'x' is 200, which is not a valid int8"):
        g(200, a, d)


def test_lowered_programs_keep_the_types_of_arguments(dev):
    _, program = added("int8")
    text = str(tvm.lower(program))
    assert "value 0: symbol 0 of int8" in text
    f = tvm.build(tvm.parse(text))
    np.testing.assert_array_equal(result(f, dev, 7, "int8"), VALUES + 7)
    without = "\n".join(line for line in text.splitlines() if not line.startswith("value"))
    with pytest.raises(tvm.TVMError, match="TL3010.*no argument gives the symbol 'x' a value"):
        tvm.build(tvm.parse(without))


@pytest.mark.parametrize(("dtype", "x"), [("float16", 0.5), ("int8", -5), ("bool", True)])
def test_interpreted_versions_agree(dtype, x):
    """The schedule without directives and the program after each pass give the same result."""
    v = te.var("x", dtype)
    d = te.compute((N,), lambda i: v, name="D")
    s = te.create_schedule(d.op)
    s[d].bind(d.op.axis[0], te.thread_axis("blockIdx.x"))
    program = tvm.program(s, [d, v])
    seen = []
    tvm._core.run_versions(
        program, {"x": x}, [None], 1 << 16, lambda *version: seen.append(version)
    )
    values = [np.frombuffer(arrays[0], dtype) for _, _, arrays in seen]
    assert len(values) > 3 and all(np.array_equal(v, np.full(N, x, dtype)) for v in values)


def test_a_scalar_that_is_no_argument():
    x = te.var("x", "float32")
    d = te.compute((N,), lambda i: x, name="D")
    with pytest.raises(tvm.TVMError, match=r"TL1007(.|\n)*add it to args"):
        tvm.lower(te.create_schedule(d.op), [d])
