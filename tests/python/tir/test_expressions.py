"""Expressions: result types of operators, constant folding, and values on a device."""

import math
from functools import partial

import numpy as np
import pytest

import texloom as tvm
from texloom import te, tir


def value_of(dtype, name="a"):
    return te.var(name, dtype)


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        ("float32", "float32", "float32"),
        ("float16", "float32", "float32"),  # the wider float
        ("float32", "float64", "float64"),
        ("int8", "int32", "int32"),  # the wider integer
        ("uint8", "uint16", "uint16"),
        ("uint32", "int32", "uint32"),  # of one width: unsigned
        ("int64", "uint8", "int64"),
        ("int64", "float16", "float16"),  # a float wins over any integer
        ("bool", "int8", "int8"),  # a number type wins over bool
        ("float32", "bool", "float32"),
    ],
)
def test_common_type(a, b, result):
    for first, second in ((a, b), (b, a)):
        assert (value_of(first) + value_of(second, "b")).dtype == result
        assert te.max(value_of(first), value_of(second, "b")).dtype == result
        chosen = te.if_then_else(value_of("bool", "c"), value_of(first), value_of(second, "b"))
        assert chosen.dtype == result


@pytest.mark.parametrize(
    ("dtype", "literal", "result"),
    [
        ("float16", 2, "float16"),
        ("float16", 2.0, "float32"),  # a Python float is float32, as in te
        ("int8", 2, "int32"),
        ("int64", 2, "int64"),
        ("int32", 2**40, "int64"),
        ("int32", 0.5, "float32"),
        ("uint8", True, "uint8"),
        ("float32", np.float32(2), "float32"),
        ("int32", np.int64(2), "int32"),
        ("int32", np.arange(3)[1], "int32"),  # NumPy's integers are treated as Python's
    ],
)
def test_type_with_a_literal(dtype, literal, result):
    assert (value_of(dtype) * literal).dtype == result
    assert (literal * value_of(dtype)).dtype == result


def test_comparisons_are_bool():
    a, b = value_of("int32"), value_of("float16", "b")
    for comparison in (a < b, a <= b, a > b, a >= b, a == b, a != b):
        assert comparison.dtype == "bool"
    assert te.all(a < 1, b > 2).dtype == "bool"
    assert te.any(a < 1, b > 2).dtype == "bool"


def test_integer_constants_fold():
    """Arithmetic of constants folds: scripts compute extents with it and read `.value`."""
    h, k, p, s = (te.const(n) for n in (56, 3, 1, 2))
    out = (h - k + 2 * p) // s + 1
    assert out.value == 28
    assert int(out) == 28
    assert te.floordiv(te.const(-7), 2).value == -4
    assert te.floormod(te.const(-7), 2).value == 1
    assert te.truncdiv(te.const(-7), 2).value == -3
    assert te.truncmod(te.const(-7), 2).value == -1
    assert te.const(2.5).value == 2.5


def test_constants_of_a_type():
    assert te.const(1, "float16").dtype == "float16"
    assert te.const(1).dtype == "int32"
    assert te.const(1.0).dtype == "float32"
    assert te.max_value("int8").value == 127
    assert te.min_value("int8").value == -128
    assert te.max_value("uint8").value == 255
    assert te.min_value("float32").value == np.finfo("float32").min
    assert te.max_value("float16").value == 65504


def test_no_truth_value():
    """An expression as a bool is refused: `if` and `and` would silently drop a condition."""
    i = value_of("int32")
    for wrong in (
        lambda: bool(i < 3),
        lambda: 0 < i < 3,
        lambda: (i < 3) and (i > 0),
        lambda: not (i < 3),
    ):
        with pytest.raises(ValueError, match="te.all"):
            wrong()


def test_expressions_are_keys():
    """Expressions can be keys of dicts: as a bool, `==` compares their identity."""
    i, j = value_of("int32", "i"), value_of("int32", "j")
    assert {i: 1, j: 2}[i] == 1
    assert i == i and not (i != i)
    assert not (i == j)


