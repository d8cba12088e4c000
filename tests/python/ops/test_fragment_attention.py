"""Attention by matrix fragments. On PoCL, threads make the steps in loops."""

import re
from functools import partial

import numpy as np
import onnx
import pytest
from attention_peer import exact
from attention_peer import run as run_graph
from single_node import floats

import texloom
from texloom import te
from texloom.graph import Graph
from texloom.onnx.model import Model
from texloom.ops.attention import BlockTile, FragmentBlock, Heads, Sizes, attention
from texloom.ops.schedules.default import schedule_default
from texloom.ops.schedules.family import Space
from texloom.ops.schedules.gpu.attention import tile_for
from texloom.ops.schedules.gpu.fragment_attention import FRAGMENTS, FragmentAttention
from texloom.profiles import profile_of
from texloom.target import Target

TARGET = "opencl -device=nvidia -conditional_barriers=0 -matrix_unit=loops"
SMALL = FragmentBlock(1, 1, 1, 16)
halves = partial(floats, dtype="float16")


def run(query, key, value, mask=None, tile=SMALL, **options):
    return run_graph(query, key, value, mask, TARGET, tile=tile, **options)


def bounded(query, key, value, mask=0.0, scale=1.0):
    """Return the result in float64, and a bound of the error of a kernel by fragments."""
    expected, bound = exact(query, key, value, mask, scale)
    largest, _ = exact(query, key, np.abs(value), mask, scale)
    # Exponentials are rounded to halves, those below 2**-29 to multiples of 2**-39; the sum of the
    # exponentials of a row is at least 1.
    small = key.shape[-1] * 2.0**-40 * np.abs(value.astype("float64")).max()
    return expected, bound + 1.01 * 2.0**-11 * largest + small


def check(got, expected, bound):
    assert got.dtype == "float16" and got.shape == expected.shape
    assert (np.abs(got.astype("float64") - expected) <= bound).all()


@pytest.mark.parametrize(
    ("batch", "rows", "depth", "keys", "width", "tile"),
    [
        ((2, 2), 9, 16, 197, 64, FragmentBlock(1, 4, 2, 48)),
        ((), 1, 5, 3, 7, FragmentBlock(1, 1, 1, 16)),
        ((1,), 33, 1, 32, 1, FragmentBlock(1, 2, 2, 32)),
        ((2,), 40, 40, 64, 40, FragmentBlock(2, 2, 1, 32)),
        ((1,), 17, 3, 50, 33, FragmentBlock(2, 4, 2, 16)),
        ((1,), 5, 257, 17, 16, FragmentBlock(1, 1, 1, 16)),
        ((1,), 70, 24, 20, 16, FragmentBlock(4, 1, 1, 16)),
        ((1,), 16, 16, 300, 24, FragmentBlock(1, 8, 4, 64)),
        ((2,), 20, 64, 100, 64, FragmentBlock(2, 4, 1, 32, takes_turns=True)),
        ((1,), 17, 33, 70, 96, FragmentBlock(1, 2, 2, 16, takes_turns=True)),
        ((1,), 5, 160, 97, 192, FragmentBlock(1, 4, 1, 16, takes_turns=True)),
        ((1,), 3, 192, 65, 192, FragmentBlock(1, 2, 1, 16, takes_turns=True)),
    ],
)
def test_kernel(batch, rows, depth, keys, width, tile):
    """Rows, keys and heads fill fragments and vectors, or do not; the mask is broadcast."""
    q = halves(*batch, rows, depth)
    k, v = (halves(*batch, *s, seed=1) for s in ((depth, keys), (keys, width)))
    mask = halves(rows, keys, seed=2)
    got = run(q, k, v, mask, tile, scale=0.25, factor=0.5)
    check(got, *bounded(q, k, v, mask.astype("float64"), 0.125))


def test_long_sequences():
    """Later keys have greater scores, so that earlier sums are scaled down."""
    q, k, v = halves(4, 8), halves(8, 1000, seed=1), halves(1000, 8, seed=2)
    k *= np.linspace(0.1, 4, 1000, dtype="float16")
    got = run(q, k, v, tile=FragmentBlock(1, 4, 4, 64))
    check(got, *bounded(q, k, v))


def test_many_keys_of_little_weight_count():
    """Exponentials that halves would round to zero are half of the result."""
    q, v = np.ones((1, 1), "float16"), np.ones((4001, 1), "float16")
    k = np.full((1, 4001), -np.log(4000) - 10, "float16")
    k[0, 0], v[0, 0] = -10, 0
    got = run(q, k, v, tile=FragmentBlock(1, 1, 1, 64))
    check(got, *bounded(q, k, v))


