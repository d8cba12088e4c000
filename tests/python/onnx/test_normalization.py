"""Softmax, normalizations, and losses."""

import numpy as np
import pytest
from single_node import floats, run_node

from texloom.onnx.nodes import Unsupported

HALF = 2.0**-11
SINGLE = 2.0**-24


def softmax64(x, axes):
    e = np.exp(x.astype("float64") - x.max(axis=axes, keepdims=True))
    return e / e.sum(axis=axes, keepdims=True)


EPSILON = float(np.float32(1e-5))  # the attribute's default


def normal64(x, axes, epsilon=EPSILON):
    x = x.astype("float64")
    mean, variance = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon)


def close(got, expected, roundings=64):
    """Compare with float64: allow `roundings` of float32 and one of the result's type.

    The numbers are of order 1, sums are of some 30 terms, and functions have a few units of error.
    """
    assert got.shape == expected.shape
    unit = HALF if got.dtype == "float16" else 0
    if got.dtype == "float64":
        roundings *= 2.0**-29
    bound = roundings * SINGLE
    np.testing.assert_allclose(got, expected, rtol=bound + unit, atol=bound)


@pytest.mark.parametrize(
    ("version", "axis", "axes"), [(13, None, -1), (13, 1, 1), (11, None, (1, 2)), (11, -1, 2)]
)
def test_softmax_over_an_axis_and_in_old_versions_over_all_from_there(version, axis, axes):
    x = floats(3, 4, 5)
    given = {} if axis is None else {"axis": axis}
    close(run_node("Softmax", [x], version, **given), softmax64(x, axes))


def test_softmax_of_large_and_infinite_numbers():
    inf = float("inf")
    x = np.array([[1000, 1000, -inf], [-inf] * 3, [-1e4, -1e4, -1e4]], "float32")
    got = run_node("Softmax", [x], 13)
    expected = [[0.5, 0.5, 0], [float("nan")] * 3, [1 / 3] * 3]
    np.testing.assert_allclose(got, expected, rtol=2 * SINGLE)


def test_subnormal_weights_are_zero():
    """A weight of exp(-80) is kept; one of exp(-100) is subnormal, so that it counts as 0."""
    x = np.array([[0, -80, -100, -np.inf]], "float32")
    got = run_node("Softmax", [x], 13)
    assert got[0, 1] == pytest.approx(np.exp(-80), rel=1e-5, abs=0)
    assert got.tolist()[0][2:] == [0, 0]


def test_softmax_of_halves_sums_in_float32():
    x = np.zeros((1, 5000), "float16")
    got = run_node("Softmax", [x], 13)
    np.testing.assert_array_equal(got, np.full_like(x, 1 / 5000))


def test_log_softmax_where_softmax_underflows():
    x = np.array([[0, -500, 3]], "float32")
    expected = x - (3 + np.log(1 + np.exp(-3.0) + np.exp(-503.0)))
    close(run_node("LogSoftmax", [x], 13), expected)


def test_hardmax_marks_the_first_of_equal_elements():
    x = np.array([[1, 4, 4, 2], [float("nan"), 1, 1, 5], [3, 3, 3, 3]], "float32")
    expected = np.eye(4, dtype="float32")[[1, 0, 0]]
    np.testing.assert_array_equal(run_node("Hardmax", [x], 13), expected)
    both = run_node("Hardmax", [x[None, ::2]], 11, axis=1)
    np.testing.assert_array_equal(both, [[expected[0], np.zeros(4)]])


@pytest.mark.parametrize("known", [(), (1, 2, 3, 4)])
def test_batch_normalization(known):
    x, scale, bias, mean = floats(2, 3, 4, 5), *(floats(3, seed=i) for i in range(3))
    variance = floats(3, seed=3) ** 2
    got = run_node("BatchNormalization", [x, scale, bias, mean, variance], 9, known=known)
    s, b, m, v = (p[:, None, None].astype("float64") for p in (scale, bias, mean, variance))
    # A small variance enlarges the differences and their errors.
    close(got, (x - m) / np.sqrt(v + 1e-5) * s + b, 64 / np.sqrt(variance.min()))


def test_batch_normalization_with_parameters_for_each_place():
    x, scale, bias, mean = floats(2, 3, 2), *(floats(3, 2, seed=i) for i in range(3))
    variance = np.ones((3, 2), "float32")
    got = run_node("BatchNormalization", [x, scale, bias, mean, variance], 7, spatial=0)
    close(got, (x - mean) / np.sqrt(1 + 1e-5) * scale + bias)


