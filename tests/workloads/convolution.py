"""Convolutions of activations and weights whose last axis are four channels, in any layout.

A layout is a string of axes. Activations: N, C (groups of four channels), H, W, c (one of four).
Weights: K (groups of four outputs), C (input channels, one by one), R, S (rows and columns of the
window), k (one of four outputs). The output has the activations' layout.
"""

from dataclasses import dataclass

import numpy as np

from texloom import te

from .accuracy import Sums
from .schedules import block, cache_in_texture, copy_texels, fill_together, thread

LANES = 4


@dataclass(frozen=True)
class Convolution:
    """What is computed; shapes are those of the tensors."""

    data: str = "NCHWc"
    weight: str = "KCRSk"
    stride: int = 1
    dilation: int = 1
    padding: int = 0
    groups: int = 1

    def shape(self, data, weight):
        """Of the output, in its layout."""
        d, w = self._extents(data, weight)
        return tuple({**d, "C": w["K"], **self._pixels(d, w)}[letter] for letter in self.data)

    def compute(self, data, weight, accumulate=None):
        """The sums in dtype `accumulate`, cast to that of `data`."""
        d, w = self._extents([int(n) for n in data.shape], [int(n) for n in weight.shape])
        accumulate = accumulate or data.dtype
        source = self._padded(data, d) if self.padding else data
        c = te.reduce_axis((0, w["C"]), name="c")
        r = te.reduce_axis((0, w["R"]), name="r")
        s = te.reduce_axis((0, w["S"]), name="s")
        outputs = w["K"] * LANES

        def product(*index):
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

    def reference(self, data, weight):
        """By NumPy, in float64."""
        x = np.pad(
            self._channels_first(data), [(0, 0), (0, 0), *[(self.padding, self.padding)] * 2]
        )
        _, w = self._extents(data.shape, weight.shape)
        order = [self.weight.index(letter) for letter in "KkCRS"]
        y = weight.transpose(order).reshape(w["K"] * LANES, w["C"], w["R"], w["S"])
        return Sums.of(self._correlate, w["C"] * w["R"] * w["S"], x, y)

    def _extents(self, data, weight):
        d = dict(zip(self.data, (int(n) for n in data), strict=True))
        w = dict(zip(self.weight, (int(n) for n in weight), strict=True))
        assert d["c"] == w["k"] == LANES
        assert d["C"] * LANES == w["C"] * self.groups
        return d, w

    def _pixels(self, d, w):
        def along(extent, window):
            reach = self.dilation * (window - 1) + 1
            return (extent + 2 * self.padding - reach) // self.stride + 1

        return {"H": along(d["H"], w["R"]), "W": along(d["W"], w["S"])}

    def _padded(self, data, d):
        """`data` with zeros around; the schedule inlines it."""
        p = self.padding
        shape = [d[letter] + 2 * p * (letter in "HW") for letter in self.data]

        def element(*index):
            i = dict(zip(self.data, index, strict=True))
            y, x = i["H"] - p, i["W"] - p
            inside = te.all(y >= 0, y < d["H"], x >= 0, x < d["W"])
            at = {**i, "H": y, "W": x}
            value = data[tuple(at[letter] for letter in self.data)]
            return te.if_then_else(inside, value, te.const(0, data.dtype))

        return te.compute(shape, element, name="padded", tag="pad")

    def _channels_first(self, data):
        x = data.transpose([self.data.index(letter) for letter in "NCcHW"])
        n, groups, lanes, h, w = x.shape
        return x.reshape(n, groups * lanes, h, w)

    def _correlate(self, x, y):
        """`[N, C, H, W]` and `[K, C, R, S]`, in the output's layout."""
        outputs, inputs, rows, columns = y.shape
        n, _, h, w = x.shape
        h = (h - self.dilation * (rows - 1) - 1) // self.stride + 1
        w = (w - self.dilation * (columns - 1) - 1) // self.stride + 1
        result = np.zeros((n, self.groups, outputs // self.groups, h * w))
        y = y.reshape(self.groups, -1, inputs, rows, columns)
        for r, s in np.ndindex(rows, columns):
            down, right = r * self.dilation, s * self.dilation
            part = x[:, :, down : down + h * self.stride : self.stride]
            part = part[:, :, :h, right : right + w * self.stride : self.stride][..., :w]
            result += y[..., r, s] @ part.reshape(n, self.groups, inputs, h * w)
        letters = result.reshape(n, outputs // LANES, LANES, h, w)
        return np.ascontiguousarray(letters.transpose(["NCcHW".index(v) for v in self.data]))


@dataclass(frozen=True)
class Tiling:
    """How the output is divided.

    Attributes
    ----------
    pixels : int
        Of a row, for each thread.
    columns, channels : int
        Threads of a block along a row, and along groups of four outputs.
    virtual : int
        Virtual threads, among which a block's part of a row is divided.
    shared : bool
        The threads of a block copy texels into shared memory, for all of them.
    copy : bool
        Each thread copies texels into registers.
    """

    pixels: int = 4
    columns: int = 8
    channels: int = 4
    virtual: int = 1
    shared: bool = False
    copy: bool = True


def schedule(convolution, data, weight, output, tiling, weight_scope="global.texture:weight"):
    """Activations and weights in textures, sums in registers."""
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
    textures = [
        cache_in_texture(s, data, reader),
        cache_in_texture(s, weight, sums, weight_scope),
    ]
    inner, threads = _bind_output(s[output], convolution.data, tiling)
    s[sums].compute_at(s[output], inner)
    group, element, window = _order_sums(s[sums], convolution.data)
    _stage_inputs(s, sums, textures, (group, element, window), tiling, threads, reader)
    return s


def _bind_output(stage, letters, tiling):
    """Blocks, virtual threads, threads and what a thread computes itself."""
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


def _order_sums(stage, letters):
    """Texel by texel of the activations: loops over these, over their lanes, over the window."""
    axes = dict(zip(letters, stage.op.axis, strict=True))
    c, r, s = stage.op.reduce_axis
    group, lane = stage.split(c, factor=LANES)
    stage.reorder(group, r, s, lane, *(axes[v] for v in "NCHWc"))
    stage.vectorize(axes["c"])
    for axis in (lane, axes["W"]):
        stage.unroll(axis)
    return group, lane, s


def _stage_inputs(s, sums, textures, loops, tiling, threads, reader):
    group, lane, column = loops
    sources = []
    for t, user in zip(textures, (reader, sums), strict=True):
        source = t
        if tiling.shared:
            source = s.cache_read(t, "shared", [user])
            s[source].compute_at(s[sums], group)
            fill_together(s, source, threads)
        sources.append(s.cache_read(source, "local", [user]) if tiling.copy else source)
    if tiling.copy:
        copy_texels(s, sources[0], sums, column)
        copy_texels(s, sources[1], sums, lane)
