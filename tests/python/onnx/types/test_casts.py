"""Casts and linear quantization."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from several_nodes import run_each
from single_node import floats, run_node

from texloom.errors import TVMError
from texloom.onnx import Model, Unsupported

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
NAN, INF = np.nan, np.inf


def kind(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def casts(x, types):
    """Return x in each type, by one model."""
    return zip(types, run_each([("Cast", {"to": kind(to)}) for to in types], [x], 21), strict=True)


@pytest.mark.parametrize(
    ("dtype", "types"),
    [("int64", [*INTEGERS, *FLOATS, "bool"]), ("uint8", ["int8", "int64", "float16", "bool"])],
)
def test_casts_of_integers_wrap(dtype, types):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 0, 1, 2, info.max // 3, info.max - 1], dtype)
    for to, got in casts(x, types):
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(got, x.astype(to), strict=True)


@pytest.mark.parametrize(
    ("dtype", "types"),
    [("float16", ["int8", "uint64"]), ("float32", INTEGERS), ("float64", ["int32", "int64"])],
)
def test_casts_of_floats_saturate(dtype, types):
    """Numbers outside of an integer type become its limits, NaN becomes 0."""
    x = np.array([0, -0.5, 0.99, -1.5, 127.5, -128.5, 200, -200, 1e4, -1e4, INF, -INF, NAN], dtype)
    if dtype != "float16":
        bounds = [s * 2.0**bits for bits in (15, 16, 31, 32, 63, 64, 70) for s in (1, -1)]
        x = np.concatenate([x, np.array(bounds, dtype), np.nextafter(np.array(bounds, dtype), 0)])
    for to, got in casts(x, types):
        info = np.iinfo(to)
        finite = [0 if np.isnan(v) else min(max(v, -(2.0**80)), 2.0**80) for v in x.tolist()]
        expected = [min(max(int(v), int(info.min)), int(info.max)) for v in finite]
        np.testing.assert_array_equal(got, np.array(expected, to), strict=True)


def test_casts_among_floats_and_bools():
    x = np.array([0, -0.0, 1e-30, 1.0 + 2.0**-24, 65519, 65520, -1e39, INF, NAN])
    with np.errstate(over="ignore"):
        for to, got in casts(x, ["float16", "float32", "bool"]):
            np.testing.assert_array_equal(got, x.astype(to), strict=True)
        for to, got in casts(x > 0, ["int8", "uint64", "float16"]):
            np.testing.assert_array_equal(got, (x > 0).astype(to), strict=True)


def test_cast_like():
    got = run_node("CastLike", [floats(3), np.zeros(1, "int8")], 19)
    assert got.dtype == "int8"


def test_casts_to_strings_are_refused():
    with pytest.raises(Unsupported, match="it converts to string"):
        run_node("Cast", [floats(3)], 21, to=TensorProto.STRING)


@pytest.mark.parametrize("element", [TensorProto.STRING, TensorProto.COMPLEX64])
def test_inputs_of_other_types_are_refused(element):
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "other",
        [helper.make_tensor_value_info("x", element, [2])],
        [helper.make_tensor_value_info("y", element, [2])],
    )
    with pytest.raises(Unsupported, match="elements of the type"):
        Model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))


@pytest.mark.parametrize(
    "element", [TensorProto.BFLOAT16, TensorProto.FLOAT8E5M2, TensorProto.INT4]
)
def test_constants_of_small_types_have_their_numbers(element):
    numbers = np.array([1, -2, 4], "float32")
    graph = helper.make_graph(
        [helper.make_node("Cast", ["k"], ["y"], to=TensorProto.FLOAT)],
        "weights",
        [],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])],
        [helper.make_tensor("k", element, [3], numbers)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    np.testing.assert_array_equal(Model(model).run({})["y"], numbers, strict=True)


def test_constants_of_other_types_are_refused():
    element = TensorProto.UINT4
    graph = helper.make_graph(
        [helper.make_node("Where", ["c", "k", "k"], ["y"])],
        "other",
        [helper.make_tensor_value_info("c", TensorProto.BOOL, [2])],
        [helper.make_tensor_value_info("y", element, [2])],
        [helper.make_tensor("k", element, [2], [1, 2])],
    )
    with pytest.raises(TVMError, match="is uint4, but the operator"):
        Model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))


def expected_quantized(x, scale, zero, dtype):
    info = np.iinfo(dtype)
    return np.clip(np.rint(x / scale).astype("float64") + zero, info.min, info.max).astype(dtype)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize(("scales", "axis"), [((), 1), ((1,), 1), ((3,), 1), ((4,), -1), ((2,), 0)])
@pytest.mark.parametrize("has_zero", [False, True])
def test_dequantization_of_large_constants(dtype, scales, axis, has_zero):
    """Weights are looked up in a table of all numbers, which changes no bit."""
    generator = np.random.default_rng(5)
    limits = np.iinfo(dtype)
    x = generator.integers(limits.min, limits.max + 1, (2, 3, 300, 4)).astype(dtype)
    inputs = [x, generator.uniform(0.01, 1, scales).astype("float32"), None]
    if has_zero:
        inputs[2] = generator.integers(limits.min, limits.max + 1, scales).astype(dtype)
    known = [i for i, each in enumerate(inputs) if each is not None]
    folded = run_node("DequantizeLinear", inputs, 21, known=known, axis=axis)
    given = run_node("DequantizeLinear", inputs, 21, known=known[1:], axis=axis)
    np.testing.assert_array_equal(folded, given, strict=True)


@pytest.mark.parametrize(
    ("dtype", "axis"), [("int8", None), ("uint8", 0), ("int16", -1), ("uint16", 1)]
)
def test_quantization_of_a_tensor_and_along_an_axis(dtype, axis):
    """The quotient is rounded in the type of x; 1 / 4 and 1 / 2 give ties."""
    random = np.random.default_rng(0)
    for float_type in ("float32", "float16"):
        x = (random.integers(-999, 999, (3, 5)) / 8).astype(float_type)
        x[0, :2] = INF, -INF
        extent = 1 if axis is None else x.shape[axis]
        scale = np.resize([0.25, 0.5, 0.37], extent).astype(float_type)
        zero = random.integers(0, 9, extent).astype(dtype)
        wide = (-1, 1) if axis == 0 else (1, -1)
        attributes = {} if axis is None else {"axis": axis}
        got = run_node("QuantizeLinear", [x, scale, zero], 21, **attributes)
        expected = expected_quantized(x, scale.reshape(wide), zero.reshape(wide), dtype)
        np.testing.assert_array_equal(got, expected, strict=True)
        back = run_node("DequantizeLinear", [got, scale, zero], 21, known=[1, 2], **attributes)
        steps = expected.astype("int32") - zero.reshape(wide)
        np.testing.assert_array_equal(
            back, (steps.astype("float32") * scale.reshape(wide)).astype(float_type), strict=True
        )


@pytest.mark.parametrize(("axis", "block"), [(1, 2), (-1, 4), (0, 2)])
def test_blocks(axis, block):
    """The last block may be shorter."""
    x = floats(3, 5, 6) * 40
    shape = list(x.shape)
    shape[axis] = -(-shape[axis] // block)
    scale = np.abs(floats(*shape)) + np.float32(0.1)
    zero = np.random.default_rng(1).integers(-9, 9, shape).astype("int8")

    def spread(values):
        return np.repeat(values, block, axis).take(range(x.shape[axis]), axis)

    attributes = {"axis": axis, "block_size": block}
    got = run_node("QuantizeLinear", [x, scale, zero], 21, **attributes)
    np.testing.assert_array_equal(got, expected_quantized(x, spread(scale), spread(zero), "int8"))
    back = run_node("DequantizeLinear", [got, scale, zero], 21, **attributes)
    steps = got.astype("float32") - spread(zero)
    np.testing.assert_array_equal(back, steps * spread(scale), strict=True)


def test_types_of_results():
    x, scale = floats(4) * 40, np.array(0.5, "float32")
    assert run_node("QuantizeLinear", [x, scale], 13).dtype == "uint8"
    got = run_node("QuantizeLinear", [x, scale], 21, output_dtype=TensorProto.INT16)
    np.testing.assert_array_equal(got, np.rint(x * 2).astype("int16"), strict=True)
    steps = np.array([2**31 - 1, -(2**31), 3], "int32")
    got = run_node("DequantizeLinear", [steps, scale], 13)
    np.testing.assert_array_equal(got, steps.astype("float32") / 2, strict=True)
    got = run_node("DequantizeLinear", [steps, scale], 23, output_dtype=TensorProto.FLOAT16)
    assert got.dtype == "float16"


def test_constants_of_four_bits():
    """Weights of 4 bits are constants; the scale is an input, so nothing is folded."""
    for element in (TensorProto.INT4, TensorProto.UINT4):
        low = -8 if element == TensorProto.INT4 else 0
        numbers = np.arange(low, low + 16)
        graph = helper.make_graph(
            [helper.make_node("DequantizeLinear", ["x", "scale", "zero"], ["y"])],
            "four_bits",
            [helper.make_tensor_value_info("scale", TensorProto.FLOAT, [])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [16])],
            [
                helper.make_tensor("x", element, [16], numbers.tolist()),
                helper.make_tensor("zero", element, [], [3]),
            ],
        )
        model = Model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))
        got = model.run({"scale": np.array(0.5, "float32")})["y"]
        np.testing.assert_array_equal(got, ((numbers - 3) / 2).astype("float32"))


def test_scales_of_wrong_shapes_are_refused():
    x = floats(3, 5)
    with pytest.raises(Unsupported, match="scales have the shape"):
        run_node("QuantizeLinear", [x, np.ones(4, "float32")], 13, axis=1)
    with pytest.raises(Unsupported, match="axis is 2"):
        run_node("QuantizeLinear", [x, np.ones(4, "float32")], 13, axis=2)
