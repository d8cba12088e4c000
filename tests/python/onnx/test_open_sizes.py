"""Packages that serve all sizes of a model with open extents."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from sample_trials import record_costs

import texloom
from texloom.costs import MeasuredCost, MeasuredDevice, open_costs
from texloom.errors import TVMError
from texloom.inspect.__main__ import main as inspect
from texloom_demo.ocr import models

SIZES = [(1, 8, 12), (2, 17, 9), (1, 8, 12)]


def network():
    """A convolution, a reshape to a shape that nodes compute, and a mean along an open axis."""
    weight = np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype("float32")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Shape", ["r"], ["s"]),
        helper.make_node("Slice", ["s", "zero", "two"], ["front"]),
        helper.make_node("Concat", ["front", "rest"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["r", "wanted"], ["flat"]),
        helper.make_node("ReduceMean", ["flat", "last"], ["y"], keepdims=0),
    ]
    constants = {"zero": [0], "two": [2], "rest": [-1], "last": [2]}
    initializers = [numpy_helper.from_array(weight, "w")]
    initializers += [numpy_helper.from_array(np.array(v, "int64"), n) for n, v in constants.items()]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, "H", "W"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4])
    graph = helper.make_graph(nodes, "open", [x], [y], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def expected(model, x):
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {session.get_inputs()[0].name: x})[0]


def close(got, want, terms):
    """Compare sums of `terms` products of magnitude 1, each of which is rounded."""
    assert got.shape == want.shape
    assert np.abs(got - want).max() <= terms * np.finfo("float32").eps * 8


def test_one_package_serves_all_sizes(tmp_path):
    model = network()
    texloom.compile(model).save(tmp_path / "open.tlp")
    graph = texloom.graph.load(tmp_path / "open.tlp")
    for n, h, w in SIZES:
        x = np.random.default_rng(h).standard_normal((n, 3, h, w)).astype("float32")
        close(graph.run({"x": x})["y"], expected(model, x), 27)


@pytest.mark.parametrize("mode", ["linear", "cubic", "nearest"])
@pytest.mark.parametrize("scale", [2, 1.5, 0.5])
@pytest.mark.parametrize("coordinates", ["half_pixel", "asymmetric"])
def test_open_extents_are_resized(tmp_path, mode, scale, coordinates):
    """The taps and weights of a fractional scale repeat along open axes."""
    rounding = 'nearest_mode="floor",' if mode == "nearest" else ""
    model = onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 19]> one (float[N, 2, H, W] x) => (y)
        <float[4] scales = {{1, 1, {scale}, {scale}}}>
        {{ y = Resize<mode="{mode}", {rounding}
                      coordinate_transformation_mode="{coordinates}">(x, none, scales) }}"""
    )
    model.graph.node[0].input[1] = ""
    texloom.compile(model).save(tmp_path / "open.tlp")
    graph = texloom.graph.load(tmp_path / "open.tlp")
    for n, h, w in ((1, 4, 6), (2, 7, 3), (1, 16, 9)):
        x = np.random.default_rng(h).uniform(-1, 1, (n, 2, h, w)).astype("float32")
        got, want = graph.run({"x": x})["y"], expected(model, x)
        assert got.shape == want.shape
        # 4 x 4 taps of magnitudes up to 1.6, at rounded positions of up to 16.
        assert np.abs(got - want).max() <= (16 + 2 * 16) * 2.6 * np.finfo("float32").eps


def test_saving_does_not_change_what_runs(tmp_path):
    """Runs after saving still use the faster kernels for one size."""
    compiled = texloom.compile(network())
    compiled.save(tmp_path / "open.tlp")
    compiled.run({"x": np.ones((2, 3, 17, 9), "float32")})
    assert "output y: float32[2, 4]" in str(compiled)


NODES = {
    "added": "y = Pad(x, pads)",
    "taken away": "y = Pad(x, less)",
    "continued": 'y = Pad<mode = "edge">(x, pads)',
    "reflected": 'y = Pad<mode = "reflect">(x, pads)',
    "repeated": "s = Shape(x) y = Tile(x, s)",
    "broadcast": "s = Shape(x) t = Concat<axis = 0>(one, s) y = Expand(x, t)",
    "of a constant": "s = Shape(x) y = Expand(half, s)",
    "to the end": "y = Slice(x, one, last, one)",
    "in steps": "y = Slice(x, zero, last, one, two)",
    "the last ones": "y = Slice(x, five, last, one)",
    "some of the last ones": "y = Slice(x, five, minus, one, two)",
    "turned around": "y = Slice(x, minus, lowest, one, minus)",
    "turned around, in steps": "y = Slice(x, last, zero, one, three)",
    "summed up": "y = CumSum(x, one)",
    "summed from the end": "y = CumSum<reverse = 1, exclusive = 1>(x, one)",
    "a triangle": "y = Trilu<upper = 0>(x)",
    "a product": 'y = Einsum<equation = "nh,mh->nm">(x, x)',
}


