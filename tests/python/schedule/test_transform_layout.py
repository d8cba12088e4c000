"""transform_layout: the same values with other axes, in buffers and in textures."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te

SEP = te.AXIS_SEPARATOR


def block(which="x"):
    return te.thread_axis(f"blockIdx.{which}")


def values_of(shape):
    return np.random.default_rng(8).integers(-50, 50, size=shape).astype("float32")


def doubled(shape):
    x = te.placeholder(shape, name="X")
    y = te.compute(shape, lambda *i: x(*i) * 2, name="Y")
    return x, y, te.create_schedule(y.op)


def layout_of(s, args, number=0, **options):
    (layout,) = [
        a["layout"]
        for k in tvm.build(s, args, **options).kernels
        for a in k.args
        if a.get("access")
    ][number : number + 1]
    return layout


def test_rows_before_the_separator_columns_after_it(run):
    """A cache of NCHW is stored in textures as NCHW4c."""
    shape = (2, 6, 5, 7)
    x, y, s = doubled(shape)
    cache = s.cache_read(x, "texture", [y])
    axes = s[cache].transform_layout(lambda n, c, h, w: [n, c // 4, h, SEP, w, c % 4])
    assert len(axes) == 5
    s[cache].bind(axes[1], block())
    s[cache].bind(axes[2], te.thread_axis("threadIdx.x"))
    s[y].bind(s[y].op.axis[2], block())
    assert layout_of(s, [x, y], 1) == (
        "texture[(d0, d1, d2, d3) -> rows=(d0, d1/4, d2), cols=(d3), lanes=(d1%4)]"
    )
    values = values_of(shape)
    np.testing.assert_array_equal(run(s, [x, y], values), values * 2)


def test_without_a_separator_the_rule_of_the_scope_holds():
    x, y, s = doubled((6, 5, 8))
    cache = s.cache_read(x, "texture:weight", [y])
    s[cache].bind(s[cache].transform_layout(lambda h, w, c: [w, h, c])[0], block())
    s[y].bind(s[y].fuse(), block())
    assert layout_of(s, [x, y], 1) == (
        "texture[(d0, d1, d2) -> rows=(d1), cols=(d0, d2/4), lanes=(d2%4)]"
    )


def test_loops_of_a_compute(run):
    """The returned loops run over the new axes, even where factors do not divide extents."""
    shape = (6, 10)
    x, y, s = doubled(shape)
    cache = s.cache_write(y, "global")
    tile, inner, rest = s[cache].transform_layout(lambda i, j: [j // 4, j % 4, i])
    s[cache].bind(tile, block())
    s[cache].bind(inner, te.thread_axis("threadIdx.x"))
    s[cache].unroll(rest)
    s[y].bind(s[y].op.axis[0], block())
    kernel = tvm.build(s, [x, y]).kernels[0]
    assert (kernel.grid, kernel.block) == ((3, 1, 1), (4, 1, 1))
    values = values_of(shape)
    np.testing.assert_array_equal(run(s, [x, y], values), values * 2)

    x, y, s = doubled((4, 3, 5))
    cache = s.cache_write(y, "global")
    (fused, last) = s[cache].transform_layout(lambda i, j, k: [k * 4 + i, j])
    s[cache].bind(fused, block())
    s[cache].bind(last, te.thread_axis("threadIdx.x"))
    s[y].bind(s[y].op.axis[0], block())
    kernel = tvm.build(s, [x, y]).kernels[0]
    assert (kernel.grid, kernel.block) == ((20, 1, 1), (3, 1, 1))
    values = values_of((4, 3, 5))
    np.testing.assert_array_equal(run(s, [x, y], values), values * 2)


def test_reduction_keeps_its_loops(run):
    x = te.placeholder((6, 9), name="X")
    k = te.reduce_axis((0, 9), name="k")
    y = te.compute((6,), lambda i: te.sum(x[i, k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_write(y, "global")
    outer, inner = s[cache].transform_layout(lambda i: [i // 2, i % 2])
    s[cache].bind(outer, block())
    s[y].bind(s[y].op.axis[0], block())
    values = values_of((6, 9))
    np.testing.assert_array_equal(run(s, [x, y], values), values.sum(axis=1))


def test_repeated_and_with_names_of_the_rest(run):
    """``lambda *i, last`` works; a second transform_layout transforms the axes of the first."""
    shape = (2, 3, 8)
    x, y, s = doubled(shape)
    cache = s.cache_read(x, "texture", [y])
    s[cache].transform_layout(lambda *i, last: [*i, last // 4, last % 4])
    axes = s[cache].transform_layout(lambda a, b, outer, inner: [outer, b, SEP, a, inner])
    s[cache].bind(axes[0], block())
    s[y].bind(s[y].op.axis[1], block())
    assert layout_of(s, [x, y], 1) == (
        "texture[(d0, d1, d2) -> rows=(d2/4, d1), cols=(d0), lanes=(d2%4)]"
    )
    values = values_of(shape)
    np.testing.assert_array_equal(run(s, [x, y], values), values * 2)


@pytest.mark.parametrize("scope", ["", "texture"])
def test_arrays_of_arguments_have_the_new_shape(dev, scope):
    shape = (2, 6, 5)
    x, y, s = doubled(shape)
    axes = s[y].transform_layout(lambda n, c, w: [n, c // 4, w, c % 4])
    assert s[x].transform_layout(lambda n, c, w: [n, c // 4, w, c % 4]) == []
    s[y].bind(axes[2], block())
    binds = {t: tvm.decl_buffer(shape, scope=scope) for t in (x, y)}
    f = tvm.build(s, [x, y], binds=binds)
    values = np.zeros((2, 8, 5), "float32")
    values[:, :6] = values_of(shape)
    packed = values.reshape(2, 2, 4, 5).transpose(0, 1, 3, 2)
    a = tvm.nd.array(packed, dev, scope or None)
    b = tvm.nd.array(np.zeros_like(packed), dev, scope or None)
    f(a, b)
    np.testing.assert_array_equal(b.numpy(), packed * 2)
    with pytest.raises(tvm.TVMError, match="TL5003"):
        f(tvm.nd.empty(shape, "float32", dev), b)
