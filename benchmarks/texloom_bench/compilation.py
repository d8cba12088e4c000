"""``./dev bench compile``: the time for lowering and printing, and its growth."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import texloom
from texloom import te
from texloom.examples import conv2d_nchw4c, schedule_conv2d_nchw4c
from texloom.examples.conv2d import Storage
from texloom.examples.packing import LANES
from texloom.measure.loop import Timed, medians, seconds_of

from . import command_line, growth, halide_convolution

CHANNELS, SIZE = 64, 56
SIZES = (100, 1_000, 10_000)

Preparation = Callable[[], Callable[[], object]]


def _texloom_arm(storage: Storage) -> Preparation:
    data = te.placeholder((1, CHANNELS // LANES, SIZE, SIZE, LANES), name="data")
    weight = te.placeholder((CHANNELS // LANES, CHANNELS, 3, 3, LANES), name="weight")
    output = conv2d_nchw4c(data, weight)

    def prepare() -> Callable[[], object]:
        schedule = schedule_conv2d_nchw4c(output, storage)
        return lambda: texloom.build(schedule, [data, weight, output], "opencl")

    return prepare


@dataclass(frozen=True)
class _Prepared:
    """An arm whose preparation, before each run, is not timed."""

    prepare: Preparation

    def seconds(self, count: int) -> float:
        """Return seconds per run."""
        return sum(seconds_of(self.prepare()) for _ in range(count)) / count


def _print_convolution(rounds: int) -> None:
    print(
        f"A scheduled 3x3 convolution, {CHANNELS} channels, {SIZE} x {SIZE} pixels, constant "
        f"shapes:\nfrom the schedule to OpenCL C; one thread, medians of {rounds}\n"
    )
    arms: dict[str, Timed] = {
        "texture": _Prepared(_texloom_arm("texture")),
        "buffer": _Prepared(_texloom_arm("buffer")),
    }
    peer = halide_convolution.name()
    if peer:
        arms[peer] = _Prepared(lambda: halide_convolution.lowering(CHANNELS, SIZE))
    found = medians(list(arms.values()), rounds=rounds, sample_seconds=0)
    times = dict(zip(arms, found, strict=True))
    print(f"{'':16}{'ms':>10}" + (f"{'of Halide':>12}" if peer else ""))
    for name, seconds in times.items():
        share = f"{seconds / times[peer]:>12.2f}" if peer else ""
        print(f"{name:16}{seconds * 1e3:>10.2f}{share}")
    if not peer:
        print("\nHalide is not measured: pip install -r requirements-bench.txt")


def _print_growth() -> None:
    print(f"\nGrowth: stores to different elements; medians of {growth.ROUNDS}\n", flush=True)
    print(f"{'':16}{'statements':>12}{'ms':>10}{'µs each':>10}{'MiB':>8}", flush=True)
    for kind in growth.KINDS:
        for statements in SIZES:
            command = [sys.executable, "-m", growth.__name__, kind, str(statements)]
            child = subprocess.run(command, check=True, capture_output=True, text=True)
            row = json.loads(child.stdout)
            each = row["seconds"] / statements * 1e6
            print(
                f"{kind:16}{statements:>12,}{row['seconds'] * 1e3:>10.1f}{each:>10.1f}"
                f"{row['mebibytes']:>8.1f}",
                flush=True,
            )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m texloom_bench compile",
        description="Times compilation: a convolution next to Halide, and how times grow.",
    )
    command_line.add_quick_option(parser)
    options = parser.parse_args(arguments)

    def run() -> bool:
        _print_convolution(command_line.rounds(options))
        _print_growth()
        return True

    return command_line.exit_status("texloom_bench", run)