@pytest.mark.parametrize("name", NODES)
def test_nodes_over_open_extents(tmp_path, name):
    model = onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 20]> one (float[N, H] x) => (y)
        <int64[4] pads = {{0, 1, 2, 2}}, int64[4] less = {{0, -1, 1, 0}}, int64[1] zero = {{0}},
         int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] last = {{9223372036854775807}},
         int64[1] five = {{-5}}, int64[1] minus = {{-1}}, int64[1] three = {{-3}},
         int64[1] lowest = {{-9223372036854775807}},
         float[1] half = {{0.5}}> {{ {NODES[name]} }}"""
    )
    texloom.compile(model).save(tmp_path / "open.tlp")
    graph = texloom.graph.load(tmp_path / "open.tlp")
    for shape in ((3, 4), (4, 70), (5, 3)):
        x = np.random.default_rng(0).integers(-8, 8, shape).astype("float32")
        np.testing.assert_array_equal(graph.run({"x": x})["y"], expected(model, x))


@pytest.mark.parametrize(
    ("computed", "extent"),
    [
        ("Floor(half)", lambda h: h // 2),
        ("Ceil(half)", lambda h: (h + 1) // 2),
        ("Identity(half)", lambda h: h // 2),  # a cast to integers truncates
        ("Mul(half, two)", lambda h: h),
        ("Mul(h, share)", lambda h: h * 3 // 4),
    ],
)
def test_fractions_of_open_extents(tmp_path, computed, extent):
    """Exporters compute sizes in floating point; their quotients are not integers."""
    model = onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 20]>
        one (float[H] x) => (float[N] y)
        <float[1] two = {{2}}, float[1] share = {{0.75}}, float[1] one = {{1}}>
        {{ shape = Shape(x) h = Cast<to = 1>(shape) half = Div(h, two)
           computed = {computed} size = Cast<to = 7>(computed) y = Expand(one, size) }}"""
    )
    texloom.compile(model).save(tmp_path / "open.tlp")
    graph = texloom.graph.load(tmp_path / "open.tlp")
    for h in (7, 8, 9):
        assert graph.run({"x": np.ones(h, "float32")})["y"].shape == (extent(h),)


@pytest.mark.parametrize(
    ("computed", "taken"),
    [
        (
            "less = Sub(s, ten) y = Div(less, two)",
            range(10, 99),
        ),
        ("less = Sub(s, ten) y = Mod<fmod = 1>(less, two)", range(10, 99)),
        (
            "f = Cast<to = 1>(s) less = Sub(f, tens) h = Mul(less, half) y = Cast<to = 7>(h)",
            range(10, 99),
        ),
        (
            "less = Sub(s, ten) y = Slice(x, less, s)",
            range(11, 99),
        ),
        ("less = Sub(six, s) y = Slice(x, less, six)", range(4, 7)),
    ],
)
def test_sizes_that_may_be_negative_are_right_or_refused(tmp_path, computed, taken):
    model = onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 20]> one (float[H] x) => (y)
        <int64[1] ten = {{10}}, int64[1] two = {{2}}, int64[1] six = {{6}}, float[1] tens = {{10}},
         float[1] half = {{0.5}}> {{ s = Shape(x) {computed} }}"""
    )
    texloom.compile(model).save(tmp_path / "open.tlp")
    graph = texloom.graph.load(tmp_path / "open.tlp")
    for h in (3, 5, 9, 11, 12, 15):
        x = np.arange(h, dtype="float32")
        if h in taken:
            np.testing.assert_array_equal(graph.run({"x": x})["y"], expected(model, x))
        else:
            with pytest.raises(TVMError, match="TL5003"):
                graph.run({"x": x})
        np.testing.assert_array_equal(texloom.compile(model).run({"x": x})["y"], expected(model, x))


def test_squeeze_without_axes_refuses_an_extent_that_is_1(tmp_path):
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 20]> one (float[N, 1, 3] x) => (y)
        { y = Squeeze(x) }"""
    )
    texloom.compile(model).save(tmp_path / "open.tlp")
    graph = texloom.graph.load(tmp_path / "open.tlp")
    assert graph.run({"x": np.ones((2, 1, 3), "float32")})["y"].shape == (2, 3)
    with pytest.raises(TVMError, match="TL5003"):
        graph.run({"x": np.ones((1, 1, 3), "float32")})


