"""Graphs whose operators are fused across views and permutations, on GPUs and processors."""

import numpy as np
import onnx
import onnx.reference
import pytest
from single_node import floats

from texloom.onnx.model import Model

GPU = "opencl -device=nvidia -conditional_barriers=0"  # PoCL has no such barriers
TARGETS = [GPU, "opencl"]


def integers(*shape, seed=0):
    return np.random.default_rng((seed, *shape)).integers(-3, 4, shape).astype("float32")


def compared(text, target, bound=0.0, constants=(), **arrays):
    """Compare a model with the reference within a bound; return the launches.

    `constants` are the names of arrays that are initializers; others are inputs of the graph.
    """
    model = onnx.parser.parse_model(text)
    given = {name: value for name, value in arrays.items() if name not in constants}
    kept = [each for each in model.graph.input if each.name not in constants]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(arrays[name], name) for name in constants
    )
    expected = onnx.reference.ReferenceEvaluator(model).run(None, given)
    compiled = Model(model, target=target)
    got = compiled.run(given)
    for (name, own), wanted in zip(got.items(), expected, strict=True):
        assert own.shape == wanted.shape, name
        assert np.abs(own - wanted).max() <= bound, name
    return compiled.summary["launches"]


@pytest.mark.parametrize("target", TARGETS)
def test_an_epilogue_across_a_view(target):
    """Bias, residual and activation are in the product's kernel, though it has another shape."""
    launches = compared(
        """<ir_version: 8, opset_import: ["" : 17]>
        one (float[6, 40] x, float[40, 16] w, float[16] b, float[16, 16] v) => (y)
        <int64[3] shape = {2, 3, 16}, int64[2] rows = {6, 16}>
        { p = MatMul(x, w) r = Reshape(p, shape) s = Add(r, b) a = Relu(s)
          flat = Reshape(a, rows) q = MatMul(flat, v) t = Reshape(q, shape) u = Add(t, a)
          y = Relu(u) }""",
        target,
        constants=("w", "b", "v"),
        x=integers(6, 40),
        w=integers(40, 16),
        b=integers(16),
        v=integers(16, 16),
    )
    assert launches <= 3  # the products, and a copy to the shape of the output


@pytest.mark.parametrize("target", TARGETS)
def test_readers_of_a_view_that_are_outputs(target):
    """There would be no epilogue, and each output would need a copy."""
    launches = compared(
        """<ir_version: 8, opset_import: ["" : 17]>
        one (float[6, 8] x, float[8, 8] w) => (y, z) <int64[3] shape = {2, 3, 8}>
        { p = MatMul(x, w) r = Reshape(p, shape) y = Neg(r) z = Abs(r) }""",
        target,
        constants=("w",),
        x=integers(6, 8),
        w=integers(8, 8),
    )
    assert launches == 3


@pytest.mark.parametrize("target", TARGETS)
def test_a_product_becomes_an_image(target):
    """As in ConvNeXt: a permutation, a scale of channels, and a residual that is an image."""
    launches = compared(
        """<ir_version: 8, opset_import: ["" : 17]>
        one (float[1, 8, 6, 6] x, float[8, 8, 3, 3] k, float[8, 16] w, float[16, 8] v,
             float[8, 1, 1] scale) => (y)
        { c = Conv<pads = [1, 1, 1, 1]>(x, k) last = Transpose<perm = [0, 2, 3, 1]>(c)
          p = MatMul(last, w) a = Relu(p) q = MatMul(a, v)
          image = Transpose<perm = [0, 3, 1, 2]>(q) m = Mul(scale, image) s = Add(m, c)
          y = Conv<pads = [1, 1, 1, 1]>(s, k) }""",
        target,
        constants=("k", "w", "v", "scale"),
        x=integers(1, 8, 6, 6),
        k=integers(8, 8, 3, 3) % 2,
        w=integers(8, 16) % 2,
        v=integers(16, 8) % 2,
        scale=integers(8, 1, 1),
    )
    if target == GPU:
        assert launches == 4  # two convolutions and two products