def test_batch_normalization_in_training():
    x, scale, bias, mean = floats(4, 3, 5), *(floats(3, seed=i) for i in range(3))
    variance = floats(3, seed=3) ** 2
    inputs = [x, scale, bias, mean, variance]
    y, means, variances = run_node(
        "BatchNormalization", inputs, 15, outputs=3, training_mode=1, momentum=0.75
    )
    close(y, normal64(x, (0, 2)) * scale[:, None] + bias[:, None])
    close(means, mean * 0.75 + x.mean(axis=(0, 2), dtype="float64") * 0.25)
    close(variances, variance * 0.75 + x.var(axis=(0, 2), dtype="float64") * 0.25)


def test_variance_of_numbers_with_a_large_mean():
    """The mean of the squares minus the square of the mean would be mere rounding error."""
    x = (floats(1, 2, 64) + 4096).astype("float32")
    got = run_node("InstanceNormalization", [x, np.ones(2, "float32"), np.zeros(2, "float32")], 6)
    # The mean is about 4096, so errors are at most 64 roundings of 4096; most are far smaller.
    close(got, normal64(x, (2,)), 64 * 4096)
    assert abs(got.std() - 1) < 0.01


def test_group_normalization_with_parameters_of_channels_and_of_groups():
    x = floats(2, 6, 5, dtype="float16")
    grouped = normal64(x.reshape(2, 3, 10), 2).reshape(x.shape)
    scale, bias = floats(6, dtype="float16"), floats(6, dtype="float16", seed=1)
    got = run_node("GroupNormalization", [x, scale, bias], 21, num_groups=3)
    close(got, grouped * scale[:, None] + bias[:, None])
    got = run_node("GroupNormalization", [x, scale[:3], bias[:3]], 18, num_groups=3)
    close(got, grouped * scale[:3].repeat(2)[:, None] + bias[:3].repeat(2)[:, None])


def test_layer_normalization():
    """Scale and bias are broadcast; mean and inverse deviation keep the reduced axes."""
    x, scale, bias = floats(2, 3, 4, 5), floats(4, 1), floats(5)
    y, mean, inverse = run_node("LayerNormalization", [x, scale, bias], 17, outputs=3, axis=2)
    close(y, normal64(x, (2, 3)) * scale + bias)
    close(mean, x.mean(axis=(2, 3), keepdims=True, dtype="float64"))
    close(inverse, 1 / np.sqrt(x.var(axis=(2, 3), keepdims=True, dtype="float64") + 1e-5))


def test_layer_normalization_of_doubles():
    x, scale = floats(3, 7, dtype="float64"), floats(7, dtype="float64")
    close(run_node("LayerNormalization", [x, scale], 17), normal64(x, (1,)) * scale)


@pytest.mark.parametrize(
    ("op", "version"),
    [("LayerNormalization", 17), ("RMSNormalization", 23), ("SimplifiedLayerNormalization", 17)],
)
def test_undefined_stash_type(op, version):
    """Some files have the type 0, which is none: sums are float32, as by default."""
    inputs = [floats(3, 7), floats(7)]
    got = run_node(op, inputs, version, stash_type=0)
    np.testing.assert_array_equal(got, run_node(op, inputs, version, stash_type=1))


def test_rms_normalization():
    x, scale = floats(3, 4, 5, dtype="float16"), floats(4, 5, dtype="float16")
    squares = (x.astype("float64") ** 2).mean(axis=(1, 2), keepdims=True)
    got = run_node("RMSNormalization", [x, scale], 23, axis=1, epsilon=0.01)
    close(got, x / np.sqrt(squares + 0.01) * scale)


def test_rms_normalization_has_the_type_of_its_scale():
    x, scale = floats(3, 4, dtype="float16"), floats(4, dtype="float64")
    squares = (x.astype("float64") ** 2).mean(axis=1, keepdims=True)
    got = run_node("RMSNormalization", [x, scale], 23)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, x / np.sqrt(squares + 1e-5) * scale, rtol=1e-6)


def test_mean_variance_normalization():
    x = floats(2, 3, 4)
    close(run_node("MeanVarianceNormalization", [x], 13, axes=[0, -1]), normal64(x, (0, 2), 0))


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4), (2, 3, 4, 5), (2, 3, 4, 2, 2)])
def test_mean_variance_normalization_over_default_axes(shape):
    """These are 0, 2 and 3 without those that the tensor lacks, as onnxruntime takes them."""
    x = floats(*shape)
    axes = tuple(axis for axis in (0, 2, 3) if axis < len(shape))
    close(run_node("MeanVarianceNormalization", [x], 13), normal64(x, axes, 0))
    with pytest.raises(Unsupported, match="axis 5 is out of range"):
        run_node("MeanVarianceNormalization", [x], 13, axes=[5])


