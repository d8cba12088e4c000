"""Tensors stored with `layout=` instead of their scope's default give the same values."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te


def block(which="x"):
    return te.thread_axis(f"blockIdx.{which}")


def values_of(shape, dtype="float32"):
    return np.random.default_rng(3).integers(-50, 50, size=shape).astype(dtype)


def plus_one(shape, bound=True):
    """Return Y = X + 1 with a loop bound that has no lanes."""
    x = te.placeholder(shape, name="X")
    y = te.compute(shape, lambda *i: x(*i) + 1, name="Y")
    s = te.create_schedule(y.op)
    if bound:
        s[y].bind(s[y].fuse(), block())
    return x, y, s


# Channels as lanes, folds, lanes of an outer axis, and padding texels.
TEXTURES = [
    ((2, 6, 5, 7), "texture[(n, c, h, w) -> rows=(n, c/4, h), cols=(w), lanes=c%4]"),
    ((2, 6, 5, 7), "texture[(n, c, h, w) -> rows=(n, c/4, h), cols=(w), lanes=c%4, padding=zero]"),
    ((1, 8, 40, 3), "texture[(n, c, h, w) -> rows=(n, h%32), cols=(c/4, h/32, w), lanes=c%4]"),
    ((9, 3), "texture[(a, b) -> rows=(b), cols=(a/4), lanes=(a%4)]"),
    ((16,), "texture[(a) -> rows=(a/4%2), cols=(a/8), lanes=(a%4)]"),
    ((4, 3, 2), "texture[(a, b, c) -> cols=(c, b), lanes=a]"),
]


@pytest.mark.parametrize(("shape", "layout"), TEXTURES)
def test_cache_in_a_texture(run, shape, layout):
    x, y, s = plus_one(shape)
    cache = s.cache_read(x, "texture", [y], layout=layout)
    s[cache].bind(s[cache].fuse(), block())
    values = values_of(shape)
    np.testing.assert_array_equal(run(s, [x, y], values), values + 1)


@pytest.mark.parametrize(("shape", "layout"), TEXTURES)
def test_arguments_in_textures(dev, shape, layout):
    x, y, s = plus_one(shape)
    binds = {t: tvm.decl_buffer(shape, layout=layout) for t in (x, y)}
    f = tvm.build(s, [x, y], binds=binds)
    values = values_of(shape)
    a = tvm.nd.array(values, dev, layout=layout)
    b = tvm.nd.empty(shape, "float32", dev, "texture", layout=layout)
    np.testing.assert_array_equal(a.numpy(), values)
    f(a, b)
    np.testing.assert_array_equal(b.numpy(), values + 1)


BUFFERS = [
    ((3, 5), "buffer[(i, j) -> cols=(j, i)]"),
    ((8, 12), "buffer[(i, j) -> cols=(i/4, j/4, i%4, j%4)]"),
    ((7, 5), "buffer[(i, j) -> cols=(i/4, j, i%4)]"),
]


@pytest.mark.parametrize(("shape", "layout"), BUFFERS)
def test_buffers(dev, run, shape, layout):
    """A layout applies to caches in global and shared memory, and to arguments."""
    values = values_of(shape)
    for scope in ("global", "shared"):
        x, y, s = plus_one(shape)
        cache = s.cache_read(x, scope, [y], layout=layout)
        if scope == "shared":
            s[cache].compute_at(s[y], s[y].leaf_iter_vars[0])
        else:
            s[cache].bind(s[cache].fuse(), block())
        np.testing.assert_array_equal(run(s, [x, y], values), values + 1)
    x, y, s = plus_one(shape)
    f = tvm.build(s, [x, y], binds={t: tvm.decl_buffer(shape, layout=layout) for t in (x, y)})
    a = tvm.nd.array(values, dev, layout=layout)
    b = tvm.nd.empty(shape, "float32", dev, layout=layout)
    f(a, b)
    np.testing.assert_array_equal(b.numpy(), values + 1)


def test_vectors_across_a_transposed_buffer(run):
    """Consecutive elements of Y have a stride of five in its cache."""
    x, y, s = plus_one((5, 8), bound=False)
    cache = s.cache_write(y, "global", layout="buffer[(i, j) -> cols=(j, i)]")
    s[y].bind(s[y].op.axis[0], block())
    s[cache].bind(s[cache].op.axis[0], block())
    s[cache].vectorize(s[cache].op.axis[1])
    values = values_of((5, 8))
    np.testing.assert_array_equal(run(s, [x, y], values), values + 1)


def test_stage_in_its_own_layout(run):
    """set_scope and cache_write accept layouts; kernels print axes by position: d0, d1, ..."""
    x = te.placeholder((6, 10), name="X")
    p = te.compute((6, 10), lambda i, j: x[i, j] * 2, name="P")
    y = te.compute((6, 10), lambda i, j: p[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    layout = "texture[(i, j) -> rows=j, cols=(i/4), lanes=i%4]"
    s[p].set_scope("texture", layout=layout)
    cache = s.cache_write(y, "texture", layout=layout)
    for t in (p, cache, y):
        s[t].bind(s[t].op.axis[1], block())
    f = tvm.build(s, [x, y])
    assert f.kernels[0].args[1]["layout"] == (
        "texture[(d0, d1) -> rows=(d1), cols=(d0/4), lanes=(d0%4)]"
    )
    assert "read_imagef" in f.kernels[1].source and "write_imagef" in f.kernels[1].source
    values = values_of((6, 10))
    np.testing.assert_array_equal(run(s, [x, y], values), values * 2 + 1)


def test_the_same_places_are_one_layout(dev):
    """A layout equal to the scope's default is the default, however its axes are split."""
    x, y, s = plus_one((3, 8))
    f = tvm.build(s, [x, y], binds={x: tvm.decl_buffer((3, 8), scope="texture")})
    values = values_of((3, 8))
    out = tvm.nd.empty((3, 8), "float32", dev)
    for layout in (
        "texture[(a, b) -> rows=a, cols=b/4, lanes=b%4]",
        "texture[(a, b) -> rows=a, cols=(b/4%2, b/8), lanes=(b/2%2, b%2)]",
    ):
        f(tvm.nd.array(values, dev, layout=layout), out)
        np.testing.assert_array_equal(out.numpy(), values + 1)
    other = tvm.nd.array(values, dev, layout="texture[(a, b) -> rows=b/4, cols=a, lanes=b%4]")
    with pytest.raises(tvm.TVMError, match="TL5004"):
        f(other, out)


