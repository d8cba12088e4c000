"""pipeline keeps the values, at any depth, and inserts no more barriers than needed."""

import random

import numpy as np
import pytest

import texloom as tvm
from texloom import te

THREADS = 8


def block():
    return te.thread_axis("blockIdx.x")


def thread():
    return te.thread_axis("threadIdx.x")


def scaled_sums(columns, steps, tile, *, unrolled=False):
    """Return Y[j] = sum_k X[k, j] * W[k], with k in tiles and threads along j."""
    x = te.placeholder((steps, columns), name="X")
    w = te.placeholder((steps,), name="W")
    k = te.reduce_axis((0, steps), name="k")
    y = te.compute((columns,), lambda j: te.sum(x[k, j] * w[k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    total = s.cache_write(y, "local")
    outer, inner = s[y].split(s[y].op.axis[0], THREADS)
    s[y].bind(outer, block())
    s[y].bind(inner, thread())
    s[total].compute_at(s[y], inner)
    ko, ki = s[total].split(s[total].op.reduce_axis[0], tile)
    s[total].reorder(ko, ki, s[total].op.axis[0])
    if unrolled:
        s[total].unroll(ki)
    return s, (x, w, y), total, (ko, ki)


def share(s, tensor, total, at):
    """Cache a tile of the tensor in shared memory, filled by all threads."""
    cache = s.cache_read(tensor, "shared", [total])
    s[cache].compute_at(s[total], at)
    _, t = s[cache].split(s[cache].op.axis[-1], THREADS)
    s[cache].bind(t, thread())
    return cache


def check(run, s, tensors, columns, steps):
    rng = np.random.default_rng(columns + steps)
    x = rng.integers(-9, 9, (steps, columns)).astype("float32")
    w = rng.integers(-9, 9, steps).astype("float32")
    np.testing.assert_array_equal(run(s, tensors, x, w), w @ x)


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("steps", [8, 12, 24, 31])
def test_shared_tiles(run, stages, steps):
    """Values stay the same for one tile, for two and more, and with a partial tile."""
    s, tensors, total, (ko, _) = scaled_sums(24, steps, 8)
    for tensor in tensors[:2]:
        s[share(s, tensor, total, ko)].pipeline(stages)
    check(run, s, tensors, 24, steps)


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("unrolled", [False, True])
@pytest.mark.parametrize("steps", [1, 2, 3, 6])
def test_fragments(run, stages, unrolled, steps):
    s, tensors, total, (_, ki) = scaled_sums(16, steps, 6, unrolled=unrolled)
    cache = s.cache_read(tensors[0], "local", [total])
    s[cache].compute_at(s[total], ki)
    s[cache].pipeline(stages)
    check(run, s, tensors, 16, steps)


@pytest.mark.parametrize("tile", [2, 3, 4])
def test_fragments_of_shared_tiles(run, tile):
    """If the number of fragments is even, their pipeline runs across tiles; if odd, it restarts."""
    s, tensors, total, (ko, ki) = scaled_sums(16, 3 * tile, tile, unrolled=True)
    tiles = share(s, tensors[0], total, ko)
    s[tiles].pipeline()
    fragments = s.cache_read(tiles, "local", [total])
    s[fragments].compute_at(s[total], ki)
    s[fragments].pipeline()
    check(run, s, tensors, 16, 3 * tile)


def test_one_barrier_for_each_tile():
    """Without the pipeline, a tile needs two barriers: before its reads and before its refill."""

    def barriers(pipelined):
        s, tensors, total, (ko, _) = scaled_sums(16, 64, 8)
        cache = share(s, tensors[0], total, ko)
        if pipelined:
            s[cache].pipeline()
        return tvm.build(s, tensors).get_source().partition("for (int k_outer")[2].count("barrier(")

    assert (barriers(pipelined=False), barriers(pipelined=True)) == (2, 1)


def test_the_next_tile_is_fetched_before_this_one_is_used():
    s, tensors, total, (ko, _) = scaled_sums(16, 64, 8)
    s[share(s, tensors[0], total, ko)].pipeline()
    loop = tvm.build(s, tensors).get_source().partition("for (int k_outer")[2]
    fetch, use = loop.index("X_shared_next["), loop.index("fma(")
    store = loop.index("= X_shared_next[")
    assert fetch < use < store


def test_textures_are_fetched_ahead(run):
    s, tensors, total, (ko, _) = scaled_sums(16, 16, 4)
    x = tensors[0]
    cache = s.cache_read(x, "shared", [total])
    s[cache].compute_at(s[total], ko)
    row, column = s[cache].op.axis
    group, lane = s[cache].split(column, 4)
    _, t = s[cache].split(s[cache].fuse(row, group), THREADS)
    s[cache].bind(t, thread())
    s[cache].vectorize(lane)
    s[cache].pipeline()
    values = np.arange(256, dtype="float32").reshape(16, 16) % 7
    weights = np.arange(16, dtype="float32")
    got = run(s, tensors, values, weights, scopes={x: "texture"})
    np.testing.assert_array_equal(got, weights @ values)


def test_a_layout_of_the_copies(run):
    """The copies are stored transposed."""
    s, tensors, total, (ko, _) = scaled_sums(16, 16, 8)
    x = tensors[0]
    cache = s.cache_read(x, "shared", [total], layout="buffer[(k, j) -> cols=(j, k)]")
    s[cache].compute_at(s[total], ko)
    s[cache].bind(s[cache].op.axis[1], thread())
    s[cache].pipeline()
    check(run, s, tensors, 16, 16)


@pytest.mark.parametrize("seed", range(20))
def test_any_combination(run, seed):
    choose = random.Random(seed)
    tile, count = choose.randint(1, 9), choose.randint(1, 6)
    steps = max(1, tile * count - choose.randint(0, 2))
    columns = choose.choice([5, 8, 16, 19])
    s, tensors, total, (ko, ki) = scaled_sums(columns, steps, tile, unrolled=choose.random() < 0.5)
    for tensor in tensors[:2]:
        source = tensor
        if choose.random() < 0.7:
            source = share(s, tensor, total, ko)
            if choose.random() < 0.7:
                s[source].pipeline(choose.choice([2, 3]))
        if choose.random() < 0.7:
            cache = s.cache_read(source, "local", [total])
            s[cache].compute_at(s[total], ki)
            if choose.random() < 0.7:
                s[cache].pipeline(choose.choice([2, 3]))
    check(run, s, tensors, columns, steps)


def test_printed_and_read_back():
    s, tensors, total, (ko, _) = scaled_sums(16, 64, 8)
    s[share(s, tensors[0], total, ko)].pipeline(stages=3)
    text = str(tvm.program(s, tensors))
    assert "  pipeline stages=3\n" in text
    assert str(tvm.parse(text)) == text