def test_batches_of_rows_are_one_product():
    """Three matrices of five rows, whose product is scaled for each matrix: the view stays."""
    compared(
        """<ir_version: 8, opset_import: ["" : 17]>
        one (float[3, 5, 8] x, float[8, 8] w, float[3, 1, 1] s) => (y)
        { a = Relu(x) p = MatMul(a, w) m = Mul(p, s) q = MatMul(m, w) y = Relu(q) }""",
        GPU,
        constants=("w", "s"),
        x=integers(3, 5, 8),
        w=integers(8, 8),
        s=integers(3, 1, 1),
    )


@pytest.mark.parametrize("channels", [12, 32])
@pytest.mark.parametrize("target", TARGETS)
def test_groups_of_channels_are_normalized(target, channels):
    """Group normalization as torch's exporter writes it, between convolutions."""
    x, k = floats(2, channels, 10, 10), floats(channels, channels, 1, 1, seed=1)
    launches = compared(
        f"""<ir_version: 8, opset_import: ["" : 17]>
        one (float[2, {channels}, 10, 10] x, float[{channels}, {channels}, 1, 1] k,
             float[{channels}, 1, 1] w, float[{channels}, 1, 1] b) => (y)
        <int64[3] rows = {{2, 4, -1}}, int64[4] image = {{2, {channels}, 10, 10}},
         float[4] one = {{1, 1, 1, 1}}, float[4] zero = {{0, 0, 0, 0}}>
        {{ c = Conv(x, k) r = Reshape(c, rows)
           n = InstanceNormalization<epsilon = 0.00001>(r, one, zero) i = Reshape(n, image)
           m = Mul(i, w) s = Add(m, b) g = Sigmoid(s) a = Mul(s, g) y = Conv(a, k) }}""",
        target,
        # Two sums of `channels` products, of elements below 4, with errors of 64 units in the last
        # place of normalized elements.
        bound=2 * channels * 64 * 4 * 2.0**-24 * float(np.abs(k).sum(1).max()),
        constants=("k", "w", "b"),
        x=x,
        k=k,
        w=floats(channels, 1, 1, seed=2),
        b=floats(channels, 1, 1, seed=3),
    )
    if target == GPU:
        assert launches <= 4  # two convolutions, and at most two of the normalization


def test_outputs_that_nothing_reads_are_not_computed():
    """A layer normalization also has a mean and a deviation."""
    launches = compared(
        """<ir_version: 8, opset_import: ["" : 17]>
        one (float[6, 40] x, float[40] s) => (y)
        { y, mean, deviation = LayerNormalization(x, s) }""",
        GPU,
        bound=64 * 2.0**-24 * 8,
        x=floats(6, 40),
        s=floats(40, seed=1),
    )
    assert launches == 1


@pytest.mark.parametrize(
    "places", ["{1}", "{0, 2, 4}", "{4, 2, 0}", "{-1, -2}", "{3, 3}", "{0, 3, 4}"]
)
def test_gathers_of_constant_indices(places):
    """Indices at equal distances are no data; others are."""
    count = places.count(",") + 1
    compared(
        f"""<ir_version: 8, opset_import: ["" : 17]>
        one (float[2, 5, 3] x) => (y) <int64[{count}] at = {places}>
        {{ y = Gather<axis = 1>(x, at) }}""",
        GPU,
        x=integers(2, 5, 3),
    )


