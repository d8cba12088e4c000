"""Schedules for GPUs of sums with few results, whose terms the threads of a block share.

Examples are products of few rows by a matrix, and means over the pixels of images with channels
last. Their time is the time to read the terms once. The threads of a block share some columns: each
adds up every n-th term of a vector of columns. The block then adds up these sums in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from .... import _core, te
from ...._core import IterVar, Schedule, Stage, TargetValue, Tensor
from ....dtypes import bytes_of
from ....extents import likely, number_of
from ....profiles import DeviceProfile, profile_of
from ...contraction import Contraction
from ...divisors import largest_divisor
from ...stages import rank_of_inputs, stored_source
from ..channels_last.axes import in_registers, vectorize
from ..family import Family, KernelTask, Scheduled
from .tiles import lanes_of

_MOST_ROWS = 8
_MANY_TERMS = 1024
_LANES = (4, 2, 1)  # those of vector types
_MOST_LANES = _LANES[0]
_THREADS = 256
UNROLLED = 8
"""The terms whose loads of a thread are in flight."""
_LEAST_THREADS = 32
_COUNTS = tuple(1 << n for n in range(9))
"""Vectors of a block, and threads that share a vector: powers of two up to 256."""
_BYTES = {"float32": 4, "int32": 4, "float64": 8}
"""The bytes of the types that are added up."""

# How products of few rows use a device, next to its profile: fitted to 640 times of 20 products of
# 1, 4 and 8 rows by matrices of float32 and float16 that are in no cache, on an NVIDIA H200. The
# knobs that are estimated to be the fastest take 1.08 times the time of the best in the median,
# 1.35 times at worst.
_LOADS = 1.74  # latencies of memory in which a thread loads UNROLLED terms
_READ = 1.47  # of the memory's rate, with which all processors read
# Fused products in whose time a thread multiplies an element, which it first converts.
_PRODUCT = 20
_SLICE = 0.39  # barriers in whose time a block adds up a slice


@dataclass(frozen=True)
class Slices:
    """The knobs of the schedule.

    Attributes
    ----------
    columns, lanes : int
        The vectors of columns of a block, and the columns of a vector.
    slices : int
        The threads that share the terms of a vector.
    """

    columns: int
    lanes: int
    slices: int

    @classmethod
    def of(cls, columns: int, terms: int, threads: int, read_bytes: int) -> Slices:
        """Return the knobs for so many columns and terms, for blocks of at most so many threads.

        The threads of a slice read `read_bytes` bytes of float32 together.
        """
        most_columns = max(_MOST_LANES, read_bytes // 4)
        lanes = lanes_of(columns)
        across = min(most_columns // lanes, -(-columns // lanes), threads)
        slices = min(threads // across, terms)
        return cls(across, lanes, largest_divisor(terms, slices, slices // 2) or slices)


@dataclass(frozen=True)
class Terms:
    """The facts of sums with few results.

    Attributes
    ----------
    columns, terms : int
        The results of a row, and the terms of each.
    threads : int
        The most threads of a block.
    read_bytes : int
        What the threads of a slice read together.
    """

    columns: int
    terms: int
    threads: int
    read_bytes: int


@dataclass(frozen=True)
class ProductTerms(Terms):
    """The facts of a product of few rows.

    Attributes
    ----------
    rows : int
    batch : int
        Products that are alike.
    element_bytes : int
        Bytes of an element of the matrix.
    """

    rows: int
    batch: int
    element_bytes: int


class _InSlices(Family[Terms, Slices]):
    """Sums whose terms the threads of a block share."""

    def points(self, facts: Terms) -> Iterator[tuple[Slices, str | None]]:
        """Yield the knobs of :meth:`Slices.of` first: wide vectors, and as many slices as fit."""
        columns, terms, threads = facts.columns, facts.terms, facts.threads
        yield Slices.of(columns, terms, threads, facts.read_bytes), None
        for lanes in (n for n in _LANES if columns % n == 0):
            for across in (n for n in _COUNTS if n <= -(-columns // lanes)):
                for slices in (n for n in _COUNTS if n <= terms):
                    fits = across * slices <= threads
                    yield Slices(across, lanes, slices), None if fits else "threads of a block"


class SlicedProducts(_InSlices):
    """Products of few rows by a matrix."""

    name = "products of few rows"
    is_estimated = True

    def facts_of(self, task: KernelTask) -> ProductTerms | None:
        """Return the facts of a product of few rows; else None."""
        sums, root = task.sums, task.root
        assert sums is not None
        if len(root.shape) != len(sums.shape) or not has_few_rows(sums):
            return None
        terms, columns = map(number_of, (sums.op.reduce_axis[0].dom.extent, root.shape[-1]))
        if terms is None or columns is None or columns != number_of(sums.shape[-1]):
            return None
        rows = rows_of(sums) or 0
        threads = threads_for(rows, sums.dtype, task.target)
        if threads is None:
            return None
        # Open extents before the rows count once.
        batch = prod(number_of(extent) or 1 for extent in sums.shape) // max(columns * rows, 1)
        size = bytes_of(stored_source(sums.op.input_tensors[-1]).dtype)
        return ProductTerms(
            columns, terms, threads, task.profile.line_bytes, rows, max(batch, 1), size
        )

    def seconds(self, facts: Terms, knobs: Slices, profile: DeviceProfile) -> float:
        """Return the time of all blocks, as many at a time as the processors hold."""
        assert isinstance(facts, ProductTerms)
        # Smaller blocks than of two SIMD-groups were not measured: they count as two.
        threads = max(knobs.columns * knobs.slices, 2 * profile.warp_threads)
        steps = -(-facts.terms // knobs.slices)
        sums = threads * knobs.lanes * facts.rows
        width = knobs.columns * knobs.lanes
        own = -(-facts.batch * -(-facts.columns // width) // profile.processors)
        held = int(profile.held_blocks(threads, _BYTES["float32"] * sums))
        # The columns of a block are whole sectors of a row of the matrix.
        row = width * facts.element_bytes
        read = steps * knobs.slices * -(-row // profile.sector_bytes) * profile.sector_bytes
        loaded = read / (_READ * profile.memory_rate / profile.processors)
        multiplied = _PRODUCT * steps * sums / (profile.fma_rate / profile.processors)
        alone = -(-steps // UNROLLED) * _LOADS * profile.latency_seconds
        added = knobs.slices * facts.rows**0.5 * _SLICE * profile.barrier_seconds

        def spent(blocks: int) -> float:
            return max(alone, blocks * loaded) + blocks * multiplied + added if blocks else 0.0

        full, rest = divmod(own, held)
        return profile.launch_seconds + full * spent(held) + spent(rest)

    def apply(self, s: Schedule, task: KernelTask, knobs: Slices) -> Scheduled:
        """Schedule a product of few rows, and later stages of the same kernel."""
        assert task.sums is not None
        thread = schedule_product(s, task.sums, task.root, knobs)
        return Scheduled(task.root, thread, {task.sums.op, task.root.op})


class SlicedPixels(_InSlices):
    """Reductions of all pixels of images with channels last."""

    name = "reductions of all pixels"

    def facts_of(self, task: KernelTask) -> Terms | None:
        """Return the facts of a reduction of all pixels of ``[N, C, ...]``; else None."""
        sums, root = task.sums, task.root
        assert sums is not None
        is_plain = sums.op.num_outputs == 1 and len(sums.shape) == len(root.shape) >= 2
        threads = threads_for(1, sums.dtype, task.target)
        if not task.has_channels_last or not is_plain or threads is None:
            return None
        if Contraction.of(sums) is not None:
            return None
        if any(number_of(extent) != 1 for extent in (*sums.shape[2:], *root.shape[2:])):
            return None
        terms = [number_of(axis.dom.extent) for axis in sums.op.reduce_axis]
        if len(terms) != rank_of_inputs(sums) - 2:
            return None
        channels = number_of(sums.shape[1])
        if None in terms or channels is None or not _reads_own_pixels(sums):
            return None
        count = prod(each for each in terms if each is not None)
        read = task.profile.sector_bytes if count >= _MANY_TERMS else task.profile.line_bytes
        return Terms(channels, count, threads, read)

    def apply(self, s: Schedule, task: KernelTask, knobs: Slices) -> Scheduled:
        """Schedule a reduction of all pixels, and later stages of the same kernel."""
        assert task.sums is not None
        thread = schedule_pixels(s, task.sums, task.root, knobs)
        return Scheduled(task.root, thread, {task.root.op})


def threads_for(rows: int, dtype: str, target: TargetValue, most: int = _THREADS) -> int | None:
    """Return the threads of a block, at most so many, whose sums of rows fit the shared memory.

    None if these are too few, or if the target's shared memory is none of its own.
    """
    if target.is_cpu or dtype not in _BYTES or not profile_of(target).has_fast_shared_memory:
        return None
    own = rows * _MOST_LANES * _BYTES[dtype]
    threads = min(most, target.max_threads, target.local_memory_bytes // max(own, 1))
    return threads if threads >= _LEAST_THREADS else None


def sum_bytes(dtype: str) -> int:
    """Return the bytes of a sum, of a type for which :func:`threads_for` returns threads."""
    return _BYTES[dtype]


def rows_of(sums: Tensor) -> int | None:
    """Return the rows of a product; None if they are open."""
    roles = Contraction.of(sums)
    assert roles is not None
    return 1 if roles.rows is None else number_of(sums.shape[roles.rows])


def has_few_rows(sums: Tensor) -> bool:
    """Whether sums are ``sum(a[..., k] * b[..., k, j], axis=k)``, of few rows of `a`."""
    roles = Contraction.of(sums)
    reduced = list(sums.op.reduce_axis)
    if roles is None or roles.is_convolution or len(reduced) != 1:
        return False
    rows = rows_of(sums)
    is_matrix = roles.rows in (None, len(sums.shape) - 2)
    if len(sums.op.input_tensors) != 2 or rows is None or rows > _MOST_ROWS or not is_matrix:
        return False
    loads = list(_core.loads_of(sums.op.body[0]))
    wanted = (reduced[0], sums.op.axis[-1])
    indices = list(loads[1].indices)[-2:] if len(loads) == 2 else []
    return len(indices) == 2 and all(
        index.same_as(axis.var) for index, axis in zip(indices, wanted, strict=True)
    )


def _reads_own_pixels(sums: Tensor) -> bool:
    """Whether a reduction reads images at its own channel and the reduced pixels.

    Factors of channels and the like have fewer axes.
    """
    body = sums.op.body[0]
    if body._class != "Reduce" or list(body.init):
        return False
    n, channel = sums.op.axis[:2]
    wanted = [n, channel, *sums.op.reduce_axis]
    loads = [each for each in _core.loads_of(body) if len(each.indices) == len(wanted)]
    return bool(loads) and all(
        index.same_as(axis.var) or number_of(axis.dom.extent) == 1
        for load in loads
        for index, axis in zip(load.indices, wanted, strict=False)
    )


def schedule_product(s: Schedule, sums: Tensor, root: Tensor, knobs: Slices) -> IterVar:
    """Schedule a product of few rows, and later stages of the same kernel.

    `root` is the stage that the kernel writes; stages between `sums` and `root` must be inlined.
    Returns the axis of threads.
    """
    roles = Contraction.of(sums)
    assert roles is not None
    rows = 0 if roles.rows is None else 1
    return _schedule(s, sums, root, len(sums.shape) - 1, rows, knobs)


def schedule_pixels(s: Schedule, sums: Tensor, root: Tensor, knobs: Slices) -> IterVar:
    """Schedule a reduction of all pixels, and later stages of the same kernel."""
    return _schedule(s, sums, root, 1, 0, knobs)


def _schedule(
    s: Schedule, sums: Tensor, root: Tensor, column: int, rows: int, knobs: Slices
) -> IterVar:
    """Schedule sums whose axis number `column` is contiguous in memory.

    A thread computes all results along the `rows` axes before it.
    """
    stage = s[sums]
    reduced = stage.op.reduce_axis
    terms = stage.fuse(*reduced) if len(reduced) > 1 else reduced[0]
    _, own = stage.split(terms, knobs.slices)
    parts = s.rfactor(sums, own)
    local = s.cache_write(parts, "local")
    added = in_registers(s, sums, root)
    thread, block = _bind_result(s, root, column, rows, knobs)
    s[added].compute_at(s[root], thread)
    *_, lane = _with_last(s[added].op.axis, column)
    s[added].reorder(s[added].op.reduce_axis[0], *_with_last(s[added].op.axis, column))
    vectorize(s[added], lane, knobs.lanes)
    s[parts].set_scope("shared")
    s[parts].compute_at(s[root], block)
    piece, *axes = s[parts].op.axis
    *others, last = _with_last(axes, column)
    own_column, lane = s[parts].split(last, knobs.lanes)
    s[parts].reorder(piece, own_column, *others, lane)
    # The threads of the first slice write the result.
    s[parts].bind(piece, te.thread_axis((0, knobs.slices), "threadIdx.y"))
    s[parts].bind(own_column, te.thread_axis((0, knobs.columns), "threadIdx.x"))
    vectorize(s[parts], lane, knobs.lanes)
    s[local].compute_at(s[parts], own_column)
    accumulate_slice(s[local], column, knobs.lanes)
    return thread


def accumulate_slice(local: Stage, column: int, lanes: int) -> None:
    """Order the sums of a slice in the registers of a thread: the loads of some terms at once.

    `column` is the number of the contiguous axis, after the first axis, which counts the slices.
    """
    piece, *axes = local.op.axis
    *axes, lane = _with_last(axes, column)
    (steps,) = local.op.reduce_axis
    steps, step = local.split(steps, largest_divisor(likely(steps.dom.extent), UNROLLED, 2) or 1)
    local.reorder(steps, step, piece, *axes, lane)
    local.unroll(step)
    vectorize(local, lane, lanes)


def _with_last(axes: Sequence[IterVar], column: int) -> list[IterVar]:
    """Return axes with the axis number `column` last."""
    return [*axes[:column], *axes[column + 1 :], axes[column]]


def _bind_result(
    s: Schedule, root: Tensor, column: int, rows: int, knobs: Slices
) -> tuple[IterVar, IterVar]:
    """Bind the results of a block to the threads of one slice; return the axes of both."""
    stage = s[root]
    *others, last = _with_last(stage.op.axis, column)
    outer, own = others[: len(others) - rows], others[len(others) - rows :]
    block, last = stage.split(last, knobs.columns * knobs.lanes)
    thread, lane = stage.split(last, knobs.lanes)
    stage.reorder(*outer, block, thread, *own, lane)
    block = stage.fuse(*outer, block)
    stage.bind(block, te.thread_axis("blockIdx.x"))
    stage.bind(thread, te.thread_axis((0, knobs.columns), "threadIdx.x"))
    vectorize(stage, lane, knobs.lanes)
    return thread, block


PRODUCTS_OF_FEW_ROWS, PIXELS = SlicedProducts(), SlicedPixels()

__all__ = [
    "PIXELS",
    "PRODUCTS_OF_FEW_ROWS",
    "UNROLLED",
    "ProductTerms",
    "SlicedPixels",
    "SlicedProducts",
    "Slices",
    "Terms",
    "accumulate_slice",
    "has_few_rows",
    "rows_of",
    "schedule_pixels",
    "schedule_product",
    "sum_bytes",
    "threads_for",
]
