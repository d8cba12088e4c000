"""Networks on the target llvm, in native code: the schedules for processors.

Elements are small integers where operators add and multiply alone: then every sum is exact in any
order, and results must be equal. The plug-in is built by -DTEXLOOM_LLVM=ON; without it, these
tests are skipped.
"""

import numpy as np
import onnx
import pytest
from llvm_plugin import has_llvm
from onnx.reference import ReferenceEvaluator

import texloom
from texloom import te
from texloom.errors import TVMError
from texloom.onnx import Model
from texloom.ops.products import matmul
from texloom.ops.schedules.family import KernelTask
from texloom.ops.schedules.processor.channels_last import CONVOLUTIONS
from texloom.ops.schedules.processor.products import PRODUCTS, Product, ProductTile, with_block
from texloom.ops.schedules.processor.registers import Registers
from texloom.ops.schedules.processor.tiles import (
    PixelBlock,
    Pixels,
    PixelTile,
    block_for,
    depthwise_block_for,
)
from texloom.profiles import stated
from texloom.target import Target

pytestmark = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")

TARGET = "llvm -mcpu=native"
SETTING = "<ir_version: 9, opset_import: ['' : 20]>"
UNIT = 2.0**-24  # the largest relative error of an operation on float32


def integers(*shape, most=3, seed=0):
    values = np.random.default_rng((seed, *shape)).integers(-most, most + 1, shape)
    return values.astype("float32")


def parsed(graph, constants):
    """A model of a graph's text; `constants` are arrays by name."""
    model = onnx.parser.parse_model(SETTING.replace("'", '"') + " net " + graph)
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(array, name) for name, array in constants.items()
    )
    return model


