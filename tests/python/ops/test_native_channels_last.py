"""Networks with channels last where vector registers are known.

They are known in native code, and on OpenCL if the target names them. Elements and weights are
small integers.

All sums are then exact in any order, and results must be equal.
"""

import numpy as np
import onnx
import pytest
from llvm_plugin import has_llvm
from onnx.reference import ReferenceEvaluator

import texloom
from texloom.onnx import Model
from texloom.ops.schedules.processor.channels_last import CONVOLUTIONS
from texloom.ops.schedules.processor.registers import Registers
from texloom.ops.schedules.processor.tiles import Pixels, PixelTile, depthwise_block_for
from texloom.profiles import stated

IS_NATIVE = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")
TARGETS = (
    pytest.param("llvm -mcpu=native", marks=IS_NATIVE),
    pytest.param("llvm", marks=IS_NATIVE),
    "opencl -vector_registers=32x64",
)
NETWORKS = {
    # Parts of 10 and 7 channels end within a vector; the result has channels first again.
    "joined": """(float[1, 3, 9, 7] x) => (float[?] y) {
        a = Conv<pads = [1, 1, 1, 1]>(x, w0_10x3x3x3) b = Conv(x, w1_7x3x1x1)
        c = Concat<axis = 1>(a, b) y = Conv(c, w2_8x17x1x1) }""",
    "joined images": """(float[2, 3, 5, 6] x) => (float[?] y) {
        a = Conv(x, w0_16x3x1x1) b = Conv(x, w1_32x3x1x1)
        y = Concat<axis = 1>(a, b, a) }""",
    # A thread copies the pixels of some rows and vectors: whole tiles, a rest of columns, one row.
    "depthwise": """(float[2, 3, 12, 28] x) => (float[?] y) { a = Conv(x, w0_48x3x1x1)
        b = Conv<group = 48, pads = [1, 1, 1, 1]>(a, w1_48x1x3x3) y = Relu(b) }""",
    "depthwise, strides": """(float[1, 3, 11, 74] x) => (float[?] y) { a = Conv(x, w0_32x3x1x1)
        b = Conv<group = 32, pads = [2, 1, 2, 3], strides = [1, 2]>(a, w1_32x1x5x5)
        y = Conv(b, w2_8x32x1x1) }""",
    "depthwise, dilated": """(float[1, 3, 9, 20] x) => (float[?] y) { a = Conv(x, w0_16x3x1x1)
        b = Conv<group = 16, pads = [2, 4, 2, 4], dilations = [1, 2], strides = [2, 1]>
        (a, w1_16x1x5x5) y = Conv(b, w2_8x16x1x1) }""",
    "depthwise along a line": """(float[2, 3, 37] x) => (float[?] y) { a = Conv(x, w0_24x3x1)
        b = Conv<group = 24, pads = [1, 1]>(a, w1_24x1x3) y = Conv(b, w2_8x24x1) }""",
    "depthwise in space": """(float[1, 3, 4, 6, 9] x) => (float[?] y) {
        a = Conv(x, w0_16x3x1x1x1)
        b = Conv<group = 16, pads = [1, 1, 1, 1, 1, 1]>(a, w1_16x1x3x3x3)
        y = Conv(b, w2_8x16x1x1x1) }""",
    # 58 channels are vectors of 16, 8 and 2; 45 are a tile of 45, of 15 or of 9.
    "channels that no vector divides": """(float[1, 5, 7, 9] x) => (float[?] y) {
        a = Conv(x, w0_58x5x1x1) b = Conv<pads = [1, 1, 1, 1]>(a, w1_45x58x3x3) r = Relu(b)
        c = Conv<group = 45, pads = [1, 1, 1, 1], strides = [2, 2]>(r, w2_45x1x3x3)
        d = Conv<group = 3>(c, w3_21x15x1x1) y = Conv(d, w4_7x21x1x1) }""",
    # The pixels of a tile are rows: 37 and 18 of them, which no tile divides, and one.
    "a single column": """(float[2, 3, 37, 1] x) => (float[?] y) { a = Conv(x, w0_24x3x1x1)
        b = Conv<pads = [2, 0, 2, 0]>(a, w1_16x24x5x1) r = Relu(b)
        c = Conv<pads = [1, 1, 1, 1], strides = [2, 1]>(r, w2_24x16x4x3)
        d = Conv<dilations = [17, 1]>(c, w3_8x24x2x1) y = Conv(d, w4_8x8x1x1) }""",
    "a single column in space": """(float[1, 3, 4, 6, 1] x) => (float[?] y) {
        a = Conv(x, w0_16x3x1x1x1)
        b = Conv<pads = [1, 1, 0, 1, 1, 0]>(a, w1_16x16x3x3x1)
        y = Conv(b, w2_8x16x1x1x1) }""",
    # Row-major pixels are copied: their rows are no vectors, or the result has channels last.
    "row-major pixels": """(float[2, 16, 7, 7] x) => (float[?] y) { y = Conv(x, w0_24x16x1x1) }""",
    "row-major pixels, odd channels": """(float[2, 13, 5, 6] x) => (float[?] y) {
        y = Conv(x, w0_24x13x1x1) }""",
    "row-major pixels, windows": """(float[2, 16, 9, 11] x) => (float[?] y) {
        y = Conv(x, w0_24x16x3x3) }""",
    "row-major pixels, strides": """(float[2, 16, 9, 11] x) => (float[?] y) {
        y = Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(x, w0_8x16x3x3) }""",
    "row-major pixels, groups": """(float[2, 16, 9, 11] x) => (float[?] y) {
        y = Conv<group = 2>(x, w0_32x8x1x1) }""",
    "row-major pixels to channels last": """(float[1, 24, 8, 16] x) => (float[?] y) {
        a = Conv(x, w0_40x24x1x1) y = Conv<pads = [1, 1, 1, 1]>(a, w1_16x40x3x3) }""",
    "row-major pixels along a line": """(float[2, 16, 13] x) => (float[?] y) {
        y = Conv(x, w0_8x16x1) }""",
    "many channels": """(float[1, 4, 13, 13] x) => (float[?] y) {
        a = Conv(x, w0_600x4x1x1) y = Conv(a, w1_250x600x1x1) }""",
    # A large expression that a stage after the sums reads twice is computed once, at their tile.
    "a maximum along columns in space": """(float[2, 3, 6, 6, 6] x) => (float[?] y) {
        a = Conv<pads = [1, 1, 1, 1, 1, 1], strides = [2, 2, 2]>(x, w0_8x3x2x2x2) b = Relu(a)
        c = LeakyRelu<alpha = 0.5>(b) y = Max(c, w1_1x1x1x1x4) }""",
    "a minimum along columns": """(float[3, 4, 5] x) => (float[?] y) {
        a = Conv<pads = [1, 1]>(x, w0_16x4x1) b = LeakyRelu<alpha = 0.5>(a)
        c = LeakyRelu<alpha = 0.5>(b) y = Min(w1_1x16x7, c, a) }""",
    # Pictures of 6 x 5 pixels, and 12 channels, fill no tile of a transpose.
    "to channels first and back": """(float[2, 3, 6, 5] x) => (float[?] y) {
        a = Conv(x, w0_12x3x1x1) s = CumSum(a, axis3) y = Conv(s, w1_8x12x1x1) }""",
}


