"""One package each of models as users have them, for three sizes, against onnxruntime."""

import numpy as np
import pytest
from one_package import checked
from onnx import TensorProto, helper

EPSILON = 2.0**-23


def given(name, *shape, low=-0.3, high=0.3):
    """Return random weights as text."""
    rng = np.random.default_rng([*shape, len(name)])
    numbers = rng.uniform(low, high, shape).astype("float32").reshape(-1).tolist()
    return f"float{list(shape)} {name} = {{{str(numbers)[1:-1]}}}"


def bytes_of(name, *shape, dtype="int8", least=-60, most=60):
    """Return random weights of 8 bits, whose products of 16 bits do not saturate in pairs."""
    numbers = np.random.default_rng([*shape, len(name)]).integers(least, most, shape)
    return f"{dtype}{list(shape)} {name} = {{{str(numbers.reshape(-1).tolist())[1:-1]}}}"


@pytest.mark.nightly
def test_an_encoder_of_sequences(tmp_path):
    """Tokens, a bidirectional GRU and attention over the steps. Length and batch are open."""
    text = f"""(int64[N, t] tokens) => (y, states)
        <{given("table", 40, 8)}, {given("w", 2, 18, 8)}, {given("r", 2, 18, 6)},
         {given("b", 2, 36)}, {given("query", 12, 1)}, {given("head", 12, 5)},
         int64[3] flat = {{0, 0, 12}}, int64[1] one = {{1}}> {{
        own = Gather(table, tokens) x = Transpose<perm = [1, 0, 2]>(own)
        both, last = GRU<hidden_size = 6, direction = "bidirectional">(x, w, r, b)
        rows = Transpose<perm = [2, 0, 1, 3]>(both) states = Reshape(rows, flat)
        scores = MatMul(states, query) shares = Softmax<axis = 1>(scores)
        parts = Mul(states, shares) sum = ReduceSum<keepdims = 0>(parts, one)
        logits = MatMul(sum, head) y = Softmax(logits) }}"""
    rng = np.random.default_rng(0)
    feeds = [{"tokens": rng.integers(0, 40, shape)} for shape in ((1, 7), (3, 1), (2, 20))]
    # Each of at most 20 steps rounds about 20 times, on numbers below 1.
    checked(tmp_path, text, feeds, error=20 * 20 * EPSILON)


@pytest.mark.nightly
def test_a_wake_word(tmp_path):
    """Frames are normalized if they are loud; the number of frames and of clips are open."""
    text = f"""(float[N, 1, frames, 16] x) => (y)
        <{given("first", 4, 1, 3, 3)}, {given("second", 6, 4, 3, 3)}, {given("head", 6, 1)},
         float limit = {{2}}, int64[2] places = {{2, 3}}> {{
        size = Abs(x) most = ReduceMax<keepdims = 0>(size) c = Greater(most, limit)
        z = If<then_branch = loud () => (p) {{ p = Div(x, most) }},
               else_branch = soft () => (q) {{ q = Identity(x) }}>(c)
        a = Conv<auto_pad = "SAME_UPPER">(z, first) b = Relu(a)
        half = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(b) d = Conv(half, second)
        e = LeakyRelu(d) mean = ReduceMean<keepdims = 0>(e, places) score = MatMul(mean, head)
        y = Sigmoid(score) }}"""
    rng = np.random.default_rng(0)
    feeds = [
        {"x": (rng.uniform(-1, 1, (n, 1, frames, 16)) * loudness).astype("float32")}
        for n, frames, loudness in ((1, 16, 1), (3, 24, 9), (2, 9, 4))
    ]
    # Sums of 9 and 36 products below 1, and means of them.
    checked(tmp_path, text, feeds, error=(9 + 36 + 60) * EPSILON)


@pytest.mark.nightly
def test_a_quantized_network(tmp_path):
    """Weights and activations of 8 bits between QuantizeLinear and DequantizeLinear."""
    text = f"""(float[N, 3, h, w] x) => (y)
        <{bytes_of("first", 8, 3, 3, 3)}, {bytes_of("second", 4, 8)}, float sx = {{0.0078125}},
         float sw = {{0.0078125}}, float sa = {{0.03125}}, float sy = {{0.0625}},
         uint8 zx = {{128}}, int8 zw = {{0}}, uint8 za = {{0}}, uint8 zy = {{128}},
         int64[2] places = {{2, 3}}> {{
        xq = QuantizeLinear(x, sx, zx) xf = DequantizeLinear(xq, sx, zx)
        wf = DequantizeLinear(first, sw, zw) a = Conv<strides = [2, 2]>(xf, wf) b = Relu(a)
        aq = QuantizeLinear(b, sa, za) af = DequantizeLinear(aq, sa, za)
        m = ReduceMean<keepdims = 0>(af, places) mq = QuantizeLinear(m, sa, za)
        mf = DequantizeLinear(mq, sa, za) vf = DequantizeLinear(second, sw, zw)
        g = Gemm<transB = 1>(mf, vf) gq = QuantizeLinear(g, sy, zy)
        y = DequantizeLinear(gq, sy, zy) }}"""
    rng = np.random.default_rng(0)
    feeds = [
        {"x": rng.uniform(-1, 1, (n, 3, h, w)).astype("float32")}
        for n, h, w in ((1, 9, 9), (2, 16, 11), (3, 7, 30))
    ]
    # A mean next to a boundary may be rounded to the next step, of which the head adds 8.
    checked(tmp_path, text, feeds, error=0.0625)