def test_values_that_are_no_finite_numbers():
    """Hidden keys have no weight; a row without keys is NaN; great scores do not overflow."""
    q, k, v = halves(3, 4), halves(4, 70, seed=1), halves(70, 8, seed=2)
    q[0] *= 1e4
    mask = np.zeros((3, 70), "float16")
    mask[0, :65] = mask[1] = -np.inf
    mask[2, 66] = np.nan
    given = q, k, v, mask
    assert np.isnan(run(*given)[1:]).all()
    expected, bound = bounded(q[:1], k, v, mask[:1].astype("float64"))
    check(run(*given)[:1], expected, bound)
    got = run(*given, is_masked=True)
    assert (got[1] == 0).all() and np.isnan(got[2]).all()
    got = run(*given, hides_nan=True)
    assert (got[1:] == 0).all()
    check(got[:1], expected, bound)


def test_values_are_not_read_behind_the_last_key():
    """Parts reach behind the last value, which is infinite: zeros times infinity would be NaN."""
    q, k = np.ones((2, 1), "float16"), np.zeros((1, 5), "float16")
    v = np.ones((5, 3), "float16")
    v[4] = np.inf
    got = run(q, k, v)
    assert np.isinf(got).all()
    v[4] = 1
    assert (run(q, k, v) == 1).all()


@pytest.mark.parametrize("keys", [1, 40])
def test_keys_may_be_contiguous_along_the_sequence(keys):
    """Heads share keys, queries are halved in place, and the mask is causal."""
    heads, rows, depth = 4, 18, 24
    q = halves(2, heads, rows, depth)
    k, v = halves(2, 2, depth, keys, seed=1), halves(2, 2, keys, depth, seed=2)
    mask = np.where(np.arange(keys) <= np.arange(rows)[:, None], 0, -np.inf).astype("float16")
    graph = Graph("grouped")
    given = {"q": q, "k": k, "v": v, "m": mask}
    tensors = [graph.input(n, each.shape, "float16") for n, each in given.items()]
    tile = FragmentBlock(1, 2, 1, 32)
    options = {"heads": Heads(heads, 2), "is_merged": True, "tile": tile}
    (made,) = graph.op("made", "attention", partial(attention, **options), tensors)
    graph.output(made, "y")
    got = graph.compile(TARGET).run(given)["y"]
    shared = [np.repeat(each, 2, axis=1) for each in (k, v)]
    expected, bound = bounded(q, *shared, mask.astype("float64"))
    merged = [each.swapaxes(1, 2).reshape(2, rows, -1) for each in (expected, bound)]
    check(got, *merged)


def scheduled(tile, rows, depth, keys, target):
    """Return a schedule of attention, and its arguments; keys are the rows of a matrix."""
    q, k, v = (
        te.placeholder(shape, "float16", name=n)
        for n, shape in (("q", (rows, depth)), ("k", (keys, depth)), ("v", (keys, depth)))
    )
    columns = te.compute((depth, keys), lambda d, n: k[n, d], name="columns")
    made = attention(q, columns, v, tile=tile)
    args = [q, k, v, made]
    return schedule_default([made], args[:-1], ["global"] * 4, Target(target).value), args


@pytest.mark.parametrize("takes_turns", [False, True])
def test_the_interpreter_agrees(takes_turns):
    """With barriers, each version of the program computes the result, without any race."""
    s, args = scheduled(FragmentBlock(1, 2, 1, 16, takes_turns), 3, 6, 20, TARGET)
    seen = []
    q, k, v = halves(3, 6), halves(20, 6, seed=1), halves(20, 6, seed=2)
    given = [each.tobytes() for each in (q, k, v)] + [None]
    program = texloom.program(s, args, target=TARGET)
    texloom._core.run_versions(program, {}, given, 1 << 24, lambda *each: seen.append(each))
    names = [name for name, _, _ in seen]
    expected, bound = bounded(q, k.T, v)
    for name, reports, arrays in seen[names.index("insert_barriers.place_barriers") :]:
        assert not reports, (name, reports)
        check(np.frombuffer(arrays[-1], "float16").reshape(3, 6), expected, bound)


