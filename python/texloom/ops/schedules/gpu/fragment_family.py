"""The families of products and convolutions by matrix fragments, for GPUs with matrix units."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import product as combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import _core, te
from ...._core import IterVar, Schedule, Tensor
from ....extents import are_known
from ....profiles import DeviceProfile
from ....tir.fragments import FRAGMENT_SIDE
from ...contraction import Contraction
from ...divisors import vector_lanes
from ...stages import stages_of
from ..family import Family, KernelTask, Scheduled
from ..family.space import first_of_least
from .convolution_weights import OutputsLast
from .fragments import THREADS, FragmentTile, schedule_fragments
from .product_axes import ProductAxes, convolution_axes
from .product_tiles import MOST_BLOCKS_ALONG_Y

_PARTS = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 4), (2, 4))
_GROUPS = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 4), (4, 1), (2, 4))
_STEPS = (64, 32)
_SLICES = (1, 2, 4)
_PIECES = (1, 2, 3, 4, 6, 8, 12, 16)
_STAGES = (2, 3, 4, 6)
_LEAST_PIECE = 128  # steps of a piece
_MOST_THREADS = 256
_LEAST_ROWS = 9
_LANES = 8  # of the longest vectors

# How the kernels use a device, next to its profile: fitted to 1,422 times of 19 products of 10^7 to
# 10^9 operations, with a residual and with right factors that are in no cache, on an NVIDIA H200;
# times near the best of a product weigh most. The tile that is estimated to be the fastest takes
# 1.02 times the time of the best in the median, 1.23 times at worst.
_REGISTERS = 205  # of a thread
_KEPT = 1024  # bytes of shared memory that a driver keeps of each block
_STEP = 0.87  # latencies of memory that a step takes at least, by way of registers
_ASYNC_STEP = 0.57  # latencies of memory that asynchronous copies of a step take
_COPY = 0.0031  # latencies of memory in whose time a thread begins a copy
_BARRIERS = 0.04  # barriers in whose time each SIMD-group of a processor delays a step
_COPIED = 1.25  # of the common cache's rate, with which blocks copy factors
_PRODUCTS = 0.5125  # of the rate of matrix units, with which fragments are multiplied at most
_ROUND = 0.17  # latencies of memory in which blocks start and end
_LAST = 5.0  # latencies of memory that the last block of a tile takes more than others
_LAST_SUM_BYTES = 15.3  # bytes of a processor's part of the common cache in the time of a sum
_SUM_BYTES = 5.8  # bytes of the common cache whose time a sum of a piece takes in a second kernel
_SECOND = 1.6  # launches that a second kernel adds: 1.2 in a row, more in a network


@dataclass(frozen=True)
class FragmentProduct:
    """The facts of ``[batch, rows, steps] @ [batch, steps, columns]``.

    Attributes
    ----------
    batch, rows, columns, steps : int
    threads, shared_bytes : int
        The most of a block.
    factor_bytes : int
        Bytes of an element of a factor in shared memory.
    has_async_copies : bool
        Whether threads copy to shared memory without waiting, or run kernels that do by loops.
    has_fence : bool
        Whether the last block of a tile can read what other blocks wrote.
    """

    batch: int
    rows: int
    columns: int
    steps: int
    threads: int
    shared_bytes: int
    factor_bytes: int = 2
    has_async_copies: bool = False
    has_fence: bool = False


class FragmentFamily(Family[FragmentProduct, FragmentTile]):
    """Sums in float32 of products of float16, by fragments that SIMD-groups multiply.

    Metal's matrices multiply float32, too; NVIDIA's instructions would round it to TF32.
    """

    is_estimated = True
    reads_computed = False

    @abstractmethod
    def axes_of(self, task: KernelTask) -> ProductAxes | None:
        """Return the axes of a task that make it a product; None for other tasks.

        Requires known extents.
        """

    def facts_of(self, task: KernelTask) -> FragmentProduct | None:
        """Return the extents; None for targets without matrix units, and for few rows.

        Extents that only a call knows are left to other families, as tiles of fragments are whole.
        """
        sums, target = task.sums, task.target
        assert sums is not None
        if target.is_cpu or target.matrix_unit == "none" or sums.dtype != "float32":
            return None
        factors = _factor_type(sums)
        if factors != "float16" and (factors != "float32" or target.matrix_unit != "simdgroup"):
            return None
        reduced = [axis.dom.extent for axis in sums.op.reduce_axis]
        if not are_known((*sums.shape, *task.root.shape, *reduced)):
            return None
        axes = self.axes_of(task)
        if axes is None:
            return None
        rows = prod(axes.row_extents)
        columns, steps = (_count(each) for each in (axes.columns, axes.steps))
        batch = prod(int(extent) for extent in sums.shape) // (_count(axes.rows) * columns)
        if rows < _LEAST_ROWS or min(columns, steps) < FRAGMENT_SIDE:
            return None
        if columns > MOST_BLOCKS_ALONG_Y * FRAGMENT_SIDE:
            return None
        # Loops of threads keep float16 as float32, if the device does not compute with it.
        is_wide = factors == "float32" or target.matrix_unit == "loops"
        return FragmentProduct(
            batch,
            rows,
            columns,
            steps,
            target.max_threads,
            target.local_memory_bytes,
            4 if is_wide else 2,
            # Single elements of float16 are not copied asynchronously. Loops of threads copy at
            # once, in kernels that are like the others.
            target.matrix_unit in ("mma_sync", "loops") and min(axes.loaded) > 1,
            target.device_fence,
        )

    def points(self, facts: FragmentProduct) -> Iterator[tuple[FragmentTile, str | None]]:
        """Yield tiles, the smallest first."""
        tiles, numbers = _tiles(facts.has_async_copies, facts.has_fence)
        rules = _broken(facts, numbers)
        return ((tile, _RULES[rule]) for tile, rule in zip(tiles, rules, strict=True))

    def seconds(self, facts: FragmentProduct, knobs: FragmentTile, profile: DeviceProfile) -> float:
        """Return the time of all blocks, as many at a time as the processors hold."""
        return float(_seconds(facts, _Numbers.of([knobs]), profile)[0])

    def least(self, facts: FragmentProduct, profile: DeviceProfile) -> FragmentTile | None:
        """Return the tile with the least estimate; all are estimated at once."""
        tiles, numbers = _tiles(facts.has_async_copies, facts.has_fence)
        legal = np.flatnonzero(_broken(facts, numbers) == 0)
        place = first_of_least(_seconds(facts, numbers.at(legal), profile))
        return None if place is None else tiles[int(legal[place])]

    def apply(self, s: Schedule, task: KernelTask, knobs: FragmentTile) -> Scheduled:
        """Schedule a product, and later stages of the same kernel."""
        sums, axes = task.sums, self.axes_of(task)
        assert sums is not None and axes is not None
        inlined = _inlined(sums)
        for each in inlined:
            s[each].compute_inline()
        thread = schedule_fragments(s, sums, task.root, axes, knobs)
        return Scheduled(task.root, thread, {sums.op, task.root.op, *(t.op for t in inlined)})


@dataclass(frozen=True)
class _Numbers:
    """The numbers of several tiles, as arrays."""

    down: NDArray[np.int64]
    across: NDArray[np.int64]
    threads: NDArray[np.int64]
    steps: NDArray[np.int64]
    slices: NDArray[np.int64]
    pieces: NDArray[np.int64]
    stages: NDArray[np.int64]
    has_one_kernel: NDArray[np.int64]
    shared: NDArray[np.int64]  # bytes, with two bytes for an element of a factor
    wide_shared: NDArray[np.int64]  # with four

    @classmethod
    def of(cls, tiles: Sequence[FragmentTile]) -> _Numbers:
        rows = [
            (*t.block, t.threads, t.steps, t.slices, t.pieces, t.stages, t.has_one_kernel)
            + (t.shared_bytes(2), t.shared_bytes(4))
            for t in tiles
        ]
        return cls(*np.array(rows, "int64").reshape(len(rows), len(fields(cls))).T)

    def at(self, places: NDArray[np.int64]) -> _Numbers:
        return _Numbers(*(getattr(self, each.name)[places] for each in fields(self)))

    def shared_bytes(self, factor_bytes: int) -> NDArray[np.int64]:
        return self.shared if factor_bytes == 2 else self.wide_shared


@lru_cache(maxsize=4)
def _tiles(has_async_copies: bool, has_fence: bool) -> tuple[list[FragmentTile], _Numbers]:
    """Return all tiles for a kind of device, and their numbers."""
    stages = _STAGES if has_async_copies else _STAGES[:1]
    whole = [
        FragmentTile(parts, groups, steps, slices, 1, in_flight)
        for parts, groups, steps, slices, in_flight in combinations(
            _PARTS, _GROUPS, _STEPS, _SLICES, stages
        )
        if steps // slices >= FRAGMENT_SIDE
    ]
    cut = [
        FragmentTile(parts, groups, steps, 1, pieces, in_flight, has_fence)
        for parts, groups, steps, pieces, in_flight in combinations(
            _PARTS, _GROUPS, _STEPS, _PIECES[1:], stages
        )
    ]
    return [*whole, *cut], _Numbers.of([*whole, *cut])


_RULES = (None, "threads", "shared memory", "rows and columns", "steps")


def _broken(facts: FragmentProduct, tiles: _Numbers) -> NDArray[np.int64]:
    """Return the place in `_RULES` of the first rule that each tile breaks, or 0."""
    own = facts.steps // tiles.pieces
    # Drivers keep some bytes of shared memory for themselves.
    breaks = [
        tiles.threads > min(facts.threads, _MOST_THREADS),
        tiles.shared_bytes(facts.factor_bytes) >= facts.shared_bytes,
        (tiles.down >= facts.rows + FRAGMENT_SIDE)
        | (tiles.across >= facts.columns + FRAGMENT_SIDE),
        ((tiles.pieces > 1) & (own < np.maximum(_LEAST_PIECE, tiles.steps)))
        | ((tiles.stages > 2) & (own < (tiles.stages - 1) * tiles.steps)),
    ]
    return np.select(breaks, range(1, len(_RULES)), 0)


def _seconds(
    facts: FragmentProduct, tiles: _Numbers, profile: DeviceProfile
) -> NDArray[np.float64]:
    processors, latency = profile.processors, profile.latency_seconds
    groups = tiles.threads // THREADS
    area = tiles.down * tiles.across
    outputs = facts.batch * -(-facts.rows // tiles.down) * -(-facts.columns // tiles.across)
    turns = -(-facts.steps // (tiles.pieces * tiles.steps))
    own = -(-(outputs * tiles.pieces) // processors)
    shared = tiles.shared_bytes(facts.factor_bytes) + _KEPT
    at_once = profile.held_blocks(tiles.threads, shared, _REGISTERS)
    full, rest = np.divmod(own, at_once)
    read = (tiles.down + tiles.across) * tiles.steps
    copied = 2 * read / (_COPIED * profile.cache_rate / processors)
    products = area * tiles.steps / (_PRODUCTS * profile.matrix_rate / processors)
    in_flight = np.minimum(tiles.stages - 1, turns)
    alone = latency * np.where(tiles.stages == 2, _STEP, _ASYNC_STEP / in_flight)
    alone += latency * _COPY * read / _LANES / tiles.threads
    waiting = _BARRIERS * profile.barrier_seconds * groups

    def step(held: NDArray[np.int64]) -> NDArray[np.float64]:
        spent = np.maximum(held * products, held * (copied + waiting) + alone)
        return np.where(held > 0, spent, 0.0)

    spent = (full * step(at_once) + step(rest)) * turns
    spent += profile.launch_seconds + _ROUND * latency * (full + (rest > 0))
    sums = -(-outputs // processors) * tiles.pieces * area * _LAST_SUM_BYTES * processors
    last = _LAST * latency + sums / profile.cache_rate
    sums = tiles.pieces * facts.batch * facts.rows * facts.columns * _SUM_BYTES
    second = _SECOND * profile.launch_seconds + sums / profile.cache_rate
    return spent + np.where(tiles.has_one_kernel, last, np.where(tiles.pieces > 1, second, 0.0))


def _count(axes: list[IterVar]) -> int:
    return prod(int(axis.dom.extent) for axis in axes)


def _factor_type(sums: Tensor) -> str | None:
    """Return the type of both factors in memory; None if they differ, or one has values computed.

    Between memory and the sums may be stages that only pad, move and convert elements.
    """
    types = {_stored_type(each) for each in sums.op.input_tensors}
    return types.pop() if len(types) == 1 else None


def _stored_type(tensor: Tensor) -> str | None:
    while tensor.dtype != "float16" and isinstance(tensor.op, te.ComputeOp):
        op = tensor.op
        if op.reduce_axis or len(op.input_tensors) != 1:
            return None
        (tensor,) = op.input_tensors
    return tensor.dtype


def _inlined(sums: Tensor) -> list[Tensor]:
    """Return the stages between the factors in memory and the sums."""
    return [each for each in stages_of(sums.op.input_tensors) if each.dtype != "float16"]


def _most_lanes(task: KernelTask) -> int:
    """Return the lanes of the longest vectors, which Metal's language has of up to four."""
    return 4 if task.target.matrix_unit == "simdgroup" else _LANES


