"""Halide's compilation of comparable schedules: the time to beat."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec

TARGET = "host-opencl"
LANES = 4


def name() -> str | None:
    """Return Halide and its version, or None if the package is not installed."""
    return f"Halide {version('halide')}" if find_spec("halide") else None


def convolution(channels: int, size: int, tile: int = 4, threads: int = 56) -> Callable[[], object]:
    """Prepare the lowering of a fresh pipeline, to run once.

    The schedule is that of :func:`texloom.examples.schedule_conv2d_nchw4c`, as far as Halide can
    express it: blocks of threads over pixels and groups of four output channels, `tile` pixels of a
    row in a thread's registers with the padded input rows they need, lanes vectorized, kernel
    columns and pixels unrolled. All extents are constants, as there. A pipeline caches its
    compilation, so each measurement needs a new one.
    """
    import halide as hl

    x, y, group, lane = (hl.Var(n) for n in ("x", "y", "group", "lane"))
    data = hl.ImageParam(hl.Float(32), 4, "data")
    weight = hl.ImageParam(hl.Float(32), 5, "weight")
    # Halide's first axis is the innermost: lane, x, y, group.
    data_extents = (LANES, size, size, channels // LANES)
    weight_extents = (LANES, 3, 3, channels, channels // LANES)
    for image, extents in ((data, data_extents), (weight, weight_extents)):
        stride = 1
        for axis, extent in enumerate(extents):
            image.dim(axis).set_bounds(0, extent).set_stride(stride)
            stride *= extent

    inside = hl.BoundaryConditions.constant_exterior(
        data, hl.f32(0), [(0, extent) for extent in data_extents]
    )
    padded, sums, output = hl.Func("padded"), hl.Func("sums"), hl.Func("output")
    padded[lane, x, y, group] = inside[lane, x, y, group]
    k = hl.RDom([(0, 3), (0, LANES), (0, 3), (0, channels // LANES)], "k")
    kx, in_lane, ky, in_group = k.x, k.y, k.z, k.w
    sums[lane, x, y, group] = hl.f32(0)
    sums[lane, x, y, group] += (
        padded[in_lane, x + kx - 1, y + ky - 1, in_group]
        * weight[lane, kx, ky, in_group * LANES + in_lane, group]
    )
    output[lane, x, y, group] = sums[lane, x, y, group]

    for axis, extent in zip((lane, x, y, group), data_extents, strict=True):
        output.bound(axis, 0, extent)
    xo, xi, thread, block = (hl.Var(n) for n in ("xo", "xi", "thread", "block"))
    output.split(x, xo, xi, tile).reorder(lane, xi, xo, y, group)
    output.vectorize(lane).unroll(xi)
    output.fuse(xo, y, thread).split(thread, block, thread, threads)
    output.gpu_blocks(block, group).gpu_threads(thread)
    sums.compute_at(output, thread).vectorize(lane).unroll(x)
    sums.update().reorder(lane, x, kx, in_lane, ky, in_group)
    sums.update().vectorize(lane).unroll(x).unroll(kx).unroll(in_lane)
    padded.compute_at(sums, ky).vectorize(lane).unroll(x)

    target = hl.Target(TARGET)
    return lambda: output.compile_to_module([data, weight], "convolution", target)


def product(size: int) -> Callable[[], object]:
    """Prepare a fresh product of float32 matrices, to compile and load once, for this processor.

    The schedule is that of ``native_product`` in the module ``compilation``: tiles of 6 x 16 in
    registers, four steps of the sum unrolled, rows of tiles in parallel.
    """
    import halide as hl

    column, row = hl.Var("column"), hl.Var("row")
    left, right = (hl.ImageParam(hl.Float(32), 2, name) for name in ("left", "right"))
    for image in (left, right):
        image.dim(0).set_bounds(0, size).set_stride(1)
        image.dim(1).set_bounds(0, size).set_stride(size)
    k = hl.RDom([(0, size)], "k").x
    sums, output = hl.Func("sums"), hl.Func("output")
    sums[column, row] = hl.f32(0)
    sums[column, row] += left[k, row] * right[column, k]
    output[column, row] = sums[column, row]
    output.bound(column, 0, size).bound(row, 0, size)
    block_x, block_y, x, y = (hl.Var(name) for name in ("block_x", "block_y", "x", "y"))
    output.tile(column, row, block_x, block_y, x, y, 16, 6).parallel(block_y)
    output.vectorize(x, 8).unroll(x).unroll(y)
    sums.compute_at(output, block_x).vectorize(column, 8).unroll(column).unroll(row)
    outer, inner = hl.RVar("outer"), hl.RVar("inner")
    sums.update().split(k, outer, inner, 4).reorder(column, row, inner, outer)
    sums.update().vectorize(column, 8).unroll(column).unroll(row)
    return lambda: output.compile_jit(hl.get_host_target())
