"""Attention in blocks of many threads: the kernel, and what models do around it."""

import numpy as np
import onnx
import pytest
from attention_peer import exact
from attention_peer import run as run_graph
from single_node import floats

from texloom.onnx.model import Model
from texloom.ops.attention import BlockTile, Sizes
from texloom.ops.schedules.gpu.attention import ATTENTION, Attention
from texloom.profiles import profile_of
from texloom.target import Target

TARGET = "opencl -device=nvidia -conditional_barriers=0"  # PoCL has no such barriers
SMALL = BlockTile(2, 2)


def run(query, key, value, mask=None, tile=SMALL, **options):
    return run_graph(query, key, value, mask, TARGET, tile=tile, **options)


@pytest.mark.parametrize(
    ("batch", "rows", "depth", "keys", "width", "dtype", "tile"),
    [
        ((2, 3), 9, 16, 197, 64, "float32", BlockTile(4, 2)),
        ((), 1, 5, 3, 7, "float32", BlockTile(1, 1)),
        ((1,), 33, 1, 32, 1, "float32", BlockTile(2, 2)),
        ((2,), 8, 257, 17, 130, "float32", BlockTile(1, 1)),
        ((2,), 40, 40, 64, 40, "float16", BlockTile(4, 2)),
    ],
)
def test_kernel(batch, rows, depth, keys, width, dtype, tile):
    """Rows, keys and heads fill tiles and vectors, or do not; the mask is broadcast."""
    q = floats(*batch, rows, depth, dtype=dtype)
    k, v = (floats(*batch, *s, dtype=dtype, seed=1) for s in ((depth, keys), (keys, width)))
    mask = floats(rows, keys, dtype=dtype, seed=2)
    got = run(q, k, v, mask, tile, scale=0.25)
    expected, bound = exact(q, k, v, mask.astype("float64"), 0.25)
    assert got.dtype == dtype and got.shape == expected.shape
    assert (np.abs(got - expected) <= bound).all()


def test_values_that_are_no_finite_numbers():
    """Hidden keys have no weight; a row without keys is NaN; great scores do not overflow."""
    q, k, v = floats(3, 4), floats(4, 70, seed=1), floats(70, 8, seed=2)
    q[0] *= 1e4
    mask = np.zeros((3, 70), "float32")
    mask[0, :65] = mask[1] = -np.inf
    mask[2, 66] = np.nan
    got = run(q, k, v, mask)
    assert np.isnan(got[1:]).all()
    expected, bound = exact(q[:1], k, v, mask[:1].astype("float64"))
    assert (np.abs(got[:1] - expected) <= bound).all()
    got = run(q, k, v, mask, is_masked=True)
    assert (got[1] == 0).all() and np.isnan(got[2]).all()
    got = run(q, k, v, mask, hides_nan=True)
    assert (got[1:] == 0).all() and (np.abs(got[:1] - expected) <= bound).all()


