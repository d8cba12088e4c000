"""Operators that move elements: results are exactly NumPy's."""

import numpy as np
import pytest
from single_node import floats, run_node

from texloom.onnx import Unsupported


def i64(*numbers):
    return np.array(numbers, "int64")


def numbers(shape, dtype):
    """Return distinct numbers, or a pattern of bools."""
    x = np.arange(np.prod(shape)).reshape(shape)
    return x % 3 == 0 if dtype == "bool" else x.astype(dtype)


X = floats(2, 3, 4)


@pytest.mark.parametrize(
    ("op", "inputs", "version", "attributes", "expected"),
    [
        ("Reshape", [X, i64(0, -1)], 13, {}, X.reshape(2, 12)),
        ("Reshape", [X, i64(4, 3, -1)], 14, {}, X.reshape(4, 3, 2)),
        ("Flatten", [X], 13, {"axis": -1}, X.reshape(6, 4)),
        ("Flatten", [X], 13, {"axis": 0}, X.reshape(1, 24)),
        ("Squeeze", [X[:1, :, :1]], 13, {}, X[0, :, 0]),
        ("Squeeze", [X[:1, :, :1]], 11, {"axes": [-1]}, X[:1, :, 0]),
        ("Unsqueeze", [X, i64(-1, 0)], 13, {}, X[None, ..., None]),
        ("Unsqueeze", [X], 11, {"axes": [1, 3]}, X[:, None, :, None]),
        ("Transpose", [X], 13, {}, X.transpose()),
        ("Expand", [X[:, :1], i64(2, 1, 3, 1)], 13, {}, np.broadcast_to(X[:, :1], (2, 2, 3, 4))),
        ("Tile", [X, i64(1, 2, 3)], 13, {}, np.tile(X, (1, 2, 3))),
        ("Tile", [X, i64(1, 0, 3)], 13, {}, np.zeros((2, 0, 12), "float32")),
        ("Shape", [X], 15, {"start": -2}, i64(3, 4)),
        ("Range", [i64(3), i64(-4), i64(-2)], 11, {}, i64(3, 1, -1, -3)),
        ("EyeLike", [X[0]], 22, {"k": 1, "dtype": 7}, np.eye(3, 4, 1, "int64")),
    ],
)
def test_shapes(op, inputs, version, attributes, expected):
    got = run_node(op, inputs, version, **attributes)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float64"])
def test_element_types(dtype):
    """Elements of every type keep their bits; Trilu fills with a zero of the type."""
    x = numbers((3, 4), dtype)
    np.testing.assert_array_equal(run_node("Transpose", [x], 13, perm=[1, 0]), x.T)
    got = run_node("Pad", [x, i64(1, 0, 0, 2), np.array(1, dtype)], 13)
    np.testing.assert_array_equal(got, np.pad(x, ((1, 0), (0, 2)), constant_values=1))
    np.testing.assert_array_equal(run_node("Trilu", [x, i64(1)], 14), np.triu(x, 1))


def test_concatenation_leaves_out_what_is_empty():
    parts = [X, X[:, :0], X[:, 1:]]
    np.testing.assert_array_equal(run_node("Concat", parts, 13, axis=-2), np.concatenate(parts, 1))


@pytest.mark.parametrize(
    ("inputs", "version", "attributes", "sizes"),
    [
        ([X], 11, {"axis": -1}, [2, 2]),
        ([X], 18, {"axis": 1, "num_outputs": 2}, [2, 1]),
        ([X, i64(0, 4)], 13, {"axis": 2}, [0, 4]),
        ([X], 11, {"axis": 2, "split": [3, 1]}, [3, 1]),
    ],
)
def test_split(inputs, version, attributes, sizes):
    got = run_node("Split", inputs, version, outputs=2, **attributes)
    for each, expected in zip(got, np.split(X, sizes[:1], attributes["axis"]), strict=True):
        np.testing.assert_array_equal(each, expected)


@pytest.mark.parametrize("mode", ["edge", "reflect", "wrap"])
def test_continuing_pads(mode):
    """Pads of modes that repeat elements may be longer than the axis."""
    got = run_node("Pad", [X, i64(0, 3, 5, 1, 0, 4)], 19, mode=mode)
    np.testing.assert_array_equal(got, np.pad(X, ((0, 1), (3, 0), (5, 4)), mode=mode))


def test_pads_that_crop():
    """Negative pads crop first: padding in mode edge repeats the edge of what remains."""
    got = run_node("Pad", [X, i64(-1, 2), None, i64(-1)], 18, mode="edge")
    np.testing.assert_array_equal(got, np.pad(X[..., 1:], ((0, 0), (0, 0), (0, 2)), mode="edge"))
    got = run_node("Pad", [X], 2, pads=[0, -3, 0, 0, 1, 0], value=2.0)
    np.testing.assert_array_equal(got, np.full((2, 1, 4), 2, "float32"))


