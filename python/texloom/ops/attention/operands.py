"""The tensors of attention in one kernel: their sizes, and where their elements are in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ... import _core, te, tir
from ..._core import Tensor
from ...extents import shape_of
from ..broadcast import broadcast_shape
from ..moves import Moved
from ..normalization.softmax import LEAST_EXPONENT
from ..precision import sum_dtype
from .heads import Heads, place, split_shape


@dataclass(frozen=True)
class Sizes:
    """The extents of ``softmax(scale * query @ key + mask) @ value``.

    Attributes
    ----------
    batch : tuple of int
        The leading extents of the result, over which inputs are broadcast.
    rows, depth, keys, width : int
        Queries, elements of a query, keys, and elements of a value.
    """

    batch: tuple[int, ...]
    rows: int
    depth: int
    keys: int
    width: int

    @classmethod
    def of(cls, query: Tensor, key: Tensor, value: Tensor, heads: Heads | None) -> Sizes:
        """Return the sizes; ValueError if the inputs do not agree."""
        queries, columns, values = (shape_of(each) for each in (query, key, value))
        if heads is not None:
            queries, values = split_shape(queries, heads.query), split_shape(values, heads.key)
        (*_, rows, depth), (*_, keys, width) = queries, values
        if (depth, keys) != columns[-2:]:
            raise ValueError(
                f"{query}, {key} and {value} are not queries [..., M, D], keys [..., D, N] and "
                "values [..., N, E]"
            )
        if heads is not None:
            batch = queries[:2]
        else:
            batch = broadcast_shape(queries[:-2], columns[:-2], values[:-2])
        return cls(tuple(map(int, batch)), int(rows), int(depth), int(keys), int(width))


@dataclass(frozen=True)
class Queries:
    """The queries that have the same keys.

    Attributes
    ----------
    batch : tuple of int
        The leading extents of the keys' heads.
    rows : int
        Queries of all heads that share a head of keys.
    group : int
        Heads of queries that share a head of keys.
    """

    batch: tuple[int, ...]
    rows: int
    group: int

    @classmethod
    def of(cls, sizes: Sizes, heads: Heads | None) -> Queries:
        """Return the queries of attention with these heads."""
        if heads is None:
            return cls(sizes.batch, sizes.rows, 1)
        group = heads.query // heads.key
        return cls((sizes.batch[0], heads.key), sizes.rows * group, group)


@dataclass(frozen=True)
class Task:
    """What a kernel computes.

    Attributes
    ----------
    sizes : Sizes
    scale : float
        The factor of the scores, before masks are added.
    is_masked : bool
        Whether a row without keys is 0.
    hides_nan : bool
        Whether a row whose softmax is NaN is 0.
    """

    sizes: Sizes
    scale: float
    is_masked: bool
    hides_nan: bool

    def share(self, sums: Any, total: Any) -> Any:
        """Return an element of the result: a sum of a row, divided by that of its exponentials."""
        zero, one = (te.const(value, sums.dtype) for value in (0, 1))
        if self.hides_nan:  # comparisons with NaN are false
            return tir.Select(total > zero, sums / total, zero)
        if self.is_masked:
            return sums / tir.Select(total.equal(zero), one, total)
        return sums / total


class Operands:
    """The inputs and the output of a kernel, as a builder's buffers.

    Parameters
    ----------
    inputs : sequence of BufferVar
        Query, key, value, and masks.
    output : BufferVar
    moved : sequence of Moved
        Where elements of the inputs are in `inputs`.
    shape : sequence of int
        The shape of the result, before its axes are moved.
    order : sequence of int
        The axes of the result that the axes of `output` are.
    heads : Heads, optional
    factor : float
        The factor of the queries.
    """

    def __init__(
        self,
        inputs: Sequence[Any],
        output: Any,
        moved: Sequence[Moved],
        shape: Sequence[int],
        order: Sequence[int],
        heads: Heads | None,
        factor: float,
    ) -> None:
        self.factor = factor
        self._inputs, self._output, self._moved = inputs, output, moved
        self._shape, self._order, self.heads = shape, order, heads
        self.wide = sum_dtype(inputs[0].dtype)
        self.masks = range(3, len(inputs))
        self._batches = len(shape) - 2 if heads is None else 2

    def dtype(self, number: int) -> str:
        """Return the type of the elements of an input."""
        return str(self._inputs[number].dtype)

    def element_bytes(self, number: int) -> int:
        """Return the bytes of an element of an input."""
        return int(self.dtype(number)[-2:]) // 8

    def is_contiguous(self, number: int) -> bool:
        """Whether neighboring columns of an input are neighbors in memory."""
        column = _core.var("column", "int32")
        last = self._index(number, [0] * self._batches, 0, column)[-1]
        return bool(_core.mentions(_core.to_expr(last), column))

    def read(self, number: int, batch: Sequence[Any], row: Any, column: Any) -> Any:
        """Return an element of an input, whose axes may be broadcast, in the type of sums."""
        value = self.element(number, batch, row, column).astype(self.wide)
        if number > 0 or self.factor == 1:
            return value
        return value * te.const(self.factor, self.wide)

    def element(self, number: int, batch: Sequence[Any], row: Any, column: Any) -> Any:
        """Return an element of an input in its own type, without the factor of the queries."""
        return self._inputs[number][self._index(number, batch, row, column)]

    def _index(self, number: int, batch: Sequence[Any], row: Any, column: Any) -> tuple[Any, ...]:
        """Return the indices, in the tensor in memory, of an element of an input."""
        shape, heads = self._moved[number].shape, self.heads
        index = (*batch, row, column)
        if heads is not None and number < 3:
            first, head = batch
            if number == 0:
                index = place(shape, heads.query, *index)
            else:
                index = place(shape, heads.key, first, heads.of_key(head), row, column)
        index = index[len(index) - len(shape) :]
        index = tuple(0 if extent == 1 else i for i, extent in zip(index, shape, strict=True))
        return self._moved[number].at(index)

    def write(self, batch: Sequence[Any], row: Any, column: Any, value: Any) -> None:
        """Store an element of the output, rounded to its type."""
        index = (*batch, row, column)
        if self.heads is not None:
            index = place(self._shape, self.heads.query, *index)
        self._output[tuple(index[axis] for axis in self._order)] = value.astype(self._output.dtype)


def power(difference: Any, wide: str) -> Any:
    """Return the exponential of a score's difference from the greatest; 0 if it is subnormal."""
    least = te.const(LEAST_EXPONENT[wide], wide)
    is_small = difference < least
    value = te.exp(tir.Select(is_small, least, difference))
    return tir.Select(is_small, te.const(0, wide), value)


def store(array: Any, index: Any, value: Any) -> None:
    """Emit a store, as an expression for lambdas."""
    array[index] = value


__all__ = ["Operands", "Queries", "Sizes", "Task", "power", "store"]
