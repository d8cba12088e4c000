"""The axes of sums that make them products of matrices: those of convolutions, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from ...._core import IterVar, Stage
from ...contraction import Contraction
from ..family import KernelTask
from .product_tiles import MOST_BLOCKS_ALONG_Y

_LEAST_COLUMNS = 16  # of a block


@dataclass(frozen=True)
class ProductAxes:
    """The axes of a sum that make it a product of matrices, and those of the stage that is written.

    Attributes
    ----------
    rows, columns, steps : list of IterVar
        Of the sums; those of a list become one axis.
    row_extents : tuple of int
        How many values of each axis of `rows` the stage has that is written.
    transposed : (bool, bool)
        Whether the memory of the left factor is contiguous along rows, and that of the right factor
        along steps.
    written : callable
        Returns the axes of rows and of columns of the stage that is written, given the stage; the
        columns are contiguous in memory.
    lanes : int
        Columns that are written together.
    loaded : (int, int)
        Neighbors that are copied together, of each factor.
    has_pixels : bool
        Whether rows are several axes of the stage that is written: those of a picture.
    """

    rows: list[IterVar]
    columns: list[IterVar]
    steps: list[IterVar]
    row_extents: tuple[int, ...]
    transposed: tuple[bool, bool]
    written: Callable[[Stage], tuple[IterVar, IterVar]]
    lanes: int
    loaded: tuple[int, int]
    has_pixels: bool = False


def convolution_axes(task: KernelTask, multiple: int, lanes: int) -> ProductAxes | None:
    """Return the axes of a convolution with channels last: pixels, and weights of their windows.

    None for groups, for numbers of channels that `multiple` does not divide, and for more images
    than a grid has blocks. `lanes` are those of the vectors that are copied and written. Requires
    known extents.
    """
    sums, root = task.sums, task.root
    assert sums is not None
    roles = Contraction.of(sums)
    assert roles is not None
    outputs = int(root.shape[1])
    inputs, *taps = sums.op.reduce_axis
    channels = int(inputs.dom.extent)
    if roles.rows_per_group < outputs or channels % multiple or outputs % multiple:
        return None
    if int(root.shape[0]) * -(-outputs // _LEAST_COLUMNS) > MOST_BLOCKS_ALONG_Y:
        return None
    _, column, *rows = sums.op.axis
    extents = tuple(int(extent) for extent in root.shape[2:])
    if len(rows) < len(extents):
        extents = (prod(extents),)
    return ProductAxes(
        rows,
        [column],
        [*taps, inputs],
        extents,
        (False, False),
        _pixels_and_channels,
        lanes,
        (lanes, lanes),
        has_pixels=True,
    )


def order_blocks(
    stage: Stage,
    others: list[IterVar],
    row: IterVar,
    column: IterVar,
    inside: list[IterVar],
    has_pixels: bool,
) -> tuple[list[IterVar], IterVar]:
    """Order axes of blocks and those inside; return the former: before the columns, and of columns.

    With :attr:`ProductAxes.has_pixels`, `row` is not fused with the other axes, such as images, so
    that the rows of a block are seen to be neighbors.
    """
    if not has_pixels:
        stage.reorder(*others, row, column, *inside)
        return [*others, row], column
    stage.reorder(row, *others, column, *inside)
    return [row], stage.fuse(*others, column)


def _pixels_and_channels(stage: Stage) -> tuple[IterVar, IterVar]:
    """Return the axis of all pixels of ``[N, C, *spatial]``, and that of channels."""
    _, channel, *spatial = stage.op.axis
    return stage.fuse(*spatial), channel


__all__ = ["ProductAxes", "convolution_axes", "order_blocks"]
