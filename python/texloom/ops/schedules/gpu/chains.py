"""Schedules for GPUs of a product of few rows and the product that reads it, as one kernel.

An example is squeeze and excitation: the means of channels are multiplied by a matrix, and then by
another one. Each block computes the whole result of the first product in shared memory, and then
its own columns of the second. So the first product needs no launch of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .... import te
from ...._core import IterVar, Schedule, Stage, TargetValue, Tensor
from ....extents import are_known, shape_of
from ....profiles import DeviceProfile, profile_of
from ...contraction import Contraction
from ...stages import readers_of, stages_of
from ..channels_last.axes import in_registers, vectorize
from .slices import (
    UNROLLED,
    Slices,
    accumulate_slice,
    has_few_rows,
    rows_of,
    sum_bytes,
    threads_for,
)

_THREADS = 512
_BLOCK_COLUMNS = 128
"""Columns of a block in the second product: with fewer, more blocks read the first matrix."""
_MOST_SLICES = 64
"""The most sums that a thread adds up, one after the other."""
_COLUMN = 1  # the axis of a product that is contiguous in memory


@dataclass(frozen=True)
class ProductChain:
    """Two products of few rows, and how a block divides their terms.

    Attributes
    ----------
    first, second : Tensor ``[rows, columns]``
        The sums of both products.
    own, other : Slices
        The knobs of both products. The block has all columns of the first.
    rows : int
        The rows of threads of a block; a row has a thread for each vector of its columns.
    """

    first: Tensor
    second: Tensor
    own: Slices
    other: Slices
    rows: int

    @classmethod
    def of(
        cls,
        stages: Sequence[Tensor],
        root: Tensor,
        places: Mapping[te.Operation, str],
        target: TargetValue,
    ) -> ProductChain | None:
        """Return the chain of which `root` is computed; None for other stages.

        `places` are those of :class:`.places.Places`.
        """
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
        if any(places[each.op] != "inline" for each in inner):
            return None
        return cls.of_products((first, hidden), (second, root), target)

    @classmethod
    def of_products(
        cls, first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor], target: TargetValue
    ) -> ProductChain | None:
        """Return the chain of two products, each with its sums and the tensor that is written.

        The second product reads the first one. None if one kernel is not possible, or if each block
        would read the first matrix for longer than a launch takes.
        """
        if not all(map(_is_product, (first, second))) or first[0].dtype != second[0].dtype:
            return None
        rows = rows_of(first[0]) or 0
        # The sums of both products are in shared memory.
        threads = threads_for(2 * rows, first[0].dtype, target, _THREADS)
        if threads is None:
            return None
        own = _slices(first[0], threads, None)
        other = _slices(second[0], threads, _BLOCK_COLUMNS)
        if own is None or other is None:
            return None
        of_own = min(own.columns * own.slices // other.columns, threads // other.columns)
        made = cls(first[0], second[0], own, other, max(other.slices, of_own))
        profile = profile_of(target)
        is_small = made.shared_bytes <= target.local_memory_bytes
        is_fast = made.repeated_seconds(profile) < profile.launch_seconds
        return made if is_small and is_fast else None

    @property
    def shared_bytes(self) -> int:
        """The shared memory of a block: the sums of slices, and the result of the first product."""
        sums = [each.slices * each.columns * each.lanes for each in (self.own, self.other)]
        elements = sum(sums) + _sizes(self.first)[1]
        return elements * int(self.first.shape[0]) * sum_bytes(self.first.dtype)

    @property
    def hidden(self) -> Tensor:
        """What the second product reads: the sums of the first one, or what is computed of them."""
        return self.second.op.input_tensors[0]

    def repeated_seconds(self, profile: DeviceProfile) -> float:
        """Return the seconds in which all blocks read the whole first matrix.

        Each thread waits for a few loads at a time, and all blocks share the common cache.
        """
        terms, columns = _sizes(self.first)
        of_thread = -(-terms // self.own.slices)
        blocks = -(-_sizes(self.second)[1] // (self.other.columns * self.other.lanes))
        traffic = blocks * terms * columns * sum_bytes(self.first.dtype)
        waits = -(-of_thread // UNROLLED) * profile.latency_seconds
        return float(max(waits, traffic / profile.cache_rate))

    def schedule(self, s: Schedule, root: Tensor) -> IterVar:
        """Schedule the products; other stages than the one between them and `root` are inlined.

        Returns the axis of threads of the last stage.
        """
        hidden = self.hidden
        parts, added = self._divide(s, self.second, root, self.other)
        row, column = s[root].op.axis
        block, column = s[root].split(column, self.other.columns * self.other.lanes)
        thread, lane = s[root].split(column, self.other.lanes)
        s[root].reorder(block, thread, row, lane)
        s[root].bind(block, te.thread_axis("blockIdx.x"))
        s[root].bind(thread, _threads("x", self.other.columns))  # of the first row
        vectorize(s[root], lane, self.other.lanes)
        self._keep(s, added, root, thread, self.other.lanes)
        s[parts].compute_at(s[root], block)
        parts, added = self._divide(s, self.first, hidden, self.own)
        s[hidden].set_scope("shared")
        s[hidden].compute_at(s[root], block)
        own = self._share(s[hidden], [], self.own.lanes)
        self._keep(s, added, hidden, own, self.own.lanes)
        s[parts].compute_at(s[root], block)
        return thread

    def _divide(
        self, s: Schedule, sums: Tensor, reader: Tensor, knobs: Slices
    ) -> tuple[Tensor, Tensor]:
        """Divide the terms of a product among threads.

        Returns the sums of the slices, in shared memory, and the stage that adds them up for
        `reader`.
        """
        _, own = s[sums].split(s[sums].op.reduce_axis[0], knobs.slices)
        parts = s.rfactor(sums, own)
        local = s.cache_write(parts, "local")
        s[parts].set_scope("shared")
        thread = self._share(s[parts], s[parts].op.axis[:1], knobs.lanes)
        s[local].compute_at(s[parts], thread)
        accumulate_slice(s[local], _COLUMN, knobs.lanes)
        return parts, in_registers(s, sums, reader)

    def _share(self, stage: Stage, pieces: Sequence[IterVar], lanes: int) -> IterVar:
        """Give vectors of columns to the threads of a block, each with all rows of a product.

        `pieces` may be an axis before those of the product. Returns the axis of threads.
        """
        row, column = list(stage.op.axis)[len(pieces) :]
        vector, lane = stage.split(column, lanes)
        stage.reorder(*pieces, vector, row, lane)
        for piece in pieces:
            vector = stage.fuse(piece, vector)
        row, thread = stage.split(vector, self.other.columns)
        _, row = stage.split(row, self.rows)
        stage.bind(row, _threads("y", self.rows))
        stage.bind(thread, _threads("x", self.other.columns))
        vectorize(stage, lane, lanes)
        return thread

    def _keep(
        self, s: Schedule, added: Tensor, reader: Tensor, thread: IterVar, lanes: int
    ) -> None:
        """Add up the sums of the slices in the registers of the threads of `reader`."""
        s[added].compute_at(s[reader], thread)
        row, column = s[added].op.axis
        s[added].reorder(s[added].op.reduce_axis[0], row, column)
        vectorize(s[added], column, lanes)


def _threads(axis: str, extent: int) -> IterVar:
    return te.thread_axis((0, extent), f"threadIdx.{axis}")


def _is_product(product: tuple[Tensor, Tensor]) -> bool:
    """Whether sums are a product of few rows of a matrix, and are written with their shape."""
    sums, written = product
    if Contraction.of(sums) is None or len(sums.shape) != 2 or not has_few_rows(sums):
        return False
    return are_known(sums.shape) and shape_of(written) == shape_of(sums)


def _sizes(sums: Tensor) -> tuple[int, int]:
    """Return the terms and the columns of a product."""
    return int(sums.op.reduce_axis[0].dom.extent), int(sums.shape[_COLUMN])


def _slices(sums: Tensor, threads: int, columns: int | None) -> Slices | None:
    """Return the knobs for at most so many columns in a block, by default all.

    None if a block has too few threads.
    """
    terms, extent = _sizes(sums)
    most = extent if columns is None else columns
    across = Slices.of(extent, 1, threads, 4 * most)
    if across.columns * across.lanes < min(extent, most):
        return None
    return Slices.of(extent, terms, min(threads, _MOST_SLICES * across.columns), 4 * most)


__all__ = ["ProductChain"]