def test_an_ensemble_of_trees(tmp_path):
    """A scaler and a classifier of complete trees, as converters write it; the rows are open."""
    rng = np.random.default_rng(0)
    trees, inner, classes = 5, 7, 3
    ids = [(tree, node) for tree in range(trees) for node in range(2 * inner + 1)]
    leaves = [(tree, node) for tree, node in ids if node >= inner]
    nodes = {
        "treeids": [tree for tree, _ in ids],
        "nodeids": [node for _, node in ids],
        "featureids": rng.integers(0, 4, len(ids)).tolist(),
        "modes": ["BRANCH_LEQ" if node < inner else "LEAF" for _, node in ids],
        "values": (rng.integers(-8, 9, len(ids)) / 4).tolist(),
        "truenodeids": [2 * node + 1 if node < inner else 0 for _, node in ids],
        "falsenodeids": [2 * node + 2 if node < inner else 0 for _, node in ids],
    }
    votes = [(*leaf, number) for leaf in leaves for number in range(classes)]
    scaler = helper.make_node(
        "Scaler", ["x"], ["z"], domain="ai.onnx.ml", offset=[0.5] * 4, scale=[2.0] * 4
    )
    classifier = helper.make_node(
        "TreeEnsembleClassifier",
        ["z"],
        ["label", "scores"],
        domain="ai.onnx.ml",
        classlabels_int64s=list(range(classes)),
        class_treeids=[tree for tree, _, _ in votes],
        class_nodeids=[node for _, node, _ in votes],
        class_ids=[number for _, _, number in votes],
        class_weights=(rng.integers(0, 9, len(votes)) / 8).tolist(),
        **{f"nodes_{name}": column for name, column in nodes.items()},
    )
    model = helper.make_model(
        helper.make_graph(
            [scaler, classifier],
            "trees",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
            [
                helper.make_tensor_value_info("label", TensorProto.INT64, ["n"]),
                helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", classes]),
            ],
        ),
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)],
        ir_version=9,
    )
    feeds = [{"x": (rng.integers(-9, 10, (n, 4)) / 8).astype("float32")} for n in (1, 6, 90)]
    checked(tmp_path, model, feeds)


@pytest.mark.nightly
def test_a_detector(tmp_path):
    """The features of two sizes are joined, and the boxes that remain are read by their indices."""
    text = f"""(float[1, 3, h, w] x) => (boxes, scores)
        <{given("first", 8, 3, 3, 3)}, {given("second", 8, 8, 3, 3)}, {given("last", 5, 16, 1, 1)},
         int64[3] flat = {{1, 5, -1}}, int64[2] parts = {{4, 1}}, int64[1] zero = {{0}},
         int64[1] most = {{7}}, float[1] overlap = {{0.5}}, float[1] least = {{0.2}},
         int64 column = {{2}}> {{
        fine = Conv<auto_pad = "SAME_UPPER", strides = [2, 2]>(x, first) a = Relu(fine)
        half = MaxPool<kernel_shape = [3, 3], strides = [2, 2], auto_pad = "SAME_UPPER">(a)
        coarse = Conv<auto_pad = "SAME_UPPER">(half, second) sizes = Shape(a)
        wide = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric",
                      nearest_mode = "floor">(coarse, , , sizes)
        both = Concat<axis = 1>(a, wide) made = Conv(both, last) rows = Reshape(made, flat)
        corners, logits = Split<axis = 1>(rows, parts) every = Transpose<perm = [0, 2, 1]>(corners)
        certain = Sigmoid(logits)
        chosen = NonMaxSuppression<center_point_box = 1>(every, certain, most, overlap, least)
        index = Gather<axis = 1>(chosen, column) corner = Squeeze(every, zero)
        boxes = Gather(corner, index) one = Squeeze(certain, zero) own = Squeeze(one, zero)
        scores = Gather(own, index) }}"""
    rng = np.random.default_rng(0)
    images = [rng.uniform(-1, 1, (1, 3, *size)) for size in ((16, 16), (21, 34), (40, 9))]
    # Sums of 27, 72 and 16 products of magnitude below 1, each of which is rounded.
    error = (27 + 72 + 16) * EPSILON
    checked(tmp_path, text, [{"x": x.astype("float32")} for x in images], error=error)
