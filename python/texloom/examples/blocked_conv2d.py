"""Convolutions of activations and weights whose last axis is four channels, in any layout.

A layout is a string of axes. Activations: N, C (groups of four channels), H, W, c (one of four).
Weights: K (groups of four outputs), C (input channels, one by one), R, S (rows and columns of the
window), k (one of four outputs). The output has the activations' layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import te
from .._core import IterVar, Schedule, Stage, Tensor
from .texel_schedules import LANES, block, cache_in_texture, copy_texels, fill_together, thread


@dataclass(frozen=True)
class Convolution:
    """The computation; shapes are those of the tensors.

    Attributes
    ----------
    data, weight : str
        Layouts.
    stride, dilation, padding : int
        Pixels, down and across.
    groups : int
        Number of groups: each group of outputs is computed from one group of inputs.
    """

    data: str = "NCHWc"
    weight: str = "KCRSk"
    stride: int = 1
    dilation: int = 1
    padding: int = 0
    groups: int = 1

    def shape(self, data: Sequence[int], weight: Sequence[int]) -> tuple[int, ...]:
        """Return the output's shape, in its layout."""
        d, w = self.extents(data, weight)
        return tuple({**d, "C": w["K"], **self._pixels(d, w)}[letter] for letter in self.data)

    def compute(self, data: Tensor, weight: Tensor, accumulate: str | None = None) -> Tensor:
        """Compute the sums in dtype `accumulate`, cast to that of `data`."""
        d, w = self.extents([int(n) for n in data.shape], [int(n) for n in weight.shape])
        accumulate = accumulate or data.dtype
        source = self._padded(data, d) if self.padding else data
        c = te.reduce_axis((0, w["C"]), name="c")
        r = te.reduce_axis((0, w["R"]), name="r")
        s = te.reduce_axis((0, w["S"]), name="s")
        outputs = w["K"] * LANES

        def product(*index: Any) -> Any:
            i = dict(zip(self.data, index, strict=True))
            group = (i["C"] * LANES + i["c"]) // (outputs // self.groups)
            channel = c if self.groups == 1 else group * w["C"] + c
            i_data = {
                "N": i["N"],
                "C": channel // LANES,
                "H": i["H"] * self.stride + r * self.dilation,
                "W": i["W"] * self.stride + s * self.dilation,
                "c": channel % LANES,
            }
            i_weight = {"K": i["C"], "C": c, "R": r, "S": s, "k": i["c"]}
            x = source[tuple(i_data[letter] for letter in self.data)]
            y = weight[tuple(i_weight[letter] for letter in self.weight)]
            return te.sum(x.astype(accumulate) * y.astype(accumulate), axis=[c, r, s])

        shape = self.shape(data.shape, weight.shape)
        sums = te.compute(shape, product, name="sums")
        if accumulate == data.dtype:
            return sums
        return te.compute(shape, lambda *i: sums(*i).astype(data.dtype), name="output")

    def extents(
        self, data: Sequence[int], weight: Sequence[int]
    ) -> tuple[dict[str, int], dict[str, int]]:
        """Return the extents of the data and of the weights, by letter of the layout."""
        d = dict(zip(self.data, (int(n) for n in data), strict=True))
        w = dict(zip(self.weight, (int(n) for n in weight), strict=True))
        assert d["c"] == w["k"] == LANES
        assert d["C"] * LANES == w["C"] * self.groups
        return d, w

    def _pixels(self, d: dict[str, int], w: dict[str, int]) -> dict[str, int]:
        def along(extent: int, window: int) -> int:
            reach = self.dilation * (window - 1) + 1
            return (extent + 2 * self.padding - reach) // self.stride + 1

        return {"H": along(d["H"], w["R"]), "W": along(d["W"], w["S"])}

    def _padded(self, data: Tensor, d: dict[str, int]) -> Tensor:
        """Pad `data` with zeros; the schedule inlines the result."""
        p = self.padding
        shape = [d[letter] + 2 * p * (letter in "HW") for letter in self.data]

        def element(*index: Any) -> Any:
            i = dict(zip(self.data, index, strict=True))
            y, x = i["H"] - p, i["W"] - p
            inside = te.all(y >= 0, y < d["H"], x >= 0, x < d["W"])
            at = {**i, "H": y, "W": x}
            value = data[tuple(at[letter] for letter in self.data)]
            return te.if_then_else(inside, value, te.const(0, data.dtype))

        return te.compute(shape, element, name="padded", tag="pad")