@pytest.mark.parametrize(
    ("places", "extent", "launches"),
    [
        ("{0, 1, 2, 3, 4}", 5, 1),
        ("{0}", 1, 1),
        ("{0, 1, 2, 3}", 5, 2),
        ("{4, 3, 2, 1, 0}", 5, 2),
        ("{0, 0}", 2, 2),
        ("{0, 0}", 1, 2),
    ],
)
def test_a_gather_of_all_elements_in_order_is_a_view(places, extent, launches):
    """So it needs no kernel between two sums, and its indices may have several axes."""
    count = places.count(",") + 1
    made = compared(
        f"""<ir_version: 8, opset_import: ["" : 18]>
        one (float[{extent}, 6] x, float[6, 3] k) => (y)
        <int64[1, {count}] at = {places}, int64[1] last = {{2}}>
        {{ p = MatMul(x, k) g = Gather<axis = 0>(p, at) y = ReduceMax<keepdims = 0>(g, last) }}""",
        GPU,
        constants=("k",),
        x=integers(extent, 6),
        k=integers(6, 3),
    )
    assert made == 1 + launches


@pytest.mark.parametrize("target", TARGETS)
def test_patches_are_rows_of_a_product(target):
    """A convolution of patches that do not overlap, in a batch, with a bias."""
    compared(
        """<ir_version: 8, opset_import: ["" : 17]>
        one (float[2, 3, 16, 24] x, float[5, 3, 8, 8] k, float[5] b) => (y)
        { c = Conv<strides = [8, 8]>(x, k, b) y = Relu(c) }""",
        target,
        constants=("k", "b"),
        x=integers(2, 3, 16, 24),
        k=integers(5, 3, 8, 8),
        b=integers(5),
    )


ATTENTION = """<ir_version: 8, opset_import: ["" : 17]>
one (float[{rows}, 16] x) => (y) <int64[3] shape = {{2, 10, 16}}, float quarter = {{0.25}},
 int64[1] zero = {{0}}, int64[1] three = {{3}}, int64[1] one_ = {{1}}>
{{ q = Reshape(x, shape) k = Transpose<perm = [0, 2, 1]>(q) s = MatMul(q, k) m = Mul(s, quarter)
   w = Softmax(m) c = MatMul(w, q) y = Slice(c, zero, three, one_) }}"""


def test_a_slice_of_attention_is_no_permutation():
    model = onnx.parser.parse_model(ATTENTION.format(rows=20))
    x = floats(20, 16)
    q = x.reshape(2, 10, 16).astype("float64")
    s = q @ q.swapaxes(1, 2) / 4
    w = np.exp(s - s.max(-1, keepdims=True))
    expected = (w / w.sum(-1, keepdims=True) @ q)[:, :3]
    got = Model(model, target=GPU).run({"x": x})["y"]
    assert np.abs(got - expected[:3]).max() <= 1e-4


def test_open_extents_before_attention():
    """The number of rows is open, but not that of queries: the heads are copied first."""
    model = onnx.parser.parse_model(ATTENTION.format(rows="N"))
    x = floats(20, 16)
    got = Model(model, target=GPU).run({"x": x})["y"]
    closed = Model(onnx.parser.parse_model(ATTENTION.format(rows=20)), target=GPU).run({"x": x})
    assert np.abs(got - closed["y"]).max() <= 1e-5