def integers(*shape, most=3, seed=0):
    values = np.random.default_rng((seed, *shape)).integers(-most, most + 1, shape)
    return values.astype("float32")


def network(text):
    """A model of a graph's text, in which names such as ``w_8x3x1x1`` are weights."""
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> net {text}')
    names = {name for node in model.graph.node for name in node.input}
    arrays = {
        name: integers(*map(int, name.partition("_")[2].split("x")), most=2, seed=len(name))
        for name in names
        if "_" in name
    }
    arrays |= {name: np.array(int(name[4:])) for name in names if name.startswith("axis")}
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()
    )
    return model


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_integers(name, target):
    model = network(NETWORKS[name])
    x = integers(*(d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim))
    (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
    np.testing.assert_array_equal(Model(model, target).run({"x": x})["y"], expected)


@IS_NATIVE
def test_outputs_are_row_major():
    """No run converts an output, even if it has another name than its tensor."""
    model = network("""(float[1, 3, 8, 8] x) => (float[?] y) { a = Conv(x, w0_16x3x1x1)
        p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(a) y = Identity(p) }""")
    stores = Model(model, "llvm").summary["stores"]
    layouts = {name: layout for name, (*_, layout) in stores.items()}
    assert layouts.pop("a") != ""
    assert layouts.pop("constant") != "" and {*layouts.values()} == {""}, layouts


@IS_NATIVE
@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
@pytest.mark.parametrize("axis", [0, 1])
def test_padding_of_joined_tensors(mode, axis):
    """A condition that another one makes plain is decided in no part of a divided loop."""
    pads = [0, 0, 0, 0]
    pads[axis], pads[2 + axis] = 2, 1
    nodes = [
        onnx.helper.make_node("Concat", ["x", "x"], ["joined"], axis=axis),
        onnx.helper.make_node("Pad", ["joined", "pads"], ["y"], mode=mode),
    ]
    graph = onnx.helper.make_graph(
        nodes,
        "padded",
        [onnx.helper.make_tensor_value_info("x", 1, (4, 5))],
        [onnx.helper.make_tensor_value_info("y", 1, None)],
        [onnx.numpy_helper.from_array(np.array(pads), "pads")],
    )
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=9
    )
    x = np.arange(20, dtype="float32").reshape(4, 5)
    joined = np.concatenate([x, x], axis)
    widths = [(pads[0], pads[2]), (pads[1], pads[3])]
    made = texloom.compile(model, "llvm").run({"x": x})["y"]
    np.testing.assert_array_equal(made, np.pad(joined, widths, mode))


def test_long_rows_of_depthwise_convolutions_are_not_copied_whole():
    """A tile of four pixels does not divide 957: a block would be a whole row for each tap."""
    tile = PixelTile(4, 2, 16)
    assert depthwise_block_for((24, 957), (52, 961), (5, 5), tile) is None
    assert depthwise_block_for((24, 960), (52, 964), (5, 5), tile) is not None


def test_tiles_of_few_registers_use_an_element_of_a_pixel_twice():
    """With AVX2, making a vector of an element takes as long as a product does."""
    avx2 = Registers(32, 16, 16, has_tails=True)
    chosen = CONVOLUTIONS.best(Pixels(77, 64, avx2), stated("cpu"))
    assert chosen is not None and chosen.vectors > 1


@pytest.mark.parametrize("channels", [58, 116, 232])
def test_channels_of_shuffled_networks_are_whole_vectors_and_a_rest(channels):
    """Vectors of two or four lanes, which divide all channels, would do half or less at once."""
    avx2 = Registers(32, 16, 16, has_tails=True)
    chosen = CONVOLUTIONS.best(Pixels(28, channels, avx2), stated("cpu"))
    assert chosen is not None and chosen.lanes == 8