def test_lanes_that_are_no_digit_of_one_axis_can_be_read(dev):
    """Texels may hold 2 x 2 elements in read-only arguments."""
    x, y, s = plus_one((4, 6))
    layout = "texture[(i, j) -> rows=i/2, cols=j/2, lanes=(i%2, j%2)]"
    f = tvm.build(s, [x, y], binds={x: tvm.decl_buffer((4, 6), layout=layout)})
    values = values_of((4, 6))
    out = tvm.nd.empty((4, 6), "float32", dev)
    f(tvm.nd.array(values, dev, layout=layout), out)
    np.testing.assert_array_equal(out.numpy(), values + 1)


def test_padding_of_arrays_is_zero_from_the_start(dev):
    layout = "texture[(i) -> cols=i/4, lanes=i%4, padding=zero]"
    x, y, s = plus_one((6,))
    f = tvm.build(s, [x, y], binds={x: tvm.decl_buffer((6,), layout=layout)})
    assert "padding=zero" in f.kernels[0].args[0]["layout"]
    values = values_of((6,))
    a, out = tvm.nd.empty((6,), "float32", dev, layout=layout), tvm.nd.empty((6,), "float32", dev)
    f(a, out)
    a.copyfrom(values)
    f(a, out)
    np.testing.assert_array_equal(out.numpy(), values + 1)
    with pytest.raises(tvm.TVMError, match="TL5004"):
        f(tvm.nd.array(values, dev, "texture"), out)


def test_explicit_layouts_are_not_folded():
    x, y, s = plus_one((40, 4))
    s.cache_read(x, "texture", [y], layout="texture[(h, c) -> rows=h, lanes=c]")
    with pytest.raises(tvm.TVMError, match="TL4002") as error:
        tvm.lower(s, [x, y], target="opencl -texture_spatial_limit=16")
    fold = 'fold it: layout="texture[(h, c) -> rows=(h%14), cols=(h/14), lanes=(c)]"'
    assert fold in str(error.value)


def test_the_caret_stands_below_the_piece():
    x, y, s = plus_one((4, 4))
    with pytest.raises(tvm.TVMError) as error:
        s.cache_read(x, "texture", [y], layout="texture[(h, c) -> rows=g, lanes=c]")
    lines = str(error.value).splitlines()
    note = next(i for i, line in enumerate(lines) if "note: texture[" in line)
    assert lines[note].index("g, lanes") == lines[note + 1].index("^")
