"""Operators against SciPy, on real devices and in every storage."""

import numpy as np
import pytest
from scipy import signal

import texloom
from texloom import examples, te
from texloom.examples.reference import conv2d_error_bound, conv2d_reference

# N, I, H, W, O, kernel, stride, padding, tile: odd sizes, and channels that leave lanes unused.
CASES = {
    "one pixel": (1, 1, 1, 1, 1, 3, 1, 1, None),
    "whole tiles": (1, 4, 8, 16, 4, 3, 1, 1, None),
    "odd sizes, two images": (2, 5, 7, 9, 6, 3, 1, 1, None),
    "prime sizes": (1, 3, 13, 31, 7, 3, 1, 1, None),
    "tiles of two rows": (2, 3, 13, 11, 6, 3, 1, 1, (2, 4)),
    "tile wider than the image": (1, 2, 3, 3, 2, 3, 1, 1, (1, 8)),
    "no padding": (1, 6, 9, 10, 4, 3, 1, 0, None),
    "more padding than the kernel needs": (1, 2, 4, 5, 3, 3, 1, 2, None),
    "5 x 5": (1, 3, 9, 8, 5, 5, 1, 2, None),
    "1 x 1": (1, 9, 5, 4, 5, 1, 1, 0, None),
    "stride 2": (1, 3, 9, 12, 5, 3, 2, 1, None),
}


def arrays(case, make):
    n, i, h, w, o, k = case[:6]
    return make((n, i, h, w)), make((o, i, k, k))


def convolve(case, data, weight, storage, dev):
    stride, padding, tile = case[6:]
    layer = examples.Conv2dLayer(
        data, weight, storage, dev, stride=stride, padding=padding, tile=tile
    )
    layer.run()
    return layer.output()