@pytest.mark.parametrize("batch", [1, 3])
def test_masks_and_weights_without_nan(batch):
    """Attention as torch's exporter writes it, with two masks: one kernel, in one launch."""
    x = floats(batch, 9, 16)
    model = onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 18]>
        one (float[{batch}, 9, 16] q, float[{batch}, 16, 9] k, float[{batch}, 9, 16] v,
             float[9, 9] m, float[1, 1, 9] n) => (float[{batch}, 9, 16] y)
        <float zero = {{0}}> {{
            s = MatMul(q, k) a = Add(s, m) b = Add(n, a) w = Softmax<axis = -1>(b)
            t = IsNaN(w) h = Where(t, zero, w) y = MatMul(h, v) }}"""
    )
    m, n = floats(9, 9, seed=1), np.zeros((1, 1, 9), "float32")
    m[2] = -np.inf
    m[3, :4] = -np.inf
    n[..., 7] = -np.inf
    compiled = Model(model, target=TARGET)
    given = {"q": x, "k": x.swapaxes(1, 2).copy(), "v": x, "m": m, "n": n}
    got = compiled.run(given)["y"]
    expected, bound = exact(x, given["k"], x, (m + n).astype("float64"))
    assert (got[:, 2] == 0).all() and compiled.summary["launches"] == 1
    others = np.arange(9) != 2
    assert (np.abs(got - expected) <= bound)[:, others].all()


def test_tiles_fit_the_device():
    """Great heads have small tiles, and greater ones none; so have devices with few threads."""
    target = Target(TARGET).value

    def tile(rows, depth, dtype="float32", target=target, batch=1):
        facts = Attention.of(Sizes((batch,), rows, depth, 64, depth), dtype, target)
        return None if facts is None else ATTENTION.best(facts, profile_of(target))

    assert tile(197, 64, batch=64) == BlockTile(4, 2)
    assert tile(197, 64, batch=12) == BlockTile(2, 4)  # 84 blocks of 4 rows, for 132 processors
    assert tile(197, 257) == BlockTile(1, 1)
    assert tile(197, 1024) is None
    assert tile(1, 64) is None and tile(197, 64, "float64") is None
    few = Target("opencl -device=nvidia -max_num_threads=64").value
    assert tile(197, 64, target=few) is None
    assert tile(197, 64, target=Target("opencl -device=mali").value) is None


def model(batch):
    """Multi-head attention as torch's exporter writes it: heads of one product, scaled twice."""
    return onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 18]>
        one (float[{batch}, 10, 72] x, float[72, 216] w) => (y)
        <float half = {{0.5}}, int64[5] split = {{{batch}, 10, 3, 3, 24}},
         int64[3] merged = {{{batch}, 10, 72}}>
        {{ all = MatMul(x, w) heads = Reshape(all, split)
           moved = Transpose<perm = [2, 0, 3, 1, 4]>(heads)
           zero = Constant<value = int64 {{0}}>() one = Constant<value = int64 {{1}}>()
           two = Constant<value = int64 {{2}}>()
           q = Gather<axis = 0>(moved, zero) k = Gather<axis = 0>(moved, one)
           v = Gather<axis = 0>(moved, two)
           kt = Transpose<perm = [0, 1, 3, 2]>(k)
           qs = Mul(q, half) ks = Mul(kt, half)
           scores = MatMul(qs, ks) weights = Softmax<axis = -1>(scores)
           sums = MatMul(weights, v) back = Transpose<perm = [0, 2, 1, 3]>(sums)
           y = Reshape(back, merged) }}"""
    )


def test_halves_are_converted_in_the_kernel():
    """With tensors of float16 in between, attention has no other kernels than with float32."""
    x, w = 0.1 * floats(1, 10, 72), 0.1 * floats(72, 216, seed=1)
    halves, plain = (
        Model(model(1), target=TARGET, precision=precision) for precision in ("fp16", "fp32")
    )
    assert halves.summary["launches"] == plain.summary["launches"]
    got, expected = (each.run({"x": x, "w": w})["y"] for each in (halves, plain))
    # Queries, keys, values and the result are rounded to halves.
    product = np.abs(x @ w).reshape(10, 3, 72)
    score = 0.25 * 24 * product[:, 0].max() * product[:, 1].max()
    bound = 2.0**-11 * (2 + 4 * score) * product[:, 2].max()
    assert 0 < np.abs(got - expected).max() <= bound


@pytest.mark.parametrize("batch", [1, 2])
def test_heads_are_split_and_joined_in_place(batch):
    """The launches are the product, attention, and a copy to the shape of the output."""
    x, w = floats(batch, 10, 72), floats(72, 216, seed=1)
    compiled = Model(model(batch), target=TARGET)
    got = compiled.run({"x": x, "w": w})["y"]
    q, k, v = np.moveaxis((x @ w).reshape(batch, 10, 3, 3, 24), (2, 3), (0, 2))
    expected, bound = exact(q, k.swapaxes(-1, -2), v, 0.0, 0.25)
    expected, bound = (each.swapaxes(1, 2).reshape(batch, 10, 72) for each in (expected, bound))
    # The product's own errors change scores, and values: its sums have 72 terms.
    own = 2 * 72 * 2.0**-24 * (np.abs(x) @ np.abs(w)).max()
    reach = 2 * 24 * 0.25 * np.abs(q).max() * own * np.abs(v).max() + own
    assert (np.abs(got - expected) <= bound + 2 * reach).all()
    assert compiled.summary["launches"] == 3


def joined(bias):
    """Attention of one head whose queries, keys and values are three products."""
    added = [f"{n} = Add(p{n}, b{n})" if bias else f"{n} = Identity(p{n})" for n in "qkv"]
    return onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 18]>
        one (float[10, 24] x, float[24, 16] wq, float[24, 16] wk, float[24, 8] wv,
             float[16] bq, float[16] bk, float[8] bv) => (y) <float half = {{0.5}}>
        {{ pq = MatMul(x, wq) pk = MatMul(x, wk) pv = MatMul(x, wv) {" ".join(added)}
           qs = Mul(q, half) kt = Transpose<perm = [1, 0]>(k)
           scores = MatMul(qs, kt) weights = Softmax<axis = -1>(scores)
           sums = MatMul(weights, v) y = Relu(sums) }}"""
    )


@pytest.mark.parametrize("bias", [True, False])
def test_products_of_queries_keys_and_values_are_one(bias):
    """Widths may differ; the launches are the product, attention, and the last operator."""
    proto, arrays = joined(bias), {}
    for index, value in enumerate(list(proto.graph.input)[1:]):
        shape = [each.dim_value for each in value.type.tensor_type.shape.dim]
        arrays[value.name] = floats(*shape, seed=index)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(arrays[value.name], value.name))
    del proto.graph.input[1:]
    x = floats(10, 24)
    compiled = Model(proto, target=TARGET)
    got = compiled.run({"x": x})["y"]
    q, k, v = (x.astype("float64") @ arrays[f"w{n}"] for n in "qkv")
    if bias:
        q, k, v = (each + arrays[f"b{n}"] for each, n in zip((q, k, v), "qkv", strict=True))
    scores = q @ k.T / 2
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = np.maximum(weights / weights.sum(-1, keepdims=True) @ v, 0)
    # Sums of 24 terms, whose errors 16 products of scores magnify.
    largest = max(np.abs(q).max(), np.abs(k).max(), np.abs(v).max())
    assert np.abs(got - expected).max() <= 64 * 24 * 16 * 2.0**-24 * largest**3
    assert compiled.summary["launches"] == 3