def test_an_empty_batch_has_empty_outputs():
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("GlobalAveragePool", ["c"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "m", "b"], ["g"]),
        helper.make_node("Softmax", ["g"], ["y"]),
        helper.make_node("ReduceSum", ["g"], ["sum"], keepdims=0),
    ]
    shapes = {"w": (4, 3, 3, 3), "m": (4, 5), "b": (5,)}
    weights = [numpy_helper.from_array(np.ones(s, "float32"), n) for n, s in shapes.items()]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 8, 8])
    made = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("y", "sum")]
    graph = helper.make_graph(nodes, "classifier", [given], made, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    x = np.zeros((0, 3, 8, 8), "float32")
    for compiled in (texloom.compile(model), texloom.compile(model, shapes={"x": x.shape})):
        results = compiled.run({"x": x})
        assert results["y"].shape == (0, 5) and results["y"].dtype == "float32"
        assert results["sum"] == 0


def test_a_package_takes_no_extent_of_0(tmp_path):
    """The way out is another shape of the input, not another model."""
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 20]> one (float[h, 6] x) => (y) { y = Relu(x) }"""
    )
    compiled = texloom.compile(model, shapes={"x": (0, 6)})
    with pytest.raises(texloom.onnx.Unsupported, match="takes no extent of 0") as refused:
        compiled.save(tmp_path / "empty.tlp")
    assert "positive extents for the inputs" in refused.value.diagnostics[0].help


def test_named_extents_stay_open_in_python():
    model = network()
    compiled = texloom.compile(model, shapes={"x": (1, 3, "h", "w")})
    for _, h, w in SIZES:
        x = np.random.default_rng(h).standard_normal((1, 3, h, w)).astype("float32")
        close(compiled.run({"x": x})["y"], expected(model, x), 27)
    assert str(compiled).count("kernels:") == 1


def test_a_package_refuses_other_shapes(tmp_path):
    texloom.compile(network()).save(tmp_path / "open.tlp")
    graph = texloom.graph.load(tmp_path / "open.tlp")
    with pytest.raises(TVMError, match="x"):
        graph.run({"x": np.zeros((1, 4, 8, 8), "float32")})


@pytest.mark.parametrize(
    ("shapes", "way_out"),
    [
        (((1, 6), (1, 6)), "pass arrays whose sizes meet this"),
        (((3, 6), (2, 6)), "pass arrays whose shapes agree with one another"),
    ],
)
def test_the_way_out_fits_the_sizes_that_a_package_refuses(tmp_path, shapes, way_out):
    """Half of one row is none; and two extents of one name have to be equal."""
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 20]> one (float[h, 6] x, float[h, 6] w) => (y)
        <int64[1] two = {2}, int64[1] none = {0}, int64[1] axis = {0}> {
        sum = Add(x, w) h = Shape<end = 1>(x) half = Div(h, two)
        y = Slice(sum, none, half, axis) }"""
    )
    texloom.compile(model).save(tmp_path / "open.tlp")
    graph = texloom.graph.load(tmp_path / "open.tlp")
    given = {name: np.ones(shape, "float32") for name, shape in zip("xw", shapes, strict=True)}
    with pytest.raises(TVMError, match=f"TL5003.*(?s:.*)help: {way_out}"):
        graph.run(given)


