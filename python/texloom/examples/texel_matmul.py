"""The product of two matrices of texels, with three uses of the lanes."""

from __future__ import annotations

from collections.abc import Callable

from .. import te
from .._core import IterVar, Schedule, Stage, Tensor
from .texel_schedules import LANES, block, cache_in_texture, copy_texels, thread

Form = Callable[[Tensor, Tensor], Tensor]


def outer_product_lanes(a: Tensor, b: Tensor) -> Tensor:
    """Lanes are rows and columns of C: a texel of each input makes 4 x 4 elements."""
    k = te.reduce_axis((0, a.shape[1]), name="k")
    return te.compute(
        (a.shape[0] * LANES, b.shape[0] * LANES),
        lambda i, j: te.sum(
            a[i // LANES, k, i % LANES] * b[j // LANES, k, j % LANES],
            axis=[k],
        ),
        name="C",
    )


def inner_reduction(a: Tensor, b: Tensor) -> Tensor:
    """Lanes are steps of the reduction."""
    k = te.reduce_axis((0, a.shape[1]), name="k")
    lane = te.reduce_axis((0, LANES), name="lane")
    return te.compute(
        (a.shape[0], b.shape[0]),
        lambda i, j: te.sum(a[i, k, lane] * b[j, k, lane], axis=[k, lane]),
        name="C",
    )


def vector_accumulators(a: Tensor, b: Tensor) -> Tensor:
    """Lanes of B are lanes of C; each element of A multiplies a texel of B."""
    k = te.reduce_axis((0, a.shape[0]), name="k")
    return te.compute(
        (a.shape[1] * LANES, b.shape[1], LANES),
        lambda i, j, lane: te.sum(a[k, i // LANES, i % LANES] * b[k, j, lane], axis=[k]),
        name="C",
    )


FORMS: list[Form] = [outer_product_lanes, inner_reduction, vector_accumulators]


def schedule(
    form: Form,
    a: Tensor,
    b: Tensor,
    c: Tensor,
    copy: bool,
    *,
    textures: bool = True,
    tile: int = 2,
    threads: tuple[int, int] = (4, 8),
) -> Schedule:
    """Schedule the sums in registers, with inputs in textures.

    Parameters
    ----------
    form : callable
        The function that computed `c` from `a` and `b`.
    copy : bool
        Whether each texel is copied into registers before use.
    textures : bool
        Whether the inputs are copied into textures; otherwise they are read in place.
    tile : int
        Texels of one thread along each axis.
    threads : (int, int)
        Threads of a block, along rows and columns.
    """
    s = te.create_schedule(c.op)
    sums = s.cache_write(c, "local")
    sources = [cache_in_texture(s, t, sums) if textures else t for t in (a, b)]
    texels = [s.cache_read(t, "local", [sums]) for t in sources] if copy else []
    inner = _bind_output(s[c], form is not inner_reduction, tile, threads)
    s[sums].compute_at(s[c], inner)
    k, *lane = s[sums].op.reduce_axis
    s[sums].reorder(k, *s[sums].op.axis, *lane)
    if form is not inner_reduction:
        s[sums].vectorize(_lanes_of(s[sums]))
    s[sums].unroll(s[sums].op.axis[0])
    for t in texels:
        copy_texels(s, t, sums, k)
    return s


def _lanes_of(stage: Stage) -> IterVar:
    """Return the loop over lanes: the last axis, or its inner part."""
    axes = stage.op.axis
    return axes[-1] if len(axes) == 3 else stage.split(axes[-1], factor=LANES)[1]


def _bind_output(stage: Stage, vectorize: bool, tile: int, threads: tuple[int, int]) -> IterVar:
    """Give each thread a tile of texels; return the innermost thread loop."""
    y, x, *lane = stage.op.axis
    rows = tile * LANES if vectorize else tile
    y, yi = stage.split(y, factor=rows)
    x, xi = stage.split(x, factor=tile if lane else rows)
    by, ty = stage.split(y, factor=threads[0])
    bx, tx = stage.split(x, factor=threads[1])
    stage.reorder(by, bx, ty, tx, yi, xi, *lane)
    for axis, owner in ((by, block("y")), (bx, block()), (ty, thread("y")), (tx, thread())):
        stage.bind(axis, owner)
    if vectorize:
        stage.vectorize(lane[0] if lane else stage.split(xi, factor=LANES)[1])
    return tx
