"""Textures whose size each call gives: one module serves arrays of all sizes."""

import random

import numpy as np
import pytest

import texloom as tvm
from texloom import te

SCOPES = ("texture", "texture:weight", "texture:nhwc")
SIZES = [(1, 1), (3, 5), (7, 4), (17, 33)]


def numbers(*shape):
    return np.random.default_rng(sum(shape)).integers(-9, 9, size=shape).astype("float32")


def known(shape, n, m):
    return tuple({"n": n, "m": m}[each.name] if hasattr(each, "name") else each for each in shape)


def shapes():
    """Return shapes of two symbols; last axes fill one texel, several, or part of the last."""
    n, m = te.var("n"), te.var("m")
    return [(n, m, 4), (n, 8), (n, m, 3), (n, m), (2, n, m, 6)]


def by_rows(s, *tensors):
    for tensor in tensors:
        s[tensor].bind(s[tensor].op.axis[0], te.thread_axis("blockIdx.x"))
    return s


def filtered(shape, scope, **storage):
    """Return Y = 2 * X + X with rows in reverse order, through textures of X and of 2 * X."""
    x = te.placeholder(shape, name="X")
    p = te.compute(shape, lambda *i: x(*i) * 2, name="P")
    y = te.compute(shape, lambda i, *j: p(i, *j) + x(shape[0] - 1 - i, *j), name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, scope, [p, y], **storage)
    s[p].set_scope(scope, **storage)
    return by_rows(s, cache, p, y), x, y


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("which", range(5))
def test_caches_and_stages_of_any_size(dev, scope, which):
    shape = shapes()[which]
    s, x, y = filtered(shape, scope)
    f = tvm.build(s, [x, y], "opencl")
    for n, m in SIZES:
        values = numbers(*known(shape, n, m))
        out = tvm.nd.empty(values.shape, "float32", dev)
        f(tvm.nd.array(values, dev), out)
        assert (out.numpy() == values * 2 + values[::-1]).all(), (n, m)


def test_layouts_of_any_size(dev):
    n, m = te.var("n"), te.var("m")
    layout = "texture[(n, c, h, w) -> rows=(c/4, h%3), cols=(h/3, n, w), lanes=c%4]"
    s, x, y = filtered((n, 6, m, 5), "texture", layout=layout)
    f = tvm.build(s, [x, y], "opencl")
    assert "texture[(d0, d1, d2, d3) -> rows=(d1/4, d2%3), cols=(d2/3, d0, d3), lanes=(d1%4)]" in [
        each["layout"] for each in f.kernels[0].args if each["kind"] == "texture"
    ]
    for n, m in SIZES:
        values = numbers(n, 6, m, 5)
        out = tvm.nd.empty(values.shape, "float32", dev)
        f(tvm.nd.array(values, dev), out)
        assert (out.numpy() == values * 2 + values[::-1]).all(), (n, m)


