"""Fourier transforms and windows."""

import numpy as np
import onnx
import pytest
from single_node import floats, run_node

from texloom.examples.rounding import gamma
from texloom.onnx.nodes import Unsupported

ROUNDOFF = {"float32": 2.0**-24, "float64": 2.0**-53}


def complex_of(x):
    x = x.astype("float64")
    return x[..., 0] + 1j * x[..., 1] if x.shape[-1] == 2 else x[..., 0]


def parts_of(z):
    return np.stack([z.real, z.imag], axis=-1)


def check(got, expected, x, axis, scale=1.0):
    """Compare sums of products of elements and rounded factors of magnitude 1."""
    assert got.shape == expected.shape and got.dtype == x.dtype
    unit = ROUNDOFF.get(str(x.dtype), 2.0**-24)
    terms = 2 * expected.shape[axis] + 8
    total = np.abs(complex_of(x)).sum(axis=axis).max() * scale
    half = 2.0**-11 * np.abs(expected) if x.dtype == "float16" else 0
    assert np.all(np.abs(got - expected) <= 2 * gamma(2 * terms, unit) * total + half)


@pytest.mark.parametrize(
    ("length", "parts", "dtype"), [(13, 1, "float32"), (64, 2, "float64"), (60, 2, "float16")]
)
def test_transform(length, parts, dtype):
    """A prime length is transformed in one step, a composite one in two."""
    x = floats(2, length, 3, parts, dtype=dtype)
    got = run_node("DFT", [x, None, np.array(1)], 20, known=[2])
    check(got, parts_of(np.fft.fft(complex_of(x), axis=1)), x, 1)


def test_one_side_in_version_17():
    x = floats(3, 24, 2, 1)
    got = run_node("DFT", [x], 17, axis=1, onesided=1)
    check(got, parts_of(np.fft.rfft(complex_of(x), axis=1)), x, 1)


@pytest.mark.parametrize("length", [8, 30])
def test_inverse_that_is_cut_off_or_extended(length):
    x = floats(2, 20, 2)
    got = run_node("DFT", [x, np.array(length)], 20, known=[1], inverse=1)
    expected = parts_of(np.fft.ifft(complex_of(x), length, axis=1))
    check(got, expected, x, 1, 1 / length)


def test_transforms_of_frames():
    x, window = floats(2, 50, 1), floats(16)
    got = run_node("STFT", [x, np.array(7), window, np.array(16)], 17, known=[1, 3])
    frames = np.stack([x[:, i : i + 16, 0] * window for i in range(0, 35, 7)], axis=1)
    check(got, parts_of(np.fft.rfft(frames.astype("float64"))), frames[..., None], 2)


def test_transforms_of_complex_frames_without_a_window():
    x = floats(1, 20, 2)
    inputs = [x, np.array(4), None, np.array(6)]
    got = run_node("STFT", inputs, 17, known=[1, 3], onesided=0)
    frames = np.stack([x[:, i : i + 6] for i in range(0, 15, 4)], axis=1)
    check(got, parts_of(np.fft.fft(complex_of(frames))), frames, 2)


@pytest.mark.parametrize(("op", "function"), [("HannWindow", np.hanning)])
def test_window_of_a_size_that_is_given_at_run_time(op, function):
    got = run_node(op, [np.array(9)], 17, periodic=0)
    np.testing.assert_allclose(got, function(9), atol=2.0**-22)
    assert got.dtype == "float32"


def test_weights_of_a_window_that_are_almost_integers():
    """The middle of the window is 0.42 + 0.5 + 0.08, which is less than 1 in float64."""
    for dtype, expected in ((onnx.TensorProto.INT8, [0, 1]), (onnx.TensorProto.FLOAT, [0, 1])):
        got = run_node("BlackmanWindow", [np.array(2)], 17, output_datatype=dtype)
        np.testing.assert_allclose(got, expected, atol=2.0**-22)


def test_symmetric_window_of_one_element():
    """Its angle is 0 / 0 in the standard's body."""
    for op in ("BlackmanWindow", "HammingWindow", "HannWindow"):
        assert np.isnan(run_node(op, [np.array(1)], 17, periodic=0)).tolist() == [True]
    with pytest.raises(Unsupported, match="of one element is NaN"):
        run_node("HannWindow", [np.array(1)], 17, periodic=0, output_datatype=6)


@pytest.mark.parametrize(
    ("shape", "attributes", "why"),
    [
        ((2, 8, 3), {}, "does not precede a last axis"),
        ((2, 8, 1), {"axis": 2}, "the axis 2 of"),
        ((2, 8, 2), {"onesided": 1}, "cannot be one-sided"),
    ],
)
def test_refused(shape, attributes, why):
    with pytest.raises(Unsupported, match=why):
        run_node("DFT", [floats(*shape)], 17, **attributes)
