"""Pooling of activations in textures, with padding that must not affect any result."""

import numpy as np
import pytest
from workloads.accuracy import Sums, assert_sums

from texloom import te
from texloom.examples.texel_schedules import cache_in_texture, spread

WINDOW, STRIDE, PADDING = 3, 2, 1
SHAPE = (2, 2, 11, 12, 4)
PIXELS = [(n + 2 * PADDING - WINDOW) // STRIDE + 1 for n in SHAPE[2:4]]


def pool(x, padding, reduction):
    """Reduce the values of each window, with the value `padding` outside the image."""
    height, width = (int(n) for n in x.shape[2:4])

    def padded(n, c, y, x_, lane):
        y, x_ = y - PADDING, x_ - PADDING
        inside = te.all(y >= 0, y < height, x_ >= 0, x_ < width)
        return te.if_then_else(inside, x[n, c, y, x_, lane], padding)

    shape = (*SHAPE[:2], height + 2 * PADDING, width + 2 * PADDING, 4)
    frame = te.compute(shape, padded, name="padded", tag="pad")
    r = te.reduce_axis((0, WINDOW), name="r")
    s = te.reduce_axis((0, WINDOW), name="s")
    return te.compute(
        (*SHAPE[:2], *PIXELS, 4),
        lambda n, c, y, x_, lane: reduction(
            frame[n, c, y * STRIDE + r, x_ * STRIDE + s, lane], axis=[r, s]
        ),
        name="pooled",
    )


def schedule(x, pooled, output):
    s = te.create_schedule(output.op)
    (frame,) = pooled.op.input_tensors
    s[frame].compute_inline()
    if pooled == output:
        pooled = s.cache_write(output, "local")
    cache_in_texture(s, x, frame)
    thread = spread(s, output)
    s[pooled].compute_at(s[output], thread)
    s[pooled].reorder(*s[pooled].op.reduce_axis, *s[pooled].op.axis)
    s[pooled].vectorize(s[pooled].op.axis[-1])
    return s


def windows(v, fill):
    """Return the values of each window as two more axes."""
    v = np.pad(v, [(0, 0)] * 2 + [(PADDING, PADDING)] * 2 + [(0, 0)], constant_values=fill)
    views = np.lib.stride_tricks.sliding_window_view(v, (WINDOW, WINDOW), axis=(2, 3))
    return views[:, :, ::STRIDE, ::STRIDE]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_max_pooling(run, dtype):
    x = te.placeholder(SHAPE, dtype, name="X")
    y = pool(x, te.min_value(dtype), te.max)
    v = (-np.random.default_rng(12).integers(1, 100, SHAPE)).astype(dtype)  # padding 0 would show
    expected = windows(v, -128).max(axis=(-2, -1))
    np.testing.assert_array_equal(run(schedule(x, y, y), [x, y], v), expected)


def test_average_pooling(run):
    """The divisor is the number of pixels inside the image, computed from the indices."""
    x = te.placeholder(SHAPE, name="X")
    total = pool(x, te.const(0, "float32"), te.sum)

    def pixels(at, extent):
        first = te.max(at * STRIDE - PADDING, 0)
        return te.min(at * STRIDE - PADDING + WINDOW, extent) - first

    y = te.compute(
        total.shape,
        lambda n, c, y, x_, lane: total[n, c, y, x_, lane]
        / (pixels(y, SHAPE[2]) * pixels(x_, SHAPE[3])).astype("float32"),
        name="Y",
    )
    v = np.random.default_rng(13).standard_normal(SHAPE).astype("float32")
    count = windows(np.ones(SHAPE), 0).sum(axis=(-2, -1))
    # A sum of 9, and a division with an error of 2.5 ulp, which is 5 roundings.
    sums = Sums.of(lambda a: windows(a, 0).sum(axis=(-2, -1)) / count, 9 + 5, v)
    assert_sums(run(schedule(x, total, y), [x, y], v), sums)


def test_global_average(run):
    """The threads of a block sum float16 data in float32."""
    x = te.placeholder((2, 3, 7, 7, 4), "float16", name="X")
    r, c = te.reduce_axis((0, 7), name="r"), te.reduce_axis((0, 7), name="c")
    total = te.compute(
        (2, 3, 4), lambda n, g, v: te.sum(x[n, g, r, c, v].astype("float32"), axis=[r, c])
    )
    y = te.compute((2, 3, 4), lambda *i: (total[i] * te.const(1 / 49)).astype("float16"), name="Y")
    s = te.create_schedule(y.op)
    cache_in_texture(s, x, total)
    n, g, lane = s[y].op.axis
    s[y].bind(s[y].fuse(n, g), te.thread_axis("blockIdx.x"))
    s[y].bind(lane, te.thread_axis("threadIdx.y"))
    s[total].compute_at(s[y], lane)
    s[total].bind(s[total].op.reduce_axis[0], te.thread_axis("threadIdx.x"))
    v = np.random.default_rng(14).standard_normal((2, 3, 7, 7, 4)).astype("float16")
    sums = Sums.of(lambda a: a.mean(axis=(2, 3)), 49 + 2, v)  # 1/49 and the product with it add two
    assert_sums(run(s, [x, y], v), sums, "float32")
