"""Element-wise operators of ONNX, beyond what ONNX's own cases show."""

import numpy as np
import pytest
from several_nodes import run_each
from single_node import floats, run_node

from texloom.onnx import Unsupported

NAN, INF = np.nan, np.inf
SPECIAL = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1.0, -1.0, 7.75, -7.75, 100.0, INF, -INF, NAN]

# NumPy's function, the tested domain, and the largest error in units of the last place that
# OpenCL C 3.0 allows ("Relative Error as ULPs").
FUNCTIONS = {
    "Acos": (np.arccos, (-1, 1), 4),
    "Acosh": (np.arccosh, (1, 50), 4),
    "Asin": (np.arcsin, (-1, 1), 4),
    "Asinh": (np.arcsinh, (-50, 50), 4),
    "Atan": (np.arctan, (-50, 50), 5),
    "Atanh": (np.arctanh, (-0.99, 0.99), 5),
    "Cos": (np.cos, (-50, 50), 4),
    "Cosh": (np.cosh, (-9, 9), 4),
    "Exp": (np.exp, (-9, 9), 3),
    "Log": (np.log, (0.01, 50), 3),
    "Reciprocal": (lambda x: 1 / x, (0.1, 9), 2.5),
    "Sin": (np.sin, (-50, 50), 4),
    "Sinh": (np.sinh, (-9, 9), 4),
    "Sqrt": (np.sqrt, (0, 50), 3),
    "Tan": (np.tan, (-1.5, 1.5), 5),
    "Tanh": (np.tanh, (-9, 9), 5),
}


def check_each(functions, *arrays, version=23):
    """Compare nodes, by (operator, attributes), with NumPy, exactly."""
    results = run_each([(op, dict(a)) for op, a in functions], arrays, version)
    for (op, _), function, got in zip(functions, functions.values(), results, strict=True):
        with np.errstate(all="ignore"):
            expected = function(*arrays)
        assert got.dtype == expected.dtype, op
        np.testing.assert_array_equal(got, expected, err_msg=op)


def integers(dtype, count=24, seed=0):
    info = np.iinfo(dtype)
    random = np.random.default_rng(seed).integers(info.min, info.max, count, dtype, endpoint=True)
    return np.concatenate([np.array([info.min, info.max, 0, 1, 2, 3], dtype), random])


