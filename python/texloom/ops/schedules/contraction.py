"""Schedules of sums of products: convolutions and products of matrices, from buffers."""

from __future__ import annotations

from ... import te
from ..._core import IterVar, Schedule, TargetValue, Tensor
from ...extents import likely, number_of, product
from ...profiles import profile_of
from ..contraction import Contraction
from .contraction_kernels import stored_inputs
from .gpu import products as gpu_products
from .gpu import slices
from .gpu_tiles import gpu_tile
from .processor.products import ProductTile, schedule_product
from .processor.registers import Registers
from .register_tiles import Tile, even_rows, lanes_of, schedule_tiles


def schedule_contraction(s: Schedule, sums: Tensor, root: Tensor, target: TargetValue) -> IterVar:
    """Schedule a sum of products, and later stages of the same kernel.

    Extents need not be divisible by the extents of tiles.

    Parameters
    ----------
    s : Schedule
    sums : Tensor
        A reduction with a :class:`texloom.ops.contraction.Contraction`.
    root : Tensor
        The stage that the kernel writes: `sums`, or a stage with the axes of `sums` that reads it
        element by element; a single axis of columns of `sums` may stand for several axes of `root`.
        Stages between `sums` and `root` must be inlined.
    target : TargetValue

    Returns
    -------
    IterVar
        The innermost axis of threads.
    """
    for each in stored_inputs(sums):
        _schedule_elements(s, each)
    own = ProductTile.of(sums, root, target)
    if own is not None:
        return schedule_product(s, sums, root, own)
    in_slices = slices.Slices.of_product(sums, root, target)
    if in_slices is not None:
        return slices.schedule_product(s, sums, root, in_slices)
    of_block = gpu_products.ProductTile.of(sums, root, target)
    if of_block is not None:
        return gpu_products.schedule_product(s, sums, root, of_block)
    written = likely(product(root.shape[len(sums.shape) - 1 :]))
    if target.is_cpu:
        tile = _processor_tile(sums, written, Registers.of(target))
    else:
        tile = gpu_tile(sums, written, profile_of(target), target.max_threads)
    return schedule_tiles(s, sums, root, tile, written)


def _processor_tile(sums: Tensor, written: int, registers: Registers) -> Tile:
    """Return the tile for sums of which `written` columns are written."""
    roles = Contraction.of(sums)
    assert roles is not None
    extents = [likely(extent) for extent in sums.shape]
    rows = extents[roles.rows] if roles.rows is not None else 1
    lanes = lanes_of(extents[-1], registers.bytes // (8 if sums.dtype.endswith("64") else 4))
    most_rows = registers.most_rows(2)
    own_rows = even_rows(rows, roles.rows_per_group, most_rows)
    # The device's compiler may combine scalar elements into vectors.
    vectors = 16 if lanes == 1 else max(2, most_rows // own_rows)
    # A tile that is wider than the written stage would be cut, and so would its vectors.
    vectors = max(1, min(vectors, written // lanes))
    while lanes > written:
        lanes //= 2
    has_any_end = lanes == 1 and number_of(sums.shape[-1]) is None
    return Tile(own_rows, vectors, lanes, (1, 1), is_unrolled=not has_any_end)


def _schedule_elements(s: Schedule, tensor: Tensor) -> None:
    """Compute a tensor in a kernel of its own, with a thread for each element."""
    block, thread = s[tensor].split(s[tensor].fuse(*s[tensor].op.axis), 64)
    s[tensor].bind(block, te.thread_axis("blockIdx.x"))
    s[tensor].bind(thread, te.thread_axis("threadIdx.x"))


__all__ = ["schedule_contraction"]
