"""Attention of few queries, whose keys blocks share out. PoCL has no conditional barriers."""

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
from texloom.ops.attention import BlockTile, FragmentBlock, Heads, KeySlices, Sizes, attention
from texloom.ops.schedules.default import schedule_default
from texloom.ops.schedules.family import Space
from texloom.ops.schedules.gpu.attention import tile_for
from texloom.ops.schedules.gpu.slice_attention import SLICES, SliceAttention
from texloom.profiles import profile_of
from texloom.target import Target

TARGET = "opencl -device=nvidia -conditional_barriers=0"
SMALL = KeySlices(rows=1, threads=64, keys=64, parts=1, takes_tickets=True)


def run(query, key, value, mask=None, tile=SMALL, **options):
    return run_graph(query, key, value, mask, TARGET, tile=tile, **options)


def check(got, expected, bound):
    assert got.shape == expected.shape
    assert (np.abs(got.astype("float64") - expected) <= bound).all()


@pytest.mark.parametrize("takes_tickets", [True, False])
@pytest.mark.parametrize(
    ("batch", "rows", "depth", "keys", "width", "dtype", "knobs"),
    [
        ((2, 2), 1, 16, 197, 64, "float32", (1, 64, 64, 1)),
        ((), 1, 5, 1, 7, "float32", (1, 64, 64, 1)),
        ((3,), 2, 1, 2, 1, "float32", (2, 64, 64, 1)),
        ((1,), 3, 3, 3, 3, "float16", (4, 64, 128, 1)),
        ((2,), 8, 257, 65, 257, "float32", (4, 128, 128, 1)),
        ((1, 3), 4, 64, 257, 24, "float16", (8, 128, 128, 1)),
        ((2,), 1, 128, 1000, 128, "float16", (1, 128, 256, 2)),
        ((1,), 5, 40, 500, 33, "float32", (2, 64, 64, 3)),
        ((1,), 1, 8, 640, 8, "float32", (1, 64, 64, 2)),
    ],
)
def test_kernel(batch, rows, depth, keys, width, dtype, knobs, takes_tickets):
    """Queries, keys and heads fill blocks and vectors, or do not; the mask is broadcast."""
    q = floats(*batch, rows, depth, dtype=dtype)
    k, v = (floats(*batch, *s, dtype=dtype, seed=1) for s in ((depth, keys), (keys, width)))
    mask = floats(rows, keys, dtype=dtype, seed=2)
    got = run(q, k, v, mask, KeySlices(*knobs, takes_tickets), scale=0.25, factor=0.5)
    assert got.dtype == dtype
    check(got, *exact(q, k, v, mask.astype("float64"), 0.125))


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("keys", [1, 150])
def test_heads_that_share_keys_share_a_block(keys, rows):
    """Three heads have the same keys; the mask is causal, and the keys are in a cache."""
    heads, depth = 6, 24
    q, cache = floats(2, heads, rows, depth), floats(2, 2, keys, depth, seed=1)
    v = floats(2, 2, keys, depth, seed=2)
    position = np.arange(rows)[:, None] + max(keys - rows, 0)
    mask = np.where(np.arange(keys) <= position, 0, -np.inf).astype("float32")
    graph = Graph("grouped")
    given = {"q": q, "k": cache, "v": v, "m": mask}
    tensors = [graph.input(n, each.shape, "float32") for n, each in given.items()]
    tile = KeySlices(4, 64, 64, 1, True)

    def computed(q, k, v, m):
        columns = te.compute((2, 2, depth, keys), lambda b, h, d, n: k[b, h, n, d], name="columns")
        return attention(q, columns, v, m, heads=Heads(heads, 2), is_merged=True, tile=tile)

    (made,) = graph.op("made", "attention", computed, tensors)
    graph.output(made, "y")
    got = graph.compile(TARGET).run(given)["y"]
    k, v = (np.repeat(each, 3, axis=1) for each in (cache.swapaxes(2, 3), v))
    pair = exact(q, k, v, mask.astype("float64"))
    check(got, *(each.swapaxes(1, 2).reshape(2, rows, -1) for each in pair))


