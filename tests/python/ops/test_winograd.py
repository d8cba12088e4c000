"""Convolutions by products of transformed tiles, which `-fast_math=1` allows."""

import numpy as np
import onnx
import pytest
from llvm_plugin import has_llvm

import texloom
from texloom.ops.convolution.winograd import OF_PIXELS, OF_PRODUCTS, OF_WINDOW

pytestmark = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")

FAST = "llvm -mcpu=native -fast_math=1"
SAME = [1, 1, 1, 1]
ROUNDOFF = 2.0**-24
# Terms of a row of the two matrices, twice for rows and columns, each with a factor; the weights
# are rounded once, and the bias and what follows take three more operations.
STEPS = 2 * (4 + 4) + 2 * (5 + 4) + 1 + 3


def model_of(x, w, b=None, *, nodes="a = Conv<{0}>(x, w, b) y = Identity(a)", **attributes):
    given = ", ".join(f"{name} = {each}" for name, each in attributes.items())
    shape = ", ".join(map(str, x.shape))
    text = f"net (float[{shape}] x) => (float[N, C, H, W] y) {{ {nodes.replace('{0}', given)} }}"
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')
    arrays = {"w": w, "b": np.zeros(len(w), "float32") if b is None else b}
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(each, name) for name, each in arrays.items()
    )
    return model


def random(*shape):
    return np.random.default_rng(shape).standard_normal(shape).astype("float32")


def is_by_tiles(compiled):
    return any(name.endswith(".tiles") for name in compiled.summary["nodes"])


