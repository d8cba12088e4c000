"""Types that models store: bfloat16, floats of 8 and 4 bits, and integers of 4 and 2 bits."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import texloom
from texloom.onnx import Model, Unsupported

NODE = helper.make_node
BFLOAT = np.dtype(ml_dtypes.bfloat16)
SMALL_FLOATS = {
    TensorProto.FLOAT8E4M3FN: ml_dtypes.float8_e4m3fn,
    TensorProto.FLOAT8E4M3FNUZ: ml_dtypes.float8_e4m3fnuz,
    TensorProto.FLOAT8E5M2: ml_dtypes.float8_e5m2,
    TensorProto.FLOAT8E5M2FNUZ: ml_dtypes.float8_e5m2fnuz,
    TensorProto.FLOAT4E2M1: ml_dtypes.float4_e2m1fn,
    TensorProto.FLOAT8E8M0: ml_dtypes.float8_e8m0fnu,
}
SMALL_INTEGERS = {
    TensorProto.INT4: ml_dtypes.int4,
    TensorProto.UINT4: ml_dtypes.uint4,
    TensorProto.INT2: ml_dtypes.int2,
    TensorProto.UINT2: ml_dtypes.uint2,
}
each_float = pytest.mark.parametrize(
    "to", SMALL_FLOATS, ids=[np.dtype(each).name for each in SMALL_FLOATS.values()]
)
each_integer = pytest.mark.parametrize(
    "to", SMALL_INTEGERS, ids=[np.dtype(each).name for each in SMALL_INTEGERS.values()]
)
PLACES = [("opencl", None), ("opencl", "host:0"), ("metal", None)]
on_each_place = pytest.mark.parametrize(("target", "on"), PLACES, ids=["opencl", "host", "metal"])


def kind_of(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def model_of(nodes, x, to, constants=(), shape=None, opset=25):
    """Return a model of the input x and the output y of element type `to`."""
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", kind_of(x), shape or x.shape)],
        [helper.make_tensor_value_info("y", to, None)],
        [numpy_helper.from_array(each, name) for name, each in dict(constants).items()],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=onnx.IR_VERSION
    )


def run(nodes, x, to, constants=(), *, target="opencl", on=None, opset=25, **options):
    if not any(each["driver"] == target for each in texloom.devices()):
        pytest.skip(f"no driver {target}")
    return Model(model_of(nodes, x, to, constants, opset=opset), target, **options).run(
        {"x": x}, on
    )["y"]


def assert_same(got, expected):
    """Compare types and bits; a NaN may be any NaN."""
    assert got.dtype == expected.dtype
    is_nan = np.isnan(expected.astype("float32"))
    np.testing.assert_array_equal(np.isnan(got.astype("float32")), is_nan)
    bits = f"uint{8 * expected.itemsize}"
    np.testing.assert_array_equal(got.view(bits)[~is_nan], expected.view(bits)[~is_nan])


def patterns(to):
    """Return all numbers of a small type."""
    own = np.dtype(SMALL_FLOATS[to])
    count = 16 if to == TensorProto.FLOAT4E2M1 else 256
    return np.arange(count, dtype="uint8").view(own)


def converted(x, dtype):
    with np.errstate(all="ignore"):
        return x.astype(dtype)


@each_float
@on_each_place
def test_all_small_floats_become_float32_exactly(to, target, on):
    x = patterns(to)
    nodes = [NODE("Cast", ["x"], ["y"], to=TensorProto.FLOAT)]
    assert_same(run(nodes, x, TensorProto.FLOAT, target=target, on=on), converted(x, "float32"))


def numbers_beside(to):
    """Return the numbers of a type, the midpoints between them, and the neighbors of both."""
    own = converted(patterns(to), "float64")
    own = np.unique(np.abs(own[np.isfinite(own)]))
    last = own[-1] + (own[-1] - own[-2]) * np.array([0.5, 1, 1.5])  # beyond the greatest
    exact = np.concatenate([own, (own[1:] + own[:-1]) / 2, last]).astype("float32")
    near = [np.nextafter(exact, np.float32(end)) for end in (0, np.inf)]
    random = np.random.default_rng(0)
    spread = random.standard_normal(999) * 10.0 ** random.integers(-8, 8, 999)
    x = np.concatenate([exact, *near, spread, [np.inf, np.nan, 1e38, 1e-38, 0]]).astype("float32")
    return np.concatenate([x, -x])


@pytest.mark.parametrize("saturate", [0, 1])
@pytest.mark.parametrize("to", list(SMALL_FLOATS)[:4])
@on_each_place
def test_casts_to_floats_of_8_bits_round_to_the_nearest_even(to, saturate, target, on):
    x, own = numbers_beside(to), np.dtype(SMALL_FLOATS[to])
    nodes = [NODE("Cast", ["x"], ["y"], to=to, saturate=saturate)]
    with np.errstate(all="ignore"):
        expected = numpy_helper.saturate_cast(x, own) if saturate else x.astype(own)
    assert_same(run(nodes, x, to, target=target, on=on), expected)


def test_casts_to_floats_of_4_bits_saturate():
    to = TensorProto.FLOAT4E2M1
    x = numbers_beside(to)
    x = x[~np.isnan(x)]
    got = run([NODE("Cast", ["x"], ["y"], to=to)], x, to)
    assert_same(got, converted(x, SMALL_FLOATS[to]))


@pytest.mark.parametrize("round_mode", ["up", "down", "nearest"])
def test_casts_to_powers_of_two(round_mode):
    to = TensorProto.FLOAT8E8M0
    exact = 2.0 ** np.arange(-126, 128, dtype="float32")
    x = np.concatenate([exact, *(np.nextafter(exact, np.float32(end)) for end in (0, np.inf))])
    x = np.concatenate([x, exact[:-1] * np.float32(1.5), exact[:-1] * np.float32(1.4)])
    x = np.append(x[x >= exact[0]], np.float32(np.nan))
    got = run([NODE("Cast", ["x"], ["y"], to=to, round_mode=round_mode)], x, to)
    expected = numpy_helper.to_float8e8m0(x, True, round_mode).astype(SMALL_FLOATS[to])
    assert_same(got, expected)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "uint8"])
def test_casts_of_other_types_round_once(dtype):
    """A float64 beside a midpoint is not the midpoint, which float32 would make of it."""
    to = TensorProto.FLOAT8E5M2
    x = numbers_beside(to)
    x = x[np.isfinite(x)]
    if dtype == "float64":
        x = np.concatenate([x.astype(dtype), np.nextafter(x.astype(dtype), 0)])
        expected = np.where(
            np.abs(x) > 57344, np.copysign(57344, x), x
        )  # the greatest; float64 to float32 is a rounding of its own
        near = expected.astype("float32")
        is_off = near.astype("float64") != expected
        toward = np.where(near.astype("float64") > expected, -np.inf, np.inf).astype("float32")
        is_even = near.view("uint32") % 2 == 0
        odd = np.where(is_off & is_even, np.nextafter(near, toward), near)
        expected = converted(odd, SMALL_FLOATS[to])
    else:
        info = np.finfo(dtype) if dtype == "float16" else np.iinfo(dtype)
        x = np.clip(x, float(info.min), float(info.max) * 0.99).astype(dtype)
        expected = numpy_helper.saturate_cast(x.astype("float32"), np.dtype(SMALL_FLOATS[to]))
    assert_same(run([NODE("Cast", ["x"], ["y"], to=to)], x, to), expected)


@each_integer
def test_casts_of_small_integers(to):
    """Integers wrap around, and floats are truncated."""
    own = np.dtype(SMALL_INTEGERS[to])
    x = np.arange(-20, 20, dtype="int32")
    got = run([NODE("Cast", ["x"], ["y"], to=to)], x, to)
    np.testing.assert_array_equal(got.astype("int32"), x.astype(own).astype("int32"))
    assert got.dtype == own
    info = ml_dtypes.iinfo(own)
    numbers = np.arange(info.min, info.max + 1).astype(own)
    for dtype in ("float32", "int64", "uint8"):
        back = [NODE("Cast", ["x"], ["y"], to=kind_of(np.empty(0, dtype)))]
        given = numbers[numbers.astype("int32") >= 0] if dtype == "uint8" else numbers
        got = run(back, given, kind_of(np.empty(0, dtype)))
        np.testing.assert_array_equal(got, given.astype(dtype), strict=True)
    fractions = numbers.astype("float32") + np.where(numbers.astype("int32") < 0, 0, 0.75)
    got = run([NODE("Cast", ["x"], ["y"], to=to)], fractions.astype("float32"), to)
    np.testing.assert_array_equal(got.astype("int32"), numbers.astype("int32"))


@pytest.mark.parametrize("storage", ["buffer", "texture"])
@pytest.mark.parametrize("to", [TensorProto.FLOAT8E4M3FN, TensorProto.UINT4, TensorProto.BFLOAT16])
def test_moves(to, storage, tmp_path):
    """Elements are moved as they are, from a package too, whose arrays have the stored type."""
    own = helper.tensor_dtype_to_np_dtype(to)
    x = np.random.default_rng(0).integers(0, 15, (3, 4, 8)).astype("float32").astype(own)
    pads = {"size": np.array([4, -1]), "pads": np.array([1, 0, 0, 2])}
    nodes = [
        NODE("Transpose", ["x"], ["a"], perm=[1, 0, 2]),
        NODE("Reshape", ["a", "size"], ["b"]),
        NODE("Pad", ["b", "pads"], ["c"]),
        NODE("Unsqueeze", ["c", "axis"], ["y"]),
    ]
    constants = {**pads, "axis": np.array([0])}
    model = Model(model_of(nodes, x, to, constants), "opencl", storage=storage)
    expected = np.pad(x.transpose(1, 0, 2).reshape(4, -1), [(1, 0), (0, 2)])[None]
    got = model.run({"x": x})["y"]
    assert got.dtype == own
    np.testing.assert_array_equal(got.astype("float32"), expected.astype("float32"))
    model.save(tmp_path / "moves.tlp")
    stored = x if to == TensorProto.BFLOAT16 else x.view("uint8")
    loaded = texloom.graph.load(tmp_path / "moves.tlp").run({"x": stored})["y"]
    np.testing.assert_array_equal(loaded.view(own), got)


def test_arrays_of_bits_are_taken():
    x = np.array([1, -2.5, 3], "float32")
    for own, bits in ((BFLOAT, "uint16"), (np.dtype(ml_dtypes.float8_e5m2), "uint8")):
        model = Model(
            model_of(
                [NODE("Cast", ["x"], ["y"], to=TensorProto.FLOAT)],
                x.astype(own),
                TensorProto.FLOAT,
            )
        )
        for given in (x.astype(own), x.astype(own).view(bits)):
            np.testing.assert_array_equal(model.run({"x": given})["y"], x)
        with pytest.raises(texloom.TVMError, match=f"TL5002(.|\n)*what is stored as {bits}"):
            model.run({"x": x})


def reference_of(op, x, w):
    """Return the exact result of an operator on these numbers, and how many roundings it has."""
    x, w = x.astype("float64"), w.astype("float64")
    if op == "Add":
        return x + w, 1
    if op == "MatMul":
        return x @ w, 1
    if op == "Softmax":
        power = np.exp(x - x.max(-1, keepdims=True))
        return power / power.sum(-1, keepdims=True), 1
    centered = x - x.mean(-1, keepdims=True)
    deviation = np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5)
    return centered / deviation * w[0], 2  # the normalized numbers are bfloat16


@on_each_place
@pytest.mark.parametrize("op", ["Add", "MatMul", "Softmax", "LayerNormalization"])
def test_bfloat16_is_computed_in_float32(op, target, on):
    """The result is rounded once: half of a unit in the last of 8 digits."""
    random = np.random.default_rng(0)
    x, w = (random.standard_normal((16, 16)).astype(BFLOAT) for _ in "xw")
    operands = {"Add": ["x", "w"], "MatMul": ["x", "w"], "LayerNormalization": ["x", "row"]}
    nodes = [NODE(op, operands.get(op, ["x"]), ["y"])]
    constants = {"w": w, "row": w[0]}
    got = run(nodes, x, TensorProto.BFLOAT16, constants, target=target, on=on)
    exact, roundings = reference_of(op, x, w)
    assert got.dtype == BFLOAT
    tolerance = roundings * 2.0**-8 * 1.01  # float32 adds far less
    np.testing.assert_allclose(
        got.astype("float64"), exact, rtol=tolerance, atol=1e-5 if op == "MatMul" else 1e-30
    )


def test_bfloat16_with_open_extents_and_weights_of_two_bytes(tmp_path):
    random = np.random.default_rng(0)
    x, w = random.standard_normal((3, 64)).astype(BFLOAT), random.standard_normal((64, 4096))
    w = w.astype(BFLOAT)
    nodes = [NODE("MatMul", ["x", "w"], ["z"]), NODE("Relu", ["z"], ["y"])]
    made = model_of(nodes, x, TensorProto.BFLOAT16, {"w": w}, shape=("n", 64))
    model = Model(made, "opencl", shapes={"x": ("n", 64)})
    model.save(tmp_path / "weights.tlp")
    assert (tmp_path / "weights.tlp").stat().st_size < 3 * w.size
    loaded = texloom.graph.load(tmp_path / "weights.tlp")
    for rows in (1, 3):
        exact = x[:rows].astype("float64") @ w.astype("float64")
        for each in (model, loaded):
            got = each.run({"x": x[:rows]})["y"].astype("float64")
            np.testing.assert_allclose(got, np.maximum(exact, 0), rtol=2.0**-8, atol=1e-5)


def test_bfloat16_constants_are_computed():
    """An operator on constants gives the bits of a run."""
    w = np.random.default_rng(0).standard_normal((8, 8)).astype(BFLOAT)
    nodes = [NODE("Mul", ["w", "w"], ["z"]), NODE("Add", ["x", "z"], ["y"])]
    got = run(nodes, np.zeros((8, 8), BFLOAT), TensorProto.BFLOAT16, {"w": w})
    assert_same(got, w * w)


@pytest.mark.parametrize("to", [TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2])
@pytest.mark.parametrize("block", [0, 3])
def test_quantization_to_small_floats(to, block):
    own = np.dtype(SMALL_FLOATS[to])
    x = np.random.default_rng(0).standard_normal((4, 6)).astype("float32") * 300
    scale = np.array([0.5, 1, 2, 0.37], "float32")
    if block:
        scale = np.stack([scale, scale * 3], 1)
    attributes = {"axis": 1 if block else 0, "block_size": block}
    wide = np.repeat(scale, block, 1) if block else scale[:, None]
    zero = np.zeros(scale.shape, own)
    constants = {"scale": scale, "zero": zero}
    nodes = [
        NODE("QuantizeLinear", ["x", "scale", "zero"], ["q"], **attributes),
        NODE("DequantizeLinear", ["q", "scale", "zero"], ["y"], **attributes),
    ]
    quantized = numpy_helper.saturate_cast(x / wide, own)
    assert_same(run([*nodes[:1], NODE("Identity", ["q"], ["y"])], x, to, constants), quantized)
    got = run(nodes, x, TensorProto.FLOAT, constants)
    np.testing.assert_array_equal(got, quantized.astype("float32") * wide)


@pytest.mark.parametrize(
    ("to", "block", "domain"),
    [(to, block, "") for to in SMALL_INTEGERS for block in (0, 2)]
    # onnxruntime's own operators have neither blocks nor integers of 2 bits.
    + [(to, 0, "com.microsoft") for to in (TensorProto.INT4, TensorProto.UINT4)],
)
def test_quantization_to_small_integers(to, block, domain):
    """The result of quantization is clamped, and dequantized when the model runs."""
    own = np.dtype(SMALL_INTEGERS[to])
    info = ml_dtypes.iinfo(own)
    x = np.random.default_rng(0).standard_normal((3, 4)).astype("float32") * 5
    scale = np.array(1.5, "float32")
    if block:
        scale = np.linspace(0.5, 2, 6).reshape(3, 2).astype("float32")
    wide = np.repeat(scale, 2, 1) if block else scale
    zero = np.ones(scale.shape, own)
    attributes = {"axis": 1, "block_size": block} if block else {}
    nodes = [
        NODE("QuantizeLinear", ["x", "scale", "zero"], ["q"], domain=domain, **attributes),
        NODE("DequantizeLinear", ["q", "scale", "zero"], ["y"], domain=domain, **attributes),
    ]
    steps = np.clip(np.rint(x / wide) + 1, int(info.min), int(info.max))
    made = model_of(nodes, x, TensorProto.FLOAT, {"scale": scale, "zero": zero})
    if domain:
        made.opset_import.append(helper.make_opsetid(domain, 1))
    made.graph.output.append(helper.make_tensor_value_info("q", to, None))
    got = Model(made).run({"x": x})
    assert got["q"].dtype == own
    np.testing.assert_array_equal(got["q"].astype("float32"), steps)
    np.testing.assert_array_equal(got["y"], ((steps - 1) * wide).astype("float32"))


def test_bits_are_interpreted():
    x = np.arange(256, dtype="uint8")
    got = run([NODE("BitCast", ["x"], ["y"], to=TensorProto.FLOAT8E5M2)], x, 19, opset=26)
    np.testing.assert_array_equal(got.view("uint8"), x)
    assert got.dtype == ml_dtypes.float8_e5m2
    got = run([NODE("BitCast", ["x"], ["y"], to=TensorProto.INT8)], x, 3, opset=26)
    np.testing.assert_array_equal(got, x.view("int8"), strict=True)
    small = np.arange(-8, 8).astype(ml_dtypes.int4)
    got = run([NODE("BitCast", ["x"], ["y"], to=TensorProto.UINT4)], small, 21, opset=26)
    np.testing.assert_array_equal(got.astype("int32"), small.astype("int32") % 16)
    with pytest.raises(Unsupported, match="BitCast 'y': it interprets uint8 as int16, but"):
        run([NODE("BitCast", ["x"], ["y"], to=TensorProto.INT16)], x, 5, opset=26)
    with pytest.raises(Unsupported, match="float32 as int32 when the model runs(.|\n)*use Cast"):
        run([NODE("BitCast", ["x"], ["y"], to=6)], x.astype("float32"), 6, opset=26)


def test_computing_in_small_types_is_refused():
    """The message names the node and the type, and says what to do."""
    x = np.zeros(3, ml_dtypes.float8_e5m2)
    with pytest.raises(
        Unsupported, match="IsNaN 'y': (.|\n)*float8e5m2, which are only stored: cas"
    ):
        run([NODE("IsNaN", ["x"], ["y"])], x, TensorProto.BOOL)
    with pytest.raises(Unsupported, match="Relu 'y': its input 0 is float8e5m2, but the operator"):
        run([NODE("Relu", ["x"], ["y"])], x, TensorProto.FLOAT8E5M2)
