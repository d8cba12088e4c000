"""Convolutions against onnxruntime, with attributes that ONNX's own cases do not combine."""

from __future__ import annotations

import numpy as np
import pytest
from node_peers import model_of, onnxruntimes, ours, random, references, with_constants
from single_node import run_node

import texloom
from texloom.examples.rounding import FLOAT32_ROUNDOFF, gamma


def check_sums(op, inputs, terms, constants=(), **attributes):
    """Two float32 sums differ by at most twice the error bound, a multiple of sum(|terms|)."""
    model = model_of(op, inputs, **attributes)
    (expected,) = onnxruntimes(model, inputs)
    magnitudes = onnxruntimes(model, [np.abs(each) for each in inputs])[0]
    inputs = with_constants(model, inputs, constants)
    (got,) = ours(model, inputs)
    assert got.shape == expected.shape and got.dtype == expected.dtype
    bound = 2 * gamma(terms + 2, FLOAT32_ROUNDOFF) * magnitudes
    assert (np.abs(got - expected) <= bound).all()


CONVOLUTIONS = {
    "1d": ((2, 3, 11), (4, 3, 3), {"strides": [2], "pads": [2, 1], "dilations": [2]}),
    "2d": ((1, 3, 9, 14), (5, 3, 3, 2), {"strides": [2, 3], "pads": [1, 0, 2, 1]}),
    "3d": ((1, 2, 5, 6, 7), (3, 2, 2, 3, 2), {"dilations": [2, 1, 3], "pads": [0, 1, 2, 1, 0, 3]}),
    "groups": ((1, 6, 8, 7), (4, 3, 3, 3), {"group": 2, "pads": [1, 1, 1, 1]}),
    "depthwise": ((2, 5, 8, 9), (5, 1, 5, 3), {"group": 5, "pads": [2, 1, 2, 1]}),
    "multiplier": ((1, 3, 6, 6), (6, 1, 2, 2), {"group": 3}),
    "one pixel": ((1, 40, 1, 1), (7, 40, 1, 1), {}),
    "pointwise": ((1, 7, 5, 19), (9, 7, 1, 1), {}),
    "same upper": ((1, 2, 7, 8), (3, 2, 4, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    "same lower": ((1, 2, 7, 8), (3, 2, 4, 3), {"auto_pad": "SAME_LOWER", "strides": [3, 1]}),
    "valid": ((1, 2, 7, 8), (3, 2, 4, 3), {"auto_pad": "VALID", "strides": [1, 2]}),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("has_bias", [False, True])
def test_conv(name, has_bias):
    """Convolutions along one to three axes have strides, pads, dilations and groups."""
    data, weight, attributes = CONVOLUTIONS[name]
    inputs = [random(1, *data), random(2, *weight)]
    if has_bias:
        inputs.append(random(3, weight[0]))
    check_sums("Conv", inputs, np.prod(weight[1:]), **attributes)


DILATED = {
    "one is left": ((1, 4, 5, 5), (3, 4, 3, 3), {"dilations": [6, 5], "pads": [6, 5, 6, 5]}),
    "columns": ((1, 4, 9, 5), (3, 4, 3, 3), {"dilations": [2, 7], "pads": [2, 7, 2, 7]}),
    "at the end": ((1, 2, 5, 4), (3, 2, 1, 4), {"dilations": [1, 3], "pads": [0, 1, 0, 9]}),
    "strides": ((1, 2, 8), (3, 2, 3), {"dilations": [9], "strides": [3], "pads": [9, 9]}),
    "groups": ((1, 4, 4, 4), (4, 2, 3, 3), {"group": 2, "dilations": [4, 1], "pads": [4, 1, 4, 1]}),
    "one row": ((1, 3, 1, 6), (2, 3, 3, 3), {"pads": [1, 1, 1, 1]}),
    "padding": ((1, 1, 1, 1), (2, 1, 2, 2), {"pads": [3, 3, 0, 0], "dilations": [2, 2]}),
}


@pytest.mark.parametrize("name", DILATED)
def test_weights_that_only_padding_meets(name):
    data, weight, attributes = DILATED[name]
    inputs = [random(1, *data), random(2, *weight), random(3, weight[0])]
    check_sums("Conv", inputs, np.prod(weight[1:]), constants=(1, 2), **attributes)


def test_conv_of_halves_has_float32_sums():
    """A float16 sum of 2,050 ones would stop at 2,048."""
    inputs = [np.ones((1, 2050, 1, 2), "float16"), np.ones((1, 2050, 1, 1), "float16")]
    (got,) = ours(model_of("Conv", inputs), inputs)
    assert got.dtype == np.float16 and (got == 2050).all()


TRANSPOSED = {
    "1d": ((1, 2, 5), (2, 3, 4), {"strides": [3], "pads": [1, 2]}),
    "stride": ((1, 3, 4, 5), (3, 2, 3, 3), {"strides": [2, 3], "output_padding": [1, 2]}),
    "even": ((1, 3, 4, 5), (3, 2, 2, 2), {"strides": [2, 2]}),
    "gaps": ((1, 2, 3, 3), (2, 2, 1, 2), {"strides": [3, 4]}),
    "dilation": ((1, 2, 4, 5), (2, 3, 3, 2), {"strides": [3, 2], "dilations": [2, 3]}),
    "common divisor": ((1, 2, 4, 5), (2, 3, 3, 3), {"strides": [4, 6], "dilations": [2, 3]}),
    "groups": ((2, 4, 3, 4), (4, 3, 3, 3), {"group": 2, "strides": [2, 1], "pads": [1, 1, 0, 2]}),
    "depthwise": ((1, 4, 3, 4), (4, 1, 3, 3), {"group": 4, "strides": [2, 2]}),
    "3d": ((1, 2, 3, 2, 3), (2, 2, 2, 3, 2), {"strides": [2, 1, 3]}),
    "seven columns": ((1, 2, 3, 7), (2, 2, 2, 2), {"strides": [2, 2]}),
    "given extents": ((1, 2, 4, 4), (2, 2, 3, 3), {"strides": [2, 2], "output_shape": [7, 9]}),
}


@pytest.mark.parametrize("name", TRANSPOSED)
def test_conv_transpose(name):
    """Each tap is added to the right outputs, for all strides, pads, dilations and groups."""
    data, weight, attributes = TRANSPOSED[name]
    outputs = weight[1] * attributes.get("group", 1)
    inputs = [random(1, *data), random(2, *weight), random(3, outputs)]
    check_sums("ConvTranspose", inputs, data[1] * np.prod(weight[2:]), **attributes)


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_same_padding_of_conv_transpose(mode):
    """Windows that do not reach from one stride to the next have no padding that programs share."""
    data = random(1, 1, 2, 4)
    for taps, dilation in ((3, 1), (2, 2), (5, 1)):
        inputs = [data, random(2, 2, 3, taps)]
        attributes = {"strides": [3], "dilations": [dilation], "auto_pad": mode}
        model = model_of("ConvTranspose", inputs, **attributes)
        np.testing.assert_allclose(
            ours(model, inputs)[0], onnxruntimes(model, inputs)[0], atol=2 * taps * 2 * 2.0**-23
        )
    inputs = [data, random(2, 2, 3, 2)]
    model = model_of("ConvTranspose", inputs, strides=[3], auto_pad=mode)
    with pytest.raises(
        texloom.TVMError, match=r"windows of \[2\] .* smaller than the strides \[3\]"
    ):
        ours(model, inputs)


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("name", ["even", "seven columns"])
def test_conv_transpose_of_known_weights(name, has_bias):
    """If taps do not overlap, a second kernel moves the channels of a matrix product to pixels."""
    data, weight, attributes = TRANSPOSED[name]
    inputs = [random(1, *data), random(2, *weight), random(3, weight[1])][: 3 if has_bias else 2]
    model = model_of("ConvTranspose", inputs, **attributes)
    (expected,) = onnxruntimes(model, inputs)
    (magnitudes,) = onnxruntimes(model, [np.abs(each) for each in inputs])
    names = [each.name for each in model.graph.input]
    values = dict(zip(names[1:], inputs[1:], strict=True))
    compiled = texloom.compile(model, values=values)
    assert compiled.summary["launches"] == 2
    (got,) = compiled.run({names[0]: inputs[0]}).values()
    bound = 2 * gamma(data[1] + 2, FLOAT32_ROUNDOFF) * magnitudes
    assert got.shape == expected.shape and (np.abs(got - expected) <= bound).all()


@pytest.mark.parametrize("weight_zeros", [1, 4])
def test_conv_integer(weight_zeros):
    """Zero points are subtracted; weights have one zero point, or one per output channel."""
    data, weight = random(1, 1, 3, 6, 5, dtype="uint8"), random(2, 4, 3, 3, 2, dtype="uint8")
    zeros = random(3, weight_zeros, dtype="uint8")
    inputs = [data, weight, np.array(4, "uint8"), zeros]
    (got,) = ours(model_of("ConvInteger", inputs, pads=[1, 1, 1, 1]), inputs)
    centered = [
        data.astype("float32") - 4,
        weight.astype("float32") - zeros.reshape(-1, 1, 1, 1).astype("float32"),
    ]
    (expected,) = references(model_of("Conv", centered, pads=[1, 1, 1, 1]), centered)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("channels", [258, 259])
def test_sums_of_known_weights_are_exact(channels):
    """Sums of up to 258 channels are computed in float32; those of 259 would need 25 bits."""
    data, weight = np.full((1, channels, 2, 3), 255, "uint8"), np.full((2, channels, 1, 1), 255)
    weight[1, ::2] = 254
    inputs = [data, weight.astype("uint8"), np.array(0, "uint8"), np.zeros(2, "uint8")]
    got = run_node("ConvInteger", inputs, 10, known=[1, 2, 3])
    expected = np.einsum("nchw,oc->nohw", data.astype("int64"), weight[:, :, 0, 0])
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize(
    "windows",
    [
        {"strides": [2, 1], "pads": [1, 0, 1, 2]},
        {"dilations": [7, 4], "pads": [7, 4, 7, 4]},
    ],
)
def test_qlinear_conv(windows, is_known):
    """Results round half to even and saturate; scales and zero points vary by channel."""
    data, weight = random(1, 1, 4, 7, 6, dtype="uint8"), random(2, 3, 4, 3, 3, dtype="int8")
    scale = np.array([0.5, 2, 64], "float32")  # powers of two: both runtimes' products are exact
    inputs = [
        *(data, np.array(0.5, "float32"), np.array(3, "uint8")),
        *(weight, scale, np.zeros(3, "int8")),
        *(np.array(4, "float32"), np.array(100, "uint8"), random(4, 3, dtype="int32")),
    ]
    model = model_of("QLinearConv", inputs, **windows)
    (expected,) = onnxruntimes(model, inputs)
    (got,) = ours(model, with_constants(model, inputs, range(1, 9) if is_known else ()))
    np.testing.assert_array_equal(got, expected)
    assert {0, 255} <= set(got.flat)


def test_deform_conv():
    """The convolution has offsets, a mask, groups of both kinds, strides and dilations."""
    data, weight = random(1, 1, 4, 6, 7), random(2, 4, 2, 2, 3)
    attributes = {"strides": [2, 1], "dilations": [1, 2], "pads": [1, 0, 1, 2]}
    height, width = 4, 5
    inputs = [
        data,
        weight,
        3 * random(3, 1, 2 * 2 * 6, height, width),
        None,
        random(5, 1, 2 * 6, height, width),
    ]
    model = model_of("DeformConv", inputs, group=2, offset_group=2, **attributes)
    (got,), (expected,) = ours(model, inputs), references(model, inputs)
    # Twelve products of four interpolated pixels; coordinates of up to 10 are rounded, too.
    np.testing.assert_allclose(got, expected, rtol=0, atol=12 * (4 * 10 + 60) * FLOAT32_ROUNDOFF)