def test_only_constants_have_a_value():
    with pytest.raises(AttributeError):
        _ = value_of("int32").value
    with pytest.raises(TypeError):
        int(value_of("int32"))


def elementwise(run, function, *inputs):
    """Compute the function of equally long vectors on the device."""
    n = len(inputs[0])
    tensors = [te.placeholder((n,), str(x.dtype), name=f"X{i}") for i, x in enumerate(inputs)]
    y = te.compute((n,), lambda i: function(*(t[i] for t in tensors)), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    return run(s, [*tensors, y], *inputs)


SIGNED = np.array([-9, -8, -7, -1, 0, 1, 7, 8, 9, -(2**31), 2**31 - 1], "int32")


@pytest.mark.parametrize("divisor", [4, 3, -3])
def test_integer_division_rounds_as_said(run, divisor):
    """`//` and `%` round down, truncdiv and truncmod toward zero, for any signs."""

    def every(x):
        d = te.const(divisor)
        quotients = te.floordiv(x, d) * 5 + te.floormod(x, d)
        return quotients + te.truncdiv(x, d) * 7 + te.truncmod(x, d) * 11

    x = SIGNED.astype("int64")
    truncated = np.sign(x) * np.sign(divisor) * (abs(x) // abs(divisor))
    expected = x // divisor * 5 + x % divisor
    expected += truncated * 7 + (x - truncated * divisor) * 11
    np.testing.assert_array_equal(elementwise(run, every, SIGNED), expected.astype("int32"))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("lanes", [1, 4])
def test_remainders_by_minus_one(run, dtype, lanes):
    """Remainders by -1 are 0, also of the type's least number."""
    least = np.iinfo(dtype).min
    x = te.placeholder((4,), dtype, name="X")
    d = te.placeholder((4,), dtype, name="D")
    y = te.compute((4,), lambda i: te.floormod(x[i], d[i]) * 16 + te.truncmod(x[i], d[i]), name="Y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(y.op.axis[0], factor=lanes)
    s[y].bind(outer, te.thread_axis("threadIdx.x"))
    s[y].vectorize(inner)
    values = np.array([least, least + 1, -7, 7], dtype)
    got = run(s, [x, d, y], values, np.array([-1, -1, -1, 4], dtype))
    np.testing.assert_array_equal(got, [0, 0, 0, 3 * 16 + 3])


def test_constants_without_a_representation_are_written(run):
    x = te.placeholder((4,), "int32", name="X")
    for constant in (float("nan"), float("inf"), -1e30):
        number = te.const(constant, "float32").astype("int32")
        y = te.compute((4,), partial(lambda n, i: n + x[i], number), name="Y")
        s = te.create_schedule(y.op)
        s[y].bind(y.op.axis[0], te.thread_axis("threadIdx.x"))
        np.testing.assert_array_equal(run(s, [x, y], np.arange(4)), np.arange(4))


def test_bits_and_shifts(run):
    x, y = SIGNED, np.arange(len(SIGNED), dtype="int32") + 3
    got = elementwise(run, lambda a, b: ((a & b) ^ (a | 12)) + (a >> 2) + (b << 3), x, y)
    np.testing.assert_array_equal(got, ((x & y) ^ (x | 12)) + (x >> 2) + (y << 3))


def test_choices_and_truth_values(run):
    """Conditions can be combined; a comparison used as a number is 0 or 1."""
    x = np.arange(-6, 7, dtype="float32")
    got = elementwise(
        run,
        lambda a: te.if_then_else(te.any(te.all(a > -3, a < 0), a >= 4), a * 2, -a) + (a == 2) * 10,
        x,
    )
    inside = ((x > -3) & (x < 0)) | (x >= 4)
    np.testing.assert_array_equal(got, np.where(inside, x * 2, -x) + (x == 2) * 10)


def test_min_and_max_of_several(run):
    x, y = np.float32([1, 5, -3]), np.float32([2, -5, -4])
    got = elementwise(run, lambda a, b: te.max(a, b, 0.0) - te.min(a, b, -1), x, y)
    np.testing.assert_array_equal(
        got, np.maximum(np.maximum(x, y), 0) - np.minimum(np.minimum(x, y), -1)
    )


def test_rounding_functions(run):
    """`round` rounds ties away from zero, `nearbyint` to even; integers stay as they are."""
    x = np.float32([-2.5, -1.5, -0.5, -0.2, 0.0, 0.5, 1.5, 2.5, 2.7])
    away = np.copysign(np.floor(np.abs(x) + np.float32(0.5)), x)
    for function, expected in (
        (te.floor, np.floor(x)),
        (te.ceil, np.ceil(x)),
        (te.trunc, np.trunc(x)),
        (te.round, away),
        (te.nearbyint, np.rint(x)),
    ):
        np.testing.assert_array_equal(elementwise(run, function, x), expected)
        assert function(value_of("int32")).dtype == "int32"


def test_abs(run):
    np.testing.assert_array_equal(elementwise(run, te.abs, np.float32([-2, 0, 3])), [2, 0, 3])
    np.testing.assert_array_equal(elementwise(run, te.abs, SIGNED[:-2]), np.abs(SIGNED[:-2]))
    assert te.abs(value_of("uint8")).dtype == "uint8"


# Largest errors in ulp, from table 7.1 of the OpenCL 1.2 full profile. The references use float64,
# so that only the device's error counts; te's composed functions have bounds derived by hand.
FUNCTIONS = {
    "exp": (te.exp, np.exp, 3),
    "exp2": (te.exp2, np.exp2, 3),
    "log": (te.log, np.log, 3),
    "log2": (te.log2, np.log2, 3),
    "log10": (te.log10, np.log10, 3),
    "sqrt": (te.sqrt, np.sqrt, 3),
    "rsqrt": (te.rsqrt, lambda x: 1 / np.sqrt(x), 2),
    "sin": (te.sin, np.sin, 4),
    "cos": (te.cos, np.cos, 4),
    "tan": (te.tan, np.tan, 5),
    "sinh": (te.sinh, np.sinh, 4),
    "cosh": (te.cosh, np.cosh, 4),
    "tanh": (te.tanh, np.tanh, 5),
    "atan": (te.atan, np.arctan, 5),
    "erf": (te.erf, np.vectorize(math.erf), 16),
    "erfc": (partial(tir.call_pure_extern, "float32", "erfc"), np.vectorize(math.erfc), 16),
    "cbrt": (partial(tir.call_pure_extern, "float32", "cbrt"), np.cbrt, 2),
    "expm1": (partial(tir.call_pure_extern, "float32", "expm1"), np.expm1, 3),
    "tgamma": (partial(tir.call_pure_extern, "float32", "tgamma"), np.vectorize(math.gamma), 16),
    "ldexp": (lambda x: tir.ldexp(x, -3), lambda x: np.ldexp(x, -3), 0),
    "asin": (lambda x: te.asin(x / 8), lambda x: np.arcsin(x / 8), 4),
    "acos": (lambda x: te.acos(x / 8), lambda x: np.arccos(x / 8), 4),
    "power": (lambda x: te.power(x, 1.5), lambda x: x**1.5, 16),
    "fmod": (lambda x: te.fmod(x, 0.75), lambda x: np.fmod(x, 0.75), 0),
    "sigmoid": (te.sigmoid, lambda x: 1 / (1 + np.exp(-x)), 8),
}


def test_functions(run):
    """One kernel computes all functions, each within OpenCL's bound."""
    points = np.float32([0.25, 0.5, 0.75, 1.0, 1.125, 2.5, 3.75, 7.0])
    x = te.placeholder((len(points),), name="X")
    outs = [
        te.compute(x.shape, partial(lambda function, i: function(x[i]), function), name=f"Y_{name}")
        for name, (function, _, _) in FUNCTIONS.items()
    ]
    s = te.create_schedule([y.op for y in outs])
    for y in outs:
        s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    results = run(s, [x, *outs], points)
    for (name, (_, reference, ulps)), got in zip(FUNCTIONS.items(), results, strict=True):
        exact = reference(points.astype("float64"))
        error = np.abs(got.astype("float64") - exact) / np.spacing(np.abs(exact).astype("float32"))
        assert error.max() <= ulps + 0.5, f"{name}: {error.max():.2f} ulp"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_functions_of_nan(run, dtype):
    """A device's compiler that sees the constant NaN does not leave out the stores."""
    x = te.placeholder((4,), dtype, name="X")
    functions = (te.floor, te.round, te.exp, te.exp2, te.sinh, te.tanh, te.sigmoid)
    nan = te.const(math.nan, dtype)
    outs = [te.compute(x.shape, partial(lambda f, i: f(x[i] * nan), each)) for each in functions]
    s = te.create_schedule([y.op for y in outs])
    for y in outs:
        s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    assert np.isnan(run(s, [x, *outs], np.arange(4))).all()


def test_ldexp(run):
    """The exponents reach the limits of float32 and beyond, without denormal results."""
    x = np.float32([1.5, -1.5, 3, 0, np.inf, 1.5, 1.5, -1.5])
    n = np.int32([-100, 100, -1, 7, -7, 2**31 - 1, -(2**31), 1000])
    with np.errstate(over="ignore", under="ignore"):
        expected = np.ldexp(x, n)
    np.testing.assert_array_equal(elementwise(run, tir.ldexp, x, n), expected)
    assert tir.ldexp(value_of("float64"), value_of("int8", "n")).dtype == "float64"


def test_functions_want_floats():
    """Functions refuse integers; only rounding functions and abs accept them."""
    for name in ("exp", "sqrt", "tanh", "erf"):
        with pytest.raises(RuntimeError, match="TL1003"):
            getattr(te, name)(value_of("int32"))


def test_index_arithmetic_of_any_integer_type(run):
    """An index may have any integer type; it is converted to int32."""
    x = te.placeholder((8,), name="X")
    y = te.compute((8,), lambda i: x[(7 - i).astype("int64")] + x[i.astype("uint8")], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    v = np.arange(8, dtype="float32") ** 2
    np.testing.assert_array_equal(run(s, [x, y], v), v[::-1] + v)


def test_axes_are_values(run):
    """An axis can be used as a number wherever an expression can."""
    y = te.compute((3, 4), lambda i, j: i * 10 + j - (i == j), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("blockIdx.x"))
    i, j = np.indices((3, 4))
    np.testing.assert_array_equal(run(s, [y]), i * 10 + j - (i == j))


def test_gather(run):
    """An index may be read from a tensor."""
    x = te.placeholder((10,), name="X")
    where = te.placeholder((6,), "int32", name="where")
    y = te.compute((6,), lambda i: x[where[i]] * 2, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    v, w = np.arange(10, dtype="float32"), np.int32([3, 9, 0, 0, 5, 1])
    np.testing.assert_array_equal(run(s, [x, where, y], v, w), v[w] * 2)


def test_negation_keeps_type_and_sign_of_zero(run):
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: 1.0 / (-x[i]), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    data = np.array([0.0, -0.0, 1.0, -4.0], "float32")
    np.testing.assert_array_equal(run(s, [x, y], data), np.float32([-np.inf, np.inf, -1, 0.25]))
    for dtype in ("int8", "uint16", "int32", "float16", "float64"):
        assert (-te.placeholder((4,), dtype)[0]).dtype == dtype
    assert (-(x[0] > 1)).dtype == "int32"


def test_constants_of_every_integer():
    assert te.max_value("uint64").value == 2**64 - 1
    assert te.const(2**63, "uint64").value == 2**63
    with pytest.raises(tvm.TVMError, match="TL1009"):
        te.const(2**64, "uint64")
    with pytest.raises(tvm.TVMError, match="TL1009"):
        te.const(2**63, "int64")