def test_padding_of_any_size_is_zero(dev):
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="X")
    y = te.compute((n, m), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    layout = "texture[(i, j) -> rows=i, cols=j/4, lanes=j%4, padding=zero]"
    s[y].set_scope("texture", layout=layout)
    f = tvm.build(by_rows(s, y), [x, y], "opencl")
    out = tvm.nd.empty((2, 5), "float32", dev, layout=layout)
    f(tvm.nd.array(numbers(2, 5), dev), out)
    assert (out.numpy() == numbers(2, 5) + 1).all()
    assert "0.0f)" in f.get_source()
    folded = "texture[(i, j) -> rows=i%8, cols=(i/8, j/4), lanes=j%4, padding=zero]"
    s = te.create_schedule(y.op)
    s[y].set_scope("texture", layout=folded)
    with pytest.raises(tvm.TVMError, match="TL2017.*has padding that nothing writes"):
        tvm.lower(by_rows(s, y), [x, y])


def doubled(shape, scope, **declared):
    """Return a function that doubles X, both arguments in textures."""
    x = te.placeholder(shape, name="X")
    y = te.compute(shape, lambda *i: x(*i) * 2, name="Y")
    s = by_rows(te.create_schedule(y.op), y)
    binds = {
        x: tvm.decl_buffer(shape, "float32", "X", scope=scope, **declared),
        y: tvm.decl_buffer(shape, "float32", "Y", scope=scope),
    }
    return tvm.build(s, [x, y], "opencl", binds=binds)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("which", range(5))
def test_parameters_of_any_size(dev, scope, which):
    shape = shapes()[which]
    f = doubled(shape, scope)
    layout = f.kernels[0].args[0]["layout"]
    for n, m in SIZES:
        values = numbers(*known(shape, n, m))
        out = tvm.nd.empty(values.shape, "float32", dev, layout=layout)
        f(tvm.nd.array(values, dev, layout=layout), out)
        assert (out.numpy() == values * 2).all(), (n, m)
        assert (f(values) == values * 2).all(), (n, m)  # the call allocates its arrays


def test_an_origin_and_an_image_of_exactly_the_texels(dev):
    n, m = te.var("n"), te.var("m")
    placed = doubled((n, m, 4), "texture", origin=True)
    exact = doubled((n, m, 4), "texture", exact_image=True)
    values = numbers(5, 3, 4)
    at, larger = (
        tvm.nd.empty(values.shape, "float32", dev, "texture", origin=origin, image=(64, 32))
        for origin in ((2, 1), (0, 0))
    )
    at.copyfrom(values)
    alone = tvm.nd.array(values, dev, "texture")
    out = tvm.nd.empty(values.shape, "float32", dev, "texture")
    placed(at, out)
    assert (out.numpy() == values * 2).all()
    exact(alone, out)
    assert (out.numpy() == values * 2).all()
    with pytest.raises(tvm.TVMError, match="TL5014.*fill an image of 3x5 texels.*64x32"):
        exact(larger, out)
    with pytest.raises(tvm.TVMError, match="TL5004.*does not begin at the corner"):
        exact(at, out)


def test_zeros_from_the_border_of_an_image_of_any_size(dev):
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m, 4), name="X")

    def shifted(i, j, c):
        inside = te.all(i >= 1, i < n + 1, j >= 1, j < m + 1)
        return te.if_then_else(inside, x[i - 1, j - 1, c], 0.0)

    y = te.compute((n + 2, m + 2, 4), shifted, name="Y")
    s = by_rows(te.create_schedule(y.op), y)
    declared = tvm.decl_buffer(x.shape, "float32", scope="texture", exact_image=True)
    f = tvm.build(s, [x, y], "opencl", binds={x: declared})
    assert " ? " not in f.get_source()
    for n, m in SIZES:
        values = numbers(n, m, 4)
        out = tvm.nd.empty((n + 2, m + 2, 4), "float32", dev)
        f(tvm.nd.array(values, dev, "texture"), out)
        assert (out.numpy() == np.pad(values, ((1, 1), (1, 1), (0, 0)))).all(), (n, m)


def test_arrays_in_another_layout_are_refused(dev):
    f = doubled(shapes()[3], "texture")
    with pytest.raises(tvm.TVMError, match=r"TL5004.*must be in .*cols=\(d1/4\).*in a buffer"):
        f(tvm.nd.array(numbers(3, 5), dev), tvm.nd.empty((3, 5), "float32", dev, "texture"))
    # Scope `texture` has lanes only for a last extent of 4, so other extents need another layout.
    with pytest.raises(tvm.TVMError, match=r"TL5004.*rows=\(d0\), cols=\(d1/4\)"):
        f(tvm.nd.array(numbers(3, 4), dev, "texture"), numbers(3, 4))
    with pytest.raises(tvm.TVMError, match="TL5003.*has 2 axes, but the array has 3"):
        f(tvm.nd.array(numbers(3, 4, 4), dev, "texture"), numbers(3, 4))


def test_sizes_beyond_the_limits_of_the_device(dev):
    most = 1 << 17
    n, m = te.var("n"), te.var("m")
    s, x, y = filtered((n, m, 4), "texture")
    f = tvm.build(s, [x, y], "opencl")
    message = rf"TL4002.*\"[XP](.texture)?\" of shape \({most}, 2, 4\) needs an image of 2x{most} "
    with pytest.raises(tvm.TVMError, match=message + "texels, but the device's images have at mos"):
        f(tvm.nd.array(numbers(most, 2, 4), dev), tvm.nd.empty((most, 2, 4), "float32", dev))
    message = rf"TL4002.*'X' of shape \({most}, 2, 4\) needs an image of 2 x {most} texels"
    with pytest.raises(tvm.TVMError, match=message):
        doubled((n, m, 4), "texture")(numbers(most, 2, 4))
    out = tvm.nd.empty((9, 2, 4), "float32", dev)  # calls with other sizes still run
    f(tvm.nd.array(numbers(9, 2, 4), dev), out)
    assert (out.numpy() == numbers(9, 2, 4) * 2 + numbers(9, 2, 4)[::-1]).all()