def results_of(model, x):
    (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
    return Model(model, TARGET).run({"x": x})["y"], expected


CASES = {
    # The rest of 49 pixels is smaller than a tile.
    "1x1": ("(float[1, 16, 7, 7] x) => (float[?] y) { y = Conv(x, w, b) }", (24, 16, 1, 1)),
    # Pixels are in blocks, and input channels in parts: tiles and blocks do not divide the images.
    "deep 1x1": (
        "(float[2, 1024, 5, 5] x) => (float[?] y) { y = Conv(x, w, b) }",
        (16, 1024, 1, 1),
    ),
    "deep 3x3": (
        "(float[1, 192, 3, 9] x) => (float[?] y) { c = Conv<pads = [1, 1, 1, 1]>(x, w, b)"
        " y = Relu(c) }",
        (16, 192, 3, 3),
    ),
    # Three channels are padded by a kernel of their own.
    "picture": (
        "(float[1, 3, 17, 19] x) => (float[?] y) {"
        " c = Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(x, w, b) y = Relu(c) }",
        (8, 3, 3, 3),
    ),
    "depthwise": (
        "(float[2, 24, 9, 10] x) => (float[?] y) { y = Conv<group = 24, pads = [1, 1, 1, 1]>"
        "(x, w, b) }",
        (24, 1, 3, 3),
    ),
    "odd channels": (
        "(float[1, 6, 8, 5] x) => (float[?] y) { y = Conv<pads = [2, 2, 2, 2]>(x, w, b) }",
        (5, 6, 5, 5),
    ),
    "product": ("(float[3, 13, 33] x) => (float[?] y) { y = MatMul(x, w) }", (33, 20)),
    # Matrices of one row are the rows of one: tiles do not divide 13.
    "single rows": (
        "(float[2, 13, 1, 33] x) => (float[?] y) { m = MatMul(x, w) y = Relu(m) }",
        (33, 40),
    ),
    # Few rows of several matrices read a panel, all steps or parts of them.
    "stack": ("(float[3, 4, 7, 33] x) => (float[?] y) { y = MatMul(x, w) }", (33, 40)),
    "deep stack": (
        "(float[3, 7, 1040] x) => (float[?] y) { m = MatMul(x, w) y = Relu(m) }",
        (1040, 48),
    ),
    # Six rows of a tile do not divide 13, nor four vectors of a panel 40 columns.
    "tall product": (
        "(float[13, 33] x) => (float[?] y) { m = MatMul(x, w) y = Relu(m) }",
        (33, 40),
    ),
    # A panel stays in the cache for parts of the steps.
    "deep product": (
        "(float[13, 1024] x) => (float[?] y) { m = MatMul(x, w) y = Add(m, b) }",
        (1024, 32),
    ),
    # The last column is a tail.
    "odd columns": ("(float[5, 9] x) => (float[?] y) { y = MatMul(x, w) }", (9, 129)),
    "open rows": (
        "(float[rows, 33] x) => (float[?] y) { m = MatMul(x, w) y = Add(m, b) }",
        (33, 24),
    ),
    "narrow product": ("(float[1, 33] x) => (float[?] y) { y = Gemm(x, w, b) }", (33, 7)),
    "maximum": (
        "(float[1, 20, 9, 9] x) => (float[?] y) { y = MaxPool<kernel_shape = [3, 3],"
        " strides = [2, 2], pads = [1, 1, 1, 1]>(x) }",
        None,
    ),
    "rows": ("(float[5, 300] x) => (float[?] y) { y = ReduceSum<keepdims = 0>(x, axis) }", None),
    "broadcast": ("(float[4, 6, 35] x) => (float[?] y) { y = Mul(x, row) }", None),
}


@pytest.mark.parametrize("case", CASES)
def test_sums_of_integers(case):
    text, weight = CASES[case]
    constants = {"axis": np.array([1], "int64"), "row": integers(6, 1)}
    if weight is not None:
        outputs = weight[-1] if len(weight) == 2 else weight[0]
        constants |= {"w": integers(*weight, seed=1), "b": integers(outputs, seed=2)}
    model = parsed(text, {n: a for n, a in constants.items() if f"{n})" in text or f"{n}," in text})
    shape = [d.dim_value or 7 for d in model.graph.input[0].type.tensor_type.shape.dim]
    got, expected = results_of(model, integers(*shape))
    np.testing.assert_array_equal(got, expected)


def test_constant_right_sides_are_packed():
    """Their layout has panels of columns; a right side that varies is row-major."""
    model = parsed(
        "(float[12, 16] x, float[16, 48] v) => (float[?] a, float[?] b, float[?] c)"
        " { a = MatMul(x, w) b = MatMul(x, v) c = Gemm<transB = 1>(x, u) }",
        {"w": integers(16, 48), "u": integers(48, 16)},
    )
    compiled = Model(model, "llvm -mcpu=haswell")
    layouts = sorted(layout for *_, layout in compiled.summary["stores"].values() if layout)
    assert layouts == ["buffer[(d0, d1) -> cols=(d1/16, d0, d1%16)]"] * 2


def tile_of(facts):
    return with_block(PRODUCTS.best(facts, stated("cpu")), facts)


def tile_for(rows, columns, steps, item, registers):
    return tile_of(Product(rows, columns, steps, item, registers, steps * item))


def pixel_tile(columns, channels, registers, **options):
    return CONVOLUTIONS.best(Pixels(columns, channels, registers, **options), stated("cpu"))


def test_tiles_of_products():
    """Sums fill the registers; a single row has more vectors; only long sums are in parts."""
    haswell, skylake = Registers(32, 16, 16, True), Registers(64, 32, 32, True)
    assert tile_for(128, 768, 768, 4, haswell) == ProductTile(4, 3, 8, 32, 256)
    assert tile_for(64, 256, 64, 4, haswell) == ProductTile(6, 2, 8, 11)
    assert tile_for(1, 2048, 2048, 4, haswell) == ProductTile(1, 8, 8, 1)
    assert Product(1, 7, 33, 4, haswell, 33 * 4).lanes is None
    # The second level of AVX-512's caches holds panels of more steps, but not of all.
    assert tile_for(128, 768, 768, 4, skylake).steps is None
    assert tile_for(128, 768, 3072, 4, skylake).steps == 1024
    # Blocks divide the rows; otherwise there is one. If the cache holds the whole right side, it
    # holds a block's rows of the result.
    assert tile_for(3136, 1024, 64, 4, haswell) == ProductTile(4, 2, 8, 196)
    assert tile_for(3136, 256, 64, 4, haswell) == ProductTile(4, 2, 8, 28)
    assert tile_for(3137, 256, 64, 4, haswell).tiles * 6 >= 3137
    for rows, columns in ((128, 768), (7, 48), (3, 1000)):
        tile = tile_for(rows, columns, 99, 4, skylake)
        assert tile.lanes == 16 or columns % 16
        assert skylake.hold(tile.rows, tile.vectors)


def test_tiles_of_rows_that_are_whole_pages_apart():
    """The first level of the cache does not hold a line of each of many such rows."""
    skylake = Registers(64, 32, 32, True)
    assert tile_for(50, 768, 3000, 4, skylake).rows == 25
    for rows, steps, most in ((50, 3072, 8), (60, 1024, 8), (50, 512, 16), (50, 3024, 30)):
        assert tile_for(rows, 768, steps, 4, skylake).rows <= most
    assert pixel_tile(196, 256, skylake, pitch=1000 * 4).pixels == 14
    assert pixel_tile(196, 256, skylake, pitch=1024 * 4).pixels <= 8


def test_matrices_of_one_row_are_rows_of_one():
    """A tile has several of them, if they are multiplied by the same matrix."""
    for right, rows in (((64, 96), 6), ((12, 64, 96), 1)):
        x = te.placeholder((12, 1, 64), name="x")
        y = matmul(x, te.placeholder(right, name="w"))
        tile = tile_of(PRODUCTS.facts_of(KernelTask.of_sums(y, y, Target("haswell").value)))
        assert tile.rows == rows


def test_matrices_share_a_panel():
    """All matrices are in one block if the cache holds their rows; otherwise some are."""
    for batch, matrices in (((1, 7), 7), ((3, 5), 15), ((900, 3), 50)):
        x = te.placeholder((*batch, 7, 768), name="x")
        y = matmul(x, te.placeholder((768, 384), name="w"))
        tile = tile_of(PRODUCTS.facts_of(KernelTask.of_sums(y, y, Target("haswell").value)))
        assert tile.matrices == matrices
        assert tile.matrices * 7 * tile.steps * 4 <= 352 << 10


def test_vectors_are_as_wide_as_the_registers():
    """LLVM prefers half of AVX-512's registers for Intel's servers, unless a target asks for it."""
    for text, size, count in (
        ("haswell", 32, 16),
        ("skylake-avx512", 64, 32),
        ("llvm -mcpu=sapphirerapids", 64, 32),
        ("skylake-avx512 -mattr=+prefer-256-bit", 32, 32),
        ("cortex-a76", 16, 32),
    ):
        assert Registers.of(Target(text).value) == Registers(size, count, count, True), text


def test_blocks_of_pixels():
    """Windows of one element have the tiles whose inputs the cache holds; few steps stay whole."""
    tile = PixelTile(4, 2, 8)
    assert block_for((3136,), 64, 1, tile) == PixelBlock(1, 196)  # divides 784 tiles
    assert block_for((196,), 1024, 1, tile) == PixelBlock(1, 49, 256)
    assert block_for((14, 14), 256, 9, tile) == PixelBlock(14, 4, 256)
    assert block_for((14, 14), 256, 9, tile, has_parts=False) is None
    assert block_for((28, 28), 128, 9, tile) is None


def test_blocks_of_depthwise_convolutions():
    """The thread of a block copies few pixels twice, and no more than the first cache holds."""
    tile = pixel_tile(56, 64, Registers(64, 32, 32, True), is_depthwise=True)
    assert tile == PixelTile(14, 2, 16)
    assert depthwise_block_for((56, 56), (58, 58), (3, 3), tile) == PixelBlock(8, 1)
    assert depthwise_block_for((7, 7), (11, 11), (5, 5), PixelTile(7, 2, 16)) == PixelBlock(7, 1)


ELEMENTS = {
    # Tiles of vectors: whole ones, a rest of rows, and rows that no vector divides.
    "to channels last": """(float[2, 16, 5, 8] x) => (float[?] y) {
        y = Transpose<perm=[0,2,3,1]>(x) }""",
    "to channels first": """(float[2, 6, 6, 34] x) => (float[?] y) {
        y = Transpose<perm=[0,3,1,2]>(x) }""",
    "odd": "(float[7, 37] x) => (float[?] y) { y = Transpose<perm=[1,0]>(x) }",
    "heads": """(float[1, 9, 24] x) => (float[?] y) {
        r = Reshape(x, heads) y = Transpose<perm=[0,2,1,3]>(r) }""",
    "keys": "(float[1, 9, 3, 20] x) => (float[?] y) { y = Transpose<perm=[0,2,3,1]>(x) }",
    # Loops over axes that are contiguous together, in blocks of a prime number of elements.
    "prime": "(float[4099] x) => (float[?] y) { y = Add(x, x) }",
    "channels": "(float[2, 6, 5, 7] x) => (float[?] y) { y = Add(x, channel) }",
    "columns": "(float[40, 70] x) => (float[?] y) { y = Mul(x, column) }",
    "thin": "(float[5000, 3] x) => (float[?] y) { y = Mul(x, three) }",
    "pad": "(float[1, 6, 5, 7] x) => (float[?] y) { y = Pad(x, border) }",
    "slice": "(float[3, 60, 9] x) => (float[?] y) { y = Slice(x, starts, ends, axes) }",
    "join": "(float[3, 60, 9] x) => (float[?] y) { t = Neg(x) y = Concat<axis=2>(x, t, x) }",
    # Partial results of rows: vectors, several vectors, a rest, none.
    "17": "(float[6, 17] x) => (float[?] y) { y = ReduceSum<keepdims=0>(x, last) }",
    "64": "(float[90, 64] x) => (float[?] y) { y = ReduceMax<keepdims=0>(x, last) }",
    "rows and columns": "(float[5, 8, 20] x) => (float[?] y) { y = ReduceSum(x, both) }",
    "difference": """(float[9, 130] x) => (float[?] y) {
        s = ReduceSum(x, last) t = ReduceMin(x, last) d = Sub(x, s) y = Sub(d, t) }""",
}


@pytest.mark.parametrize("case", ELEMENTS)
def test_elements_and_rows(case):
    constants = {
        "heads": np.array([1, 9, 4, 6]),
        "channel": integers(6, 1, 1),
        "column": integers(40, 1),
        "three": integers(3),
        "border": np.array([0, 0, 1, 2, 0, 0, 0, 3]),
        "starts": np.array([1, 50, 0]),
        "ends": np.array([3, 3, 9]),
        "axes": np.array([0, 1, 2]),
        "last": np.array([-1]),
        "both": np.array([1, 2]),
    }
    if case == "slice":
        constants["steps"] = np.array([1, -2, 1])
    text = ELEMENTS[case].replace("axes)", "axes, steps)")
    model = parsed(text, {n: a for n, a in constants.items() if f", {n}" in text})
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    got, expected = results_of(model, integers(*shape))
    np.testing.assert_array_equal(got, expected)


def test_a_long_softmax():
    """Rows are computed from exponentials that are stored, or, if the row is long, are not."""
    for columns in (40, 5000):
        x = np.random.default_rng(5).standard_normal((3, columns)).astype("float32")
        model = parsed(f"(float[3, {columns}] x) => (float[?] y) {{ y = Softmax(x) }}", {})
        got, _ = results_of(model, x)
        powers = np.exp((x - x.max(-1, keepdims=True)).astype("float64"))
        # Of exp, twice, of a sum of positive numbers, and of a quotient.
        error = (2 * 2 + columns + 1) * UNIT
        np.testing.assert_allclose(got, powers / powers.sum(-1, keepdims=True), rtol=error)


def test_large_arrays_are_used_in_place():
    """The kernels read the caller's array, and write the one that the caller gets."""
    device = texloom.device("host:0")
    model = Model(parsed("(float[64, 128] x) => (float[64, 128] y) { y = Add(x, x) }", {}), TARGET)
    x = integers(64, 128)
    before = device.memory_statistics["imported"]["bytes"]
    first = model.run({"x": x})["y"]
    assert device.memory_statistics["imported"]["bytes"] == before + x.nbytes  # until the next run
    second = model.run({"x": x + 1})["y"]
    np.testing.assert_array_equal(first, 2 * x)
    np.testing.assert_array_equal(second, 2 * x + 2)
    (ready,) = model._ready.values()
    ready.graph.time(2, device)  # writes memory of the graph
    np.testing.assert_array_equal(second, 2 * x + 2)
    odd = np.frombuffer(bytearray(4 + x.nbytes), "float32", offset=4).reshape(64, 128)
    np.testing.assert_array_equal(model.run({"x": odd})["y"], 0)  # copied: it is not aligned
    assert device.memory_statistics["imported"]["bytes"] == before


def test_a_mean_of_many_channels():
    """Two threads compute 96 channels; the others of their block have nothing to do.

    Convolutions around the mean make its input have channels last.
    """
    text = """(float[1, 4, 16, 16] x) => (float[?] y) {
        c = Conv(x, w) m = GlobalAveragePool(c) p = Mul(c, m) y = Conv(p, v) }"""
    constants = {"w": integers(96, 4, 1, 1), "v": integers(8, 96, 1, 1)}
    got, expected = results_of(parsed(text, constants), integers(1, 4, 16, 16))
    np.testing.assert_array_equal(got, expected)  # 256 terms: the quotient is exact


def test_a_small_convolutional_network():
    """Exact up to the logits; softmax has the errors of 10 terms, of a quotient and of exp."""
    text = """(float[1, 1, 21, 16] x) => (float[?] y) {
        c0 = Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(x, w0) r0 = Relu(c0)
        c1 = Conv<group = 16, pads = [1, 1, 1, 1]>(r0, w1) r1 = Clip(c1, low, high)
        c2 = Conv(r1, w2) m = GlobalMaxPool(c2) f = Flatten(m) l = Gemm(f, w3)
        s = Mul(l, scale) y = Softmax(s) }"""
    constants = {
        "w0": integers(16, 1, 3, 3),
        "w1": integers(16, 1, 3, 3),
        "w2": integers(24, 16, 1, 1),
        "w3": integers(24, 10),
        "low": np.float32(0),
        "high": np.float32(6),
        "scale": np.float32(2.0**-9),
    }
    got, expected = results_of(parsed(text, constants), integers(1, 1, 21, 16))
    # Each side has the error of its largest exponent's 4 units, and of 10 sums and a quotient.
    np.testing.assert_allclose(got, expected, rtol=2 * (10 + 1 + 2 * 4) * UNIT)


def test_a_small_transformer_layer():
    x = np.random.default_rng(3).standard_normal((1, 6, 32)).astype("float32")
    weight = np.random.default_rng(4).standard_normal((32, 40)).astype("float32")
    text = """(float[1, 6, 32] x) => (float[?] y) {
        n = LayerNormalization(x, g) l = MatMul(n, w) y = Softmax(l) }"""
    model = parsed(text, {"g": np.ones(32, "float32"), "w": weight})
    got, _ = results_of(model, x)
    wide = x.astype("float64")
    normal = wide - wide.mean(-1, keepdims=True)
    normal /= np.sqrt((normal**2).mean(-1, keepdims=True) + 1e-5)
    logits = normal @ weight
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    # Two sums of 32 terms and 10 other operations for a normal number, 32 products, 40 powers.
    error = (2 * 32 + 10 + 32) * UNIT * (np.abs(normal) @ np.abs(weight)).max()
    expected = powers / powers.sum(-1, keepdims=True)
    np.testing.assert_allclose(got, expected, rtol=2 * error + (40 + 9) * UNIT)


def test_later_calls():
    """A call like an earlier one skips its checks, and gives arrays of its own."""
    model = Model(parsed("(float[2, 3] x) => (float[2, 3] y) { y = Add(x, x) }", {}), TARGET)
    x = integers(2, 3)
    first, second = model.run({"x": x})["y"], model.run({"x": x + 1})["y"]
    np.testing.assert_array_equal(first, 2 * x)
    np.testing.assert_array_equal(second, 2 * x + 2)
    third = model.run({"x": np.asfortranarray(x)})["y"]
    np.testing.assert_array_equal(third, 2 * x)
    for wrong, code in ((x.astype("float64"), "TL5002"), (x[:1], "TL5003")):
        with pytest.raises(TVMError) as caught:
            model.run({"x": wrong})
        assert caught.value.code == code
