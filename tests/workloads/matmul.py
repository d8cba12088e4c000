"""The product of two matrices of texels, in the three ways that lanes can be used."""

import numpy as np

from texloom import te

from .accuracy import Sums
from .schedules import block, cache_in_texture, copy_texels, thread

LANES = 4
TILE = 2  # texels of one thread along each axis


def outer_product_lanes(a, b):
    """Lanes are rows of C, and columns: a texel of each input makes 4 x 4 elements."""
    k = te.reduce_axis((0, a.shape[1]), name="k")
    return te.compute(
        (a.shape[0] * LANES, b.shape[0] * LANES),
        lambda i, j: te.sum(
            a[i // LANES, k, i % LANES] * b[j // LANES, k, j % LANES],
            axis=[k],
        ),
        name="C",
    )


def inner_reduction(a, b):
    """Lanes are steps of the reduction."""
    k = te.reduce_axis((0, a.shape[1]), name="k")
    lane = te.reduce_axis((0, LANES), name="lane")
    return te.compute(
        (a.shape[0], b.shape[0]),
        lambda i, j: te.sum(a[i, k, lane] * b[j, k, lane], axis=[k, lane]),
        name="C",
    )


def vector_accumulators(a, b):
    """Lanes of B are lanes of C; each element of A meets a texel of B."""
    k = te.reduce_axis((0, a.shape[0]), name="k")
    return te.compute(
        (a.shape[1] * LANES, b.shape[1], LANES),
        lambda i, j, lane: te.sum(a[k, i // LANES, i % LANES] * b[k, j, lane], axis=[k]),
        name="C",
    )


FORMS = [outer_product_lanes, inner_reduction, vector_accumulators]
SUBSCRIPTS = {
    outer_product_lanes: "ikv,jkw->ivjw",
    inner_reduction: "ikv,jkv->ij",
    vector_accumulators: "kiv,kjw->ivjw",
}


def reference(form, a, b, shape):
    terms = {outer_product_lanes: a.shape[1], vector_accumulators: a.shape[0]}
    subscripts = SUBSCRIPTS[form]

    def product(x, y):
        return np.einsum(subscripts, x, y, optimize=True).reshape(shape)

    return Sums.of(product, terms.get(form, a.shape[1] * LANES), a, b)


def schedule(form, a, b, c, copy):
    """Both inputs in textures; `copy` brings each texel into registers before its use."""
    s = te.create_schedule(c.op)
    sums = s.cache_write(c, "local")
    caches = [cache_in_texture(s, t, sums) for t in (a, b)]
    texels = [s.cache_read(t, "local", [sums]) for t in caches] if copy else []
    inner = _bind_output(s[c], vectorize=form is not inner_reduction)
    s[sums].compute_at(s[c], inner)
    k, *lane = s[sums].op.reduce_axis
    s[sums].reorder(k, *s[sums].op.axis, *lane)
    if form is not inner_reduction:
        s[sums].vectorize(_lanes_of(s[sums]))
    s[sums].unroll(s[sums].op.axis[0])
    for t in texels:
        copy_texels(s, t, sums, k)
    return s


def _lanes_of(stage):
    """The loop over lanes: the last axis where it is one, else the inner part of it."""
    axes = stage.op.axis
    return axes[-1] if len(axes) == 3 else stage.split(axes[-1], factor=LANES)[1]


def _bind_output(stage, vectorize):
    """Tiles of texels, one for each thread; returns the innermost loop of threads."""
    y, x, *lane = stage.op.axis
    rows = TILE * LANES if vectorize else TILE
    y, yi = stage.split(y, factor=rows)
    x, xi = stage.split(x, factor=TILE if lane else rows)
    by, ty = stage.split(y, factor=4)
    bx, tx = stage.split(x, factor=8)
    stage.reorder(by, bx, ty, tx, yi, xi, *lane)
    for axis, owner in ((by, block("y")), (bx, block()), (ty, thread("y")), (tx, thread())):
        stage.bind(axis, owner)
    if vectorize:
        stage.vectorize(lane[0] if lane else stage.split(xi, factor=LANES)[1])
    return tx
