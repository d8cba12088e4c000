"""Schedules for GPUs of a product of few rows and the product that reads it, as one kernel.

An example is squeeze and excitation: the means of channels are multiplied by a matrix, and then by
another one. Each block computes the whole result of the first product in shared memory, and then
its own columns of the second. So the first product needs no launch of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .... import te
from ...._core import IterVar, Schedule, Stage, TargetValue, Tensor
from ....extents import are_known, shape_of
from ....profiles import DeviceProfile, profile_of
from ...contraction import Contraction
from ...stages import readers_of, stages_of
from ..channels_last.axes import in_registers, vectorize
from ..family import Family, KernelTask, Scheduled
from .slices import (
    UNROLLED,
    Slices,
    accumulate_slice,
    has_few_rows,
    rows_of,
    sum_bytes,
    threads_for,
)
from .tiles import lanes_of

_THREADS = 512
_BLOCK_COLUMNS = 128
"""Columns of a block in the second product: with fewer, more blocks read the first matrix."""
_MOST_SLICES = 64
"""The most sums that a thread adds up, one after the other."""
_SOME_COLUMNS = (8, 16, 32, 64)
_SOME_SLICES = (1, 4, 16, 64)
_SOME_ROWS = (1, 4, 16, 64)
_COLUMN = 1  # the axis of a product that is contiguous in memory


@dataclass(frozen=True)
class ChainBlock:
    """The knobs of the schedule: how a block divides both products.

    Attributes
    ----------
    columns : int
        Vectors of columns of the second product, and threads of a row of threads. The block has all
        columns of the first product.
    slices, first_slices : int
        The parts of the terms of the second and of the first product that threads add up.
    rows : int
        The rows of threads.
    """

    columns: int
    slices: int
    first_slices: int
    rows: int

    @property
    def threads(self) -> int:
        """The threads of the block."""
        return self.columns * self.rows


@dataclass(frozen=True)
class ProductSizes:
    """The terms of each sum of a product, and its columns."""

    terms: int
    columns: int

    @classmethod
    def of(cls, sums: Tensor) -> ProductSizes:
        """Return the sizes of the product ``[rows, columns]``."""
        return cls(int(sums.op.reduce_axis[0].dom.extent), int(sums.shape[_COLUMN]))

    @property
    def lanes(self) -> int:
        """The columns of a vector."""
        return lanes_of(self.columns)


@dataclass(frozen=True)
class Chain:
    """The facts of two products of few rows, of which the second reads the first.

    Attributes
    ----------
    first, second : ProductSizes
    rows : int
        The rows of both products.
    sum_bytes : int
        The bytes of a sum.
    threads, local_bytes : int
        The most threads of a block, and the most bytes of its shared memory.
    block : ChainBlock
        The preferred knobs.
    """

    first: ProductSizes
    second: ProductSizes
    rows: int
    sum_bytes: int
    threads: int
    local_bytes: int
    block: ChainBlock

    @classmethod
    def of(
        cls, first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor], target: TargetValue
    ) -> Chain | None:
        """Return the facts of two products, each with its sums and the tensor that is written.

        The second product reads the first one. None if one kernel is not possible, or if each block
        would read the first matrix for longer than a launch takes.
        """
        if not all(map(_is_product, (first, second))) or first[0].dtype != second[0].dtype:
            return None
        rows, dtype = rows_of(first[0]) or 0, first[0].dtype
        # The sums of both products are in shared memory.
        threads = threads_for(2 * rows, dtype, target, _THREADS)
        if threads is None:
            return None
        sizes = ProductSizes.of(first[0]), ProductSizes.of(second[0])
        block = _preferred_block(*sizes, threads)
        if block is None:
            return None
        made = cls(*sizes, rows, sum_bytes(dtype), threads, target.local_memory_bytes, block)
        profile = profile_of(target)
        is_fast = made.repeated_seconds(profile) < profile.launch_seconds
        return made if is_fast and made.broken_rule(block) is None else None

    def shared_bytes(self, knobs: ChainBlock) -> int:
        """Return the shared memory of a block: sums of slices, and the first product's result."""
        own = knobs.first_slices * self.first.columns
        other = knobs.slices * knobs.columns * self.second.lanes
        return (own + other + self.first.columns) * self.rows * self.sum_bytes

    def broken_rule(self, knobs: ChainBlock) -> str | None:
        """Return the limit of the target that knobs exceed, if any."""
        if knobs.threads > self.threads:
            return "threads of a block"
        return "shared memory" if self.shared_bytes(knobs) > self.local_bytes else None

    def repeated_seconds(self, profile: DeviceProfile) -> float:
        """Return the seconds in which all blocks of the preferred knobs read the first matrix.

        Each thread waits for a few loads at a time, and all blocks share the common cache.
        """
        terms, columns = self.first.terms, self.first.columns
        of_thread = -(-terms // self.block.first_slices)
        blocks = -(-self.second.columns // (self.block.columns * self.second.lanes))
        traffic = blocks * terms * columns * self.sum_bytes
        waits = -(-of_thread // UNROLLED) * profile.latency_seconds
        return float(max(waits, traffic / profile.cache_rate))


class ProductChains(Family[Chain, ChainBlock]):
    """A product of few rows by a matrix, and the product that reads it."""

    name = "chains of products"

    def facts_of(self, task: KernelTask) -> Chain | None:
        """Return the facts of such a computation; None for others."""
        found = None if task.target.is_cpu or task.sums is not None else chained_sums(task)
        if found is None:
            return None
        first, second = found
        return Chain.of((first, second.op.input_tensors[0]), (second, task.root), task.target)

    def points(self, facts: Chain) -> Iterator[tuple[ChainBlock, str | None]]:
        """Yield the preferred knobs first, then others."""
        yield facts.block, None
        most = facts.second.columns // facts.second.lanes
        for columns in dict.fromkeys(min(n, most) for n in _SOME_COLUMNS):
            for slices in (n for n in _SOME_SLICES if n <= facts.second.terms):
                for first_slices in (n for n in _SOME_SLICES if n <= facts.first.terms):
                    for rows in _SOME_ROWS:
                        knobs = ChainBlock(columns, slices, first_slices, rows)
                        yield knobs, facts.broken_rule(knobs)

    def apply(self, s: Schedule, task: KernelTask, knobs: ChainBlock) -> Scheduled:
        """Schedule both products; the stages before and between them must be inlined."""
        found = chained_sums(task)
        assert found is not None
        hidden, thread = found[1].op.input_tensors[0], schedule_chain(s, *found, task.root, knobs)
        return Scheduled(task.root, thread, {each.op for each in (*found, hidden, task.root)})


CHAINS = ProductChains()


def is_faster_joined(
    first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor], target: TargetValue
) -> bool:
    """Whether one kernel for two products is possible, and estimated to be faster.

    The parameters are those of :meth:`Chain.of`.
    """
    return Chain.of(first, second, target) is not None


def chained_sums(task: KernelTask) -> tuple[Tensor, Tensor] | None:
    """Return the sums of two products in a chain; None if the stages compute anything else."""
    stages, root = task.stages, task.root
    sums = [each for each in stages if Contraction.of(each) is not None]
    if len(sums) != 2 or any(each.op.reduce_axis for each in stages if each not in sums):
        return None
    first, second = sums
    hidden = second.op.input_tensors[0]
    if hidden not in stages or shape_of(hidden) != shape_of(first):
        return None
    readers, before = readers_of(stages), stages_of([hidden])
    summed = [each for each in before if each is not hidden and first in stages_of([each])]
    if any(reader not in before for each in summed for reader in readers[each.op]):
        return None  # only the result of the first product is in shared memory
    inner = [each for each in stages if each not in (first, hidden, second, root)]
    return None if any(task.places[each.op] != "inline" for each in inner) else (first, second)


def _is_product(product: tuple[Tensor, Tensor]) -> bool:
    """Whether sums are a product of few rows of a matrix, and are written with their shape."""
    sums, written = product
    if Contraction.of(sums) is None or len(sums.shape) != 2 or not has_few_rows(sums):
        return False
    return are_known(sums.shape) and shape_of(written) == shape_of(sums)


def _preferred_block(first: ProductSizes, second: ProductSizes, threads: int) -> ChainBlock | None:
    """Return the knobs of blocks of at most so many threads; None if these are too few."""
    own = _slices(first, threads, first.columns)
    other = _slices(second, threads, _BLOCK_COLUMNS)
    if own is None or other is None:
        return None
    of_own = min(own.columns * own.slices, threads) // other.columns
    return ChainBlock(other.columns, other.slices, own.slices, max(other.slices, of_own))


def _slices(product: ProductSizes, threads: int, columns: int) -> Slices | None:
    """Return the slices for at most so many columns in a block; None if it has too few threads."""
    across = Slices.of(product.columns, 1, threads, 4 * columns)
    if across.columns * across.lanes < min(product.columns, columns):
        return None
    most = min(threads, _MOST_SLICES * across.columns)
    return Slices.of(product.columns, product.terms, most, 4 * columns)


def schedule_chain(
    s: Schedule, first: Tensor, second: Tensor, root: Tensor, knobs: ChainBlock
) -> IterVar:
    """Schedule two products; other stages than the one between them and `root` are inlined.

    Parameters
    ----------
    s : Schedule
    first, second : Tensor ``[rows, columns]``
        The sums of both products.
    root : Tensor ``[rows, columns]``
        The stage that the kernel writes.
    knobs : ChainBlock

    Returns
    -------
    IterVar
        The axis of threads of `root`.
    """
    hidden = second.op.input_tensors[0]
    own, other = (ProductSizes.of(each).lanes for each in (first, second))
    parts, added = _divide(s, second, root, knobs.slices, other, knobs)
    row, column = s[root].op.axis
    block, column = s[root].split(column, knobs.columns * other)
    thread, lane = s[root].split(column, other)
    s[root].reorder(block, thread, row, lane)
    s[root].bind(block, te.thread_axis("blockIdx.x"))
    s[root].bind(thread, _threads("x", knobs.columns))  # of the first row
    vectorize(s[root], lane, other)
    _keep(s, added, root, thread, other)
    s[parts].compute_at(s[root], block)
    parts, added = _divide(s, first, hidden, knobs.first_slices, own, knobs)
    s[hidden].set_scope("shared")
    s[hidden].compute_at(s[root], block)
    _keep(s, added, hidden, _share(s[hidden], [], own, knobs), own)
    s[parts].compute_at(s[root], block)
    return thread


def _divide(
    s: Schedule, sums: Tensor, reader: Tensor, slices: int, lanes: int, knobs: ChainBlock
) -> tuple[Tensor, Tensor]:
    """Divide the terms of a product among threads.

    Returns the sums of the slices, in shared memory, and the stage that adds them up for `reader`.
    """
    _, own = s[sums].split(s[sums].op.reduce_axis[0], slices)
    parts = s.rfactor(sums, own)
    local = s.cache_write(parts, "local")
    s[parts].set_scope("shared")
    thread = _share(s[parts], s[parts].op.axis[:1], lanes, knobs)
    s[local].compute_at(s[parts], thread)
    accumulate_slice(s[local], _COLUMN, lanes)
    return parts, in_registers(s, sums, reader)


def _share(stage: Stage, pieces: Sequence[IterVar], lanes: int, knobs: ChainBlock) -> IterVar:
    """Give vectors of columns to the threads of a block, each with all rows of a product.

    `pieces` may be an axis before those of the product. Returns the axis of threads.
    """
    row, column = list(stage.op.axis)[len(pieces) :]
    vector, lane = stage.split(column, lanes)
    stage.reorder(*pieces, vector, row, lane)
    for piece in pieces:
        vector = stage.fuse(piece, vector)
    row, thread = stage.split(vector, knobs.columns)
    _, row = stage.split(row, knobs.rows)
    stage.bind(row, _threads("y", knobs.rows))
    stage.bind(thread, _threads("x", knobs.columns))
    vectorize(stage, lane, lanes)
    return thread


def _keep(s: Schedule, added: Tensor, reader: Tensor, thread: IterVar, lanes: int) -> None:
    """Add up the sums of the slices in the registers of the threads of `reader`."""
    s[added].compute_at(s[reader], thread)
    row, column = s[added].op.axis
    s[added].reorder(s[added].op.reduce_axis[0], row, column)
    vectorize(s[added], column, lanes)


def _threads(axis: str, extent: int) -> IterVar:
    return te.thread_axis((0, extent), f"threadIdx.{axis}")


__all__ = [
    "CHAINS",
    "Chain",
    "ChainBlock",
    "ProductChains",
    "ProductSizes",
    "chained_sums",
    "is_faster_joined",
    "schedule_chain",
]
