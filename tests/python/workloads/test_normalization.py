"""Softmax and layer norm: chains of reductions, with one block per row."""

import numpy as np
import pytest

from texloom import te
from texloom.examples.rounding import FLOAT32_ROUNDOFF as U
from texloom.examples.rounding import gamma
from texloom.examples.texel_schedules import block, thread

THREADS = 16
# Errors that OpenCL allows, in roundings of half an ulp.
EXP, DIVISION, RSQRT = 2 * 3, 5, 2 * 2


def reduce_together(s, tensor, reader, axis):
    """Let all threads of the block share a reduction, so that each gets the result."""
    s[tensor].compute_at(s[reader], axis)
    _, inner = s[tensor].split(s[tensor].op.reduce_axis[0], factor=THREADS)
    s[tensor].bind(inner, thread())


def schedule_rows(x, y, reductions, values=()):
    """Give each row a block; `values` are computed once, in shared memory."""
    s = te.create_schedule(y.op)
    row, column = s[y].op.axis
    s[y].bind(row, block())
    column, inner = s[y].split(column, factor=THREADS)
    s[y].bind(inner, thread())
    for t in reductions:
        reduce_together(s, t, y, row)
    for t in values:
        s[t].compute_at(s[y], row)
        s[t].set_scope("shared")
        _, inner = s[t].split(s[t].op.axis[1], factor=THREADS)
        s[t].bind(inner, thread())
    return s


def reduction(kind, shape, function, name):
    k = te.reduce_axis((0, shape[1]), name="k")
    return te.compute((shape[0],), lambda i: kind(function(i, k), axis=k), name=name)


@pytest.mark.parametrize("shape", [(5, 64), (2, 1000), (3, 7)])
def test_softmax(run, shape):
    x = te.placeholder(shape, name="X")
    peak = reduction(te.max, shape, lambda i, k: x[i, k], "peak")
    powers = te.compute(shape, lambda i, j: te.exp(x[i, j] - peak[i]), name="powers")
    total = reduction(te.sum, shape, lambda i, k: powers[i, k], "total")
    y = te.compute(shape, lambda i, j: powers[i, j] / total[i], name="Y")
    s = schedule_rows(x, y, [peak, total], [powers])
    v = (np.random.default_rng(15).standard_normal(shape) * 4).astype("float32")
    got = run(s, [x, y], v)
    distance = v.astype("float64") - v.max(axis=1, keepdims=True)
    power = np.exp(distance)
    exact = power / power.sum(axis=1, keepdims=True)
    # exp(d + e) = exp(d) * exp(e): the rounding of d is relative to its magnitude.
    of_power = np.abs(distance) * U + EXP * U
    of_sum = (power * of_power).sum(axis=1, keepdims=True) / power.sum(axis=1, keepdims=True)
    relative = of_power + of_sum + gamma(shape[1] + DIVISION, U)
    assert np.all(np.abs(got - exact) <= 1.01 * relative * exact)  # 1 % for products of errors


@pytest.mark.parametrize("textures", [False, True])
def test_layer_norm(run, textures):
    n, m, epsilon = 6, 48, 1e-5
    x, scale, shift = (
        te.placeholder(s, name=t) for s, t in (((n, m), "X"), ((m,), "scale"), ((m,), "shift"))
    )
    total = reduction(te.sum, (n, m), lambda i, k: x[i, k], "total")
    mean = te.compute((n,), lambda i: total[i] * te.const(1 / m), name="mean")
    difference = te.compute((n, m), lambda i, j: x[i, j] - mean[i], name="difference")
    square = reduction(te.sum, (n, m), lambda i, k: difference[i, k] * difference[i, k], "square")
    y = te.compute(
        (n, m),
        lambda i, j: difference[i, j]
        * te.rsqrt(square[i] * te.const(1 / m) + te.const(epsilon))
        * scale[j]
        + shift[j],
        name="Y",
    )
    s = schedule_rows(x, y, [total, square])
    for t in (mean, difference):
        s[t].compute_inline()
    if textures:
        for t in (x, scale, shift):
            readers = {x: [total, difference], scale: y, shift: y}[t]
            cache = s.cache_read(t, "global.texture", readers)
            texels = s[cache].split(s[cache].op.axis[0], 4)[0] if t is not x else cache.op.axis[0]
            s[cache].bind(texels, block())
    rng = np.random.default_rng(16)
    v = rng.standard_normal((n, m)).astype("float32") + np.float32(2)
    g, b = (rng.standard_normal(m).astype("float32") for _ in range(2))
    got = run(s, [x, scale, shift, y], v, g, b)
    exact, bound = layer_norm_in_float64(v, g, b, epsilon)
    assert np.all(np.abs(got - exact) <= bound)
    assert bound.max() < 1e-3


def layer_norm_in_float64(v, g, b, epsilon):
    """Return the exact result, and a bound on float32's error by error propagation."""
    v, g, b = (np.asarray(t, "float64") for t in (v, g, b))
    m = v.shape[1]
    mean = v.mean(axis=1, keepdims=True)
    e_mean = gamma(m + 2, U) * np.abs(v).mean(axis=1, keepdims=True)
    d = v - mean
    e_d = e_mean + U * (np.abs(d) + e_mean)
    variance = (d * d).mean(axis=1, keepdims=True)
    e_variance = (2 * np.abs(d) * e_d + e_d**2).mean(axis=1, keepdims=True)
    e_variance += gamma(m + 3, U) * (variance + e_variance)
    # rsqrt(w + e) has a relative distance of at most e / (2 w) from rsqrt(w), plus terms of e * e.
    w = variance + epsilon
    r_root = 0.5 * e_variance / w + U + RSQRT * U
    product = np.abs(d * g) / np.sqrt(w)
    e_product = product * (r_root + gamma(3, U)) + e_d * np.abs(g) / np.sqrt(w)
    exact = d / np.sqrt(w) * g + b
    return exact, 1.01 * (e_product + U * np.abs(exact))