@pytest.mark.parametrize(
    ("dtype", "ops"),
    [("float32", [*FUNCTIONS]), ("float16", ["Exp", "Tanh"]), ("float64", ["Atan", "Log"])],
)
def test_functions_have_the_errors_that_opencl_allows(dtype, ops):
    """All functions run on all numbers; results outside a function's domain are not compared."""
    x = np.linspace(-1, 1, 41).astype(dtype)
    x = np.concatenate([x, x * 9, x * 50])
    results = run_each([(op, {}) for op in ops], [x])
    for op, got in zip(ops, results, strict=True):
        function, (low, high), units = FUNCTIONS[op]
        inside = (low <= x) & (x <= high) & (x != 0)
        expected = function(x[inside].astype("float64"))
        # float16 is computed in float32 and rounded once.
        bound = (0.51 if dtype == "float16" else units + 1) * float(np.finfo(dtype).eps)
        assert got.dtype == dtype
        np.testing.assert_allclose(got[inside], expected, rtol=bound, atol=0, err_msg=op)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_exact_functions_of_floats(dtype):
    x = np.concatenate([SPECIAL, floats(20) * 9]).astype(dtype)
    both, one = ("detect_negative", 0), ("detect_positive", 0)
    check_each(
        {
            ("Abs", ()): np.abs,
            ("Neg", ()): np.negative,
            ("Sign", ()): np.sign,
            ("Ceil", ()): np.ceil,
            ("Floor", ()): np.floor,
            ("Round", ()): np.round,
            ("Identity", ()): np.array,
            ("Relu", ()): lambda x: np.where(x < 0, x.dtype.type(0), x),
            ("IsNaN", ()): np.isnan,
            ("IsInf", ()): np.isinf,
            ("IsInf", (both,)): np.isposinf,
            ("IsInf", (one,)): np.isneginf,
            ("IsInf", (both, one)): lambda x: np.zeros(x.shape, "bool"),
        },
        x,
    )


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64"])
def test_functions_of_integers_wrap(dtype):
    functions = {("Abs", ()): np.abs, ("Sign", ()): np.sign, ("BitwiseNot", ()): np.invert}
    if dtype.startswith("int"):
        functions |= {
            ("Neg", ()): np.negative,
            ("Relu", ()): lambda x: np.maximum(x, x.dtype.type(0)),
        }
    check_each(functions, integers(dtype))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_two_floats(dtype):
    """Infinities and NaN are as IEEE 754 says; comparisons with NaN are false."""
    x = np.concatenate([SPECIAL, floats(5)]).astype(dtype)
    y = x[::-1].copy()[:, None]
    check_each(
        {
            ("Mul", ()): np.multiply,
            ("Max", ()): np.maximum,
            ("Min", ()): np.minimum,
            ("Mod", (("fmod", 1),)): np.fmod,
            ("Equal", ()): np.equal,
            ("LessOrEqual", ()): np.less_equal,
            ("Greater", ()): np.greater,
        },
        x,
        y,
    )


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64"])
def test_two_integers(dtype):
    """Results wrap; division by 0 gives 0; quotients are truncated."""
    x, y = integers(dtype), integers(dtype, seed=1)
    y[6:16] %= 7
    if dtype.startswith("int"):
        y[16:18] = -1
        x[16] = np.iinfo(dtype).min
    y = y[:, None]

    def quotient(x, y):
        result = np.floor_divide(x, y)
        return np.where((np.fmod(x, y) != 0) & ((x < 0) != (y < 0)), result + 1, result).astype(
            dtype
        )

    check_each(
        {
            ("Sub", ()): np.subtract,
            ("Mul", ()): np.multiply,
            ("Div", ()): lambda x, y: np.where(y == 0, x.dtype.type(0), quotient(x, y)),
            ("Mod", ()): np.mod,
            ("Mod", (("fmod", 1),)): np.fmod,
            ("Max", ()): np.maximum,
            ("Less", ()): np.less,
            ("BitwiseAnd", ()): np.bitwise_and,
            ("BitwiseXor", ()): np.bitwise_xor,
        },
        x,
        y,
    )


def test_bools():
    x, y = np.array([True, False]), np.array([[True], [False]])
    functions = {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}
    check_each({(op, ()): f for op, f in {**functions, "Equal": np.equal}.items()}, x, y)
    np.testing.assert_array_equal(run_node("Where", [y, x, y], 16), np.where(y, x, y))


@pytest.mark.parametrize("dtype", ["uint8", "uint64"])
def test_shifts_by_all_bits_and_more(dtype):
    x, bits = integers(dtype), np.iinfo(dtype).bits
    y = np.array([0, 1, bits - 1, bits, 255], dtype)[:, None]
    check_each(
        {
            ("BitShift", (("direction", "LEFT"),)): np.left_shift,
            ("BitShift", (("direction", "RIGHT"),)): np.right_shift,
        },
        x,
        y,
    )


def test_several_tensors_are_broadcast_and_rounded_once():
    """1 + 2^-11 + 2^-11 is 1 + 2^-10 in float16 if only the sum is rounded, else 1."""
    ones, small = np.ones((2, 1), "float16"), np.full((1, 3), 2.0**-11, "float16")
    last = np.full(1, 2.0**-11, "float16")
    np.testing.assert_array_equal(
        run_node("Sum", [ones, small, last], 13), np.full((2, 3), 1 + 2.0**-10, "float16")
    )
    mean = run_node("Mean", [ones * 3, small * 0, last * 0], 13)
    np.testing.assert_array_equal(mean, np.ones((2, 3), "float16"))
    for op in ("Max", "Mean", "Sum", "Min"):
        np.testing.assert_array_equal(run_node(op, [small], 13), small)


def test_extrema_of_many_tensors():
    """One NaN makes the result NaN, whichever input has it; kernel size is linear in the inputs."""
    arrays = [floats(12, seed=i) for i in range(12)]
    for i, array in enumerate(arrays):
        array[i] = [NAN, INF, -INF][i % 3]
    many = np.stack(arrays)
    np.testing.assert_array_equal(run_node("Max", arrays, 13), many.max(0))
    np.testing.assert_array_equal(run_node("Min", arrays, 13), many.min(0))


