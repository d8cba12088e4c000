"""Runs the same package files on several devices, and compares the bits of their outputs.

    python benchmarks/equal_bits/bits.py make FOLDER
    python benchmarks/equal_bits/bits.py run FOLDER [--device D]... > RESULT.json
    python benchmarks/equal_bits/bits.py table RESULT.json...

The operations are correctly rounded, so that every device must give equal bits: sums, products,
fused products, comparisons and conversions. Only "division" is not: OpenCL C allows an error of 2.5
units in the last place, so that its bits may differ.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import texloom
from texloom import te
from texloom.examples import mixed_storage
from texloom.examples.texel_schedules import spread
from texloom.graph import Graph, load

SIZE = (24, 37)  # rows and columns of the pictures: not multiples of the kernels' tiles


def scheduled(outputs: list[Any], *_: Any) -> Any:
    """Schedule a kernel whose threads each compute a texel."""
    s = te.create_schedule(outputs[0].op)
    spread(s, outputs[0])
    return s


def arithmetic(dtype: str, scope: str) -> Graph:
    """Sums, products and a comparison, element by element."""

    def compute(a: Any, b: Any) -> Any:
        def element(*i: Any) -> Any:
            total = a[i] * b[i] + a[i]
            return te.max(total, b[i]) - a[i]

        return te.compute(a.shape, element, name="mixed")

    g = Graph(f"arithmetic_{dtype}_{scope}")
    a, b = (g.input(name, (13, 7, 4), dtype) for name in "ab")
    g.output(g.node("y", compute, [a, b], scheduled, {scope: (scope,) * 3}))
    return g


def division() -> Graph:
    """A quotient, element by element."""
    g = Graph("division")
    a, b = (g.input(name, (13, 7, 4), "float32") for name in "ab")
    y = g.node(
        "y",
        lambda p, q: te.compute(p.shape, lambda *i: p[i] / (q[i] * q[i] + 1), name="quotient"),
        [a, b],
        scheduled,
        {"global": ("global",) * 3},
    )
    g.output(y)
    return g


def accumulated(outputs: list[Any], *_: Any) -> Any:
    """Schedule a reduction that each thread sums up in registers."""
    output = outputs[0]
    s = te.create_schedule(output.op)
    total = s.cache_write(output, "local")
    i, c = s[output].op.axis
    block, thread = s[output].split(i, factor=3)
    s[output].bind(block, te.thread_axis("blockIdx.x"))
    s[output].bind(thread, te.thread_axis("threadIdx.x"))
    s[output].vectorize(c)
    s[total].compute_at(s[output], thread)
    return s


def rows(scope: str) -> Graph:
    """Sums over rows, in the order in which the schedule says."""

    def compute(a: Any) -> Any:
        k = te.reduce_axis((0, 50), name="k")
        return te.compute((9, 4), lambda i, c: te.sum(a[k, i, c] * a[k, i, c], axis=k))

    g = Graph(f"rows_{scope}")
    a = g.input("a", (50, 9, 4), "float32")
    g.output(g.node("y", compute, [a], accumulated, {scope: (scope,) * 2}))
    return g


def make(folder: Path) -> None:
    """Write the packages."""
    folder.mkdir(parents=True, exist_ok=True)
    for form, compiled in mixed_storage.compiled(*SIZE).items():
        compiled.save(folder / f"network_{form}.tlp")
    graphs = [
        arithmetic(dtype, scope)
        for dtype in ("float32", "int32", "uint8")
        for scope in ("texture", "global")
    ]
    for graph in [*graphs, rows("texture"), rows("global"), division()]:
        graph.compile("opencl").save(folder / f"{graph.name}.tlp")


def drawn(tensor: Any, random: np.random.Generator) -> np.ndarray:
    """Return values of all magnitudes that the dtype has, without overflow of small products."""
    if np.dtype(tensor.dtype).kind == "f":
        values = random.standard_normal(tensor.shape) * 10.0 ** random.integers(-3, 4, tensor.shape)
        return values.astype(tensor.dtype)
    return random.integers(0, 13, tensor.shape).astype(tensor.dtype)


def run(folder: Path, names: list[str]) -> list[dict[str, Any]]:
    """Run each package on each device; return the hashes of files and outputs."""
    results = []
    for name in names:
        device = texloom.runtime.device(name)
        for file in sorted(folder.glob("*.tlp")):
            graph = load(file)
            random = np.random.default_rng(5)
            outputs = graph.run({t.name: drawn(t, random) for t in graph.inputs}, device)
            bits = hashlib.sha256(b"".join(outputs[t.name].tobytes() for t in graph.outputs))
            results.append(
                {
                    "package": file.stem,
                    "file": hashlib.sha256(file.read_bytes()).hexdigest(),
                    "device": device.info["name"],
                    "platform": device.info["platform"],
                    "bits": bits.hexdigest(),
                }
            )
    return results


def table(results: list[dict[str, Any]]) -> str:
    """Return a table of packages by devices; columns with equal bits have equal words."""
    devices = list(dict.fromkeys((each["platform"], each["device"]) for each in results))
    lines = ["packages, and the first digits of their outputs' hashes on:"]
    lines += [f"  {chr(65 + i)}  {device[1]} ({device[0]})" for i, device in enumerate(devices)]
    lines.append(f"{'':26}" + "".join(f"{chr(65 + i):>12}" for i in range(len(devices))))
    unequal = 0
    for package in dict.fromkeys(each["package"] for each in results):
        mine = {(e["platform"], e["device"]): e for e in results if e["package"] == package}
        if len({each["file"] for each in mine.values()}) != 1:
            raise SystemExit(f"the files of {package} differ: make them once, and copy them")
        equal = len({each["bits"] for each in mine.values()}) == 1
        unequal += not equal and package != "division"
        words = [mine[d]["bits"][:8] if d in mine else "-" for d in devices]
        lines.append(
            f"{package:26}"
            + "".join(f"{word:>12}" for word in words)
            + ("" if equal else "  DIFFERENT")
        )
    lines.append(f"{unequal} packages with unequal bits where all operations are rounded correctly")
    return "\n".join(lines)


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("make").add_argument("folder", type=Path)
    runner = commands.add_parser("run")
    runner.add_argument("folder", type=Path)
    runner.add_argument("--device", action="append", help='such as "opencl:1" or "host"')
    commands.add_parser("table").add_argument("results", nargs="+", type=Path)
    options = parser.parse_args()
    if options.command == "make":
        make(options.folder)
    elif options.command == "run":
        json.dump(run(options.folder, options.device or ["opencl:0", "host:0"]), sys.stdout)
    else:
        results = [each for file in options.results for each in json.loads(file.read_text())]
        print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