def test_nvidia_has_instructions_for_steps():
    """Steps load from shared memory by matrices, and copies move bits."""
    target = "opencl -device=nvidia"
    s, args = scheduled(FragmentBlock(1, 4, 1, 64), 64, 64, 64, target)
    source = texloom.build(s, args, target).get_source()
    loads = {"left_local", "right_local", "right_transposed_local"}
    body = source.partition("__kernel")[2]
    assert all(f"tl_fragment_load_{each}_aligned(" in body for each in loads)
    assert not any(f"tl_fragment_load_{each}(" in body for each in loads)
    assert "tl_fragment_store_local_aligned(" in body and "vload" not in body


def test_turns_need_one_more_barrier():
    """Values wait until scores are read; sums, which follow the scores, need no barrier."""

    def built(takes_turns):
        target = "opencl -device=nvidia"
        tile = FragmentBlock(1, 4, 1, 32, takes_turns)
        s, args = scheduled(tile, 64, 64, 128, target)
        source = texloom.build(s, args, target).get_source().partition("__kernel")[2]
        arrays = re.findall(r"__local (\w+) \w+\[(\d+)\]", source)
        bytes_of = {"ushort": 2, "float": 4}
        size = sum(bytes_of[dtype] * int(count) for dtype, count in arrays)
        assert size == tile.shared_bytes(Sizes((), 64, 64, 128, 64))
        return source.count("barrier("), size

    (barriers, size), (more_barriers, smaller) = built(False), built(True)
    assert more_barriers == barriers + 1 and smaller < 0.7 * size


def test_the_estimate_decides():
    """Few queries, wide heads and targets without matrix units have other kernels."""
    sizes = Sizes((1, 12), 197, 64, 197, 64)
    half = ["float16"] * 3

    def tile(sizes=sizes, dtypes=half, options=""):
        return tile_for(sizes, dtypes, Target("opencl -device=nvidia " + options).value)

    assert isinstance(tile(), FragmentBlock)
    assert isinstance(tile(options="-matrix_unit=none"), BlockTile)
    for wide in (160, 192, 256):
        assert isinstance(tile(Sizes((1, 12), 197, wide, 197, wide)), FragmentBlock)
    assert isinstance(tile(dtypes=["float16", "float16", "float32"]), BlockTile)
    assert not isinstance(tile(Sizes((1, 12), 4, 64, 197, 64)), FragmentBlock)
    assert tile(Sizes((1, 12), 4, 2000, 197, 2000)) is None


@pytest.mark.parametrize(("depth", "keys"), [(64, 197), (1, 1), (112, 64), (128, 5000), (256, 300)])
def test_all_tiles_fit_the_device(depth, keys):
    target = Target("opencl -device=nvidia").value
    facts = FragmentAttention.of(Sizes((1,), 197, depth, keys, depth), target)
    space = Space.of(FRAGMENTS.points(facts))
    profile = profile_of(target)
    for tile in space:
        assert tile.threads <= target.max_threads
        assert facts.bytes_of(tile) < target.local_memory_bytes
        assert 0 < FRAGMENTS.seconds(facts, tile, profile) < 1
    assert len(space) > 0


def test_networks_of_halves_use_fragments():
    """Attention between products, whose tensors are stored as float16, multiplies float16."""
    proto = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 18]>
        one (float[4, 100, 64] x, float[64, 64] w) => (float[4, 100, 64] y) {
            q = MatMul(x, w) k = Transpose<perm = [0, 2, 1]>(q)
            s = MatMul(q, k) t = Softmax<axis = -1>(s) a = MatMul(t, q) y = Add(a, x) }"""
    )
    x, w = 0.3 * floats(4, 100, 64), 0.1 * floats(64, 64, seed=1)
    target = "opencl -device=nvidia -conditional_barriers=0"
    models = {
        name: Model(proto, target=f"{target} -matrix_unit={unit}", precision=precision)
        for name, unit, precision in (
            ("fragments", "loops", "fp16"),
            ("halves", "none", "fp16"),
            ("floats", "loops", "fp32"),
        )
    }
    sums = x @ w
    assert len({model.summary["launches"] for model in models.values()}) == 1
    got = {name: model.run({"x": x, "w": w})["y"] for name, model in models.items()}
    # Queries, keys, values and weights are rounded to halves; scores have 64 terms.
    score = 64 * np.abs(sums).max() ** 2
    bound = 2.0**-11 * (4 + 4 * score) * np.abs(sums).max()
    assert 0 < np.abs(got["fragments"] - got["floats"]).max() <= bound
    assert (got["fragments"] != got["halves"]).any()
