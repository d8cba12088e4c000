"""Zero padding from the image's border, for images of exactly the tensor's texels."""

import re

import numpy as np
import pytest

import texloom as tvm
from texloom import te

PAD = 1


def window_sums(shape, dtype="float32", accumulate=None, stride=1):
    """Return sums of 3x3 texels of [N, H, W, 4], with zeros around each image."""
    n, h, w, lanes = shape
    accumulate = accumulate or dtype
    x = te.placeholder(shape, dtype, name="X")
    zero = tvm.tir.const(0, accumulate)

    def padded(b, i, j, c):
        inside = tvm.tir.all(i >= PAD, i < h + PAD, j >= PAD, j < w + PAD)
        return te.if_then_else(inside, x[b, i - PAD, j - PAD, c].astype(accumulate), zero)

    p = te.compute((n, h + 2 * PAD, w + 2 * PAD, lanes), padded, name="P")
    r, q = te.reduce_axis((0, 3), name="r"), te.reduce_axis((0, 3), name="q")
    extents = (n, (h - 1) // stride + 1, (w - 1) // stride + 1, lanes)
    y = te.compute(
        extents,
        lambda b, i, j, c: te.sum(p[b, i * stride + r, j * stride + q, c], axis=[r, q]),
        name="Y",
    )
    s = te.create_schedule(y.op)
    s[p].compute_inline()
    b, i, j, c = s[y].op.axis
    s[y].reorder(b, i, j, r, q, c)
    s[y].bind(s[y].fuse(b, i), te.thread_axis("blockIdx.x"))
    s[y].bind(j, te.thread_axis("threadIdx.x"))
    s[y].vectorize(c)
    return x, y, s


def built(x, y, s, layout, **contract):
    declared = tvm.decl_buffer(x.shape, x.dtype, scope="texture", layout=layout, **contract)
    return tvm.build(s, [x, y], binds={x: declared})


def comparisons(f):
    """Return how many comparisons guard one texel in the kernel's source."""
    reads = [line for line in f.kernels[0].source.splitlines() if "read_image" in line]
    assert reads
    return max(len(re.findall("[<>]", line.rpartition(" ? ")[0])) for line in reads)


def values_of(x):
    shape, dtype = [int(extent) for extent in x.shape], np.dtype(x.dtype)
    rng = np.random.default_rng(3)
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(-9, 10, shape).astype(dtype)


def result_of(f, x, y, dev, layout):
    array = tvm.nd.array(values_of(x), dev, "texture", layout=layout)
    result = tvm.nd.empty([int(extent) for extent in y.shape], y.dtype, dev)
    f(array, result)
    return result.numpy()


def reference(x, y, stride=1):
    """Compute the sums in float64 or int64."""
    value = values_of(x)
    wide = value.astype("f8" if value.dtype.kind == "f" else "i8")
    value = np.pad(wide, [(0, 0), (PAD, PAD), (PAD, PAD), (0, 0)])
    _, h, w, _ = (int(extent) for extent in y.shape)
    return sum(
        value[:, r : r + stride * h : stride, q : q + stride * w : stride][:, :h, :w]
        for r in range(3)
        for q in range(3)
    )


# Layout, batch size, and the number of remaining comparisons: an axis needs them if the texels
# past its end are those of another image of the batch.
LAYOUTS = [
    ("rows=(n, h), cols=(w)", 1, 0),
    ("rows=(n, h), cols=(w)", 2, 2),
    ("rows=(h, n), cols=(w)", 2, 0),
    ("rows=(h), cols=(w, n)", 2, 0),
    ("rows=(h), cols=(n, w)", 2, 2),
    ("rows=(n), cols=(h, w)", 2, 4),
]


@pytest.mark.parametrize(("lists", "batch", "stay"), LAYOUTS)
@pytest.mark.parametrize("stride", [1, 2])
def test_conditions_go_where_the_border_does_the_same(dev, lists, batch, stay, stride):
    layout = f"texture[(n, h, w, c) -> {lists}, lanes=c]"
    x, y, s = window_sums((batch, 7, 9, 4), stride=stride)
    plain, exact = built(x, y, s, layout), built(x, y, s, layout, exact_image=True)
    assert (comparisons(plain), comparisons(exact)) == (4, stay)
    got = result_of(exact, x, y, dev, layout)
    assert got.tobytes() == result_of(plain, x, y, dev, layout).tobytes()
    np.testing.assert_allclose(got, reference(x, y, stride), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("dtype", "accumulate"), [("float16", "float16"), ("float16", "float32"), ("int8", "int32")]
)
def test_border_of_every_kind_of_texel(dev, dtype, accumulate):
    x, y, s = window_sums((1, 7, 9, 4), dtype, accumulate)
    plain, exact = built(x, y, s, ""), built(x, y, s, "", exact_image=True)
    assert comparisons(exact) < comparisons(plain)
    got = result_of(exact, x, y, dev, "")
    assert got.tobytes() == result_of(plain, x, y, dev, "").tobytes()
    bound = 9 * 2**-10 * 9 if accumulate == "float16" else 1e-4
    np.testing.assert_allclose(got, reference(x, y), rtol=0, atol=bound)


def test_larger_image_is_refused_where_its_border_would_be_read(dev):
    """A larger image is refused: a kernel without guards would read texels around the tensor."""
    layout = "texture[(n, h, w, c) -> rows=(n, h), cols=(w), lanes=c]"
    x, y, s = window_sums((1, 7, 9, 4))
    large = {"mem_scope": "texture", "layout": layout, "image": (12, 10)}
    array = tvm.nd.empty((1, 7, 9, 4), "float32", dev, **large)
    array.copyfrom(values_of(x))
    result = tvm.nd.empty((1, 7, 9, 4), "float32", dev)
    built(x, y, s, layout)(array, result)
    np.testing.assert_allclose(result.numpy(), reference(x, y), rtol=0, atol=1e-5)
    with pytest.raises(
        tvm.TVMError, match=r"TL5014.*fill an image of 9x7 texels, .*in an image of 12x10 texels\n"
    ):
        built(x, y, s, layout, exact_image=True)(array, result)


def test_contract_is_part_of_texts_and_module_files(dev, tmp_path):
    layout = "texture[(n, h, w, c) -> rows=(n, h), cols=(w), lanes=c]"
    x, y, s = window_sums((1, 7, 9, 4))
    declared = tvm.decl_buffer(x.shape, scope="texture", layout=layout, exact_image=True)
    program = tvm.program(s, [x, y], binds={x: declared})
    assert "lanes=(c)], exact_image" in str(program)
    f = tvm.build(tvm.parse(str(program)))
    assert comparisons(f) == 0
    f.export_library(tmp_path / "f.tlp")
    loaded = tvm.runtime.load_module(tmp_path / "f.tlp")
    expected = result_of(f, x, y, dev, layout)
    assert result_of(loaded, x, y, dev, layout).tobytes() == expected.tobytes()
    large = tvm.nd.empty((1, 7, 9, 4), "float32", dev, "texture", layout=layout, image=(9, 8))
    with pytest.raises(tvm.TVMError, match="TL5014"):
        loaded(large, tvm.nd.empty((1, 7, 9, 4), "float32", dev))


def test_checked_build_keeps_its_tests(dev):
    """A checked function keeps its bounds tests, also under the contract of exact images."""
    x, y, s = window_sums((1, 7, 9, 4))
    declared = tvm.decl_buffer(x.shape, scope="texture", exact_image=True)
    f = tvm.build(s, [x, y], binds={x: declared}, checked=True)
    np.testing.assert_allclose(result_of(f, x, y, dev, ""), reference(x, y), rtol=0, atol=1e-5)
