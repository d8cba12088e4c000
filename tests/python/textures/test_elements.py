"""Contents of textures: exact elements of every type, and one read for all lanes of a texel."""

import re

import numpy as np
import pytest

import texloom as tvm
from texloom import te

FUNCTIONS = {
    "int8": "imagei",
    "int16": "imagei",
    "int32": "imagei",
    "uint8": "imageui",
    "uint16": "imageui",
    "uint32": "imageui",
    "float16": "imagef",
    "float32": "imagef",
}


def every_kind_of(dtype, count):
    """Return values of all bit patterns, except NaN, which hardware may change to another NaN."""
    rng = np.random.default_rng(12)
    values = rng.integers(0, 256, size=count * np.dtype(dtype).itemsize, dtype="uint8").view(dtype)
    if dtype.startswith("float"):
        values = values.copy()
        values[~np.isfinite(values) | (abs(values) < np.finfo(dtype).tiny)] = -0.0
        values[:3] = [np.inf, -np.inf, np.finfo(dtype).max]
    return values


@pytest.mark.parametrize("where", ["cache", "input", "output"])
@pytest.mark.parametrize("dtype", FUNCTIONS)
def test_copies_are_exact(dev, dtype, where):
    """Copies through rows of five texels and a remainder are exact for every type."""
    shape = (9, 22)
    x = te.placeholder(shape, dtype, name="X")
    y = te.compute(shape, lambda i, j: x[i, j], name="Y")
    s = te.create_schedule(y.op)
    stages = [y, s.cache_read(x, "global.texture", [y])] if where == "cache" else [y]
    for stage in stages:
        s[stage].bind(stage.op.axis[0], te.thread_axis("blockIdx.x"))
    scopes = {"input": {x: "global.texture"}, "output": {y: "global.texture"}}.get(where, {})
    binds = {t: tvm.decl_buffer(shape, dtype, scope=scope) for t, scope in scopes.items()}
    f = tvm.build(s, [x, y], binds=binds)
    used = set(re.findall(r"(?:read|write)_(image\w+)", f.get_source()))
    assert used == {FUNCTIONS[dtype]}
    values = every_kind_of(dtype, 9 * 22).reshape(shape)
    result = tvm.nd.empty(shape, dtype, dev, scopes.get(y))
    f(tvm.nd.array(values, dev, scopes.get(x)), result)
    assert result.numpy().tobytes() == values.tobytes()


@pytest.mark.parametrize("scope", ["", "texture"])
def test_half_data_with_float_sums(run, scope):
    """Products and sums are float32: exact here, while half sums would round at each step."""
    x = te.placeholder((5, 64), "float16", name="X")
    k = te.reduce_axis((0, 64), name="k")
    wide = x.dtype.replace("16", "32")
    y = te.compute((5,), lambda i: te.sum(x[i, k].astype(wide) * x[i, k].astype(wide), axis=k))
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("threadIdx.x"))
    values = np.random.default_rng(13).integers(-40, 40, (5, 64)).astype("float16")
    expected = (values.astype("float32") ** 2).sum(axis=1)
    assert expected.max() > np.finfo("float16").max / 2 and (expected % 2).any()
    scopes = {x: scope} if scope else None
    np.testing.assert_array_equal(run(s, [x, y], values, scopes=scopes), expected)


def test_a_texel_is_read_once():
    """Sixteen products of the lanes of two texels need two reads."""
    a = te.placeholder((8, 4), name="A")
    b = te.placeholder((8, 4), name="B")
    k = te.reduce_axis((0, 8), name="k")
    c = te.compute((4, 4), lambda i, j: te.sum(a[k, i] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    local = s.cache_write(c, "local")
    block = s[c].fuse()
    s[c].bind(block, te.thread_axis("blockIdx.x"))
    s[local].compute_at(s[c], block)
    i, j = s[local].op.axis
    (k,) = s[local].op.reduce_axis
    s[local].reorder(k, i, j)
    s[local].unroll(i)
    s[local].unroll(j)
    binds = {t: tvm.decl_buffer(t.shape, scope="texture") for t in (a, b)}
    source = tvm.build(s, [a, b, c], binds=binds).get_source()
    assert source.count("read_imagef") == 2
    assert len(re.findall(r"fma\(A_texel\w*\.[xyzw], B_texel\w*\.[xyzw]", source)) == 16