def test_tensors_without_axes():
    x, y = np.array(3.0, "float32"), np.array([1.0, 2.0], "float32")
    assert run_node("Mul", [x, x], 14) == 9
    np.testing.assert_array_equal(run_node("Sub", [y, x], 14), [-2, -1])
    assert run_node("Where", [np.array(False), x, x + 1], 16).shape == ()


def power_of(x, y):
    """Return the power, computed with Python's integers and wrapped to the dtype of x."""
    bits = np.iinfo(x.dtype).bits
    powers = [int(a) ** int(b) for a, b in np.broadcast(x, y)]
    wrapped = [(p + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for p in powers]
    return np.array(wrapped, x.dtype).reshape(np.broadcast(x, y).shape)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_powers_of_integers_are_exact(dtype):
    x = np.array([0, 1, -1, 2, -2, 3, 7, -10, 46340, 2**31 - 1], dtype)
    for exponent_type in ("uint8", "int64"):
        y = np.array([0, 1, 2, 9, 18, 30, 31, np.iinfo(dtype).bits], exponent_type)[:, None]
        np.testing.assert_array_equal(run_node("Pow", [x, y], 15), power_of(x, y))
    # Large exponents: 1 and -1 by parity, even bases wrap to 0.
    few, y = np.array([0, 1, -1, 2], dtype), np.array([[10**9], [10**9 + 1]], "int64")
    np.testing.assert_array_equal(run_node("Pow", [few, y], 15), [[0, 1, 1, 0], [0, 1, -1, 0]])
    # Negative exponents: truncated.
    y = np.array([[-2], [-3]], "int32")
    np.testing.assert_array_equal(run_node("Pow", [few, y], 15), [[0, 1, 1, 0], [0, 1, -1, 0]])


def test_powers_of_integers_by_floats_are_truncated():
    """An inexact pow must not turn 5 ** 3.0 into 124."""
    x, y = np.arange(1, 60, dtype="int32"), np.array([[3.0], [0.5], [-1.0]], "float32")
    expected = np.trunc(x.astype("float64") ** y).astype("int32")
    np.testing.assert_array_equal(run_node("Pow", [x, y], 15), expected)


@pytest.mark.parametrize("exponent", [np.int64(2), np.float32(3), np.float32(1), np.float32(-1)])
def test_powers_of_floats_by_constants(exponent):
    x = np.concatenate([SPECIAL, floats(9)]).astype("float32")
    got = run_node("Pow", [x, np.array(exponent)], 15, known=[1])
    with np.errstate(all="ignore"):
        expected = x.astype("float64") ** float(exponent)
    assert got.dtype == "float32"
    np.testing.assert_allclose(got, expected, rtol=16 * 2.0**-23)


def test_power_broadcasts_to_a_constant_of_more_axes():
    x = floats(3)
    got = run_node("Pow", [x, np.array([[2.0]], "float32")], 15, known=[1])
    assert got.shape == (1, 3)
    np.testing.assert_allclose(got[0], x.astype("float64") ** 2, rtol=16 * 2.0**-23)


@pytest.mark.parametrize("dtype", ["float16", "uint64"])
def test_clip(dtype):
    x = np.array(SPECIAL, dtype) if dtype == "float16" else integers(dtype)
    low, high = np.array(1, dtype), np.array(3, dtype)
    for known in ([], [1, 2]):
        got = run_node("Clip", [x, low, high], 13, known=known)
        np.testing.assert_array_equal(got, np.clip(x, low, high))
        # If the lower limit is above the upper one, the result is the upper one.
        got = run_node("Clip", [x, high, low], 13, known=known)
        np.testing.assert_array_equal(got, np.where(np.isnan(x), x, low))
    np.testing.assert_array_equal(run_node("Clip", [x, None, high], 13), np.minimum(x, high))
    np.testing.assert_array_equal(run_node("Clip", [x, low], 13, known=[1]), np.maximum(x, low))
    np.testing.assert_array_equal(run_node("Clip", [x], 13), x)


@pytest.mark.parametrize("known", [[], [1, 2]])
@pytest.mark.parametrize(
    "limits", [(-np.inf, -np.inf), (np.inf, np.inf), (1, -np.inf), (np.inf, 5)]
)
def test_clip_between_infinite_limits(limits, known):
    x = np.array([-2, 0.5, 3], "float32")
    low, high = (np.array(limit, "float32") for limit in limits)
    np.testing.assert_array_equal(run_node("Clip", [x, low, high], 13, known=known), [high] * 3)


def test_clip_by_attributes():
    x = np.array(SPECIAL, "float32")
    got = run_node("Clip", [x], 6, max=2.0)
    np.testing.assert_array_equal(got, np.clip(x, np.finfo("float32").min, 2))


def test_where_broadcasts_all_inputs():
    c = np.array([[True], [False]])
    x, y = np.array([1, 2, 3], "int16"), np.array([[[7]]], "int16")
    np.testing.assert_array_equal(run_node("Where", [c, x, y], 9), np.where(c, x, y))


@pytest.mark.parametrize("known", [[], [1]])
def test_axes_of_old_versions(known):
    """Up to version 6, `axis` says at which axis of the first tensor the second one begins."""
    x, y = floats(2, 3, 4), floats(3)
    got = run_node("Sub", [x, y], 6, known=known, axis=1, broadcast=1)
    np.testing.assert_array_equal(got, x - y[:, None])
    got = run_node("PRelu", [x, y], 6, known=known)
    np.testing.assert_array_equal(got, np.where(x < 0, y[:, None] * x, x))


def test_dropout():
    x = floats(2, 3)
    for version, inputs, mask in (
        (7, [x], np.ones((2, 3), "float32")),
        (10, [x], np.ones((2, 3), "bool")),
        (22, [x, np.array(0.5, "float32"), np.array(False)], np.ones((2, 3), "bool")),
        (13, [x, np.array(0.0, "float32"), np.array(True)], np.ones((2, 3), "bool")),
    ):
        got = run_node("Dropout", inputs, version, outputs=2, known=range(1, len(inputs)))
        np.testing.assert_array_equal(got[0], x)
        np.testing.assert_array_equal(got[1], mask, strict=True)
    with pytest.raises(Unsupported, match="only when the model runs"):
        run_node("Dropout", [x, None, np.array(False)], 13)


FLOAT, SIGNED, BYTE = (np.ones((2, 3), dtype) for dtype in ("float32", "int32", "uint8"))


@pytest.mark.parametrize(
    ("op", "inputs", "version", "attributes", "why"),
    [
        ("Add", [FLOAT, FLOAT], 6, {"axis": 1, "broadcast": 1}, "placed from axis 1 on"),
        ("Add", [FLOAT, SIGNED], 14, {}, "different types: float32, int32"),
        ("Where", [FLOAT > 0, FLOAT, SIGNED], 9, {}, "different types: float32, int32"),
        ("Sum", [FLOAT, FLOAT, FLOAT[:, :2]], 13, {}, "do not broadcast"),
        ("Clip", [FLOAT, FLOAT], 13, {}, "limits are not scalars"),
        ("BitShift", [BYTE, BYTE], 11, {"direction": "UP"}, "direction"),
        ("BitShift", [SIGNED, SIGNED], 11, {"direction": "LEFT"}, "is int32, .* takes uint16, "),
        (
            "Mul",
            [FLOAT > 0, FLOAT > 0],
            14,
            {},
            "its input 0 is bool, but the operator takes bfloat16",
        ),
        ("Sum", [FLOAT, FLOAT, FLOAT > 0], 13, {}, "its input 2 is bool"),
        ("Relu", [FLOAT, FLOAT], 14, {}, "it has 2 inputs, but the operator takes 1"),
        ("Clip", [], 13, {}, "it has 0 inputs, but the operator takes 1 to 3"),
        ("PRelu", [FLOAT[0], FLOAT], 16, {}, "slope of shape .2, 3. does not"),
        ("Gelu", [FLOAT], 20, {"approximate": "cubic"}, "its approximate is 'cubic'"),
    ],
)
def test_refused_operators_say_why(op, inputs, version, attributes, why):
    with pytest.raises(Unsupported, match=why):
        run_node(op, inputs, version, **attributes)