def test_a_checked_build_reports_the_first_bad_row(dev):
    n = te.var("n")
    x = te.placeholder((n, 4), name="X")
    z = te.placeholder((8,), "int32", name="Z")
    y = te.compute((8, 4), lambda i, j: x[z[i], j], name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "texture", [y])
    f = tvm.build(by_rows(s, cache, y), [x, z, y], "opencl -checked=1")
    rows = np.arange(8, dtype="int32")
    out = tvm.nd.empty((8, 4), "float32", dev)
    f(tvm.nd.array(numbers(8, 4), dev), tvm.nd.array(rows, dev), out)
    assert (out.numpy() == numbers(8, 4)).all()
    rows[5] = 9
    with pytest.raises(tvm.TVMError, match="index 9 of axis 0 of 'X.texture'|9.*X.texture"):
        f(tvm.nd.array(numbers(9, 4), dev), tvm.nd.array(rows, dev), out)


def test_rows_that_may_end_inside_a_texel_are_not_fused():
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="X")
    y = te.compute((n, m), lambda i, j: x[i, j] + 1, name="Y")
    for cut, message in [
        (lambda s: s[y].fuse(*s[y].op.axis), "the extent m of the axis .* may end inside a texel"),
        (lambda s: s[y].split(s[y].op.axis[1], 6)[0], "runs over 6 elements"),
        (lambda s: s[y].split(s[y].op.axis[1], nparts=2)[0], "which are not whole texels"),
    ]:
        s = te.create_schedule(y.op)
        s[y].set_scope("texture")
        s[y].bind(cut(s), te.thread_axis("blockIdx.x"))
        with pytest.raises(tvm.TVMError, match=f"TL3007.*{message}"):
            tvm.lower(s, [x, y])
    s = te.create_schedule(y.op)
    s[y].set_scope("texture")
    s[y].bind(s[y].split(s[y].op.axis[1], 8)[0], te.thread_axis("blockIdx.x"))
    tvm.lower(s, [x, y])


def test_modules_in_files(dev, tmp_path):
    """A package stores symbolic layouts; the arrays of a call give their sizes."""
    n, m = te.var("n"), te.var("m")
    s, x, y = filtered((n, m, 6), "texture")
    s[y].set_scope("texture:nhwc")
    f = tvm.build(s, [x, y], "opencl")
    f.save(tmp_path / "f.tlp")
    loaded = tvm.runtime.load_module(tmp_path / "f.tlp")
    for n, m in SIZES:
        values = numbers(n, m, 6)
        assert (loaded(values) == values * 2 + values[::-1]).all(), (n, m)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_random_schedules(dev, seed):
    """Random splits of rows and texels agree with NumPy at odd sizes."""
    rng = random.Random(seed)
    n, m = te.var("n"), te.var("m")
    shape = rng.choice([(n, m), (n, m, 4), (m, n, 7), (n, 3, m)])
    s, x, y = filtered(shape, "texture")
    s = te.create_schedule(y.op)
    p = y.op.input_tensors[0]
    s[p].set_scope(rng.choice(SCOPES))
    for tensor in (p, y):
        *rows, last = s[tensor].op.axis
        texels, lane = s[tensor].split(last, factor=4 * rng.randint(1, 3))
        order = [*rows, texels]
        rng.shuffle(order)
        s[tensor].reorder(*order, lane)
        block, thread = s[tensor].split(s[tensor].fuse(*order), factor=rng.choice([3, 32]))
        s[tensor].bind(block, te.thread_axis("blockIdx.x"))
        s[tensor].bind(thread, te.thread_axis("threadIdx.x"))
    f = tvm.build(s, [x, y], "opencl")
    for n, m in SIZES:
        values = numbers(*known(shape, n, m))
        out = tvm.nd.empty(values.shape, "float32", dev)
        f(tvm.nd.array(values, dev), out)
        assert (out.numpy() == values * 2 + values[::-1]).all(), (n, m)
