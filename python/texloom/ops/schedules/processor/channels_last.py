"""The family of convolutions with channels last, for processors."""

from __future__ import annotations

from collections.abc import Iterator

from ...._core import Schedule, TargetValue, Tensor
from ....profiles import DeviceProfile
from ...contraction import Contraction
from ..channels_last.layouts import blocked_weight_layout
from ..family import Family, KernelTask, Scheduled
from .convolution import has_vectors_of_channels, schedule_convolution, source_of
from .registers import Registers
from .tiles import PixelBlock, Pixels, PixelTile, columns_of, seconds, tiles_of


class PixelTiles(Family[Pixels, PixelTile]):
    """Convolutions whose threads compute some pixels of some channels in registers.

    The pixels that are read have channels last, or are row-major.
    """

    name = "convolutions in registers"
    is_estimated = True

    def facts_of(self, task: KernelTask) -> Pixels | None:
        """Return the facts of a convolution; None on GPUs, and as :meth:`.Pixels.of`."""
        sums, target = task.sums, task.target
        assert sums is not None
        if not target.is_cpu:
            return None
        return Pixels.of(sums, task.root, Registers.of(target, sums.dtype))

    def points(self, facts: Pixels) -> Iterator[tuple[PixelTile, str | None]]:
        """Yield the tiles of :func:`.tiles.tiles_of`."""
        return ((tile, None) for tile in tiles_of(facts))

    def seconds(self, facts: Pixels, knobs: PixelTile, profile: DeviceProfile) -> float:
        """Return the estimate of :func:`.tiles.seconds`."""
        return seconds(knobs, facts, profile)

    def apply(self, s: Schedule, task: KernelTask, knobs: PixelTile) -> Scheduled:
        """Schedule a convolution; see :func:`.convolution.schedule_convolution`."""
        sums, root = task.sums, task.root
        assert sums is not None
        is_native = task.target.kind == "llvm"
        block = PixelBlock.of(sums, root, knobs, is_native) if task.target.vectors else None
        is_row_major = task.scopes.get(source_of(sums).op, "global") == "global"
        thread, made = schedule_convolution(s, sums, root, knobs, block, is_row_major)
        return Scheduled(root, thread, {each.op for each in made})

    def weight_layout(self, task: KernelTask, knobs: PixelTile) -> str | None:
        """Return the layout of the weights in blocks of the channels of a tile."""
        assert task.sums is not None
        return blocked_weight_layout(len(task.sums.op.input_tensors[1].shape), knobs.channels)


def suits_row_major(sums: Tensor, root: Tensor, target: TargetValue) -> bool:
    """Whether a convolution of row-major pixels to row-major pixels had better copy them.

    Vectors of pixels are those of a row, or of all pixels if windows are single elements. If they
    do not divide them, tiles of vectors of channels are faster, and pay for the copy.
    """
    roles = Contraction.of(sums)
    if target.vectors is None or roles is None or roles.rows_per_group == 1:
        return False
    lanes = Registers.of(target, sums.dtype).bytes // 4
    return has_vectors_of_channels(sums.op.input_tensors[0]) and columns_of(sums, root) % lanes != 0


CONVOLUTIONS = PixelTiles()

__all__ = ["CONVOLUTIONS", "PixelTiles", "suits_row_major"]
