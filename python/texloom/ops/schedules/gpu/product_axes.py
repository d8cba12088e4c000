"""The axes of sums that make them products of matrices: those of convolutions, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from ...._core import IterVar, Stage
from ...contraction import Contraction
from ..family import KernelTask


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
    """

    rows: list[IterVar]
    columns: list[IterVar]
    steps: list[IterVar]
    row_extents: tuple[int, ...]
    transposed: tuple[bool, bool]
    written: Callable[[Stage], tuple[IterVar, IterVar]]
    lanes: int
    loaded: tuple[int, int]


def convolution_axes(task: KernelTask, multiple: int, lanes: int) -> ProductAxes | None:
    """Return the axes of a convolution with channels last: pixels, and weights of their windows.

    None for groups, and for numbers of channels that `multiple` does not divide. `lanes` are those
    of the vectors that are copied and written. Requires known extents.
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
    )


def _pixels_and_channels(stage: Stage) -> tuple[IterVar, IterVar]:
    """Return the axis of all pixels of ``[N, C, *spatial]``, and that of channels."""
    _, channel, *spatial = stage.op.axis
    return stage.fuse(*spatial), channel


__all__ = ["ProductAxes", "convolution_axes"]
