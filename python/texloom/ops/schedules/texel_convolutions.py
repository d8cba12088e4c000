"""The family of convolutions from textures to a texture: threads compute tiles of texels.

A texel holds four channels. A thread reads the texels of its pixels and of its output channels once
for all products of a step, in which it takes some input channels and one row of the filter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product as product_of
from math import prod

from ... import te
from ..._core import IterVar, Schedule, Stage, Tensor, _KernelWork
from ...extents import are_known, product
from ...profiles import DeviceProfile, kernel_limits
from ..contraction import Contraction, is_depthwise
from .channels_last.axes import kept_sums, vectorize
from .channels_last.layouts import channels_last
from .family import Family, KernelTask, Scheduled
from .texels import LANES, THREADS, is_texture

_PIXELS = (1, 2, 4, 8)
_TEXELS = (1, 2, 4)
_INPUTS = (1, 2, 4)
_MOST_SUMS = 64
"""The most sums of a thread."""
_MOST_STATEMENTS = 256
"""The most products of texels in the code of a step: more take long to compile."""


@dataclass(frozen=True)
class TexelTile:
    """What a thread computes.

    Attributes
    ----------
    pixels : int
        Neighboring pixels of a row.
    texels : int
        Texels of output channels.
    inputs : int
        Texels of input channels in a step. All loads of a step overlap.
    """

    pixels: int
    texels: int
    inputs: int = 1


@dataclass(frozen=True)
class TexelConvolution:
    """The facts of a convolution whose result is in a texture.

    Attributes
    ----------
    rows, columns : int
        Rows of all images together, and their length in pixels.
    inputs, outputs : int
        Channels; a depthwise convolution has one input.
    height, width : int
        Extents of the filter, the first of all axes but the last.
    is_depthwise : bool
        Whether each group has one channel.
    per_group : int
        Output channels that read the same inputs.
    elements, bytes : int
        Elements of inputs and outputs; bytes of an element.
    pixel_bytes : int
        Bytes of an element of the pixels that a thread keeps in registers.
    """

    rows: int
    columns: int
    inputs: int
    outputs: int
    height: int
    width: int
    is_depthwise: bool
    per_group: int
    elements: int
    bytes: int
    pixel_bytes: int

    def channels(self, tile: TexelTile) -> int:
        """Return the input channels of a step."""
        return 1 if self.is_depthwise else min(self.inputs, LANES * tile.inputs)

    def work(self, tile: TexelTile) -> _KernelWork:
        """Return the work of a kernel with these tiles, as if windows had strides of 1."""
        channels = self.channels(tile)
        turns = -(-self.inputs // channels) * self.height
        across = min(tile.pixels * self.width, tile.pixels + self.width - 1)
        kept = tile.texels * LANES if self.is_depthwise else channels
        loads = across * -(-kept // LANES) + channels * tile.texels * self.width
        sums = tile.pixels * tile.texels * LANES
        work = _KernelWork()
        tiles = -(-self.outputs // (LANES * tile.texels)) * -(-self.columns // tile.pixels)
        work.block_threads = THREADS
        work.blocks = -(-self.rows * tiles // THREADS)
        threads = work.blocks * THREADS
        work.operations = threads * turns * sums * channels * self.width
        work.texture_bytes = (
            threads * (turns * loads + tile.pixels * tile.texels) * LANES * self.bytes
        )
        work.distinct_bytes = self.elements * self.bytes
        work.turns = turns
        work.registers = sums + across * kept * self.pixel_bytes / 4
        return work


class TexelConvolutions(Family[TexelConvolution, TexelTile]):
    """Convolutions of images whose pixels, and whose result, are texels of four channels."""

    name = "convolutions of texels"
    is_estimated = True

    def facts_of(self, task: KernelTask) -> TexelConvolution | None:
        """Return the shape; None if a texel has channels of several groups."""
        sums, root = task.sums, task.root
        assert sums is not None
        roles = Contraction.of(sums)
        assert roles is not None
        if not roles.is_convolution or len(root.shape) != 4 or not are_known(root.shape):
            return None
        if not is_texture(task.scopes.get(root.op, "global")):
            return None
        images, outputs, *spatial = (int(extent) for extent in root.shape)
        inputs, *window = (int(axis.dom.extent) for axis in sums.op.reduce_axis)
        depthwise = is_depthwise(sums)
        per_group = outputs if depthwise else min(outputs, roles.rows_per_group)
        has_whole_texels = inputs <= LANES or inputs % LANES == 0
        if not has_whole_texels or (per_group < outputs and (per_group % LANES or inputs % LANES)):
            return None
        read = sum(product(each.shape) for each in _inputs_of(task))
        *height, width = window or [1]
        return TexelConvolution(
            images * spatial[0],
            spatial[1],
            inputs,
            outputs,
            prod(height),
            width,
            depthwise,
            per_group,
            int(read) + images * outputs * prod(spatial),
            _bytes_of(root),
            _bytes_of(sums.op.input_tensors[0]),
        )

    def points(self, facts: TexelConvolution) -> Iterator[tuple[TexelTile, str | None]]:
        """Yield all tiles, small ones first."""
        for texels, pixels, inputs in product_of(_TEXELS, _PIXELS, _INPUTS):
            tile = TexelTile(pixels, texels, inputs)
            yield tile, _broken(facts, tile)

    def seconds(self, facts: TexelConvolution, knobs: TexelTile, profile: DeviceProfile) -> float:
        """Return the longest of the limits of a kernel, with its launch."""
        return profile.launch_seconds + max(kernel_limits(facts.work(knobs), profile).values())

    def apply(self, s: Schedule, task: KernelTask, knobs: TexelTile) -> Scheduled:
        """Schedule a convolution, its padding, and later stages of the same kernel."""
        assert task.sums is not None
        facts = self.facts(task)
        assert facts is not None
        pixels = task.sums.op.input_tensors[0]
        local = kept_sums(s, task.sums, task.root)
        thread = _bind(s, task.root, knobs)
        s[local].compute_at(s[task.root], thread)
        step = _order(s, local, facts.channels(knobs))
        _keep_pixels(s, pixels, s[local], step, facts)
        return Scheduled(task.root, thread, {task.sums.op, task.root.op, pixels.op})


def _broken(facts: TexelConvolution, tile: TexelTile) -> str | None:
    """Return the rule that a tile breaks."""
    sums = tile.pixels * tile.texels
    statements = sums * facts.channels(tile) * facts.width
    if sums * LANES > _MOST_SUMS:
        return "sums"
    if statements > _MOST_STATEMENTS and tile != TexelTile(1, 1):
        return "statements"
    if tile.texels > 1 and facts.per_group % (tile.texels * LANES):
        return "output channels"
    if tile.inputs > 1 and (facts.is_depthwise or facts.inputs % (tile.inputs * LANES)):
        return "input channels"
    return "larger than the output" if tile.pixels > max(1, facts.columns) else None


def _bytes_of(tensor: Tensor) -> int:
    return 2 if tensor.dtype == "float16" else 4


def _inputs_of(task: KernelTask) -> list[Tensor]:
    """Return the inputs of the whole computation."""
    made = {each.op for each in task.stages}
    found = {x.op: x for each in task.stages for x in each.op.input_tensors if x.op not in made}
    return list(found.values())


def _bind(s: Schedule, root: Tensor, tile: TexelTile) -> IterVar:
    """Give each tile a thread, those of neighboring pixels of a row in turn."""
    stage = s[root]
    image, channel, row, column = stage.op.axis
    channels, channel = stage.split(channel, LANES * tile.texels)
    texel, lane = stage.split(channel, LANES)
    columns, pixel = stage.split(column, tile.pixels)
    stage.reorder(image, channels, row, columns, texel, pixel, lane)
    block, thread = stage.split(stage.fuse(image, channels, row, columns), THREADS)
    stage.bind(block, te.thread_axis("blockIdx.x"))
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    stage.unroll(texel)
    stage.unroll(pixel)
    vectorize(stage, lane, LANES)
    return thread


def _order(s: Schedule, sums: Tensor, channels: int) -> IterVar:
    """Order the loops of a thread: inputs, rows of the filter, products; return that of a step."""
    stage = s[sums]
    image, channel, *places = stage.op.axis
    inputs, *taps = stage.op.reduce_axis
    inputs, own = stage.split(inputs, channels)
    texel, lane = stage.split(channel, LANES)
    outer, within = [inputs, *taps[:-1]], [own, *taps[-1:]]
    stage.reorder(*outer, *within, image, *places, texel, lane)
    for axis in (*within, *places, texel):
        stage.unroll(axis)
    vectorize(stage, lane, LANES)
    return outer[-1]


def _keep_pixels(
    s: Schedule, pixels: Tensor, sums: Stage, step: IterVar, facts: TexelConvolution
) -> None:
    """Read the texels of a step's pixels into registers, where padding is decided once for each."""
    stage = s[pixels]
    stage.set_scope("local", layout=channels_last("n", len(pixels.shape)))
    stage.compute_at(sums, step)
    image, channel, *places = stage.op.axis
    has_texels = facts.is_depthwise or facts.inputs % LANES == 0
    texel, lane = stage.split(channel, LANES if has_texels else 1)
    stage.reorder(image, *places, texel, lane)
    for axis in (*places, texel):
        stage.unroll(axis)
    vectorize(stage, lane, LANES if has_texels else 1)


TEXEL_CONVOLUTIONS = TexelConvolutions()

__all__ = ["TEXEL_CONVOLUTIONS", "TexelConvolution", "TexelConvolutions", "TexelTile"]
