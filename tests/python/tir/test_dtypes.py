"""Element types: arithmetic like NumPy's, in buffers and through textures."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te


def elementwise(run, function, *inputs, scope="", result=None):
    n = len(inputs[0])
    tensors = [te.placeholder((n,), str(v.dtype), name=f"X{i}") for i, v in enumerate(inputs)]
    y = te.compute((n,), lambda i: function(*(t[i] for t in tensors)), name="Y")
    assert result is None or y.dtype == result
    s = te.create_schedule(y.op)
    if scope:
        for t in tensors:
            cache = s.cache_read(t, scope, [y])
            s[cache].bind(s[cache].fuse(), te.thread_axis("blockIdx.x"))
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    return run(s, [*tensors, y], *inputs)


def integers(dtype, count=40):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(8)
    v = rng.integers(info.min, info.max, size=count, dtype=dtype, endpoint=True)
    v[:4] = [info.min, info.max, 0, 1]
    return v


SMALL = ["int8", "uint8", "int16", "uint16", "int32", "uint32"]


@pytest.mark.parametrize("scope", ["", "texture"])
@pytest.mark.parametrize("dtype", SMALL)
def test_integers_wrap(run, dtype, scope):
    """Sums, differences and products are modulo 2^bits, as in NumPy."""
    a, b = integers(dtype), integers(dtype)[::-1].copy()
    got = elementwise(run, lambda x, y: (x + y) * (x - y) + x * y, a, b, scope=scope, result=dtype)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got, (a + b) * (a - b) + a * b)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_wide_integers(run, dtype):
    a, b = integers(dtype), integers(dtype)[::-1].copy()
    got = elementwise(run, lambda x, y: x * y - x, a, b, result=dtype)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got, a * b - a)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_signed_division_and_shifts(run, dtype):
    """Signed division rounds down, also for narrow types; right shifts keep the sign."""
    a = integers(dtype)
    b = np.where(integers(dtype)[::-1] == 0, 3, integers(dtype)[::-1]).astype(dtype)
    b[a == np.iinfo(dtype).min] = 7  # min // -1 is not representable

    def function(x, y):
        return (x // y) * te.const(3, dtype) + x % y + (x >> te.const(2, dtype))

    with np.errstate(over="ignore"):
        expected = (a // b) * np.array(3, dtype) + a % b + (a >> np.array(2, dtype))
    np.testing.assert_array_equal(elementwise(run, function, a, b, result=dtype), expected)


def test_float64(run, dev):
    if not dev.info["float64"]:
        pytest.skip("the device has no float64")
    a = np.random.default_rng(9).standard_normal(20)
    got = elementwise(run, lambda x: x * x + te.const(1e-12, "float64"), a, result="float64")
    np.testing.assert_allclose(got, a * a + 1e-12, rtol=2.0**-52)


def test_bool(run):
    """Truth values serve as elements, as conditions and as numbers."""
    a = np.array([True, False, True, True, False])
    b = np.float32([1, 2, 3, 4, 5])
    got = elementwise(run, lambda c, x: te.if_then_else(c, x, -x) + c, a, b)
    np.testing.assert_array_equal(got, np.where(a, b, -b) + a)
    got = elementwise(run, lambda x: te.all(x > 1, x < 5), b, result="bool")
    np.testing.assert_array_equal(got, (b > 1) & (b < 5))
    assert got.dtype == bool


CASTS = [
    ("float32", "int32", [-2.7, -0.5, 0, 0.5, 2.7, 1e6]),
    ("float32", "int8", [-128, -1.9, 0, 1.9, 127]),
    ("float32", "uint8", [0, 0.9, 200.7, 255]),
    ("int32", "int8", [-129, -128, 127, 128, 2**31 - 1]),
    ("int8", "uint8", [-128, -1, 0, 127]),
    ("int8", "float32", [-128, -1, 0, 127]),
    ("uint32", "float32", [0, 2**24 - 1, 2**32 - 256]),
    ("float32", "float16", [0, 1, 1.0009, 65504, -2.5, 6.1e-5]),
    ("float32", "bool", [0, 0.25, -1]),
    ("int32", "bool", [0, 256, -1]),
    ("bool", "float32", [True, False]),
]


@pytest.mark.parametrize(("source", "target", "values"), CASTS)
def test_casts(run, source, target, values):
    """Casts truncate from floats, wrap between integers, and round to even between floats."""
    a = np.array(values, source)
    got = elementwise(run, lambda x: x.astype(target), a, result=target)
    np.testing.assert_array_equal(got, a.astype(target))


# -- float16


def halves(count=60):
    rng = np.random.default_rng(10)
    return (rng.standard_normal(count) * 4).astype("float16")


@pytest.mark.parametrize("scope", ["", "texture"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x + y,
        lambda x, y: x - y,
        lambda x, y: x * y,
        lambda x, y: x / y,
        lambda x, y: x * y + x,  # two roundings: never contracted
        lambda x, y: (x - y) * (x + y),
    ],
    ids=["add", "sub", "mul", "div", "muladd", "chain"],
)
def test_float16_arithmetic_is_numpy_s(run, function, scope):
    """Every operation is rounded to float16, bit for bit like NumPy's half."""
    a, b = halves(), halves()[::-1].copy()
    got = elementwise(run, function, a, b, scope=scope, result="float16")
    np.testing.assert_array_equal(got.view("u2"), function(a, b).view("u2"))