def textured():
    """Return convolutions, a concatenation, a pooling and a transpose, on small integers."""
    rng = np.random.default_rng(1)
    weights = {"w": (6, 3, 3, 3), "b": (6,), "v": (5, 6, 1, 3)}
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Neg", ["r"], ["m"]),
        helper.make_node("Concat", ["r", "m"], ["j"], axis=2),
        helper.make_node("Conv", ["j", "v"], ["d"], pads=[0, 1, 0, 1]),
        helper.make_node("MaxPool", ["d"], ["y"], kernel_shape=[2, 2]),
        helper.make_node("Transpose", ["d"], ["z"], perm=[0, 2, 3, 1]),
    ]
    initializers = [
        numpy_helper.from_array(rng.integers(-2, 3, shape).astype("float32"), name)
        for name, shape in weights.items()
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, "h", "w"])
    results = [helper.make_tensor_value_info(each, TensorProto.FLOAT, None) for each in "yz"]
    graph = helper.make_graph(nodes, "textured", [x], results, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.nightly
def test_textures_of_all_sizes(tmp_path, capsys):
    """Sums of small whole numbers are exact, so that textures and buffers agree in every bit."""
    model = textured()
    graphs = {}
    for storage in ("texture", "buffer"):
        texloom.compile(model, storage=storage).save(tmp_path / f"{storage}.tlp")
        graphs[storage] = texloom.graph.load(tmp_path / f"{storage}.tlp")
    assert inspect([str(tmp_path / "texture.tlp")]) == 0
    assert capsys.readouterr().out.count("a texture rgba32float sized at the call") >= 8
    for n, h, w in [(1, 8, 12), (2, 17, 9), (3, 5, 21), (1, 8, 12)]:
        x = np.random.default_rng(h).integers(-3, 4, (n, 3, h, w)).astype("float32")
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        wanted = dict(zip("yz", session.run(None, {"x": x}), strict=True))
        for storage, graph in graphs.items():
            for name, array in graph.run({"x": x}).items():
                assert (array == wanted[name]).all(), (storage, name, x.shape)


@pytest.mark.slow
def test_textures_of_named_extents_in_python():
    model = textured()
    compiled = texloom.compile(model, storage="texture", shapes={"x": ("n", 3, "h", "w")})
    closed = texloom.compile(model, storage="buffer")
    for _, h, w in SIZES:
        x = np.random.default_rng(h).integers(-3, 4, (2, 3, h, w)).astype("float32")
        got, want = compiled.run({"x": x}), closed.run({"x": x})
        assert all((got[name] == want[name]).all() for name in "yz")
    assert str(compiled).count("kernels:") == 1


@pytest.mark.slow
def test_costs_choose_textures_of_open_sizes(tmp_path):
    """The costs say that convolutions are fast on textures, and other operators on buffers."""
    rows = []
    for kind in ("contraction", "reduction", "injective", "broadcast", "elementwise"):
        for storage in ("buffer", "texture"):
            is_fast = (kind == "contraction") == (storage == "texture")
            for i in range(8):
                ns = (1000 + 100 * i) * (1 if is_fast else 20)
                key = f"{kind}, {storage}, {i}"
                rows.append(MeasuredCost(key, kind, storage, 1e3 * i, 0.0, 1, ns, 0.0, 9))
    for i in range(8):
        key = f"convert, texture, {i}"
        rows.append(MeasuredCost(key, "convert", "texture", 1e3 * i, 0.0, 1, 100.0, 0.0, 9))
    device = MeasuredDevice("a device", "made up", "1", "1")
    record_costs(tmp_path / "records.sqlite", device, rows)
    model = textured()
    options = {
        "costs": open_costs(tmp_path / "records.sqlite"),
        "shapes": {"x": ("n", 3, "h", "w")},
    }
    mixed = texloom.compile(model, **options)
    closed = texloom.compile(model, storage="buffer")
    x = np.random.default_rng(0).integers(-3, 4, (2, 3, 9, 7)).astype("float32")
    got, want = mixed.run({"x": x}), closed.run({"x": x})
    assert all((got[name] == want[name]).all() for name in "yz")
    text = str(mixed)
    assert ": texture, " in text and ": global, " in text and "convert " in text


def test_a_size_beyond_the_limit_of_images():
    compiled = texloom.compile(textured(), storage="texture", shapes={"x": ("n", 3, "h", "w")})
    x = np.zeros((1 << 12, 3, 3, 32), "float32")
    with pytest.raises(TVMError, match='"x" of shape .4096, 3, 3, 32. needs an image of 131072x3'):
        compiled.run({"x": x})
    assert compiled.run({"x": x[:1]})["z"].shape == (1, 4, 16, 5)


@pytest.mark.slow
@pytest.mark.nightly  # nearly three minutes
@pytest.mark.skipif(models.find() is None, reason="the networks are not installed: ./dev setup")
@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("recognition", [(1, 3, 48, 64), (1, 3, 48, 104)]),
        ("detection", [(1, 3, 64, 96), (1, 3, 96, 32)]),
    ],
)
def test_networks_of_pages(tmp_path, name, shapes):
    model = onnx.load(models.find()[name])
    texloom.compile(model).save(tmp_path / "open.tlp")
    graph = texloom.graph.load(tmp_path / "open.tlp")
    for shape in shapes:
        x = np.random.default_rng(0).standard_normal(shape).astype("float32")
        (got,) = graph.run({graph.inputs[0].name: x}).values()
        # Probabilities: onnxruntime's and ours both differ by about 1e-6 from float64.
        assert np.abs(got - expected(model, x)).max() <= 1e-5