def convolved(x, w, b, pads):
    """Return the convolution of float64."""
    top, left, bottom, right = pads
    padded = np.pad(x.astype("float64"), [(0, 0), (0, 0), (top, bottom), (left, right)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    made = np.einsum("nchwij,ocij->nohw", windows, w.astype("float64"), optimize=True)
    return made + b.reshape(-1, 1, 1)


def magnitudes(x, w, extents, pads):
    """Return the sums of the magnitudes of all terms, in the order of the transforms."""
    of_pixels, of_window, of_products = (
        np.abs(np.array(each, "float64")) for each in (OF_PIXELS, OF_WINDOW, OF_PRODUCTS)
    )
    rows, columns = (-(-n // 4) for n in extents)
    (top, left), (height, width) = pads[:2], x.shape[2:]
    padded = np.zeros((*x.shape[:2], 4 * rows + 2 + 4, 4 * columns + 2 + 4))
    padded[:, :, top : top + height, left : left + width] = np.abs(x)
    tiles = np.lib.stride_tricks.sliding_window_view(padded, (6, 6), (2, 3))
    tiles = tiles[:, :, : 4 * rows : 4, : 4 * columns : 4]
    tiles = np.einsum("ik,ncabkl,jl->ncabij", of_pixels, tiles, of_pixels, optimize=True)
    weights = np.einsum("ik,ockl,jl->ocij", of_window, np.abs(w), of_window, optimize=True)
    products = np.einsum("ncabij,ocij->noabij", tiles, weights, optimize=True)
    made = np.einsum("ik,noabkl,jl->noaibj", of_products, products, of_products, optimize=True)
    made = made.reshape(*made.shape[:2], 4 * rows, 4 * columns)
    return made[:, :, : extents[0], : extents[1]]


CASES = {
    "no tile divides the pixels of two pictures": ((2, 32, 17, 13), 40, SAME),
    "uneven padding": ((1, 72, 19, 22), 32, [0, 2, 1, 0]),
    "no padding": ((1, 48, 16, 16), 64, [0, 0, 0, 0]),
    # A thread copies a part of 63 tiles.
    "long rows": ((1, 32, 5, 250), 32, SAME),
}
AFTER = {
    "nothing": ("y = Identity(a)", lambda a: a),
    "a residual": ("r = Relu(a) y = Add(r, a)", lambda a: np.maximum(a, 0) + a),
    # The sums are read twice.
    "hard swish": ("y = HardSwish(a)", lambda a: a * np.clip(a / 6 + 0.5, 0, 1)),
}


@pytest.mark.parametrize(
    ("name", "after", "target"),
    [
        *((name, "nothing", FAST) for name in CASES),
        *(("uneven padding", after, FAST) for after in ("a residual", "hard swish")),
        ("no tile divides the pixels of two pictures", "hard swish", "llvm -fast_math=1"),
    ],
)
def test_results(name, after, target):
    """The error is bounded by the number of roundings and the magnitudes that are added."""
    shape, outputs, pads = CASES[name]
    x, w, b = random(*shape), random(outputs, shape[1], 3, 3), random(outputs)
    text, function = AFTER[after]
    model = model_of(x, w, b, nodes="a = Conv<{0}>(x, w, b) " + text, pads=pads)
    compiled = texloom.compile(model, target=target)
    assert is_by_tiles(compiled)
    sums = convolved(x, w, b, pads)
    largest = magnitudes(x, w, sums.shape[2:], pads) + np.abs(b).reshape(-1, 1, 1)
    steps = (shape[1] + STEPS) * ROUNDOFF
    # What follows changes by at most twice a change of the sums.
    bound = 2 * steps / (1 - steps) * largest
    assert (np.abs(compiled.run({"x": x})["y"] - function(sums)) <= bound).all()


def test_pixels_between_kernels():
    """Pixels that other kernels compute and read have channels last; a residual is added."""
    x, w, b = random(1, 32, 21, 18), random(32, 32, 3, 3), random(32)
    # Products by 1 and 0 are exact.
    nodes = """p = Conv(x, e) a = Conv<{0}>(p, w, b) s = Add(a, p) r = Relu(s) y = Conv(r, e)"""
    model = model_of(x, w, b, nodes=nodes, pads=SAME)
    unit = np.eye(32, dtype="float32").reshape(32, 32, 1, 1)
    model.graph.initializer.append(onnx.numpy_helper.from_array(unit, "e"))
    compiled = texloom.compile(model, target=FAST)
    expected = np.maximum(convolved(x, w, b, SAME) + x, 0)
    largest = magnitudes(x, w, x.shape[2:], SAME) + np.abs(b).reshape(-1, 1, 1) + np.abs(x)
    steps = (32 + STEPS) * ROUNDOFF
    bound = steps / (1 - steps) * largest
    assert is_by_tiles(compiled)
    layouts = {name: layout for name, (*_, layout) in compiled.summary["stores"].items()}
    assert layouts["p"] != "" and layouts["r"] != "", layouts
    assert (np.abs(compiled.run({"x": x})["y"] - expected) <= bound).all()


def test_formulas_are_kept_without_fast_math():
    x, w = random(1, 32, 20, 20), random(32, 32, 3, 3)
    model = model_of(x, w, pads=SAME)
    assert not is_by_tiles(texloom.compile(model, target="llvm -mcpu=native"))
    assert not is_by_tiles(texloom.compile(model, target="opencl -fast_math=1"))
    # Transformed pixels, whose sums cancel out, would be rounded to float16.
    assert not is_by_tiles(texloom.compile(model, target=FAST, precision="fp16"))
    assert is_by_tiles(texloom.compile(model, target=FAST))


OTHERS = {
    "few inputs": ((1, 24, 20, 20), (32, 24, 3, 3), {}),
    "few outputs": ((1, 32, 20, 20), (24, 32, 3, 3), {}),
    "inputs that are no vectors": ((1, 33, 20, 20), (32, 33, 3, 3), {}),
    "few tiles": ((1, 64, 7, 7), (64, 64, 3, 3), {}),
    "tiles that are hardly used": ((4, 32, 5, 9), (32, 32, 3, 3), {}),
    "strides": ((1, 32, 40, 40), (32, 32, 3, 3), {"strides": [2, 2]}),
    "dilations": ((1, 32, 20, 20), (32, 32, 3, 3), {"dilations": [2, 2]}),
    "groups": ((1, 64, 20, 20), (64, 32, 3, 3), {"group": 2}),
    "a window of 5 x 5": ((1, 32, 20, 20), (32, 32, 5, 5), {}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_convolutions_are_direct(name):
    shape, weights, attributes = OTHERS[name]
    model = model_of(random(*shape), random(*weights), pads=SAME, **attributes)
    assert not is_by_tiles(texloom.compile(model, target=FAST))


def test_weights_that_are_computed():
    """Only constant weights are transformed."""
    x, w = random(1, 32, 20, 20), random(32, 32, 3, 3)
    nodes = "m = ReduceMax<keepdims = 1>(x) v = Mul(w, m) y = Conv<{0}>(x, v, b)"
    model = model_of(x, w, nodes=nodes, pads=SAME)
    assert not is_by_tiles(texloom.compile(model, target=FAST))


def test_larger_windows_of_which_padding_leaves_three_rows_and_columns():
    """The first two rows and columns of the weights meet nothing but padding."""
    x, w = random(1, 32, 3, 3), random(32, 32, 5, 5)
    compiled = texloom.compile(model_of(x, w, pads=[20, 20, 0, 0]), FAST)
    assert is_by_tiles(compiled)
    made = compiled.run({"x": x})["y"]
    expected = convolved(x, w[:, :, 2:, 2:], np.zeros(32), [18, 18, 0, 0])
    bound = STEPS * ROUNDOFF * magnitudes(x, w[:, :, 2:, 2:], made.shape[2:], [18, 18])
    assert (np.abs(made - expected) <= (32 + 1) * bound).all()