@pytest.mark.parametrize(("p", "norm"), [(1, lambda x: abs(x)), (2, lambda x: x * x)])
def test_lp_normalization(p, norm):
    x = floats(3, 4, 5)
    total = norm(x.astype("float64")).sum(axis=1, keepdims=True) ** (1 / p)
    close(run_node("LpNormalization", [x], 22, axis=1, p=p), x / total)


@pytest.mark.parametrize("size", [3, 4, 9])
def test_local_response_normalization(size):
    """An even window has one more channel after the center than before; a large one covers all."""
    x = floats(2, 6, 3)
    squares = np.zeros(x.shape)
    for c in range(6):
        low, high = max(0, c - (size - 1) // 2), c + size // 2 + 1
        squares[:, c] = (x[:, low:high].astype("float64") ** 2).sum(axis=1)
    got = run_node("LRN", [x], 13, size=size, alpha=0.5, beta=0.6, bias=2.0)
    close(got, x / (2 + 0.5 / size * squares) ** 0.6)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_losses(reduction):
    """The ignored target is no class; infinite scores that no target selects have no effect."""
    x, weight = floats(3, 5, 4), np.abs(floats(5))
    target = np.random.default_rng(6).integers(0, 5, (3, 4))
    target[0, 1] = target[2, 2] = -100
    logs = np.log(softmax64(x, 1))
    counted = np.where(target == -100, 0, target)
    weights = np.where(target == -100, 0, weight[counted].astype("float64"))
    losses = -np.take_along_axis(logs, counted[:, None], 1)[:, 0] * weights
    totals = {"none": losses, "sum": losses.sum(), "mean": losses.sum() / weights.sum()}
    expected = np.asarray(totals[reduction])
    given = {"reduction": reduction, "ignore_index": -100}
    got, probabilities = run_node(
        "SoftmaxCrossEntropyLoss", [x, target, weight], 13, outputs=2, **given
    )
    close(got, expected)
    close(probabilities, logs)
    logs32 = logs.astype("float32")
    logs32[0, 0, 1] = float("-inf")
    close(run_node("NegativeLogLikelihoodLoss", [logs32, target, weight], 13, **given), expected)


@pytest.mark.parametrize(
    ("op", "shapes", "attributes", "why"),
    [
        ("GroupNormalization", [(1, 6, 2), (4,), (4,)], {"num_groups": 4}, "do not divide 6"),
        ("BatchNormalization", [(1, 3, 2)] + [(2,)] * 4, {}, r"the shape \(2,\), not \(3,\)"),
        ("LayerNormalization", [(2, 3), (2,)], {}, "does not broadcast"),
        ("LpNormalization", [(2, 3)], {"p": 3}, "its p is 3"),
        ("Softmax", [(2, 3)], {"axis": 2}, "axis 2 is out of range for a tensor of rank 2"),
    ],
)
def test_refused(op, shapes, attributes, why):
    with pytest.raises(Unsupported, match=why):
        run_node(op, [floats(*shape) for shape in shapes], 22, **attributes)


def test_normalizations_of_no_elements():
    """The mean of no elements is NaN."""
    parameters = [np.ones(4, "float32")] * 2
    x = np.zeros((3, 4, 0), "float32")
    assert run_node("GroupNormalization", [x, *parameters], 21, num_groups=2).shape == x.shape
    rms = run_node("RMSNormalization", [x, x[0].astype("float16")], 23, axis=1)
    assert rms.shape == x.shape and rms.dtype == "float16"  # that of the scale
    y, mean, inverse = run_node("LayerNormalization", [x, x[0]], 17, 3, axis=1)
    assert y.shape == x.shape
    np.testing.assert_array_equal(mean, np.full((3, 1, 1), np.nan))
    np.testing.assert_array_equal(inverse, mean)


@pytest.mark.parametrize("op", ["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"])
def test_loss_of_no_targets(op):
    inputs = [np.zeros((2, 4, 0), "float32"), np.zeros((2, 0), "int64")]
    for reduction, expected in (("sum", 0), ("mean", np.nan), ("none", np.zeros((2, 0)))):
        got = run_node(op, inputs, 13, reduction=reduction)
        np.testing.assert_array_equal(got, np.asarray(expected, "float32"), strict=True)
