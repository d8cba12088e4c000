"""OpenCL C functions by name, which become expressions of existing functions."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te, tir

FLOATS = np.random.default_rng(7).uniform(0.1, 4, (3, 32)).astype("float32")
FLOATS[0, :4] = [-2, -0.5, 0, 4]


def smooth(t):
    return t * t * (3 - 2 * t)


FLOAT_REFERENCES = {
    "mad": lambda a, b, c: a * b + c,
    "mix": lambda x, y, a: x + (y - x) * a,
    "clamp": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "smoothstep": lambda low, high, x: smooth(np.clip((x - low) / (high - low), 0, 1)),
    "select": lambda a, b, c: np.where(c != 0, b, a),
    "step": lambda edge, x: np.where(x < edge, 0.0, 1.0),
    "fdim": lambda x, y: np.maximum(x - y, 0),
    "half_divide": lambda x, y: x / y,
    "sign": np.sign,
    "degrees": np.degrees,
    "radians": np.radians,
    "half_exp": np.exp,
    "half_recip": np.reciprocal,
}


def computed(dev, values, dtype, names):
    """Apply each function, in one kernel, to its first operands: one row of values for each."""
    rows, n = values.shape
    x = te.placeholder((rows, n), dtype, name="X")

    def results(i):
        counts = [tir.opencl_functions.FUNCTIONS[name][0] for name in names]
        return [
            tir.call_pure_extern(dtype, name, *(x[row, i] for row in range(count)))
            for name, count in zip(names, counts, strict=True)
        ]

    outputs = te.compute((n,), results, name="Y")
    s = te.create_schedule(outputs[0].op)
    s[outputs[0]].bind(outputs[0].op.axis[0], te.thread_axis("threadIdx.x"))
    arrays = [tvm.nd.empty((n,), dtype, dev) for _ in names]
    tvm.build(s, [x, *outputs])(tvm.nd.array(values, dev), *arrays)
    return {name: array.numpy() for name, array in zip(names, arrays, strict=True)}


def test_functions_of_floats(dev):
    found = computed(dev, FLOATS, "float32", list(FLOAT_REFERENCES))
    with np.errstate(divide="ignore"):
        for name, reference in FLOAT_REFERENCES.items():
            operands = FLOATS[: tir.opencl_functions.FUNCTIONS[name][0]]
            tvm.testing.assert_allclose(found[name], reference(*operands), rtol=1e-5)


def test_fma_rounds_once(dev):
    """c cancels all but the last bits of a * b; these survive only if fma rounds once."""
    a, square = np.float32(1 + 2**-12), np.float32(1 + 2**-11)
    values = np.float32([[a, a, 3], [a, -a, 5], [-square, square, 7]])
    found = computed(dev, values, "float32", ["fma", "mad"])
    np.testing.assert_array_equal(found["fma"], np.float32([2**-24, -(2**-24), 22]))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32"])
def test_functions_of_integers(dev, dtype):
    """Values at the limits of the type and between them are compared with Python's integers."""
    info = np.iinfo(dtype)
    ends = [info.min, info.min + 1, info.max // 3, info.max - 1, info.max]
    values = np.random.default_rng(8).choice(ends, (3, 24)).astype(dtype)
    values[1, 5:15] = range(10)
    span = 1 << info.bits

    def rotated(x, count):
        x, count = x % span, count % info.bits
        return ((x << count) | (x >> (info.bits - count))) % span

    references = {
        "mul_hi": lambda x, y: (x * y) >> info.bits,
        "add_sat": lambda x, y: min(max(x + y, info.min), info.max),
        "sub_sat": lambda x, y: min(max(x - y, info.min), info.max),
        "hadd": lambda x, y: (x + y) >> 1,
        "rhadd": lambda x, y: (x + y + 1) >> 1,
        "rotate": rotated,
    }
    found = computed(dev, values, dtype, list(references))
    for name, reference in references.items():
        expected = [reference(int(a), int(b)) % span for a, b in values[:2].T]
        np.testing.assert_array_equal(found[name].astype("int64") % span, expected, name)


def test_functions_of_24_bits(dev):
    values = np.random.default_rng(9).integers(-4000, 4000, (3, 16), dtype="int32")
    found = computed(dev, values, "int32", ["mul24", "mad24", "clamp"])
    np.testing.assert_array_equal(found["mul24"], values[0] * values[1])
    np.testing.assert_array_equal(found["mad24"], values[0] * values[1] + values[2])
    np.testing.assert_array_equal(
        found["clamp"], np.minimum(np.maximum(values[0], values[1]), values[2])
    )


@pytest.mark.parametrize(
    ("dtype", "name", "count", "problem"),
    [
        ("float32", "mad", 2, "mad is called with 2 arguments"),
        ("int32", "mad", 3, "mad is called for int32"),
        ("float32", "mad24", 3, "mad24 is called for float32"),
        ("bool", "select", 3, "select is called for bool"),
        ("int64", "mul_hi", 2, "at most 32 bits, not int64"),
        ("float16", "fma", 3, "fma is called for float16"),
        ("float32", "cbrt", 2, "cbrt is called with 2 arguments"),
    ],
)
def test_calls_that_are_refused(dtype, name, count, problem):
    with pytest.raises(tvm.TVMError, match=problem):
        tir.call_pure_extern(dtype, name, *[te.const(1)] * count)
