"""Elementwise kernels over textures: copies, unpacking, and texels with several uses."""

import numpy as np
import pytest
from workloads.accuracy import Sums, assert_sums

import texloom as tvm
from texloom import te
from texloom.examples.texel_schedules import cache_in_texture, spread


def plus_one(shape, dtype="float32"):
    x = te.placeholder(shape, dtype, name="X")
    y = te.compute(shape, lambda *i: x[i] + te.const(1, dtype), name="Y")
    s = te.create_schedule(y.op)
    cache_in_texture(s, x, y)
    spread(s, y)
    return x, y, s


@pytest.mark.parametrize("shape", [(32, 64, 4), (1, 8, 28, 28, 4), (2, 3, 5, 7, 4)])
def test_elementwise(run, shape):
    x, y, s = plus_one(shape)
    v = np.random.default_rng(5).integers(-999, 999, shape).astype("float32")
    np.testing.assert_array_equal(run(s, [x, y], v), v + 1)


def every_value(dtype, shape):
    """Return all values of narrow types or many of wide ones, but no NaN: its bits may change."""
    bits = np.random.default_rng(6).integers(0, 256, (np.prod(shape), np.dtype(dtype).itemsize))
    v = bits.astype("uint8").view(dtype).reshape(shape)
    if np.dtype(dtype).kind == "f":  # denormal float32 may be flushed to zero
        v = np.where(np.isfinite(v) & (np.abs(v) >= np.finfo(dtype).tiny), v, 1).astype(dtype)
    else:
        v.flat[:3] = np.iinfo(dtype).min, np.iinfo(dtype).max, -1
    return v


@pytest.mark.parametrize("scope", ["global.texture", "texture:weight", "texture:nhwc"])
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "float16", "float32"])
def test_copies_are_exact(run, dtype, scope):
    shape = (3, 16, 16, 4)
    x = te.placeholder(shape, dtype, name="X")
    y = te.compute(shape, lambda *i: x[i], name="Y")
    s = te.create_schedule(y.op)
    first = cache_in_texture(s, x, y, scope)
    cache_in_texture(s, first, y, scope)  # from texture to texture
    spread(s, y)
    v = every_value(dtype, shape)
    got = run(s, [x, y], v)
    assert got.tobytes() == v.tobytes()


@pytest.mark.parametrize("cast", [None, "float32"])
@pytest.mark.parametrize("channels", [3, 63, 64])
def test_unpacking_into_a_buffer(run, channels, cast):
    """An NCHW4c texture is unpacked to an NCHW buffer; adjacent threads read adjacent texels."""
    n, h, w = 2, 9, 10
    shape = (n, -(-channels // 4), h, w, 4)
    x = te.placeholder(shape, "float16", name="X")
    y = te.compute(
        (n, channels, h, w),
        lambda n, c, y, x_: x[n, c // 4, y, x_, c % 4].astype(cast or "float16"),
        name="Y",
    )
    s = te.create_schedule(y.op)
    cache_in_texture(s, x, y)
    spread(s, y, vectorize=False)
    v = np.random.default_rng(7).standard_normal(shape).astype("float16")
    expected = v.transpose(0, 1, 4, 2, 3).reshape(n, -1, h, w)[:, :channels]
    got = run(s, [x, y], v)
    assert got.dtype == (cast or "float16")
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("channels", [3, 63, 64])
def test_packing_into_a_texture(run, channels):
    """Missing channels in the last texel are zeros; the output is a texture itself."""
    n, h, w = 2, 9, 10
    x = te.placeholder((n, channels, h, w), name="X")
    y = te.compute(
        (n, -(-channels // 4), h, w, 4),
        lambda n, c, y, x_, lane: te.if_then_else(
            c * 4 + lane < channels, x[n, c * 4 + lane, y, x_], 0.0
        ),
        name="Y",
    )
    s = te.create_schedule(y.op)
    spread(s, y)
    v = np.random.default_rng(8).standard_normal((n, channels, h, w)).astype("float32")
    filled = np.pad(v, [(0, 0), (0, -channels % 4), (0, 0), (0, 0)])
    expected = filled.reshape(n, -1, 4, h, w).transpose(0, 1, 3, 4, 2)
    np.testing.assert_array_equal(run(s, [x, y], v, scopes={y: "global.texture"}), expected)


@pytest.mark.parametrize("vectorize", [False, True])
def test_three_uses_of_one_texel(run, vectorize):
    """The source reads each texel once, whether its lanes are used together or separately."""
    shape = (8, 16, 4)
    x = te.placeholder(shape, name="X")
    if vectorize:
        y = te.compute(shape, lambda i, j, k: x[i, j, k] * x[i, j, k] + x[i, j, k], name="Y")
    else:
        y = te.compute(shape[:2], lambda i, j: x[i, j, 0] * x[i, j, 1] + x[i, j, 3], name="Y")
    s = te.create_schedule(y.op)
    cache_in_texture(s, x, y)
    spread(s, y, vectorize=vectorize)
    source = tvm.build(s, [x, y]).kernels[-1].source
    assert source.count("read_imagef(") == 1
    v = np.random.default_rng(9).integers(-99, 99, shape).astype("float32")
    expected = v * v + v if vectorize else v[..., 0] * v[..., 1] + v[..., 3]
    np.testing.assert_array_equal(run(s, [x, y], v), expected)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_accumulate_in_registers_then_store_texels(run, dtype):
    """Row sums of a matrix of texels; the output is a texture, written in whole texels."""
    x = te.placeholder((24, 32, 4), dtype, name="X")
    k = te.reduce_axis((0, 32), name="k")
    y = te.compute((6, 4, 4), lambda i, j, v: te.sum(x[i * 4 + j, k, v], axis=k), name="Y")
    s = te.create_schedule(y.op)
    sums = s.cache_write(y, "local")
    cache_in_texture(s, x, sums)
    thread = spread(s, y, threads=8)
    s[sums].compute_at(s[y], thread)
    s[sums].vectorize(s[sums].op.axis[-1])
    s[sums].reorder(s[sums].op.reduce_axis[0], *s[sums].op.axis)
    binds = {y: tvm.decl_buffer(y.shape, dtype, scope="texture")}
    source = tvm.build(s, [x, y], binds=binds).kernels[-1].source
    assert source.count("write_imagef(") == 1 and source.count("read_imagef(") == 1
    v = np.random.default_rng(10).standard_normal((24, 32, 4)).astype(dtype)
    sums = Sums.of(lambda a: a.sum(axis=1).reshape(6, 4, 4), 32, v)
    assert_sums(run(s, [x, y], v, scopes={y: "texture"}), sums, dtype)