class FragmentProducts(FragmentFamily):
    """Products of matrices in row-major order, whose factors may be transposed."""

    name = "products by fragments"

    def axes_of(self, task: KernelTask) -> ProductAxes | None:
        """Return the axes of ``sum(a[..., i, k] * b[..., k, j], axis=k)``, or transposed ones."""
        sums, root = task.sums, task.root
        assert sums is not None
        roles = Contraction.of(sums)
        axes, reduced = list(sums.op.axis), list(sums.op.reduce_axis)
        if roles is None or roles.is_convolution or roles.rows != len(axes) - 2:
            return None
        extents = [int(axis.dom.extent) for axis in (*axes, *reduced)]
        written = [int(extent) for extent in root.shape]
        if len(reduced) != 1 or written != extents[: len(axes)]:
            return None
        rows, columns, steps = extents[-3:]
        if roles.rows_per_group < rows or len(sums.op.input_tensors) != 2:
            return None
        loads = list(_core.loads_of(sums.op.body[0]))
        if len(loads) != 2:
            return None
        (k,), (row, column) = reduced, axes[-2:]
        transposed = [_is_transposed(*each) for each in ((loads[0], row, k), (loads[1], k, column))]
        if None in transposed:
            return None
        left, right = (bool(each) for each in transposed)
        most = _most_lanes(task)
        return ProductAxes(
            [row],
            [column],
            [k],
            (rows,),
            (left, right),
            lambda stage: (stage.op.axis[-2], stage.op.axis[-1]),
            vector_lanes(columns, most),
            (
                vector_lanes(rows if left else steps, most),
                vector_lanes(steps if right else columns, most),
            ),
        )


def _is_transposed(load: Any, row: IterVar, column: IterVar) -> bool | None:
    """Whether a load is of ``[..., column, row]``; None if it is neither that nor the opposite."""
    indices = list(load.indices)[-2:]
    for wanted, answer in (((row, column), False), ((column, row), True)):
        if len(indices) == 2 and all(
            index.same_as(axis.var) for index, axis in zip(indices, wanted, strict=True)
        ):
            return answer
    return None


class FragmentConvolutions(OutputsLast, FragmentFamily):
    """Convolutions with channels last, as products of the pixels of windows and the weights."""

    name = "convolutions by fragments"

    def axes_of(self, task: KernelTask) -> ProductAxes | None:
        """Return the axes of a convolution without groups, of whole vectors of channels."""
        return convolution_axes(task, _LANES, _most_lanes(task))


PRODUCTS, CONVOLUTIONS = FragmentProducts(), FragmentConvolutions()

__all__ = ["CONVOLUTIONS", "PRODUCTS", "FragmentConvolutions", "FragmentFamily", "FragmentProducts"]