@pytest.mark.parametrize("storage", ["texture", "buffer"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_conv2d_counts_every_product_once(case, storage, dev):
    # Sums of products of small integers are exact in any order, so results must be equal.
    rng = np.random.default_rng(1)
    data, weight = arrays(case, lambda s: rng.integers(-9, 10, s).astype(np.float32))
    expected = conv2d_reference(data, weight, stride=case[6], padding=case[7])
    np.testing.assert_array_equal(convolve(case, data, weight, storage, dev), expected)


def test_conv2d_is_within_the_derived_bound_and_alike_in_both_storages(dev):
    case = CASES["odd sizes, two images"]
    rng = np.random.default_rng(2)
    data, weight = arrays(case, lambda s: rng.standard_normal(s, dtype=np.float32))
    textures, buffers = (convolve(case, data, weight, s, dev) for s in ("texture", "buffer"))
    error = np.abs(textures - conv2d_reference(data, weight))
    assert np.all(error <= conv2d_error_bound(data, weight))
    assert 0 < error.max()  # the bound is not trivial
    np.testing.assert_array_equal(textures, buffers)


@pytest.mark.parametrize("storage", ["texture", "buffer"])
def test_conv2d_of_float16_sums_in_float32(storage, dev):
    case = (1, 24, 6, 8, 4, 3, 1, 1, None)
    rng = np.random.default_rng(3)
    data, weight = arrays(case, lambda s: rng.standard_normal(s).astype(np.float16))
    output = convolve(case, data, weight, storage, dev)
    assert output.dtype == np.float16
    exact = conv2d_reference(data, weight)
    bound = conv2d_error_bound(data, weight)
    rounding = 2.0**-11 * (np.abs(exact) + bound)  # of the float32 sum to float16
    assert np.all(np.abs(output - exact) <= bound + rounding)


def build(storage, height=8, width=16):
    data = te.placeholder((1, 2, height, width, 4), name="data")
    weight = te.placeholder((1, 8, 3, 3, 4), name="weight")
    output = examples.conv2d_nchw4c(data, weight)
    schedule = examples.schedule_conv2d_nchw4c(output, storage, tile=(1, 4))
    return texloom.build(schedule, [data, weight, output], "opencl").kernels


def test_texture_kernel_reads_each_texel_once():
    (kernel,) = build("texture")
    assert [a["kind"] for a in kernel.args] == ["texture"] * 3
    lines = kernel.source.splitlines()
    reads = [line[line.index("read_imagef") :] for line in lines if "read_imagef" in line]
    assert len(set(reads)) == len(reads)
    # A row of 4 + 2 pixels, and 3 texels of weights for each of 4 channels.
    assert len(reads) == 6 + 12
    assert "/" not in kernel.source
    assert "%" not in kernel.source


def test_buffer_kernel_differs_in_storage_only():
    (texture,), (buffer,) = build("texture"), build("buffer")
    assert [a["kind"] for a in buffer.args] == ["buffer"] * 3
    assert "image" not in buffer.source
    assert (texture.grid, texture.block) == (buffer.grid, buffer.block)
    assert texture.source.count("fma(") == buffer.source.count("fma(") == 48


def test_packing_keeps_values_and_fills_with_zeros():
    x = np.arange(2 * 5 * 3 * 2, dtype=np.int16).reshape(2, 5, 3, 2) + 1
    packed = examples.pack_nchw4c(x)
    assert packed.shape == (2, 2, 3, 2, 4)
    assert packed.dtype == np.int16
    assert packed[1, 1, 2, 1, 0] == x[1, 4, 2, 1]
    assert not packed[:, 1, :, :, 1:].any()
    np.testing.assert_array_equal(examples.unpack_nchw4c(packed, 5), x)

    w = np.arange(6 * 5 * 3 * 1, dtype=np.float32).reshape(6, 5, 3, 1) + 1
    packed = examples.pack_oihw4o(w)
    assert packed.shape == (2, 8, 3, 1, 4)
    assert packed[1, 4, 2, 0, 1] == w[5, 4, 2, 0]
    assert not packed[1, :, :, :, 2:].any()
    assert not packed[:, 5:].any()
    np.testing.assert_array_equal(examples.unpack_oihw4o(packed, 6, 5), w)


@pytest.mark.parametrize(
    ("data", "weight", "arguments", "message"),
    [
        ((1, 2, 8, 8, 4), (1, 4, 3, 3, 4), {}, "are not"),  # data of 8 channels, weights of 4
        ((1, 2, 8, 8, 2), (1, 8, 3, 3, 4), {}, "are not"),
        ((2, 8, 8, 4), (1, 8, 3, 3, 4), {}, "4 axes instead of 5"),
        ((1, 2, 8, 2, 4), (1, 8, 3, 5, 4), {}, "larger than"),
        ((1, 2, 8, 8, 4), (1, 8, 3, 3, 4), {"stride": 0}, "stride=0"),
    ],
)
def test_conv2d_refuses_shapes_that_do_not_match(data, weight, arguments, message):
    x, w = te.placeholder(data, name="x"), te.placeholder(weight, name="w")
    with pytest.raises(ValueError, match=message):
        examples.conv2d_nchw4c(x, w, **arguments)


def test_conv2d_refuses_integers():
    x = te.placeholder((1, 2, 8, 8, 4), "int8", name="x")
    w = te.placeholder((1, 8, 3, 3, 4), "int8", name="w")
    with pytest.raises(ValueError, match="float32"):
        examples.conv2d_nchw4c(x, w)


def test_schedule_refuses_an_unknown_storage():
    x = te.placeholder((1, 1, 8, 8, 4), name="x")
    w = te.placeholder((1, 4, 3, 3, 4), name="w")
    with pytest.raises(ValueError, match="storage='image' is not one of texture, buffer"):
        examples.schedule_conv2d_nchw4c(examples.conv2d_nchw4c(x, w), "image")


@pytest.mark.parametrize("kernel", [(3, 3), (1, 4), (2, 5)])
def test_reference_is_a_correlation_over_the_valid_places(kernel):
    rng = np.random.default_rng(4)
    x, w = rng.standard_normal((1, 2, 6, 7)), rng.standard_normal((1, 2, *kernel))
    expected = sum(signal.correlate2d(x[0, i], w[0, i], mode="valid") for i in range(2))
    np.testing.assert_allclose(conv2d_reference(x, w, padding=0)[0, 0], expected, rtol=1e-12)
