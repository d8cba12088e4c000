"""Default texture layouts, folds, origins in larger images, and padding lanes."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te


def block(which="x"):
    return te.thread_axis(f"blockIdx.{which}")


def copy(shape, dtype="float32"):
    """Return Y = X with one loop bound that has no lanes."""
    x = te.placeholder(shape, dtype, name="X")
    y = te.compute(shape, lambda *i: x(*i), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].fuse(), block())
    return x, y, s


def random(shape, dtype="float32"):
    return np.random.default_rng(6).integers(-100, 100, size=shape).astype(dtype)


# As documented: shape -> rows x columns of texels, by scope.
LAYOUTS = [
    ((2, 3, 5, 7, 4), {"texture": (30, 7), "texture:weight": (2, 105), "texture:nhwc": (6, 35)}),
    ((56, 56, 7), {"texture": (3136, 2), "texture:weight": (56, 112), "texture:nhwc": (3136, 2)}),
    ((6, 5, 4), {"texture": (6, 5), "texture:weight": (6, 5), "texture:nhwc": (6, 5)}),
    ((6, 4), {"texture": (1, 6), "texture:weight": (6, 1), "texture:nhwc": (1, 6)}),
    ((6, 9), {"texture": (6, 3), "texture:weight": (6, 3), "texture:nhwc": (6, 3)}),
    ((4,), {"texture": (1, 1), "texture:weight": (1, 1), "texture:nhwc": (1, 1)}),
    ((9,), {"texture": (1, 3), "texture:weight": (3, 1), "texture:nhwc": (1, 3)}),
    ((1, 1), {"texture": (1, 1), "texture:weight": (1, 1), "texture:nhwc": (1, 1)}),
]


@pytest.mark.parametrize(("shape", "scopes"), LAYOUTS, ids=lambda v: str(v) if v is tuple else None)
def test_rules(shape, scopes):
    for scope, (rows, columns) in scopes.items():
        x, y, s = copy(shape)
        cache = s.cache_read(x, scope, [y])
        s[cache].bind(s[cache].fuse(), block())
        text = str(tvm.lower(s, [x, y]))
        assert f"{columns} x {rows} texels" in text, f"{scope}: {text}"


def test_layout_is_shown_as_a_map():
    x, y, s = copy((2, 3, 7))
    cache = s.cache_read(x, "texture:weight", [y])
    s[cache].bind(s[cache].fuse(), block())
    argument = tvm.build(s, [x, y]).kernels[0].args[1]
    assert argument["layout"] == "texture[(d0, d1, d2) -> rows=(d0), cols=(d1, d2/4), lanes=(d2%4)]"


# -- Folds.


def test_over_the_limit_folds_and_runs(run):
    """A cache of 9072 x 320 texels exceeds the limit of 8192; both kernels use one layout."""
    shape = (9072, 320, 4)
    x = te.placeholder(shape, "int8", name="X")
    y = te.compute(shape, lambda i, j, k: x[i, j, k], name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "texture", [y])
    for t in (cache, y):
        i, j, _ = s[t].op.axis
        s[t].bind(i, block())
        s[t].bind(j, te.thread_axis("threadIdx.x"))
    text = str(tvm.lower(s, [x, y]))
    assert "640 x 4536 texels" in text
    values = np.random.default_rng(7).integers(-128, 128, size=shape, dtype="int8")
    np.testing.assert_array_equal(run(s, [x, y], values), values)


@pytest.mark.parametrize(
    ("shape", "scope"),
    [
        ((40, 4), "texture"),  # columns to rows
        ((40, 4), "texture:weight"),  # rows to columns
        ((5, 19, 4), "texture:weight"),
        ((3, 4, 7, 5), "texture"),
        ((7, 23), "texture:nhwc"),
        ((2, 19, 3, 2), "texture:nhwc"),
        ((100,), "texture"),
        ((250, 4), "texture"),  # 250 of the 16 * 16 texels that the limit allows
    ],
)
def test_small_limits_fold(run, shape, scope):
    """With -texture_spatial_limit=16, textures of caches, inputs and outputs are folded."""
    target = "opencl -texture_spatial_limit=16"
    x, y, s = copy(shape)
    cache = s.cache_read(x, scope, [y])
    s[cache].bind(s[cache].fuse(), block())
    values = random(shape)
    got = run(s, [x, y], values, scopes={x: scope, y: scope}, target=target)
    np.testing.assert_array_equal(got, values)
    for kernel in tvm.build(s, [x, y], target=target).kernels:
        assert all("texture" not in a["layout"] or "/" in a["layout"] for a in kernel.args)


def test_fold_of_an_array_follows_the_target():
    """The array and the kernel that reads it must agree on the fold."""
    x, y, s = copy((40, 4))
    small = "opencl -texture_spatial_limit=16"
    f = tvm.build(s, [x, y], small, binds={x: tvm.decl_buffer((40, 4), scope="texture")})
    unfolded = tvm.nd.empty((40, 4), mem_scope="texture")
    folded = tvm.nd.empty((40, 4), mem_scope="texture", target=small)
    assert unfolded.layout != folded.layout
    with pytest.raises(tvm.TVMError, match="TL5004"):
        f(unfolded, tvm.nd.empty((40, 4)))
    f(folded, tvm.nd.empty((40, 4)))
    with tvm.target.Target(small):
        assert tvm.nd.empty((40, 4), mem_scope="texture").layout == folded.layout


# -- Padding lanes.


@pytest.mark.parametrize("last", [1, 2, 3, 5, 6, 7, 9])
def test_padding_lanes(run, last):
    """Lanes past the last axis's end are written as zero and never affect a result."""
    shape = (3, last)
    x = te.placeholder(shape, name="X")
    p = te.compute(shape, lambda i, j: x[i, j] + 5, name="P")
    k = te.reduce_axis((0, last), name="k")
    y = te.compute((3,), lambda i: te.sum(p[i, k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    s[p].set_scope("texture:weight")
    s[p].bind(s[p].op.axis[0], block())
    s[y].bind(s[y].op.axis[0], block())
    values = random(shape)
    np.testing.assert_array_equal(run(s, [x, y], values), (values + 5).sum(axis=1))


def test_masked_lanes_do_not_read_past_the_input(run):
    """The last texel covers indices 8 to 11 of an axis of 9: nothing past index 8 is read."""
    x, y, s = copy((9,))
    cache = s.cache_read(x, "texture", [y])
    s[cache].bind(s[cache].fuse(), block())
    source = tvm.build(s, [x, y]).kernels[0].source
    values = random((9,))
    assert "vload4" not in source or "if" in source or "?" in source
    np.testing.assert_array_equal(run(s, [x, y], values), values)


# -- Origins.


@pytest.mark.parametrize("scope", ["texture", "texture:weight", "texture:nhwc"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int8"])
def test_origins(dev, scope, dtype):
    """Input and output have origins in larger images; one kernel serves all origins."""
    shape = (2, 3, 5)
    x, y, s = copy(shape, dtype)
    binds = {t: tvm.decl_buffer(shape, dtype, scope=scope, origin=True) for t in (x, y)}
    f = tvm.build(s, [x, y], binds=binds)
    constants = [a["name"] for a in f.kernels[0].args if a["kind"] == "constant"]
    assert constants == ["X.x", "X.y", "Y.x", "Y.y"]
    values = random(shape, dtype)
    for origin, image in (((0, 0), None), ((3, 1), (20, 11)), ((5, 2), (13, 15))):
        if image:  # the texels around the array are garbage: recently used memory
            tvm.nd.array(np.full((*image[::-1], 4), 77, dtype), dev, "texture").numpy()
        a = tvm.nd.empty(shape, dtype, dev, scope, origin=origin, image=image)
        b = tvm.nd.empty(shape, dtype, dev, scope, origin=origin[::-1], image=image)
        a.copyfrom(values)
        f(a, b)
        np.testing.assert_array_equal(a.numpy(), values)
        np.testing.assert_array_equal(b.numpy(), values)


def test_origin_of_a_folded_layout(dev):
    shape, target = (40, 4), "opencl -texture_spatial_limit=16"
    x, y, s = copy(shape)
    binds = {x: tvm.decl_buffer(shape, scope="texture", origin=True)}
    f = tvm.build(s, [x, y], target, binds=binds)
    values = random(shape)
    a = tvm.nd.empty(shape, "float32", dev, "texture", target=target, origin=(2, 3))
    a.copyfrom(values)
    b = tvm.nd.empty(shape, "float32", dev)
    f(a, b)
    np.testing.assert_array_equal(b.numpy(), values)
