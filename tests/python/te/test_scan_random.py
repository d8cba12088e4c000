"""Random scans and schedules, compared with NumPy."""

import random

import numpy as np
import pytest

import texloom as tvm
from texloom import te


def bind(s, t, axis, tag):
    s[t].bind(axis, te.thread_axis(tag))


def over_columns(s, t, factor=4):
    """Bind the last axis to blocks of threads."""
    outer, inner = s[t].split(s[t].op.axis[-1], factor=factor)
    bind(s, t, outer, "blockIdx.x")
    bind(s, t, inner, "threadIdx.x")
    return inner


def random_scan(rng):
    """Return a recurrence with one or two states over small integers, and its NumPy result."""
    rows, size, first = rng.randint(3, 7), rng.choice([3, 6, 8]), rng.randint(1, 2)
    count = rng.randint(1, 2)
    x = te.placeholder((rows, size), "int32", name="X")
    states = [te.placeholder((rows, size), "int32", name=f"state{j}") for j in range(count)]
    shift = rng.choice([0, 0, 1, 3])
    back = rng.randint(1, first)
    via = rng.choice(["none", "elementwise", "sum"])

    def other(j):
        return states[(j + 1) % count]

    def before(j, t, i):
        return other(j)[t - back, te.floormod(i + shift, size)] if shift else other(j)[t - back, i]

    def middle_of(j):
        if via == "none":
            return None
        if via == "elementwise":
            return te.compute((rows, size), lambda t, i: before(j, t, i) * 2, name=f"middle{j}")
        k = te.reduce_axis((0, size), name="k")
        return te.compute(
            (rows, size),
            lambda t, i: te.sum(other(j)[t - back, k] * x[t, i], axis=k),
            name=f"middle{j}",
        )

    def update_of(j, middle):
        def element(t, i):
            read = before(j, t, i) if middle is None else middle[t, i]
            return te.floormod(states[j][t - 1, i] + read + x[t, i], 17)

        return te.compute((rows, size), element, name=f"update{j}")

    def init_of(j):
        return te.compute((first, size), lambda t, i: x[t, i] + j, name=f"init{j}")

    inits = [init_of(j) for j in range(count)]
    middles = [middle_of(j) for j in range(count)]
    updates = [update_of(j, middle) for j, middle in enumerate(middles)]
    results = te.scan(inits, updates, states)
    results = results if isinstance(results, list) else [results]

    def expected(v):
        found = [[v[t] + j for t in range(first)] for j in range(count)]
        for t in range(first, rows):
            new = []
            for j in range(count):
                read = found[(j + 1) % count][t - back]
                part = np.roll(read, -shift)
                if via == "elementwise":
                    part = part * 2
                elif via == "sum":
                    part = read.sum() * v[t]
                new.append((found[j][t - 1] + part + v[t]) % 17)
            for j in range(count):
                found[j].append(new[j])
        return found

    mixes = shift % size != 0 or via == "sum"
    return x, inits, middles, updates, results, expected, mixes


def random_schedule(rng, s, inits, middles, updates):
    """Schedule at random; return whether blocks share the columns."""
    blocks = rng.random() < 0.5
    factor = rng.choice([2, 4])
    for t in inits:
        over_columns(s, t)
    for middle, update in zip(middles, updates, strict=True):
        cache = s.cache_write(update, "local") if rng.random() < 0.3 else None
        if blocks:
            inner = over_columns(s, update, factor)
        else:
            inner = s[update].op.axis[1]
            bind(s, update, inner, "threadIdx.x")
        if cache is not None:
            s[cache].compute_at(s[update], inner)
        if middle is None:
            continue
        place = rng.choice(["inside", "shared", "inline"])
        if place == "inline" and not middle.op.reduce_axis:
            s[middle].compute_inline()
        elif place == "shared" and not blocks:
            s[middle].set_scope("shared")
            bind(s, middle, s[middle].op.axis[1], "threadIdx.x")
        else:
            s[middle].compute_at(s[update], inner)
    return blocks


@pytest.mark.parametrize("seed", range(24))
def test_random_scans(run, seed):
    """The result is correct under any schedule."""
    rng = random.Random(seed)
    x, inits, middles, updates, results, expected, mixes = random_scan(rng)
    s = te.create_schedule(results[0].op)
    blocks = random_schedule(rng, s, inits, middles, updates)
    args = [x, *results]
    if blocks and mixes:  # one launch per step
        assert "for scan.idx" in str(tvm.lower(s, args)).split("kernel ")[0]
    text = str(tvm.program(s, args))
    assert str(tvm.parse(text)) == text
    v = np.random.default_rng(seed).integers(-4, 5, [int(n) for n in x.shape]).astype("int32")
    got = run(s, args, v)
    for one, other in zip(got if len(results) > 1 else [got], expected(v), strict=True):
        np.testing.assert_array_equal(one, np.stack(other))
