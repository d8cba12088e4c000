"""The default schedule of products of packed matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ... import _core, te
from ..._core import Schedule, TargetValue, Tensor
from ...dtypes import bytes_of
from ...extents import Extent, plain
from ...target import Mmt4dTile, Target, mmt4d_tiles, resolve
from ..divisors import largest_divisor
from ..schedules import schedule_default
from ..schedules.processor.panels import LEFT_BYTES, feeds_products
from ..schedules.processor.registers import Registers
from ..stages import stages_of
from .computations import PACKED, PRODUCT
from .epilogues import Epilogue, epilogues_of
from .fragments import LANES, compute_elements, compute_row, fits_in_registers, schedule_fragments
from .intrinsic import LIBRARY, mmt4d_intrinsic

# What a panel of the right side may have, in bytes: in the first level of the cache, beside one of
# the left side, or in the second level where that is large and fast enough
# (`panels.feeds_products`). Blocks keep panels of the left side in the second level.
_PANEL_BYTES = 16 << 10
_WIDE_PANEL_BYTES = 128 << 10
# The sums of a block are read again for each panel of steps. Sums that are unpacked at once are
# local to a thread: on the stack if a panel has all steps, otherwise in memory that is allocated
# for several blocks, of which targets allow 256 KiB.
_SUMS_BYTES = 240 << 10
_STACK_BYTES = 56 << 10
# Fewer blocks than this leave threads idle at the end.
_BLOCKS = 16


@dataclass(frozen=True)
class Blocks:
    """How many tiles along each axis form a block.

    Attributes
    ----------
    m, n : int
        A block of sums is the work of one thread at a time.
    k : int
        The steps of k1 that one call of the micro-kernel adds.
    """

    m: int
    n: int
    k: int


def _block(extent: int, most: int) -> int:
    """Return the largest block that divides the extent, or blocks of about equal size."""
    most = max(1, min(most, extent))
    best = largest_divisor(extent, most) or 1
    return best if 3 * best >= most else -(-extent // -(-extent // most))


def _steps(extent: int, most: int) -> int:
    """Return the steps of a call, which divide the extent; all if they are few, or it is prime."""
    if extent <= 2 * most:
        return extent
    best = largest_divisor(extent, most) or 1
    return best if 3 * best >= most else extent


def blocks_of(
    m1: int,
    n1: int,
    k1: int,
    tile: Mmt4dTile,
    item: int,
    *,
    registers: Registers,
    batch: int = 1,
    is_local: bool = False,
) -> Blocks:
    """Return the blocks of products.

    Parameters
    ----------
    item : int
        The bytes of an element of the left side.
    registers : Registers
        The target's.
    batch : int
        The number of products.
    is_local : bool
        Whether the sums of a block are local to its thread.
    """
    panel = _WIDE_PANEL_BYTES if feeds_products(registers) else _PANEL_BYTES
    steps = _steps(k1, panel // (tile.n0 * tile.k0 * item))
    sums_bytes = _STACK_BYTES if is_local and steps == k1 else _SUMS_BYTES
    of_tile = tile.m0 * tile.n0 * (8 if item == 8 else 4)
    m = _block(m1, min(LEFT_BYTES // (steps * tile.m0 * tile.k0 * item), sums_bytes // of_tile))
    n = _block(n1, max(1, sums_bytes // (m * of_tile)))
    while n > 1 and batch * -(-m1 // m) * -(-n1 // n) < _BLOCKS:
        n = _block(n1, n // 2)
    return Blocks(m, n, steps)


def _constant(shape: Sequence[Extent]) -> list[int] | None:
    extents = [plain(n) for n in shape]
    return extents if all(isinstance(n, int) for n in extents) else None


def _kernel_of(sums: Tensor, target: TargetValue) -> Mmt4dTile | None:
    """Return the most capable micro-kernel that computes the product, or None."""
    left, right = sums.op.input_tensors[0], sums.op.input_tensors[-1]
    # Micro-kernels take arrays of constant strides.
    shape = _constant([*left.shape, *right.shape])
    if shape is None:
        return None
    m0, k0, n0 = (int(n) for n in (*left.shape[-2:], right.shape[-2]))
    fitting = [
        each
        for each in mmt4d_tiles(left.dtype, right.dtype, target)
        if (each.m0, each.n0, each.k0) == (m0, n0, k0)
    ]
    return fitting[-1] if fitting else None


def _remark(sums: Tensor, tile: Mmt4dTile | None, target: TargetValue) -> None:
    """Warn if no micro-kernel of the target's own features computes the product."""
    if tile is not None and not tile.kernel.endswith("_generic"):
        return
    left = sums.op.input_tensors[0]
    shape = "x".join(str(n) for n in (*sums.shape[-2:], left.shape[-1]))
    _core.warn(
        "NotProvided",
        f"the target '{target}' has no micro-kernel of its own for tiles {shape} of {left.dtype} x "
        f"{sums.op.input_tensors[-1].dtype}: "
        f"{'plain loops' if tile is None else 'generic C'} compute the product",
        "pack by texloom.target.mmt4d_tile, and name the processor: -mcpu=native",
    )