@dataclass(frozen=True)
class Tiling:
    """How the output is divided among threads.

    Attributes
    ----------
    pixels : int
        Pixels of a row per thread.
    columns, channels : int
        Threads of a block along a row, and along groups of four outputs.
    virtual : int
        Virtual threads that share a block's part of a row.
    shared : bool
        Whether the threads of a block copy texels into shared memory.
    copy : bool
        Whether each thread copies texels into registers.
    """

    pixels: int = 4
    columns: int = 8
    channels: int = 4
    virtual: int = 1
    shared: bool = False
    copy: bool = True


def schedule(
    convolution: Convolution,
    data: Tensor,
    weight: Tensor,
    output: Tensor,
    tiling: Tiling,
    weight_scope: str = "global.texture:weight",
    *,
    textures: bool = True,
) -> Schedule:
    """Schedule the sums in registers, with activations and weights in textures.

    Parameters
    ----------
    output : Tensor
        The result of ``convolution.compute`` for `data` and `weight`.
    weight_scope : str
        Scope of the weights' texture.
    textures : bool
        Whether the inputs are copied into textures; otherwise they are read in place.
    """
    s = te.create_schedule(output.op)
    sums = output
    if output.op.name == "output":
        (sums,) = output.op.input_tensors
        s[sums].set_scope("local")
    else:
        sums = s.cache_write(output, "local")
    reader = sums
    for t in s[sums].op.input_tensors:
        if t.op.tag == "pad":
            s[t].compute_inline()
            reader = t
    sources = [data, weight]
    if textures:
        sources[0] = cache_in_texture(s, data, reader)
        sources[1] = cache_in_texture(s, weight, sums, weight_scope)
    inner, threads = _bind_output(s[output], convolution.data, tiling)
    s[sums].compute_at(s[output], inner)
    group, element, window = _order_sums(s[sums], convolution.data)
    _stage_inputs(s, sums, sources, (group, element, window), tiling, threads, reader)
    return s


def _bind_output(
    stage: Stage, letters: str, tiling: Tiling
) -> tuple[IterVar, list[tuple[str, int]]]:
    """Split the output among blocks, virtual threads, threads and the tile of a thread."""
    axes = dict(zip(letters, stage.op.axis, strict=True))
    bx, x = stage.split(axes["W"], factor=tiling.pixels * tiling.columns * tiling.virtual)
    vx, x = stage.split(x, nparts=tiling.virtual)
    tx, pixel = stage.split(x, factor=tiling.pixels)
    bk, tk = stage.split(axes["C"], factor=tiling.channels)
    stage.reorder(axes["N"], bk, axes["H"], bx, vx, tk, tx, pixel, axes["c"])
    blocks = {"z": stage.fuse(axes["N"], bk), "y": axes["H"], "x": bx}
    for tag, axis in blocks.items():
        stage.bind(axis, block(tag))
    stage.bind(vx, te.thread_axis("vthread"))
    stage.bind(tk, thread("y"))
    stage.bind(tx, thread("x"))
    stage.vectorize(axes["c"])
    return tx, [("y", tiling.channels), ("x", tiling.columns)]


def _order_sums(stage: Stage, letters: str) -> tuple[IterVar, IterVar, IterVar]:
    """Order the reduction loops: texels of the activations, their lanes, the window."""
    axes = dict(zip(letters, stage.op.axis, strict=True))
    c, r, s = stage.op.reduce_axis
    group, lane = stage.split(c, factor=LANES)
    stage.reorder(group, r, s, lane, *(axes[v] for v in "NCHWc"))
    stage.vectorize(axes["c"])
    for axis in (lane, axes["W"]):
        stage.unroll(axis)
    return group, lane, s


def _stage_inputs(
    s: Schedule,
    sums: Tensor,
    sources: list[Tensor],
    loops: tuple[IterVar, IterVar, IterVar],
    tiling: Tiling,
    threads: list[tuple[str, int]],
    reader: Tensor,
) -> None:
    group, lane, column = loops
    for source, user, loop in zip(sources, (reader, sums), (column, lane), strict=True):
        near = source
        if tiling.shared:
            near = s.cache_read(near, "shared", [user])
            s[near].compute_at(s[sums], group)
            fill_together(s, near, threads)
        if tiling.copy:
            copy_texels(s, s.cache_read(near, "local", [user]), sums, loop)