@pytest.mark.parametrize(
    ("start", "end", "step", "expected"),
    [
        (1, 2**63 - 1, 2, X[..., 1::2]),
        (-1, -(2**63), -3, X[..., ::-3]),
        (2, 1, 1, X[..., 2:1]),
        (-9, -9, -1, X[..., :1]),  # the start is clamped to the first element, unlike in Python
    ],
)
def test_slice(start, end, step, expected):
    got = run_node("Slice", [X, i64(start), i64(end), i64(-1), i64(step)], 13)
    np.testing.assert_array_equal(got, expected)


def test_constants_are_computed_as_the_standard_says():
    """ONNX's reference implementation differs: it returns an empty slice, and fewer columns."""
    got = run_node("Slice", [X, i64(-9), i64(-9), i64(-1), i64(-1)], 13, known=range(5))
    np.testing.assert_array_equal(got, X[..., :1])
    assert run_node("CenterCropPad", [X, i64(3, 2, 9)], 18, known=[0, 1]).shape == (3, 2, 9)


@pytest.mark.parametrize(("extent", "expected"), [(1, X[..., 1:2]), (7, None)])
def test_center(extent, expected):
    got = run_node("CenterCropPad", [X, i64(extent)], 18, axes=[-1])
    pads = ((0, 0), (0, 0), (1, 2))
    np.testing.assert_array_equal(got, np.pad(X, pads) if expected is None else expected)


def test_blocks():
    """Depth to space works in both orders, and space to depth reverses it."""
    x = floats(2, 12, 2, 3)
    parts = x.reshape(2, 2, 2, 3, 2, 3).transpose(0, 3, 4, 1, 5, 2)
    got = run_node("DepthToSpace", [x], 13, blocksize=2)
    np.testing.assert_array_equal(got, parts.reshape(2, 3, 4, 6))
    np.testing.assert_array_equal(run_node("SpaceToDepth", [got], 13, blocksize=2), x)
    parts = x.reshape(2, 3, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3)
    got = run_node("DepthToSpace", [x], 13, blocksize=2, mode="CRD")
    np.testing.assert_array_equal(got, parts.reshape(2, 3, 4, 6))


def test_blocks_overlap():
    """With blocks of ones, each pixel is the number of blocks that cover it."""
    ones = np.ones((1, 4, 3), "float32")
    got = run_node("Col2Im", [ones, i64(3, 4), i64(2, 2)], 18, known=[1, 2], strides=[2, 1])
    np.testing.assert_array_equal(got[0, 0], [[1, 2, 2, 1], [1, 2, 2, 1], [0, 0, 0, 0]])


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("ConstantOfShape", [i64(1 << 20, 1 << 20)]),
        ("Range", [i64(0)[0], i64(1 << 40)[0], i64(1)[0]]),
        ("Expand", [X[:1, :1, :1], i64(1 << 20, 1 << 20, 1)]),
        ("Tile", [X, i64(1 << 20, 1 << 20, 1)]),
    ],
)
def test_huge_constants_are_refused(op, inputs):
    """Constants of 2^40 elements and more would fill the memory."""
    with pytest.raises(Unsupported, match="would be a constant of the shape"):
        run_node(op, [np.asarray(x) for x in inputs], 13, known=range(len(inputs)))


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "why"),
    [
        ("Reshape", [X, i64(5, -1)], {}, "cannot be reshaped to"),
        ("Squeeze", [X, i64(0)], {}, "not all of extent 1"),
        ("Split", [X, i64(1, 1)], {"axis": 1, "outputs": 2}, "cannot be divided into"),
        ("Slice", [X, i64(0), i64(1), i64(0), i64(0)], {}, "one of its steps is 0"),
    ],
)
def test_refusals(op, inputs, attributes, why):
    with pytest.raises(Unsupported, match=why):
        run_node(op, inputs, 13, known=range(1, len(inputs)), **attributes)


def test_a_reversed_slice_of_an_empty_axis_is_empty():
    x = np.zeros((0, 2), "float32")
    bounds = [np.array([each]) for each in (-1, -(2**63), 0, -1)]
    made = run_node("Slice", [x, *bounds], 17, known=range(1, 5))
    assert made.shape == (0, 2)


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_space_to_depth_is_the_inverse_of_depth_to_space(mode):
    x = floats(1, 3, 4, 6)
    deep = run_node("SpaceToDepth", [x], 28, blocksize=2, mode=mode)
    assert deep.shape == (1, 12, 2, 3)
    np.testing.assert_array_equal(run_node("DepthToSpace", [deep], 28, blocksize=2, mode=mode), x)