def _blocks(sums: Tensor, tile: Mmt4dTile, target: TargetValue, *, is_local: bool) -> Blocks:
    *batch, m1, n1 = _constant(sums.shape[:-2])
    left = sums.op.input_tensors[0]
    return blocks_of(
        m1,
        n1,
        plain(left.shape[-3]),
        tile,
        bytes_of(left.dtype),
        registers=Registers.of(target),
        batch=prod(batch),
        is_local=is_local,
    )


def _tensorize(s: Schedule, sums: Tensor, tile: Mmt4dTile, blocks: Blocks) -> None:
    """Compute the tiles of a block: the micro-kernel replaces the four inner axes.

    The panel of the right side stays in the first level of the cache while the left side's panels
    pass, which stay in the second level.
    """
    left, right = sums.op.input_tensors[0], sums.op.input_tensors[-1]
    *_, m1, n1, m0, n0 = s[sums].leaf_iter_vars[:-2]
    k1, k0 = s[sums].op.reduce_axis
    k_outer, k_inner = s[sums].split(k1, factor=blocks.k)
    s[sums].reorder(k_outer, n1, m1, m0, n0, k_inner, k0)
    s[sums].tensorize(m0, mmt4d_intrinsic(tile, blocks.k, left.dtype, right.dtype))
    s[sums].pragma(n1, "import_library", LIBRARY)


def _schedule_tiles(s: Schedule, sums: Tensor, tile: Mmt4dTile, target: TargetValue) -> None:
    """Compute blocks of packed sums in parallel."""
    blocks = _blocks(sums, tile, target, is_local=False)
    *batch, m1, n1, m0, n0 = s[sums].op.axis
    m_outer, m_inner = s[sums].split(m1, factor=blocks.m)
    n_outer, n_inner = s[sums].split(n1, factor=blocks.n)
    s[sums].reorder(*batch, m_outer, n_outer, m_inner, n_inner, m0, n0, *s[sums].op.reduce_axis)
    s[sums].parallel(s[sums].fuse(*batch, m_outer, n_outer))
    _tensorize(s, sums, tile, blocks)


def _schedule_unpacked(
    s: Schedule, epilogue: Epilogue, tile: Mmt4dTile, target: TargetValue
) -> None:
    """Compute blocks of a matrix in parallel, each from tiles that no other thread sees."""
    sums, matrix = epilogue.sums, epilogue.result
    if fits_in_registers(epilogue, tile, bytes_of(sums.op.input_tensors[0].dtype)):
        schedule_fragments(s, epilogue, tile, _block, _BLOCKS)
        return
    blocks = _blocks(sums, tile, target, is_local=True)
    *batch, row, column = s[matrix].op.axis
    row_outer, row_inner = s[matrix].split(row, factor=blocks.m * tile.m0)
    column_outer, column_inner = s[matrix].split(column, factor=blocks.n * tile.n0)
    column_inner, lanes = s[matrix].split(column_inner, factor=tile.n0)
    s[matrix].reorder(*batch, row_outer, column_outer, row_inner, column_inner, lanes)
    block = s[matrix].fuse(*batch, row_outer, column_outer)
    s[matrix].parallel(block)
    compute_row(s[matrix], lanes, tile.n0)
    compute_elements(s, epilogue, column_inner)
    s[sums].set_scope("local")
    s[sums].compute_at(s[matrix], block)
    _tensorize(s, sums, tile, blocks)


