"""``./dev bench compile``: the time for lowering, printing and native code, and its growth."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import texloom
from texloom import te
from texloom.examples import conv2d_nchw4c, schedule_conv2d_nchw4c
from texloom.examples.conv2d import Storage
from texloom.examples.packing import LANES
from texloom.measure.loop import Timed, medians, seconds_of

from . import command_line, growth, halide_peer

CHANNELS, SIZE = 64, 56
PRODUCT = 96  # rows and columns of matrices: so few that a call takes far less than compiling
NATIVE = "llvm -mcpu=native"
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


def native_product() -> Callable[[], object]:
    """Prepare a product of matrices: tiles of 6 x 16 in registers, rows of them in parallel."""
    a, b = (te.placeholder((PRODUCT, PRODUCT), name=name) for name in "AB")
    k = te.reduce_axis((0, PRODUCT), name="k")
    c = te.compute(a.shape, lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    tile = s.cache_write(c, "local")
    rows, columns, row, column = s[c].tile(*c.op.axis, 6, 16)
    s[c].parallel(rows)
    s[c].unroll(row)
    s[c].vectorize(column)
    s[tile].compute_at(s[c], columns)
    row, column = s[tile].op.axis
    outer, inner = s[tile].split(s[tile].op.reduce_axis[0], 4)
    s[tile].reorder(outer, inner, row, column)
    s[tile].unroll(row)
    s[tile].vectorize(column)

    given = np.zeros((PRODUCT, PRODUCT), "float32")

    def computed() -> object:  # the first call loads the code
        return texloom.build(s, [a, b, c], NATIVE)(given, given)

    return computed


def _has_llvm() -> bool:
    try:
        native_product()()
    except texloom.TVMError as error:
        print(f"Native code is not measured: {error.diagnostics[0].message}")
        return False
    return True


def _print_next_to_halide(arms: dict[str, Preparation], halide: Preparation, rounds: int) -> None:
    peer = halide_peer.name()
    if peer:
        arms = {**arms, peer: halide}
    timed: list[Timed] = [_Prepared(each) for each in arms.values()]
    times = dict(zip(arms, medians(timed, rounds=rounds, sample_seconds=0), strict=True))
    print(f"{'':16}{'ms':>10}" + (f"{'of Halide':>12}" if peer else ""))
    for name, seconds in times.items():
        share = f"{seconds / times[peer]:>12.2f}" if peer else ""
        print(f"{name:16}{seconds * 1e3:>10.2f}{share}")
    if not peer:
        print("\nHalide is not measured: pip install -r requirements-bench.txt")


def _print_convolution(rounds: int) -> None:
    print(
        f"A scheduled 3x3 convolution, {CHANNELS} channels, {SIZE} x {SIZE} pixels, constant "
        f"shapes:\nfrom the schedule to OpenCL C; one thread, medians of {rounds}\n"
    )
    _print_next_to_halide(
        {"texture": _texloom_arm("texture"), "buffer": _texloom_arm("buffer")},
        lambda: halide_peer.convolution(CHANNELS, SIZE),
        rounds,
    )


def _print_product(rounds: int) -> None:
    print(
        f"\nA scheduled product of float32 matrices, {PRODUCT} x {PRODUCT}: from the schedule to "
        f"native code\nthat is loaded; one thread, medians of {rounds}\n"
    )
    if _has_llvm():
        _print_next_to_halide(
            {"llvm": native_product}, lambda: halide_peer.product(PRODUCT), rounds
        )


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
        description="Times compilation: a convolution and native code of a product, next to "
        "Halide, and how times grow.",
    )
    command_line.add_quick_option(parser)
    options = parser.parse_args(arguments)

    def run() -> bool:
        _print_convolution(command_line.rounds(options))
        _print_product(command_line.rounds(options))
        _print_growth()
        return True

    return command_line.exit_status("texloom_bench", run)
