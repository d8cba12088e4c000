"""Products with 4-bit weights, packed eight per integer and unpacked where they are used."""

import numpy as np
import pytest
from workloads.accuracy import Sums, assert_sums

from texloom import te
from texloom.examples.texel_schedules import block, cache_in_texture, fill_together, thread

M, N, K, GROUP = 24, 64, 96, 32  # GROUP: steps of k that share one scale


def tensors(dtype):
    """Return the tensors: a texel has four columns of N, a packed integer eight rows of K."""
    a = te.placeholder((M, K), dtype, name="A")
    packed = te.placeholder((K // 8, N // 4, 4), "uint32", name="packed")
    scale = te.placeholder((K // GROUP, N // 4, 4), dtype, name="scale")

    def unpack(k, j, lane):
        shift = (k % 8 * 4).astype("uint32")
        bits = (packed[k // 8, j, lane] >> shift) & te.const(15, "uint32")
        return (bits.astype("int32") - 8).astype("float32") * scale[k // GROUP, j, lane].astype(
            "float32"
        )

    weight = te.compute((K, N // 4, 4), unpack, name="weight")
    k = te.reduce_axis((0, K), name="k")
    c = te.compute(
        (M, N // 4, 4),
        lambda i, j, lane: te.sum(a[i, k].astype("float32") * weight[k, j, lane], axis=k),
        name="C",
    )
    return a, packed, scale, weight, c


def schedule(packed, scale, weight, c, where):
    """Unpack weights at each use, into registers, or into shared memory by all threads."""
    s = te.create_schedule(c.op)
    sums = s.cache_write(c, "local")
    for t in (packed, scale):
        cache_in_texture(s, t, weight, "global.texture")
    i, j, lane = s[c].op.axis
    by, i = s[c].split(i, factor=12)
    bx, tx = s[c].split(j, factor=8)
    ty, i = s[c].split(i, nparts=4)
    s[c].reorder(by, bx, ty, tx, i, lane)
    for axis, owner in ((by, block("y")), (bx, block()), (ty, thread("y")), (tx, thread())):
        s[c].bind(axis, owner)
    s[c].vectorize(lane)
    s[sums].compute_at(s[c], tx)
    i, j, lane = s[sums].op.axis
    ko, ki = s[sums].split(s[sums].op.reduce_axis[0], factor=8)
    s[sums].reorder(ko, ki, i, j, lane)
    s[sums].unroll(ki)
    s[sums].vectorize(lane)
    if where == "inline":
        s[weight].compute_inline()
    else:
        s[weight].compute_at(s[sums], ki if where == "local" else ko)
        s[weight].set_scope(where)
    if where == "local":
        s[weight].vectorize(s[weight].op.axis[-1])
    elif where == "shared":
        fill_together(s, weight, [("y", 4), ("x", 8)])
    return s


@pytest.mark.nightly
@pytest.mark.parametrize("where", ["inline", "local", "shared"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_product_with_packed_weights(run, dtype, where):
    a, packed, scale, weight, c = tensors(dtype)
    s = schedule(packed, scale, weight, c, where)
    rng = np.random.default_rng(11)
    x = rng.standard_normal((M, K)).astype(dtype)
    words = rng.integers(0, 2**32, (K // 8, N // 4, 4), dtype="uint32")
    scales = rng.uniform(0.01, 0.1, (K // GROUP, N // 4, 4)).astype(dtype)
    nibbles = (words[:, None] >> (4 * np.arange(8, dtype="uint32"))[:, None, None]) & 15
    values = nibbles.reshape(K, N // 4, 4).astype("float64") - 8
    weights = values * np.repeat(scales.astype("float64"), GROUP, axis=0)
    sums = Sums.of(lambda v, w: np.einsum("ik,kjl->ijl", v, w), K + 1, x, weights)
    assert_sums(run(s, [a, packed, scale, c], x, words, scales), sums)
