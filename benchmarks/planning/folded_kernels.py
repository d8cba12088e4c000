"""Times kernels on planned textures next to the same kernels on textures of their own.

A plan folds tensors and puts several into one image, which costs index arithmetic and changes what
lies together in caches. For layers of the networks, three kernels compute the same convolution:

unfolded  each tensor in an image of its own, its planes one above the other
folded    each tensor in an image of its own, folded as in the plan
placed    as in the plan: folded, in images of the plan's sizes, at origins that are arguments

The files list tensors, not operators, so each pair that one operator reads and writes becomes a
convolution of these shapes: 3x3 depthwise (MobileNets, MediaPipe) or 3x3 where the channels stay,
3x3 in VGG, otherwise 1x1; with stride 2 where the image shrinks. Pairs of which no tensor is folded
are left out. Values are small integers, whose sums are exact, so that all outputs must be equal.

    python benchmarks/planning/folded_kernels.py            # all networks; --quick: some layers
    python benchmarks/planning/folded_kernels.py --network mobilenet_v2 --device 1
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import texloom
from texloom import Device, te
from texloom.examples.conv2d import conv2d_nchw4c, schedule_conv2d_nchw4c
from texloom.examples.conv2d_nhwc import (
    ConvTiles,
    depthwise_conv2d_nhwc,
    schedule_depthwise_conv2d_nhwc,
)
from texloom.measure.loop import Arm, medians
from texloom_bench import command_line
from texloom_bench.device import choose

HERE = Path(__file__).resolve().parent
DEPTHWISE = ("mobilenet", "mediapipe")  # networks whose 3x3 convolutions are depthwise
ARMS = ("unfolded", "folded", "placed")
CHECKED = 16  # output elements that are compared with NumPy
QUICK_LAYERS = 3  # of each network
SAMPLE_SECONDS, MOST_RUNS = 0.01, 100  # of runs that are enqueued together


@dataclass(frozen=True)
class Planned:
    """A tensor of `slices` planes of `height` by `width` texels, and its place in the plan."""

    height: int
    width: int
    slices: int
    fold: int
    origin: tuple[int, int]
    image: tuple[int, int]  # width and height, in texels

    @property
    def channels(self) -> int:
        """The channels, padded to whole texels."""
        return 4 * self.slices

    def layout(self, fold: int, channels_last: bool) -> str:
        """Return the layout folded by `fold`, of [N, C/4, H, W, 4] or of [N, H, W, C]."""
        if channels_last:
            return (
                f"texture[(n, h, w, c) -> rows=(n, c/{4 * fold}, h), cols=(c/4%{fold}, w), "
                "lanes=c%4]"
            )
        return f"texture[(n, s, h, w, l) -> rows=(n, s/{fold}, h), cols=(s%{fold}, w), lanes=l]"


@dataclass(frozen=True)
class Layer:
    """A convolution from one planned tensor to another."""

    source: Planned
    result: Planned
    kernel: int
    stride: int
    depthwise: bool

    def __str__(self) -> str:
        kind = f"{'depthwise ' if self.depthwise else ''}{self.kernel}x{self.kernel}"
        step = f" /{self.stride}" if self.stride > 1 else ""
        return (
            f"{kind}{step} {self.source.channels} -> {self.result.channels} @ "
            f"{self.result.height}x{self.result.width}"
        )


def layers_of(name: str) -> list[Layer]:
    """Return the different layers of a network of which the plan folds a tensor."""
    network, plan = (
        json.loads((HERE / folder / f"{name}.json").read_text()) for folder in ("networks", "plans")
    )
    items = {item["id"]: item for item in network["items"]}
    tensors = {}
    for place in plan["placements"]:
        item, image = items[place["id"]], plan["images"][place["image"]]
        tensors[place["id"]] = Planned(
            *(item[key] for key in ("height", "width", "slices")),
            fold=place["fold"],
            origin=(place["x"], place["y"]),
            image=(image["width"], image["height"]),
        )
    found: dict[tuple[Any, ...], Layer] = {}
    for first, second in network["read_write_conflicts"]:
        layer = _layer(name, tensors[first], tensors[second])
        if layer is not None and (layer.source.fold, layer.result.fold) != (1, 1):
            found.setdefault((str(layer), layer.source.fold, layer.result.fold), layer)
    return list(found.values())


def _layer(name: str, source: Planned, result: Planned) -> Layer | None:
    """Return the convolution that stands for a pair, if one has such shapes."""
    for stride in (1, 2):
        if (-(-source.height // stride), -(-source.width // stride)) == (
            result.height,
            result.width,
        ):
            same = source.channels == result.channels
            depthwise = same and name.startswith(DEPTHWISE)
            return Layer(source, result, 3 if same or "vgg" in name else 1, stride, depthwise)
    return None


def compute(layer: Layer) -> tuple[Any, list[Any], tuple[int, ...]]:
    """Return a layer's schedule, its arguments, and the shape of its weights."""
    source, size = layer.source, layer.kernel
    options = {"stride": layer.stride, "padding": size // 2}
    if layer.depthwise:
        data = te.placeholder((1, source.height, source.width, source.channels), name="data")
        weight = te.placeholder((size, size, source.channels), name="weight")
        convolution = depthwise_conv2d_nhwc(data, weight, **options)
        tiles = ConvTiles((1, min(4, layer.result.width)), 4, (4, 4, 8))
        return (
            schedule_depthwise_conv2d_nhwc(convolution, tiles),
            convolution.arguments,
            (size, size, source.channels),
        )
    shape = (layer.result.slices, source.channels, size, size, 4)
    data = te.placeholder((1, source.slices, source.height, source.width, 4), name="data")
    weight = te.placeholder(shape, name="weight")
    output = conv2d_nchw4c(data, weight, **options)
    return schedule_conv2d_nchw4c(output), [data, weight, output], shape


def texture(layer: Layer, tensor: Planned, arm: str) -> tuple[str, dict[str, Any]]:
    """Return the layout of a tensor for one arm, and where its array lies."""
    fold = 1 if arm == "unfolded" else tensor.fold
    place = {"origin": tensor.origin, "image": tensor.image} if arm == "placed" else {}
    return tensor.layout(fold, layer.depthwise), place


def expected_at(
    layer: Layer, data: np.ndarray, weight: np.ndarray, index: tuple[int, ...]
) -> np.float32:
    """Return one element of the output, as NumPy computes it."""
    if layer.depthwise:
        _, y, x, c = index
        image, filters = data[0, :, :, c : c + 1], weight[:, :, c : c + 1]
    else:
        _, s, y, x, lane = index
        image = data[0].transpose(1, 2, 0, 3).reshape(*data.shape[2:4], -1)
        filters = weight[s, :, :, :, lane].transpose(1, 2, 0)
    border = layer.kernel // 2
    image = np.pad(image, ((border, border), (border, border), (0, 0)))
    top, left = y * layer.stride, x * layer.stride
    window = image[top : top + layer.kernel, left : left + layer.kernel]
    return np.float32((window * filters).sum(dtype=np.float64))


def measure(layer: Layer, device: Device, rounds: int) -> tuple[list[float], bool]:
    """Check a layer's three kernels, and time them in turn; return seconds, and if all is right."""
    rng = np.random.default_rng(layer.source.channels)
    schedule, arguments, weight_shape = compute(layer)
    shapes = [tuple(map(int, tensor.shape)) for tensor in arguments]
    data = rng.integers(-4, 5, shapes[0]).astype(np.float32)
    weight = rng.integers(-4, 5, weight_shape).astype(np.float32)
    weights = texloom.nd.array(weight, device, mem_scope=str(schedule[arguments[1]].scope))
    calls, outputs = [], []
    for arm in ARMS:
        schedule, arguments, _ = compute(layer)
        binds, arrays = {}, []
        for position, tensor in ((0, layer.source), (2, layer.result)):
            layout, place = texture(layer, tensor, arm)
            schedule[arguments[position]].set_scope("texture", layout=layout)
            binds[arguments[position]] = texloom.decl_buffer(
                shapes[position], layout=layout, origin=arm == "placed"
            )
            arrays.append(texloom.nd.empty(shapes[position], device=device, layout=layout, **place))
        arrays[0].copyfrom(data)
        function = texloom.build(schedule, arguments, "opencl", binds=binds)
        call = (arrays[0], weights, arrays[1])
        function(*call)
        outputs.append(arrays[1].numpy())
        calls.append((function, call))
    right = all(np.array_equal(outputs[0], output) for output in outputs[1:])
    for _ in range(CHECKED):
        index = tuple(int(rng.integers(extent)) for extent in outputs[0].shape)
        right = right and outputs[0][index] == expected_at(layer, data, weight, index)
    # Runs that are enqueued together hide what a call costs on the host.
    first = Arm(lambda: calls[0][0](*calls[0][1]), device.sync)
    runs = max(1, min(MOST_RUNS, round(SAMPLE_SECONDS / max(first.seconds(1), 1e-9))))
    arms = [Arm(partial(function.enqueue, runs, *call), device.sync) for function, call in calls]
    return [each / runs for each in medians(arms, rounds=rounds)], right


def lines(
    names: Sequence[str], device: Device, rounds: int, most: int | None
) -> Iterator[tuple[str, bool]]:
    """Yield the table's lines, each with whether its results are right."""
    yield f"{'':46}{'folds':>9}{'unfolded us':>13}{'folded':>9}{'placed':>9}", True
    all_ratios: list[tuple[float, float]] = []
    for name in names:
        layers = layers_of(name)[:most]
        yield f"\n{name}" + ("" if layers else ": no tensor of a layer is folded"), True
        ratios = []
        for layer in layers:
            times, right = measure(layer, device, rounds)
            ratios.append((times[1] / times[0], times[2] / times[0]))
            folds = f"{layer.source.fold}, {layer.result.fold}"
            line = f"  {layer!s:44}{folds:>9}{times[0] * 1e6:13.1f}"
            line += "".join(f"{ratio:8.3f}x" for ratio in ratios[-1])
            yield line + ("" if right else "  WRONG"), right
        if ratios:
            yield _medians(f"  median of {len(ratios)}", ratios), True
        all_ratios += ratios
    if all_ratios:
        yield "\n" + _medians(f"median of all {len(all_ratios)}", all_ratios), True


def _medians(title: str, ratios: list[tuple[float, float]]) -> str:
    return f"{title:68}" + "".join(f"{median(arm):8.3f}x" for arm in zip(*ratios, strict=True))


def main(arguments: Sequence[str]) -> int:
    """Measure and print; return 0, or 1 if a result was wrong or an error ended the run."""
    known = sorted(file.stem for file in (HERE / "networks").glob("*.json"))
    parser = argparse.ArgumentParser(
        description="Times kernels on planned textures next to unfolded ones.",
        epilog="Ratios are times relative to the unfolded kernel: above 1, the plan costs time.",
    )
    command_line.add_quick_option(parser)
    command_line.add_device_option(parser)
    parser.add_argument(
        "--network", action="append", choices=known, metavar="NAME", help=", ".join(known)
    )
    options = parser.parse_args(arguments)

    def run() -> bool:
        device, description = choose(options.device)
        print(f"{description}\n")
        most = QUICK_LAYERS if options.quick else None
        is_right = True
        for line, right in lines(
            options.network or known, device, command_line.rounds(options), most
        ):
            print(line, flush=True)
            is_right &= right
        return is_right

    return command_line.exit_status("folded_kernels", run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