@pytest.mark.parametrize("target", [*TARGETS, "llvm"])
def test_permutations_that_convert_are_no_views(target):
    """With half precision, the reshaped input stays float32, and the image is float16."""
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17]>
        one (float[1, 16, 8] x, float[8, 8, 3, 3] w) => (y) <int64[4] shape = {1, 4, 4, 8}>
        { r = Reshape(x, shape) t = Transpose<perm = [0, 3, 1, 2]>(r) y = Conv(t, w) }"""
    )
    w = integers(8, 8, 3, 3)
    model.graph.initializer.append(onnx.numpy_helper.from_array(w, "w"))
    del model.graph.input[1:]
    x = integers(1, 16, 8)
    (expected,) = onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})
    got = Model(model, target=target, precision="fp16").run({"x": x})["y"]
    assert np.abs(expected).max() < 2048  # so that half numbers hold the sums
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("target", [*TARGETS, "llvm"])
def test_a_convolution_before_a_softmax_is_no_attention(target):
    compared(
        """<ir_version: 8, opset_import: ["" : 17]>
        one (float[1, 2, 2, 2] x, float[1, 3, 2, 4] v, float[3, 2, 1, 1] w) => (y)
        { s = Conv(x, w) p = Softmax(s) y = MatMul(p, v) }""",
        target,
        bound=16 * 2.0**-24 * 3,
        constants=("w",),
        x=integers(1, 2, 2, 2),
        v=integers(1, 3, 2, 4),
        w=integers(3, 2, 1, 1),
    )


@pytest.mark.parametrize("target", [GPU, "llvm"])
def test_a_factor_of_queries_keeps_scores_in_range(target):
    """Products of the queries before they are scaled would overflow."""
    compared(
        """<ir_version: 8, opset_import: ["" : 17]>
        one (float[5, 4] q, float[4, 6] k, float[6, 3] v) => (y) <float c = {1e-30}>
        { a = Mul(q, c) s = MatMul(a, k) w = Softmax<axis = -1>(s) y = MatMul(w, v) }""",
        target,
        bound=1e-5,
        q=floats(5, 4) * np.float32(1e30),
        k=floats(4, 6, seed=1) * np.float32(1e10),
        v=floats(6, 3, seed=2),
    )


@pytest.mark.parametrize("threads", [32, 64])
def test_devices_of_few_threads(threads):
    """A transpose and a softmax have blocks of as many threads as the device allows."""
    compared(
        """<ir_version: 8, opset_import: ["" : 17]>
        one (float[10, 10] x) => (y) { t = Transpose(x) y = Softmax(t) }""",
        f"{GPU} -max_num_threads={threads}",
        bound=64 * 2.0**-24,
        x=integers(10, 10),
    )


def test_queries_keys_and_values_of_several_texts_are_one_product():
    """All products of a batch read one view of it as rows, so that they have the same factor."""
    heads = "{2, 5, 2, 8}"
    launches = compared(
        f"""<ir_version: 8, opset_import: ["" : 17]>
        one (float[2, 5, 16] x, float[16, 16] f, float[16, 16] wq, float[16, 16] wk,
             float[16, 16] wv) => (y)
        <int64[4] heads = {heads}, int64[3] joined = {{2, 5, 16}}>
        {{ a = MatMul(x, f) q = MatMul(a, wq) k = MatMul(a, wk) v = MatMul(a, wv)
          q4 = Reshape(q, heads) k4 = Reshape(k, heads) v4 = Reshape(v, heads)
          qt = Transpose<perm = [0, 2, 1, 3]>(q4) kt = Transpose<perm = [0, 2, 3, 1]>(k4)
          vt = Transpose<perm = [0, 2, 1, 3]>(v4)
          s = MatMul(qt, kt) p = Softmax<axis = -1>(s) o = MatMul(p, vt)
          t = Transpose<perm = [0, 2, 1, 3]>(o) y = Reshape(t, joined) }}""",
        GPU,
        bound=1e-5,  # weighted means of sums of up to 10, with softmax
        constants=("f", "wq", "wk", "wv"),
        x=integers(2, 5, 16) * np.float32(0.1),
        **{
            name: integers(16, 16, seed=i) * np.float32(0.1)
            for i, name in enumerate(("f", "wq", "wk", "wv"))
        },
    )
    assert launches == 4  # the first product, the others, attention, and a copy to the output


@pytest.mark.parametrize(("channels", "outputs", "side"), [(64, 64, 56), (32, 16, 112)])
def test_blocks_of_pixels_are_those_of_one_image(channels, outputs, side):
    """Regions of blocks are no larger than blocks, where these divide an image of several."""
    compared(
        f"""<ir_version: 8, opset_import: ["" : 17]>
        one (float[2, {channels}, {side}, {side}] x, float[{outputs}, {channels}, 1, 1] w) => (y)
        {{ a = Conv(x, w) y = Relu(a) }}""",
        GPU,
        constants=("w",),
        x=integers(2, channels, side, side),
        w=integers(outputs, channels, 1, 1),
    )
