"""Resized and sampled images, against ONNX Runtime."""

import ml_dtypes  # noqa: F401  (gives NumPy the type bfloat16)
import numpy as np
import pytest
from onnx import helper
from single_node import floats, run_node

from texloom.onnx import Unsupported

onnxruntime = pytest.importorskip("onnxruntime")

ROUNDOFF = 2.0**-24


def peer(op, inputs, version, **attributes):
    """ONNX Runtime's output."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    given = {name: x for name, x in zip(names, inputs, strict=True) if name}
    element = helper.np_dtype_to_tensor_dtype
    graph = helper.make_graph(
        [helper.make_node(op, names, ["y"], **attributes)],
        "one",
        [helper.make_tensor_value_info(n, element(x.dtype), x.shape) for n, x in given.items()],
        [helper.make_tensor_value_info("y", element(inputs[0].dtype), None)],
    )
    opsets = [helper.make_opsetid("", version)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, given)[0]


def check(op, inputs, version, terms, known=(), **attributes):
    """Compare sums of `terms` products of elements and polynomial weights.

    Coordinates are up to 8, each with an error of a few roundoffs of 8; a weight's slope is at most
    3, and both implementations have these errors.
    """
    got = run_node(op, inputs, version, known=known, **attributes)
    expected = peer(op, inputs, version, **attributes)
    assert got.dtype == expected.dtype
    largest = float(np.abs(inputs[0].astype("float64")).max())
    bound = 2 * terms * largest * (3 * 8 * 8 + terms) * ROUNDOFF
    np.testing.assert_allclose(got, expected, rtol=0, atol=bound)


@pytest.mark.parametrize(
    "transformation", ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("size", [(7, 3), (2, 11)])
def test_resize(mode, transformation, size):
    """Axes grow and shrink; mode nearest is exact, because both compute the same coordinates."""
    taps = {"nearest": 0, "linear": 4, "cubic": 16}[mode]
    options = {"mode": mode, "coordinate_transformation_mode": transformation}
    sizes = np.array([1, 2, *size], "int64")
    check("Resize", [floats(1, 2, 5, 6), None, None, sizes], 13, taps, known=[3], **options)


@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
def test_nearest_of_scales_that_are_not_exact(rounding):
    """The coordinate 8 / 1.6 is 5 in float32, but below 5 in double precision."""
    scales = np.array([1.6, 0.7], "float32")
    options = {"nearest_mode": rounding, "coordinate_transformation_mode": "asymmetric"}
    check("Resize", [floats(7, 10), None, scales], 13, 0, known=[2], **options)


def test_resize_of_a_part():
    """Points outside of the tensor get the extrapolation value."""
    part = np.array([-0.2, 0.3, 0.7, 1.4], "float32")
    options = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.0}
    sizes = np.array([4, 8], "int64")
    inputs = [floats(5, 6), part, None, sizes]
    check("Resize", inputs, 13, 4, known=[1, 3], mode="linear", **options)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "float16"])
def test_resize_of_other_types(dtype):
    x = (floats(1, 1, 4, 5) * 30).astype(dtype)
    sizes = np.array([1, 1, 8, 3], "int64")
    got = run_node("Resize", [x, None, None, sizes], 13, known=[3], mode="linear")
    exact = run_node("Resize", [x.astype("float64"), None, None, sizes], 13, mode="linear")
    assert got.dtype == dtype
    # One rounding, or one truncation of a sum of float32.
    bound = 2.0**-11 if dtype == "float16" else 1 + 8 * 256 * ROUNDOFF
    np.testing.assert_allclose(got, exact, rtol=bound if dtype == "float16" else 0, atol=bound)


def keys(distance, a=-0.75):
    """The cubic convolution of R. G. Keys."""
    d = np.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    return np.where(d <= 1, near, np.where(d < 2, ((a * d - 5 * a) * d + 8 * a) * d - 4 * a, 0))


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_resize_of_float64(mode):
    """Coordinates and weights of float64 elements have double precision."""
    x, scales = floats(1, 1, 3, 7, dtype="float64"), np.array([1, 1, 1, 1.4], "float32")
    got = run_node("Resize", [x, None, scales], 13, known=(2,), mode=mode)
    filtered = keys if mode == "cubic" else lambda d: np.maximum(1 - np.abs(d), 0)
    centers = (np.arange(got.shape[-1]) + 0.5) / float(scales[-1]) - 0.5
    taps = np.arange(-2, 9)  # the taps outside read the elements at the edge
    weights = filtered(centers[:, None] - taps)
    expected = x[..., taps.clip(0, 6)] @ weights.T
    assert got.dtype == "float64"
    np.testing.assert_allclose(got, expected, rtol=0, atol=16 * 2.0**-53 * np.abs(x).max())


@pytest.mark.parametrize(("policy", "size"), [("not_larger", (3, 4)), ("not_smaller", (5, 6))])
def test_kept_aspect_ratio(policy, size):
    """A resize of 5 by 6 to 5 by 4 keeps the aspect ratio, also if `axes` name the width first."""
    x, sizes = floats(1, 2, 5, 6), np.array([4, 5], "int64")
    options = {"axes": [-1, 2], "keep_aspect_ratio_policy": policy}
    assert run_node("Resize", [x, None, None, sizes], 18, **options).shape[2:] == size


def test_antialias():
    """The filter widens as the image shrinks, so that the middle of a ramp stays a ramp."""
    x = np.arange(40, dtype="float32")[None]
    sizes = np.array([1, 10], "int64")
    got = run_node("Resize", [x, None, None, sizes], 18, mode="linear", antialias=1)
    np.testing.assert_allclose(got[0, 1:-1], np.arange(1.5, 40, 4)[1:-1], rtol=16 * ROUNDOFF)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_upsample(mode):
    x, scales = floats(1, 2, 3, 4), np.array([1, 1, 2, 3], "float32")
    check("Upsample", [x, scales], 9, 4, known=[1], mode=mode)
    check("Upsample", [x], 7, 4, scales=[1.0, 1.0, 1.5, 2.3], mode=mode)
    shrink = np.array([1, 1, 2.4, 0.9], "float32")
    check("Resize", [x, shrink], 10, 4, known=[1], mode=mode)


@pytest.mark.nightly
@pytest.mark.parametrize("outside", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_grid_sample(mode, outside):
    x, grid = floats(2, 2, 4, 5), 1.2 * floats(2, 3, 4, 2, seed=1)
    for align in (0, 1):
        options = {"mode": mode, "padding_mode": outside, "align_corners": align}
        check("GridSample", [x, grid], 20, 16, **options)


def test_grids_that_are_no_numbers():
    """Grid points that are NaN or infinite read nothing outside of the image."""
    grid = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 0], "float32").reshape(1, 1, 3, 2)
    for outside in ("zeros", "border", "reflection"):
        for mode in ("nearest", "linear"):
            options = {"mode": mode, "padding_mode": outside}
            got = run_node("GridSample", [floats(1, 1, 3, 3), grid], 20, **options)
            assert got.shape == (1, 1, 1, 3)


def test_grid_sample_of_volumes():
    x, grid = floats(1, 2, 3, 4, 2), floats(1, 2, 2, 2, 3, seed=1)
    check("GridSample", [x, grid], 20, 8, mode="linear", padding_mode="border")


@pytest.mark.parametrize("align", [0, 1])
def test_affine_grid(align):
    """The identity matrix gives the image's own grid, with x before y."""
    theta = np.eye(2, 3, dtype="float32")[None]
    size = np.array([1, 1, 3, 5], "int64")
    got = run_node("AffineGrid", [theta, size], 20, known=[1], align_corners=align)
    y, x = (np.linspace(-1, 1, n) if align else (np.arange(n) + 0.5) * 2 / n - 1 for n in (3, 5))
    expected = np.stack(np.meshgrid(x, y), -1)[None]
    np.testing.assert_allclose(got, expected, atol=4 * ROUNDOFF)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_affine_grid_of_other_types(dtype):
    """Places are computed in float32 or float64; PoCL 3.1 vectorizes this grid of halves."""
    theta = np.repeat(np.eye(2, 3)[None], 3, 0).astype(dtype)
    got = run_node("AffineGrid", [theta, np.array([3, 1, 1, 5], "int64")], 20, known=[1])
    expected = np.broadcast_to((2 * np.arange(5) + 1) / 5 - 1, (3, 1, 5))
    assert np.array_equal(got[..., 0], expected.astype(dtype))


