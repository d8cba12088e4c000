"""Outputs whose lengths depend on the data, and nodes that read these outputs."""

import numpy as np
import onnx
import onnxruntime
import pytest
from nightly import most_at_night
from node_peers import model_of, onnxruntimes, ours, random
from one_package import checked, parsed
from onnx import TensorProto, helper

import texloom
import texloom.graph
from texloom import custom
from texloom.onnx.model import Model
from texloom.onnx.nodes import Unsupported


def model_of_text(text):
    return onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> {text}')


def both(model, inputs):
    """Return our outputs and onnxruntime's."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return list(Model(model).run(inputs).values()), session.run(None, inputs)


def equal(got, expected):
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype and one.shape == other.shape


@pytest.mark.parametrize(
    ("shape", "kept"), [((7,), 0.0), ((7,), 1.0), ((3, 130), 0.3), ((2, 3, 5), 0.5)]
)
def test_nonzero(shape, kept):
    x = random(1, *shape) * (np.random.default_rng(2).random(shape) < kept)
    x = np.where(x == 0, x, x + 2).astype("float32")  # the kept elements are not 0
    got = ours(model_of("NonZero", [x]), [x])
    equal(got, [np.array(np.nonzero(x))])


def test_nonzero_of_nan_and_signed_zero():
    x = np.array([0.0, -0.0, np.nan, np.inf, 1e-45], "float32")
    equal(ours(model_of("NonZero", [x]), [x])[:1], [np.array([[2, 3, 4]])])


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_compress(axis):
    """The condition may be shorter than the axis."""
    x = random(3, 4, 6, 5)
    condition = np.array([True, False, True])
    attributes = {} if axis is None else {"axis": axis}
    equal(
        ours(model_of("Compress", [x, condition], **attributes), [x, condition]),
        [np.compress(condition, x, axis)],
    )


@pytest.mark.parametrize(
    ("dtype", "in_order", "axis"),
    [("float32", 1, None), ("int64", 0, None), ("float32", 0, 0), ("uint8", 1, 0), ("int8", 0, 1)],
)
def test_unique(dtype, in_order, axis):
    x = np.random.default_rng(4).integers(0, 3, (40, 2)).astype(dtype)
    attributes = {} if axis is None else {"axis": axis}
    got = ours(model_of("Unique", [x], 4, sorted=in_order, **attributes), [x])
    values, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
    if not in_order:
        order = np.argsort(first)
        values = np.take(values, order, axis or 0)
        first, inverse, counts = first[order], np.argsort(order)[inverse], counts[order]
    equal(got, [values, first, inverse.reshape(-1), counts])


def boxes_and_scores(images, classes, number, centered=0):
    """Return boxes of random sizes, and scores, some of which are equal."""
    generator = np.random.default_rng((images, classes, number))
    first, size = generator.random((2, images, number, 2))
    boxes = np.concatenate([first, size / 2 if centered else first + size / 3], 2)
    if not centered:
        flipped = generator.random((images, number, 1)) < 0.3
        boxes = np.where(flipped, boxes[:, :, [2, 3, 0, 1]], boxes)
    scores = np.round(generator.random((images, classes, number)), 2)
    return boxes.astype("float32"), scores.astype("float32")


@pytest.mark.parametrize(
    ("centered", "most", "least"),
    [(0, 0, None), (0, 1000, None), (0, 5, 0.5), (1, 1000, 0.5), (1, 5, 2.0)],
)
def test_non_max_suppression(centered, most, least):
    boxes, scores = boxes_and_scores(2, 3, 90, centered)
    model = model_of_text(
        f"""one (float[2, 90, 4] boxes, float[2, 3, 90] scores) => (int64[rows, 3] y)
        <int64[1] most = {{{most}}}, float[1] overlap = {{0.3}}, float[1] least = {{{least or 0}}}>
        {{ y = NonMaxSuppression <center_point_box = {centered}>
             (boxes, scores, most, overlap{", least" if least is not None else ""}) }}"""
    )
    equal(*both(model, {"boxes": boxes, "scores": scores}))


def test_thresholds_that_are_inputs():
    """The number of boxes fixes an extent, so the model is compiled for that number."""
    boxes, scores = boxes_and_scores(1, 2, 40)
    inputs = [boxes, scores, np.array([4]), np.array([0.4], "float32"), np.array([0.2], "float32")]
    model = model_of("NonMaxSuppression", inputs)
    equal(ours(model, inputs), onnxruntimes(model, inputs))


FOLLOWERS = {
    "gather": "indices = NonZero(x)  first = Gather<axis = 0>(indices, zero) y = Gather(x, first)",
    "gather_nd": "indices = NonZero(x) rows = Transpose(indices) y = GatherND(x, rows)",
    "arithmetic": """indices = NonZero(x) floats = Cast<to = 1>(indices)
        halves = Mul(floats, half) y = Floor(halves)""",
    "rows": """flags = ReduceMax<keepdims = 0>(x, one)  held = Greater(flags, half)
        part = Compress<axis = 0>(x, held) y = Softmax(part)""",
    "product": """flags = ReduceMax<keepdims = 0>(x, one)  held = Greater(flags, half)
        part = Compress<axis = 0>(x, held) other = Transpose(x) y = MatMul(part, other)""",
    "least": """flags = ReduceMax<keepdims = 0>(x, one)  held = Greater(flags, half)
        part = Compress<axis = 0>(x, held) y = ReduceMin<keepdims = 1>(part, one)""",
    "first_rows": """indices = NonZero(x) rows = Transpose(indices)
        few = Slice(rows, nothing, three, nothing) y = Unsqueeze(few, one)""",
    "columns": """indices = NonZero(x) rows = Transpose(indices) last = Slice(rows, one, two, one)
        flat = Squeeze(last, one) y = Reshape(flat, minus)""",
    "twice": """indices = NonZero(x) first, second = Split<axis = 0, num_outputs = 2>(indices)
        sum = Add(first, second) both = Concat<axis = 0>(sum, first) y = Cast<to = 6>(both)""",
}


@pytest.mark.parametrize("name", FOLLOWERS)
@pytest.mark.parametrize("density", [0.02, 0.4])
def test_nodes_that_follow(name, density):
    """Nodes after NonZero return only the rows up to its count, not the padding behind them."""
    x = random(5, 12, 9) + np.float32(2)
    x *= np.random.default_rng(6).random(x.shape) < density
    model = model_of_text(
        f"""one (float[12, 9] x) => (y)
        <int64 zero = {{0}}, int64[1] nothing = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}},
         int64[1] three = {{3}}, int64[1] minus = {{-1}}, float half = {{0.5}}>
        {{ {FOLLOWERS[name]} }}"""
    )
    (got,), (expected,) = both(model, {"x": x})
    assert got.shape == expected.shape and got.dtype == expected.dtype
    # Sums of 9 terms of at most 3 * 3, or functions with errors of 16 units in the last place.
    np.testing.assert_allclose(got, expected, rtol=2.0**-19, atol=9 * 9 * 9 * 2.0**-23)


READERS = {
    **{
        f"{op} over the rows": f"y = {op}<keepdims = 0>(floats, nothing)"
        for op in ("ReduceSum", "ReduceL2", "ReduceLogSumExp", "ReduceSumSquare")
    },
    **{
        f"{op} of rows that are there": f"some = Concat<axis = 0>(floats, table) "
        f"y = {op}<keepdims = 1>(some, nothing)"
        for op in ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceLogSum")
    },
    "all": "y = ReduceSum(rows)",
    "mean of integers": "some = Concat<axis = 0>(rows, numbers) y = ReduceMean(some)",
    "mean of halves": "h = Cast<to = 10>(floats) some = Concat<axis = 0>(h, halves) "
    "m = ReduceMean<keepdims = 0>(some, nothing) y = Cast<to = 1>(m)",
    "places": "some = Concat<axis = 0>(table, floats) y = ArgMax<axis = 0>(some)",
    "along": "y = Softmax<axis = 0>(floats)",
    "sums": "y = CumSum<reverse = 1>(floats, zero)",
    "shape": "y = Shape(rows)",
    "part of a shape": "y = Shape<start = 1>(rows)",
    "first extent": "s = Shape<end = 1>(rows) y = Add(s, s)",
    "size": "y = Size(rows)",
    "joined": "y = Concat<axis = 0>(rows, rows)",
    "joined to others": """n = Neg(x) more = NonZero(n) k = Transpose(more)
        p = Concat<axis = 1>(rows, rows) q = Concat<axis = 1>(k, k)
        fixed = Concat<axis = 1>(numbers, numbers) y = Concat<axis = 0>(fixed, p, fixed, q)""",
    "last": "some = Concat<axis = 0>(rows, numbers) y = Gather<axis = 0>(some, minus)",
    "by counted indices": """some = Concat<axis = 0>(numbers, rows)
        first = Gather<axis = 1>(rows, zero) y = Gather<axis = 0>(some, first)""",
    "normalized": "y = LayerNormalization(floats, scale)",
    "batches of products": "b = Unsqueeze(floats, one) y = MatMul(b, turn)",
    "images": "b = Unsqueeze(floats, minus) c = Unsqueeze(b, minus) y = Conv(c, kernel)",
    "other functions": "a = Asinh(floats) y = Softplus(a)",
}
SETTING = """<int64 zero = {0}, int64[1] nothing = {0}, int64[1] three = {3}, int64[1] one = {1},
    int64[1] minus = {-1}, float[2, 2] table = {3, -1, 0.5, 2}, float[2, 2] turn = {0, 1, -1, 0},
    int64[3, 2] numbers = {0, 1, 2, -3, 4, 7},
    int64[12, 1] twelve = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, float16[1, 2] halves = {1, 2},
    float[2] scale = {1, 2}, float[2, 2, 1, 1] kernel = {1, 2, 3, 4}>"""
ROWS = "indices = NonZero(x) rows = Transpose(indices) floats = Cast<to = 1>(rows)"


@pytest.mark.parametrize("name", most_at_night(READERS, 12))
def test_nodes_that_read_the_count(tmp_path, name):
    """One package computes with as many rows as there are, also with none."""
    feeds = []
    for seed, density, rows in ((1, 0.5, 4), (2, 0.0, 3), (3, 1.0, 7)):
        x = np.abs(random(seed, rows, 3)) + np.float32(1)
        feeds.append({"x": x * (np.random.default_rng(seed).random(x.shape) < density)})
    feeds = [{name: each.astype("float32") for name, each in feed.items()} for feed in feeds]
    text = f"(float[h, 3] x) => (y) {SETTING} {{ {ROWS} {READERS[name]} }}"
    # At most 21 rows of numbers below 8, whose functions have errors of 16 units in the last place.
    checked(tmp_path, text, feeds, error=21 * 64 * 16 * 2.0**-24)


REFUSED = {
    "other": "Add(rows, twelve)",
    "last": "Slice(rows, minus, three, nothing)",
    "columns": "Gemm<transA = 1>(floats, floats)",
    "different data": "Add(rows, others)",
    "tiled": "Tile(rows, three)",
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(float[n, m] x) => (int64[k] y) { z = NonZero(x) y = Reshape(z, flat) }", "mixes rows"),
        ("(float[n] x, int64[1, n] w) => (y) { z = NonZero(x) y = Add(z, w) }", "joins its rows"),
    ],
)
def test_what_numbers_for_extents_do_not_cure_is_said_first(tmp_path, text, said):
    """The reason is the same for open extents and for numbers, so it has no extents in it."""
    model = parsed(text.replace("{", "<int64[1] flat = {-1}> {", 1))
    with pytest.raises(Unsupported, match=said) as refused:
        texloom.compile(model).save(tmp_path / "counted.tlp")
    assert said in str(refused.value).splitlines()[0]


@pytest.mark.parametrize("name", REFUSED)
def test_what_mixes_rows_is_refused(name):
    model = parsed(
        f"""(float[3, 4] x) => (y) {SETTING} {{ {ROWS} n = Neg(x) more = NonZero(n)
            others = Transpose(more) y = {REFUSED[name]} }}"""
    )
    with pytest.raises(Unsupported, match=r"known only|as many as a count|mixes|different data"):
        Model(model)


def test_what_has_as_many_rows_as_a_count_needs_values(tmp_path):
    """A package is refused, with the node and a way out; `run` compiles for the values."""
    text = f"""(float[3, 4] x) => (y) {SETTING} {{ {ROWS} s = Shape<end = 1>(rows)
        y = Expand(zero, s) }}"""
    compiled = Model(parsed(text))
    with pytest.raises(Unsupported, match=r"(?s)Expand 'y': it needs the elements .*values={'x'"):
        compiled.save(tmp_path / "rows.tlp")
    x = random(2, 3, 4)
    assert compiled.run({"x": x})["y"].shape == (12,)


def test_a_custom_operator_of_an_onnx_name():
    """A rule for a node of ONNX says nothing of a node of another domain."""

    @custom.host_operator("org.mine::Relu", {"x": "read", "y": "write"})
    def relu(x, y):
        y[...] = np.maximum(x, 0)

    model = parsed(f"(float[3, 4] x) => (y) {SETTING} {{ {ROWS} y = org.mine.Relu(floats) }}")
    model.opset_import.append(helper.make_opsetid("org.mine", 1))
    with pytest.raises(Unsupported, match="a custom operator cannot read a tensor whose length"):
        Model(model, operators=[relu])


def test_an_old_softmax_sums_over_all_axes_from_one_on(tmp_path):
    text = f"""(float[3, 4] x) => (y) {{ {ROWS}
        squares = Unsqueeze<axes = [0]>(floats) y = Softmax(squares) }}"""
    feeds = [{"x": x} for x in (random(1, 3, 4), np.eye(3, 4, dtype="float32"))]
    checked(tmp_path, text, feeds, opset=11, error=24 * 16 * 2.0**-24)


def test_a_package_has_the_count_beside_the_tensor(tmp_path):
    """The tensor has its largest possible extent; `NAME.count` says how many elements are valid."""
    x = np.array([[0, 2, 0], [4, 0, 6]], "float32")
    compiled = Model(model_of("NonZero", [x]))
    compiled.save(tmp_path / "nonzero.tlp")
    got = texloom.graph.load(tmp_path / "nonzero.tlp").run({"x0": x})
    assert list(got) == ["y0", "y0.count"]
    assert got["y0"].shape == (2, 6) and got["y0.count"].dtype == "int64"
    assert got["y0.count"] == 3
    np.testing.assert_array_equal(got["y0"][:, :3], np.nonzero(x))


def test_two_outputs_of_one_count(tmp_path):
    """A package returns the shared count under the name of each output."""
    model = model_of_text(
        """one (float[5] x) => (y, z)
        { y = NonZero(x)  z = Neg(y) }"""
    )
    x = np.array([0, 1, 0, 1, 1], "float32")
    got, expected = both(model, {"x": x})
    equal(got, expected)
    Model(model).save(tmp_path / "two.tlp")
    loaded = texloom.graph.load(tmp_path / "two.tlp").run({"x": x})
    assert loaded["y.count"] == loaded["z.count"] == 3


@pytest.mark.parametrize("storage", ["buffer", "texture"])
def test_storages(storage):
    x = (np.arange(60).reshape(3, 4, 5) % 7 - 3).clip(0).astype("float32")
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("NonZero", ["x"], ["y"])],
            "one",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
            [onnx.ValueInfoProto(name="y")],
        ),
        opset_imports=[helper.make_opsetid("", 20)],
        ir_version=9,
    )
    got = texloom.compile(model, storage=storage).run({"x": x})["y"]
    np.testing.assert_array_equal(got, np.nonzero(x))