def test_values_that_are_no_finite_numbers():
    """Hidden keys have no weight, a whole slice of them neither; a row without keys is NaN."""
    q, k, v = floats(3, 4), floats(4, 200, seed=1), floats(200, 8, seed=2)
    q[0] *= 1e4
    mask = np.zeros((3, 200), "float32")
    mask[0, :195] = mask[1] = -np.inf
    mask[2, 66] = np.nan
    for takes_tickets in (True, False):
        given = q, k, v, mask, KeySlices(2, 64, 64, 1, takes_tickets)
        expected, bound = exact(q[:1], k, v, mask[:1].astype("float64"))
        got = run(*given)
        assert np.isnan(got[1:]).all()
        check(got[:1], expected, bound)
        got = run(*given, is_masked=True)
        assert (got[1] == 0).all() and np.isnan(got[2]).all()
        got = run(*given, hides_nan=True)
        assert (got[1:] == 0).all()
        check(got[:1], expected, bound)


def test_values_are_not_read_behind_the_last_key():
    """Parts reach behind the last value, which is infinite: zeros times infinity would be NaN."""
    q, k = np.ones((2, 1), "float32"), np.zeros((1, 70), "float32")
    v = np.ones((70, 3), "float32")
    v[69] = np.inf
    assert np.isinf(run(q, k, v)).all()
    v[69] = 1
    assert (run(q, k, v) == 1).all()


def test_later_keys_may_have_greater_scores():
    """Sums of earlier parts and slices are scaled down."""
    q, k, v = floats(2, 8), floats(8, 1000, seed=1), floats(1000, 8, seed=2)
    k *= np.linspace(0.1, 8, 1000, dtype="float32")
    check(run(q, k, v, tile=KeySlices(2, 64, 64, 3, True)), *exact(q, k, v))


def test_equal_inputs_give_equal_bits():
    """Slices are added up in their order, whichever block is the last one, and in a kernel."""
    q, k, v = floats(4, 1, 32), floats(4, 32, 900, seed=1), floats(4, 900, 32, seed=2)
    results = [
        run(q, k, v, tile=KeySlices(1, 64, 64, 1, takes_tickets))
        for takes_tickets in (True, True, False)
    ]
    assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()


def scheduled(tile, sizes, target, dtype="float32"):
    """Return a schedule of attention, and its arguments; keys are the rows of a matrix."""
    rows, depth, keys = sizes
    q, k, v = (
        te.placeholder(shape, dtype, name=n)
        for n, shape in (("q", (rows, depth)), ("k", (keys, depth)), ("v", (keys, depth)))
    )
    columns = te.compute((depth, keys), lambda d, n: k[n, d], name="columns")
    made = attention(q, columns, v, tile=tile)
    args = [q, k, v, made]
    return schedule_default([made], args[:-1], ["global"] * 4, Target(target).value), args


@pytest.mark.parametrize("takes_tickets", [True, False])
def test_the_interpreter_agrees(takes_tickets):
    """With barriers, each version of the program computes the result, without any race."""
    s, args = scheduled(KeySlices(2, 64, 64, 2, takes_tickets), (2, 4, 150), TARGET)
    seen = []
    q, k, v = floats(2, 4), floats(150, 4, seed=1), floats(150, 4, seed=2)
    given = [each.tobytes() for each in (q, k, v)] + [None]
    program = texloom.program(s, args, target=TARGET)
    texloom._core.run_versions(program, {}, given, 1 << 24, lambda *each: seen.append(each))
    names = [name for name, _, _ in seen]
    expected, bound = exact(q, k.T, v)
    for name, reports, arrays in seen[names.index("insert_barriers.place_barriers") :]:
        assert not reports, (name, reports)
        check(np.frombuffer(arrays[-1], "float32").reshape(2, 4), expected, bound)


def test_loads_of_halves_are_vectors():
    """Rows of keys are loaded in vectors of 16 bytes, several before the first is used."""
    target = "opencl -device=nvidia"
    tile = KeySlices(1, 128, 128, 1, True)
    source = texloom.build(*scheduled(tile, (1, 64, 500), target, "float16"), target).get_source()
    body = source.partition("__kernel")[2]
    assert body.count("(__global ushort8*)k)[") == 8 and "vload" not in body
    assert body.count("barrier(") == 5 and "tl_take_ticket(" in body