def test_float16_sum(run):
    """A sum of float16 accumulates in float16, in the order of the loop."""
    a = halves(32).reshape(4, 8)
    x = te.placeholder(a.shape, "float16", name="X")
    k = te.reduce_axis((0, 8), name="k")
    y = te.compute((4,), lambda i: te.sum(x[i, k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    expected = np.zeros(4, "float16")
    for column in a.T:
        expected = expected + column
    np.testing.assert_array_equal(run(s, [x, y], a), expected)


def test_float16_overflow(run):
    a = np.float16([60000, 65504, -65504, 1e-7])
    with np.errstate(over="ignore", under="ignore"):
        expected = a * np.float16(2)
    np.testing.assert_array_equal(elementwise(run, lambda x: x * 2, a), expected)


def test_float16_constant_operand(run):
    """Scripts write te.const(0.1, "float16"): the constant is rounded to float16 first."""
    a = halves()
    got = elementwise(run, lambda x: x * te.const(0.1, "float16"), a, result="float16")
    np.testing.assert_array_equal(got, a * np.float16(0.1))


# -- float32


def test_float32_contraction_is_a_choice_of_the_target(run):
    """a * b + c is one fma, rounded once; with -contract=0 it is rounded twice, as NumPy does."""
    rng = np.random.default_rng(11)
    a, b, c = (rng.standard_normal(50).astype("float32") for _ in range(3))
    once = (a.astype("float64") * b + c).astype("float32")  # exact product, one rounding (almost)
    twice = a * b + c
    assert (once != twice).any()

    def run_for(target):
        with tvm.target.Target(target):
            return elementwise(run, lambda x, y, z: x * y + z, a, b, c)

    np.testing.assert_array_equal(run_for("opencl"), once)
    np.testing.assert_array_equal(run_for("opencl -contract=0"), twice)


def test_float32_special_values(run):
    """Infinities, NaN and both zeros pass through expressions and textures."""
    a = np.float32([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0])
    for scope in ("", "texture"):
        got = elementwise(run, lambda x: te.if_then_else(x == x, x, 7.0), a, scope=scope)
        expected = np.where(np.isnan(a), np.float32(7), a)
        np.testing.assert_array_equal(got.view("u4"), expected.view("u4"))


@pytest.mark.parametrize("value", [0.1, -1e-45, 1e-38, 3.4e38, 1 / 3, 2.0**-149, 16777217.0])
def test_float32_constants_are_exact(run, value):
    got = elementwise(run, lambda x: x + te.const(value), np.zeros(1, "float32"))
    if abs(value) < np.finfo("float32").tiny:
        assert got[0] in (np.float32(value), 0)  # denormals may be flushed
    else:
        assert got[0] == np.float32(value)