def _schedule_loops(s: Schedule, sums: Tensor) -> None:
    """Let loops compute the tiles: the sums are in registers, a vector for each row."""
    local = s.cache_write(sums, "local")
    *outer, m0, n0 = s[sums].op.axis
    block = s[sums].fuse(*outer)
    s[sums].parallel(block)
    s[local].compute_at(s[sums], block)
    *_, m, n = s[local].op.axis
    k1, k0 = s[local].op.reduce_axis
    s[local].reorder(k1, k0, m, n)
    s[local].unroll(m)
    s[local].vectorize(n)
    del m0
    s[sums].vectorize(n0)


def _schedule_pack(s: Schedule, packed: Tensor) -> None:
    """Copy panels in parallel, so that LLVM can transpose vectors of steps."""
    *outer, _, rows, columns = s[packed].op.axis
    s[packed].parallel(s[packed].fuse(*outer))
    s[packed].unroll(rows)
    s[packed].unroll(columns)


def _schedule_elements(s: Schedule, tensor: Tensor) -> None:
    """Compute the first axes in parallel, and the last in vectors."""
    *outer, last = s[tensor].op.axis
    if outer:
        s[tensor].parallel(s[tensor].fuse(*outer))
    extent = plain(tensor.shape[-1])
    if isinstance(extent, int) and extent % LANES == 0:
        s[tensor].vectorize(s[tensor].split(last, factor=LANES)[1])


def schedule_mmt4d(
    outputs: Tensor | Sequence[Tensor], target: str | Target | TargetValue | None = None
) -> Schedule:
    """Return a schedule for a product of packed matrices, and what is packed and computed of it.

    On the target ``"llvm"``, blocks of tiles run in parallel, and a micro-kernel computes each
    tile. For other targets, it is the default schedule.

    Parameters
    ----------
    outputs : Tensor or sequence of Tensor
        The product by :func:`texloom.ops.tiled.mmt4d`, or what is computed of it.
    target : str or Target, optional
        The current target by default.

    Warns
    -----
    TexloomWarning
        TL2042 if the target has no micro-kernel of its own for these tiles and types.
    """
    outputs = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    value = resolve(target)
    stages = stages_of(outputs)
    if value.kind != "llvm":
        inputs = {
            each
            for stage in stages
            for each in stage.op.input_tensors
            if isinstance(each.op, te.PlaceholderOp)
        }
        scopes = ["global"] * (len(inputs) + len(outputs))
        return schedule_default(outputs, list(inputs), scopes, value)
    kernels = {each.op: _kernel_of(each, value) for each in stages if each.op.tag == PRODUCT}
    products = [each for each in stages if kernels.get(each.op) is not None]
    joined = {each.sums.op: each for each in epilogues_of(products, stages, outputs)}
    # Outputs are computed as a whole, also the padding that nobody reads: micro-kernels need tiles.
    whole = [op for op in kernels if op not in joined]
    s = te.create_schedule(list(dict.fromkeys([*(each.op for each in outputs), *whole])))
    done = {x.op for each in joined.values() for x in (*each.inner, each.result)}
    for each in stages:
        tile = kernels.get(each.op)
        if each.op.tag == PRODUCT:
            _remark(each, tile, value)
        if each.op in joined:
            _schedule_unpacked(s, joined[each.op], tile, value)
        elif tile is not None:
            _schedule_tiles(s, each, tile, value)
        elif each.op.tag == PRODUCT:
            _schedule_loops(s, each)
        elif each.op.tag == PACKED:
            _schedule_pack(s, each)
        elif each.op not in done:
            _schedule_elements(s, each)
    return s


__all__ = ["Blocks", "blocks_of", "schedule_mmt4d"]
