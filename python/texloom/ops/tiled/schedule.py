"""The default schedule of products of packed matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ... import _core, te
from ..._core import Schedule, TargetValue, Tensor
from ...extents import Extent, plain
from ...target import Mmt4dTile, Target, mmt4d_tiles, resolve
from ..schedules import schedule_default
from ..schedules.stages import stages_of
from .computations import PACKED, PRODUCT
from .intrinsic import LIBRARY, mmt4d_intrinsic

_BYTES = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
}

# What a block of a product may keep in the caches of its core, in bytes: a panel of the right side
# in the first level beside one of the left side, and panels of the left side in the second level.
_PANEL_BYTES = 16 << 10
_LEFT_BYTES = 352 << 10
# The sums of a block are in the second level, too, if they are read again.
_SUMS_BYTES = 128 << 10
# Fewer blocks than this leave threads idle at the end.
_BLOCKS = 16
_LANES = 16


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


def _divisors(n: int) -> Iterator[int]:
    """Return the divisors of a number, the largest first."""
    return (each for each in range(n, 0, -1) if n % each == 0)


def _block(extent: int, most: int) -> int:
    """Return the largest block that divides the extent, or blocks of about equal size."""
    most = max(1, min(most, extent))
    best = next(each for each in _divisors(extent) if each <= most)
    return best if 3 * best >= most else -(-extent // -(-extent // most))


def _steps(extent: int, most: int) -> int:
    """Return the steps of a call, which divide the extent; all if no divisor is large enough."""
    best = next(each for each in _divisors(extent) if each <= max(1, most))
    return best if 3 * best >= most else extent


def blocks_of(m1: int, n1: int, k1: int, tile: Mmt4dTile, item: int, batch: int = 1) -> Blocks:
    """Return the blocks of a product whose elements have `item` bytes."""
    steps = _steps(k1, _PANEL_BYTES // (tile.n0 * tile.k0 * item))
    m = _block(m1, _LEFT_BYTES // (steps * tile.m0 * tile.k0 * item))
    n = _block(n1, max(1, _SUMS_BYTES // (m * tile.m0 * tile.n0 * 4)))
    while n > 1 and batch * -(-m1 // m) * -(-n1 // n) < _BLOCKS:
        n = _block(n1, n // 2)
    return Blocks(m, n, steps)


def _constant(shape: Sequence[Extent]) -> list[int] | None:
    extents = [plain(n) for n in shape]
    return extents if all(isinstance(n, int) for n in extents) else None


def _kernel_of(sums: Tensor, target: TargetValue) -> Mmt4dTile | None:
    """Return the most capable micro-kernel that computes the product, or None."""
    left, right = sums.op.input_tensors[0], sums.op.input_tensors[-1]
    shape = _constant([*left.shape[-4:], right.shape[-2]])
    if shape is None:
        return None
    _, _, m0, k0, n0 = shape
    fitting = [
        each
        for each in mmt4d_tiles(left.dtype, right.dtype, target)
        if (each.m0, each.n0, each.k0) == (m0, n0, k0)
    ]
    return fitting[-1] if fitting else None


def _schedule_product(s: Schedule, sums: Tensor, target: TargetValue) -> None:
    tile = _kernel_of(sums, target)
    left, right = sums.op.input_tensors[0], sums.op.input_tensors[-1]
    if tile is None or tile.kernel.endswith("_generic"):
        shape = "x".join(str(n) for n in (*sums.shape[-2:], left.shape[-1]))
        _core.warn(
            "NotProvided",
            f"the target '{target}' has no micro-kernel of its own for tiles {shape} of "
            f"{left.dtype} x {right.dtype}: "
            + ("plain loops" if tile is None else "generic C")
            + " compute the product",
            "pack by texloom.target.mmt4d_tile, and name the processor: -mcpu=native",
        )
    if tile is None:
        _schedule_loops(s, sums)
        return
    *batch, m1, n1, m0, n0 = s[sums].op.axis
    k1, k0 = s[sums].op.reduce_axis
    extents = _constant(sums.shape)
    counts = [1, 1, 1] if extents is None else [*extents[:-2]]
    outer = 1
    for n in counts[:-2]:
        outer *= n
    steps = plain(left.shape[-3])
    blocks = blocks_of(counts[-2], counts[-1], steps, tile, _BYTES[left.dtype], outer)
    m_outer, m_inner = s[sums].split(m1, factor=blocks.m)
    n_outer, n_inner = s[sums].split(n1, factor=blocks.n)
    k_outer, k_inner = s[sums].split(k1, factor=blocks.k)
    s[sums].reorder(*batch, m_outer, n_outer, k_outer, n_inner, m_inner, m0, n0, k_inner, k0)
    block = s[sums].fuse(*batch, m_outer, n_outer)
    s[sums].parallel(block)
    s[sums].tensorize(m0, mmt4d_intrinsic(tile, blocks.k, left.dtype, right.dtype))
    s[sums].pragma(block, "import_library", LIBRARY)


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


def _schedule_elements(s: Schedule, tensor: Tensor) -> None:
    """Compute the first axes in parallel, and the last in vectors."""
    *outer, last = s[tensor].op.axis
    if tensor.op.tag == PACKED:
        *outer, rows, last = s[tensor].op.axis
        outer, step = outer[:-1], outer[-1]
        s[tensor].parallel(s[tensor].fuse(*outer))
        del rows, step
        return
    if outer:
        s[tensor].parallel(s[tensor].fuse(*outer))
    extent = plain(tensor.shape[-1])
    if isinstance(extent, int) and extent % _LANES == 0:
        s[tensor].vectorize(s[tensor].split(last, factor=_LANES)[1])


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
    # Outputs are computed as a whole, also the padding that nobody reads: micro-kernels need tiles.
    tiles = [each.op for each in stages if each.op.tag == PRODUCT]
    s = te.create_schedule(list(dict.fromkeys([*(each.op for each in outputs), *tiles])))
    for each in stages:
        if each.op.tag == PRODUCT:
            _schedule_product(s, each, value)
        else:
            _schedule_elements(s, each)
    return s


__all__ = ["Blocks", "blocks_of", "schedule_mmt4d"]
