"""Two-dimensional convolution of activations in NCHW4c with weights in OIHW4o."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from .. import te
from .._core import IterVar, Schedule, Tensor
from .packing import LANES

Storage = Literal["texture", "buffer"]

SCOPES: dict[str, tuple[str, str, str]] = {
    "texture": ("texture", "texture:weight", "texture"),
    "buffer": ("global", "global", "global"),
}
"""The scopes of activations, weights and output by storage."""

MANY_TILES = 1 << 16
"""Tiles that keep a large GPU busy: if there are more, each thread computes more pixels."""


def conv2d_nchw4c(data: Tensor, weight: Tensor, *, stride: int = 1, padding: int = 1) -> Tensor:
    """Convolve activations with weights, as neural networks do, without mirroring the kernel.

    Parameters
    ----------
    data : Tensor
        ``[N, I/4, H, W, 4]``, float32 or float16.
    weight : Tensor
        ``[O/4, I, KH, KW, 4]`` of the same dtype; the lanes are output channels.
    stride : int
        Pixels from one output to the next, down and across.
    padding : int
        Rows and columns of zeros on each of the four sides.

    Returns
    -------
    Tensor
        ``[N, O/4, OH, OW, 4]`` of the dtype of `data`; ``OH = (H + 2*padding - KH)//stride + 1``.
        Sums are float32.

    Raises
    ------
    ValueError
        For shapes that do not match, or another dtype.
    """
    n, in_groups, height, width, lanes = _shape(data, 5)
    out_groups, inputs, kernel_height, kernel_width, out_lanes = _shape(weight, 5)
    if (lanes, out_lanes, inputs) != (LANES, LANES, LANES * in_groups):
        raise ValueError(f"{data} and {weight} are not [N, I/4, H, W, 4] and [O/4, I, KH, KW, 4]")
    if data.dtype != weight.dtype or data.dtype not in ("float32", "float16"):
        raise ValueError(f"{data} and {weight} are not both float32 or both float16")
    if stride < 1 or padding < 0:
        raise ValueError(
            f"stride={stride} must be positive, and padding={padding} must not be negative"
        )
    out_height = (height + 2 * padding - kernel_height) // stride + 1
    out_width = (width + 2 * padding - kernel_width) // stride + 1
    if out_height < 1 or out_width < 1:
        raise ValueError(f"the kernel of {weight} is larger than {data} with padding={padding}")

    def padded_pixel(n: IterVar, i: IterVar, y: IterVar, x: IterVar, lane: IterVar) -> Any:
        pixel = data[n, i, y - padding, x - padding, lane].astype("float32")
        if padding == 0:
            return pixel
        inside = te.all(y >= padding, y < padding + height, x >= padding, x < padding + width)
        return te.if_then_else(inside, pixel, 0.0)

    padded = te.compute(
        (n, in_groups, height + 2 * padding, width + 2 * padding, LANES),
        padded_pixel,
        name="padded",
    )
    i = te.reduce_axis((0, in_groups), name="i")
    lane = te.reduce_axis((0, LANES), name="lane")
    ky = te.reduce_axis((0, kernel_height), name="ky")
    kx = te.reduce_axis((0, kernel_width), name="kx")
    sums = te.compute(
        (n, out_groups, out_height, out_width, LANES),
        lambda n, o, y, x, out: te.sum(
            padded[n, i, y * stride + ky, x * stride + kx, lane]
            * weight[o, i * LANES + lane, ky, kx, out].astype("float32"),
            axis=[i, lane, ky, kx],
        ),
        name="sums",
    )
    return te.compute(
        (n, out_groups, out_height, out_width, LANES),
        lambda *index: sums(*index).astype(data.dtype),
        name="output",
    )


def schedule_conv2d_nchw4c(
    output: Tensor,
    storage: Storage = "texture",
    *,
    tile: tuple[int, int] | None = None,
    threads: int = 64,
) -> Schedule:
    """Schedule the result of :func:`conv2d_nchw4c`.

    Each thread computes a tile of pixels, four output channels deep, in registers. For each group
    of four input channels (and each kernel row, when a tile is one row high) it first reads the
    pixels that its tile needs, as whole texels with zeros outside the image. Then each texel of
    weights is used for all pixels of the tile.

    Parameters
    ----------
    output : Tensor
        As :func:`conv2d_nchw4c` returns it.
    storage : "texture" or "buffer"
        Storage of activations, weights and output; nothing else differs.
    tile : (int, int), optional
        Rows and columns of pixels that a thread computes; chosen by the output's size by default.
    threads : int
        Approximate number of threads per block.

    Returns
    -------
    Schedule
        For ``build(schedule, [data, weight, output])``. ``schedule[tensor].scope`` is the scope in
        which the array of a parameter is made.

    Raises
    ------
    ValueError
        For another storage.
    """
    if storage not in SCOPES:
        raise ValueError(f"storage={storage!r} is not one of {', '.join(SCOPES)}")
    stages = _stages(output)
    n, out_groups, height, width, _ = _shape(output, 5)
    tile_height, tile_width = tile or (1, _tile_width(n * out_groups * height, width))
    s = te.create_schedule(output.op)
    weight_texel = s.cache_read(stages.weight, "local", [stages.sums])

    innermost_thread = _bind_tiles(s, output, (tile_height, tile_width), threads)

    s[stages.sums].set_scope("local")
    s[stages.sums].compute_at(s[output], innermost_thread)
    n, o, y, x, out = s[stages.sums].op.axis
    i, lane, ky, kx = s[stages.sums].op.reduce_axis
    s[stages.sums].reorder(n, o, i, ky, lane, kx, y, x, out)
    s[stages.sums].vectorize(out)
    for axis in (lane, kx, y, x):
        s[stages.sums].unroll(axis)

    s[stages.padded].set_scope("local")
    if tile_height == 1:
        s[stages.padded].compute_at(s[stages.sums], ky)
    else:  # several kernel rows use each row, so all rows stay in registers
        s[stages.padded].compute_at(s[stages.sums], i)
        s[stages.sums].unroll(ky)
    _, _, y, x, lane = s[stages.padded].op.axis
    s[stages.padded].vectorize(lane)
    for axis in (y, x):
        s[stages.padded].unroll(axis)

    s[weight_texel].compute_at(s[stages.sums], kx)
    s[weight_texel].vectorize(s[weight_texel].op.axis[-1])

    for tensor, scope in zip((stages.data, stages.weight, output), SCOPES[storage], strict=True):
        s[tensor].set_scope(scope)
    return s


class _Stages(NamedTuple):
    data: Tensor
    weight: Tensor
    padded: Tensor
    sums: Tensor


def _stages(output: Tensor) -> _Stages:
    """Return the intermediate tensors of :func:`conv2d_nchw4c`."""
    (sums,) = output.op.input_tensors
    padded, weight = sums.op.input_tensors
    (data,) = padded.op.input_tensors
    return _Stages(data, weight, padded, sums)


def _shape(tensor: Tensor, rank: int) -> tuple[int, ...]:
    shape = tuple(int(extent) for extent in tensor.shape)
    if len(shape) != rank:
        raise ValueError(f"{tensor} has {len(shape)} axes instead of {rank}")
    return shape


def _tile_width(rows: int, width: int) -> int:
    """Return the pixels of a row per thread: 4 to 8, a divisor of the width if possible.

    Wider tiles read less per product; narrower tiles make more threads.
    """
    divisors = [n for n in range(4, 9) if width % n == 0]
    wide = [n for n in divisors if rows * width // n >= MANY_TILES]
    return wide[-1] if wide else divisors[0] if divisors else min(width, 4)


def _even_factor(extent: int, limit: int) -> int:
    """Return the largest divisor of `extent` up to `limit`, or `limit` if it is far larger."""
    divisor = max(n for n in range(1, min(extent, limit) + 1) if extent % n == 0)
    return divisor if 4 * divisor > min(extent, limit) else min(extent, limit)


def _bind_tiles(s: Schedule, output: Tensor, tile: tuple[int, int], threads: int) -> IterVar:
    """Bind the tiles of the output to blocks and threads; return the innermost thread axis.

    Neighbors in x are neighboring threads: they share texels of the image, and read the same texel
    of weights at the same time. Rows and channels fill the block up to `threads`.
    """
    batch, groups, height, width, _ = _shape(output, 5)
    stage = s[output]
    n, o, y, x, out = stage.op.axis
    y, x, tile_y, tile_x = stage.tile(y, x, *tile)
    z = stage.fuse(n, o)
    axes = {
        "x": (x, -(-width // tile[1])),
        "y": (y, -(-height // tile[0])),
        "z": (z, batch * groups),
    }
    blocks: list[IterVar] = []
    inner: list[IterVar] = []
    for dimension, (axis, extent) in axes.items():
        factor = _even_factor(extent, threads)
        threads //= factor
        block, thread = stage.split(axis, factor=factor)
        stage.bind(block, te.thread_axis(f"blockIdx.{dimension}"))
        stage.bind(thread, te.thread_axis(f"threadIdx.{dimension}"))
        blocks.insert(0, block)
        inner.insert(0, thread)
    stage.reorder(*blocks, *inner, tile_y, tile_x, out)
    stage.unroll(tile_y)
    stage.unroll(tile_x)
    stage.vectorize(out)
    return inner[-1]
