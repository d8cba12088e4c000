"""Normalizations of groups of channels on GPUs: one kernel, or two with the moments of parts."""

from functools import partial

import numpy as np
import pytest

import texloom
from texloom import nd, te
from texloom.graph import Graph
from texloom.ops.elementwise import multiply, sigmoid
from texloom.ops.normalization import group_normalization
from texloom.ops.schedules.channels_last.layouts import activation_layout
from texloom.ops.schedules.default import schedule_default
from texloom.ops.schedules.family import KernelTask
from texloom.ops.schedules.group_moments import GROUP_MOMENTS, parts_for
from texloom.ops.schedules.places import Places
from texloom.ops.stages import stages_of
from texloom.target import Target
from texloom.tir import decl_buffer

TARGET = "opencl -device=nvidia -conditional_barriers=0"  # PoCL has no such barriers
EPSILON = 1e-5


def normalized(x, scale, bias, groups):
    """Return the normalization in float64."""
    grouped = x.astype("float64").reshape(x.shape[0], groups, -1)
    centered = grouped - grouped.mean(-1, keepdims=True)
    variance = (centered * centered).mean(-1, keepdims=True)
    each = (centered / np.sqrt(variance + EPSILON)).reshape(x.shape)
    at = (1, -1) + (1,) * (x.ndim - 2)
    return each * scale.reshape(at) + bias.reshape(at)


def kernels_of(function):
    return function.imported_modules[0].get_source().count("__kernel")


@pytest.mark.parametrize(
    ("shape", "groups", "parts"),
    [
        ((1, 32, 64, 64), 8, 8),
        ((2, 12, 16, 5), 3, 4),
        ((2, 12, 16, 5), 3, 1),
        ((1, 7, 9, 3), 7, 3),  # groups of one channel; no vectors
        ((1, 30, 40), 5, 1),
        ((2, 40, 36), 40, 6),  # more groups than rows of threads
        ((1, 8, 4, 3, 2), 2, 2),
        ((1, 6, 1, 1), 3, 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("has_channels_last", [True, False])
@pytest.mark.parametrize("is_large", [True, False])
def test_kernels(shape, groups, parts, has_channels_last, is_large):
    """The output reads the normalized element once, or often enough to keep it in registers."""
    names = (("X", shape), ("S", shape[1:2]), ("B", shape[1:2]))
    x, scale, bias = (te.placeholder(own, name=name) for name, own in names)
    normal = group_normalization(x, scale, bias, groups, EPSILON, parts)
    powers = [te.compute(shape, lambda *i: normal(*i) * 0.5, name="half")]
    for _ in range(8 * is_large):
        before = powers[-1]
        powers.append(te.compute(shape, lambda *i, p=before: p(*i) * 2.0 * 0.5, name="same"))
    own = powers[-1]
    y = te.compute(shape, lambda *i: own(*i) + te.max(own(*i), te.const(0, "float32")), name="Y")
    layout = activation_layout(len(shape)) if has_channels_last else "global"
    s = schedule_default([y], [x, scale, bias], [layout, "global", "global", layout], target())
    images = (x, y) if has_channels_last else ()
    binds = {each: decl_buffer(shape, layout=layout) for each in images}
    f = texloom.build(s, [x, scale, bias, y], TARGET, binds=binds)
    assert kernels_of(f) == (1 if parts == 1 else 2)
    rng, device = np.random.default_rng(0), texloom.device("opencl", 0)
    given = rng.standard_normal(shape).astype("float32") + 100
    factors = rng.standard_normal((2, shape[1])).astype("float32")
    kept = {"layout": layout} if has_channels_last else {}
    result = nd.empty(shape, "float32", device, **kept)
    f(nd.array(given, device, **kept), *(nd.array(each, device) for each in factors), result)
    half = normalized(given, *factors, groups) / 2
    # Elements near 100 have errors of half an ulp, which a small deviation would enlarge.
    np.testing.assert_allclose(result.numpy(), half + np.maximum(half, 0), rtol=0, atol=1e-4)


def target(text=TARGET):
    return Target(text).value


def test_moments_of_parts_do_not_cancel():
    """A mean that is 10,000 deviations away from 0 costs no more digits than the elements lose."""
    shape = (1, 4, 64, 8)
    x, s, b = te.placeholder(shape), te.placeholder((4,)), te.placeholder((4,))
    y = group_normalization(x, s, b, 2, EPSILON, 8)
    f = texloom.build(
        schedule_default([y], [x, s, b], ["global"] * 4, target()), [x, s, b, y], TARGET
    )
    rng = np.random.default_rng(0)
    # Multiples of 1/64 near 8192 are exact, and so are their differences.
    given = (8192 + rng.integers(-64, 65, shape) / 64).astype("float32")
    one, zero = np.ones(4, "float32"), np.zeros(4, "float32")
    np.testing.assert_allclose(f(given, one, zero), normalized(given, one, zero, 2), atol=2e-3)


def moments_of(shape, groups, text=TARGET):
    """Return the numbers of parts, and whether a block computes a group."""
    x, s, b = te.placeholder(shape), te.placeholder(shape[1:2]), te.placeholder(shape[1:2])
    y = group_normalization(x, s, b, groups)
    stages = stages_of([y])
    total = next(each for each in stages if each.op.reduce_axis)
    parts = parts_for(stages[0], total, target(text))
    task = KernelTask(stages, [y], y, target(text), places=Places(stages, [y]).place)
    return parts, GROUP_MOMENTS.default(task) is not None


def test_which_groups_are_divided():
    """Only groups that are few and large; parts are equal; other devices keep their kernels."""
    assert moments_of((1, 32, 256, 256), 8) == (32, False)
    assert moments_of((1, 32, 8, 8), 8) == (1, True)
    assert moments_of((64, 32, 64, 64), 8) == (1, True)
    assert moments_of((1, 32, 100, 256), 8) == (25, False)
    assert moments_of((1, 32, 257, 256), 8) == (1, False)  # no two equal parts
    assert moments_of((1, 32, 37, 37), 8) == (1, True)  # too small for that to matter
    assert moments_of((1, 32, 38, 37), 8) == (2, True)
    assert moments_of((1, 32, 256, 256), 8, "opencl") == (1, False)
    assert moments_of((1, 32, 256, 256), 8, "opencl -device=adreno") == (1, False)


@pytest.mark.parametrize(("size", "launches"), [((64, 64), 2), ((4, 4), 1)])
def test_a_normalization_and_its_activation(size, launches):
    """Group normalization and SiLU take two launches, or one; so do the halves of float16."""
    rng = np.random.default_rng(0)
    g = Graph("normalization")
    x = g.input("x", (1, 16, *size))
    factors = rng.standard_normal((2, 16)).astype("float32")
    s, b = (g.constant(name, each) for name, each in zip("sb", factors, strict=True))
    (n,) = g.op("n", "GroupNormalization", partial(group_normalization, groups=4), [x, s, b])
    (a,) = g.op("a", "Sigmoid", sigmoid, [n])
    (y,) = g.op("y", "Mul", multiply, [n, a])
    g.output(y)
    given = rng.standard_normal((1, 16, *size)).astype("float32")
    wanted = normalized(given, *factors, 4)
    wanted = wanted / (1 + np.exp(-wanted))
    for options, error in (({}, 1e-5), ({"precision": "fp16"}, 1e-2)):
        compiled = g.compile(TARGET, scopes="global", **options)
        assert compiled.summary["launches"] == launches
        np.testing.assert_allclose(compiled.run({"x": given})["y"], wanted, atol=error)