def test_the_estimate_decides():
    """Long keys are divided, short ones are not; other kernels have more queries."""

    def tile(rows, keys, options="", dtype="float32", heads=8, shared=8):
        target = Target("opencl -device=nvidia " + options).value
        sizes = Sizes((1, heads), rows, 64, keys, 64)
        made = tile_for(sizes, [dtype] * 3, target, Heads(heads, shared))
        return made, made.slices(sizes) if isinstance(made, KeySlices) else None

    assert tile(1, 100)[1] == 1
    few, slices = tile(1, 8192)
    assert slices > 4 and few.takes_tickets and few.rows == 1
    assert not tile(1, 8192, "-device_fence=0")[0].takes_tickets
    assert tile(1, 8192, heads=32, shared=8)[0].rows == 4
    assert tile(1, 8192, heads=512, shared=512)[1] < slices
    assert isinstance(tile(128, 8192)[0], BlockTile)
    assert isinstance(tile(128, 8192, dtype="float16")[0], FragmentBlock)
    assert tile(1, 8192, dtype="float64")[0] is None
    mali = Target("opencl -device=mali").value
    assert tile_for(Sizes((1, 8), 1, 64, 8192, 64), ["float32"] * 3, mali, Heads(8, 8)) is None


@pytest.mark.parametrize("heads", [Heads(1, 1), Heads(32, 8)])
@pytest.mark.parametrize(("rows", "depth", "keys"), [(1, 64, 8192), (8, 1, 1), (4, 257, 300)])
def test_all_slices_fit_the_device(heads, rows, depth, keys):
    target = Target("opencl -device=nvidia").value
    sizes = Sizes((1, heads.query), rows, depth, keys, depth)
    facts = SliceAttention.of(sizes, heads, "float16", target)
    space = Space.of(SLICES.points(facts))
    profile = profile_of(target)
    for tile in space:
        assert tile.threads <= target.max_threads
        assert tile.shared_bytes(sizes) < target.local_memory_bytes
        # No slice is empty.
        assert (tile.slices(sizes) - 1) * tile.parts * tile.keys < keys
        assert 0 < SLICES.seconds(facts, tile, profile) < 1
    assert len(space) > 0


def decoder(keys):
    """One query of eight heads, which share two heads of cached keys and values."""
    return onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 23]>
        one (float[1, 8, 1, 32] q, float[1, 2, {keys}, 32] k, float[1, 2, {keys}, 32] v,
             float[1, {keys}] m) => (y) {{ y = Attention(q, k, v, m) }}"""
    )


def decoded(model, keys):
    """Run a decoder, and check its result; returns its launches."""
    q, k, v = floats(1, 8, 1, 32), floats(1, 2, keys, 32, seed=1), floats(1, 2, keys, 32, seed=2)
    mask = np.where(np.arange(keys) % 5 == 0, -np.inf, 0).astype("float32")[None]
    got = model.run({"q": q, "k": k, "v": v, "m": mask})["y"]
    k, v = (np.repeat(each, 4, axis=1) for each in (k, v))
    check(got, *exact(q, k.swapaxes(2, 3), v, mask.astype("float64"), 32**-0.5))
    return model.summary["launches"]


def test_decoding_is_one_kernel():
    """Heads that share keys are not repeated in memory."""
    assert decoded(Model(decoder(300), target=TARGET), 300) == 1


def test_caches_that_grow():
    """A model is compiled for each size, or once with separate kernels for all sizes."""
    model = Model(decoder("n"), target=TARGET)
    assert [decoded(model, keys) for keys in (300, 7)] == [1, 1]
    shapes = {"k": (1, 2, "n", 32), "v": (1, 2, "n", 32), "m": (1, "n")}
    model = Model(decoder("n"), target=TARGET, shapes=shapes)
    assert all(decoded(model, keys) > 1 for keys in (300, 7))


def test_networks_of_halves_read_halves():
    """Keys and values that are stored as float16 are widened in the kernel."""
    proto = decoder(200)
    plain, halves = (Model(proto, target=TARGET, precision=each) for each in ("fp32", "fp16"))
    q, k, v = floats(1, 8, 1, 32), floats(1, 2, 200, 32, seed=1), floats(1, 2, 200, 32, seed=2)
    given = {"q": q, "k": k, "v": v, "m": np.zeros((1, 200), "float32")}
    got, expected = (each.run(given)["y"] for each in (halves, plain))
    score = 32**0.5 * np.abs(q).max() * np.abs(k).max()
    bound = 2.0**-11 * (2 + 4 * score) * np.abs(v).max()
    assert np.abs(got - expected).max() <= bound
