"""Products of matrices by the default schedules, beside cuBLAS in a CUDA graph.

Our time is that of a launch in a row of launches, less that of an empty kernel: what NVIDIA's
OpenCL needs for a launch, a CUDA graph does not.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import texloom
from texloom import Device, nd, te
from texloom.measure.loop import BatchArm, Timed, medians, seconds_of
from texloom.ops.products import matmul
from texloom.ops.schedules.default import schedule_default
from texloom.target import Target

from . import command_line, pytorch
from .device import choose

SIZES = """128x384x1536 196x768x384 197x768x2304 197x768x3072 197x768x768 256x768x768 3136x384x96
3136x96x384 49x768x3072 784x192x768 100x512x2048 1024x1024x1024 1024x512x512 128x1536x384
1568x192x576 16x768x768 197x3072x768 256x3072x768 320x1280x320 400x256x1024 50x2048x512 577x768x3072
577x768x768 64x1024x1024 64x512x512 16x2048x2048 1x1024x1000 1x4096x4096 8x768x768 12x197x197x64
12x197x64x197""".split()
"""Rows, steps and columns, after the number of products if there are several."""
_RUNS = 50  # launches in a row, and products in a CUDA graph


@dataclass(frozen=True)
class Row:
    """The times of a product, in microseconds.

    Attributes
    ----------
    size : str
    ours : float
        Less the launch of an empty kernel.
    cublas : float or None
    error : float
        The largest error, as a share of its bound.
    """

    size: str
    ours: float
    cublas: float | None
    error: float

    @property
    def ratio(self) -> float | None:
        """How many times as fast as cuBLAS; None if that is not known."""
        if self.cublas is None or self.ours <= 0:  # in less time than the empty kernel
            return None
        return self.cublas / self.ours


def _function(outputs: Sequence[Any], inputs: Sequence[Any], target: Target) -> Any:
    tensors = [*inputs, *outputs]
    schedule = schedule_default(outputs, inputs, ["global"] * len(tensors), target.value)
    return texloom.build(schedule, tensors, target)


def _arm(function: Any, arrays: Sequence[Any], device: Device) -> BatchArm:
    function(*arrays)
    return BatchArm(
        lambda count: seconds_of(lambda: function.enqueue(count * _RUNS, *arrays), device.sync)
    )


def empty_arm(device: Device, target: Target) -> BatchArm:
    """Return the arm of a kernel that does almost nothing."""
    x = te.placeholder((32,), name="x")
    y = te.compute((32,), lambda i: x[i] + 1.0)
    arrays = [nd.array(np.zeros(32, "float32"), device) for _ in range(2)]
    return _arm(_function([y], [x], target), arrays, device)


def operands(size: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the factors of a product."""
    *batch, m, k, n = map(int, size.split("x"))
    random = np.random.default_rng(0)
    left = random.standard_normal((*batch, m, k), dtype="float32")
    return left, random.standard_normal((*batch, k, n), dtype="float32")


def share_of_bound(c: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> float:
    """Return the largest error of a product in float32, as a share of the bound of a sum."""
    wide = a.astype("float64"), b.astype("float64")
    bound = (a.shape[-1] + 8) * 2.0**-24 * (np.abs(wide[0]) @ np.abs(wide[1]))
    return float((np.abs(c - wide[0] @ wide[1]) / bound).max())


def measure(
    size: str, device: Device, target: Target, peer: pytorch.PyTorch | None, rounds: int
) -> Row:
    """Check and time a product."""
    a, b = operands(size)
    x, y = (te.placeholder(each.shape, name=name) for each, name in ((a, "a"), (b, "b")))
    z = matmul(x, y)
    function = _function([z], [x, y], target)
    arrays = [nd.array(each, device) for each in (a, b)]
    arrays.append(nd.array(np.zeros(tuple(map(int, z.shape)), "float32"), device))
    arms: list[Timed] = [_arm(function, arrays, device), empty_arm(device, target)]
    error = share_of_bound(arrays[2].numpy(), a, b)
    if peer is not None:
        arms += peer.arms("repeated_products", a, b, runs=_RUNS).values()
    ours, empty, *theirs = (each / _RUNS * 1e6 for each in medians(arms, rounds=rounds))
    return Row(size, ours - empty, theirs[0] if theirs else None, error)


def run(options: argparse.Namespace) -> bool:
    """Measure and print; return whether all results were right."""
    device, description = choose(options.device)
    target = Target.from_device(device)
    print(description)
    rows = []
    with pytorch.running() as peer:
        print(f"CUDA       {pytorch.described(peer)}\n")
        print(f"{'product':16}{'ours us':>10}{'cuBLAS us':>11}{'as fast':>9}{'error':>8}")
        for size in options.size or SIZES:
            row = measure(size, device, target, peer, command_line.rounds(options))
            rows.append(row)
            library = "-" if row.cublas is None else f"{row.cublas:.2f}"
            ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
            line = f"{size:16}{row.ours:10.2f}{library:>11}{ratio:>9}{row.error:8.3f}"
            print(line + ("" if row.error <= 1 else "  WRONG"), flush=True)
    ratios = [row.ratio for row in rows if row.ratio]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"\n{len(ratios)} products: geometric mean {mean:.2f}, least {min(ratios):.2f}")
    return all(row.error <= 1 for row in rows)


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; return 0, 1 if a result was wrong, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m texloom_bench products", description=__doc__)
    command_line.add_quick_option(parser)
    command_line.add_device_option(parser)
    parser.add_argument(
        "--size", action="append", metavar="[B]xMxKxN", help="may be repeated (default: 31 sizes)"
    )
    options = parser.parse_args(arguments)
    return command_line.exit_status("texloom_bench products", lambda: run(options))