ROIS = np.array([[0, 0, 6, 5], [-2, 1, 3.5, 9], [4, 4, 4.2, 4.1]], "float32")


@pytest.mark.parametrize("ratio", [0, 2])
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_roi_align(mode, ratio):
    """With sampling_ratio=0, a bin has one sample per pixel."""
    inputs = [floats(2, 2, 7, 6), ROIS, np.array([0, 1, 1], "int64")]
    size = {"output_height": 2, "output_width": 3, "spatial_scale": 0.75}
    for half in ("half_pixel", "output_half_pixel"):
        options = {"sampling_ratio": ratio, "coordinate_transformation_mode": half, "mode": mode}
        check("RoiAlign", inputs, 16, 16, **options, **size)


def test_max_roi_pool():
    rois = np.concatenate([[[0], [1], [1]], np.round(ROIS)], 1).astype("float32")
    for shape in ([2, 3], [4, 1]):
        inputs = [floats(2, 2, 7, 6), rois]
        check("MaxRoiPool", inputs, 9, 0, pooled_shape=shape, spatial_scale=0.5)


def test_refusals():
    sizes = np.array([1, 1, 4, 4], "int64")
    with pytest.raises(Unsupported, match="antialias is not for mode 'nearest'"):
        run_node("Resize", [floats(1, 1, 2, 2), None, None, sizes], 18, known=[3], antialias=1)
    with pytest.raises(Unsupported, match="does not fit images"):
        run_node("GridSample", [floats(1, 1, 2, 2), floats(1, 2, 2, 3)], 20)
