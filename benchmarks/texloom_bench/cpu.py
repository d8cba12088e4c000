"""Products of matrices on the processor, next to oneDNN, NumPy and the peak of the machine.

Then products with epilogues, next to the bare products.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import cpu_epilogues
from .cpu_epilogues import TARGET, Fused

_REST_SECONDS = 0.1
"""With several threads: OpenBLAS's look for work for some 20 ms, others for less."""

PEAKS = Path("src/codegen/llvm/microkernels/mmt4d_benchmark")

LEGEND = """
packed       the bare product of packed sides; rows: left and result are row-major, so that packing
             and unpacking are part of the time; the right side is packed, as oneDNN's is
/oneDNN      our speed over oneDNN's; /NumPy: rows over NumPy's, whose right side is not packed
of peak      packed, over what multiply-adds alone reach on these threads in the same run
Checked first: results against exact sums, of small integers in float32, and of all integers in
int8, where oneDNN saturates on processors without VNNI ("inexact"). Medians; arms take turns,
with pauses between them if there are several threads."""


@dataclass(frozen=True)
class Product:
    """A product ``[m, k] @ [k, n]``."""

    m: int
    n: int
    k: int
    left: str
    right: str

    @property
    def operations(self) -> int:
        """Multiplications and additions."""
        return 2 * self.m * self.n * self.k

    def __str__(self) -> str:
        return f"{self.left} {self.m}x{self.n}x{self.k}"


F32 = [Product(n, n, n, "float32", "float32") for n in (256, 1024, 2048)]
PRODUCTS = (
    *F32,
    Product(16, 2048, 2048, "float32", "float32"),
    Product(1, 2048, 2048, "float32", "float32"),
    *(Product(n, n, n, "int8", "int8") for n in (1024, 2048)),
)


def measure(product: Product, rounds: int) -> dict[str, Any]:
    """Check and time all arms; return seconds by arm, and the name of our micro-kernel."""
    import numpy as np

    from texloom import build, device, nd, te
    from texloom.measure.loop import Arm, Sampling
    from texloom.measure.loop import measure as sampled
    from texloom.ops import tiled
    from texloom.target import mmt4d_tile

    from .onednn import OneDnn

    tile = mmt4d_tile(product.left, product.right, rows=product.m, target=TARGET)
    rng = np.random.default_rng(0)
    low, high = (-128, 128) if product.left == "int8" else (-8, 9)
    a = rng.integers(low, high, (product.m, product.k)).astype(product.left)
    b = rng.integers(low, high, (product.k, product.n)).astype(product.right)
    host = device("host:0")
    sides = [te.placeholder(each.shape, str(each.dtype), name="side") for each in (a, b)]

    def function(output: Any, *args: Any) -> Any:
        return build(tiled.schedule_mmt4d(output, TARGET), [*args, output], TARGET)

    packs = [
        tiled.pack(sides[0], tile.m0, tile.k0, zero_rows=False),
        tiled.pack(sides[1], tile.n0, tile.k0, transposed=True),
    ]
    left, right = (
        function(each, of)(nd.array(x, host))
        for each, of, x in zip(packs, sides, (a, b), strict=True)
    )
    tiled_sides = [
        te.placeholder(each.shape, each.dtype, name=name)
        for each, name in ((left, "left"), (right, "right"))
    ]
    sums = tiled.mmt4d(*tiled_sides)
    result = tiled.unpack(tiled.mmt4d(packs[0], tiled_sides[1]), product.m, product.n)
    packed, rows = function(sums, *tiled_sides), function(result, sides[0], tiled_sides[1])
    tiles = nd.empty([int(n) for n in sums.shape], sums.dtype, host)
    matrix = nd.empty((product.m, product.n), sums.dtype, host)
    given = nd.array(a, host)
    arms: dict[str, Callable[[], object]] = {
        "packed": lambda: packed(left, right, tiles),
        "rows": lambda: rows(given, right, matrix),
    }
    exact = a.astype("float64") @ b.astype("float64")
    theirs = np.zeros((product.m, product.n), sums.dtype)
    versions = {"NumPy": np.__version__}
    try:
        peer = OneDnn()
        arms["oneDNN"], versions["oneDNN"] = peer.product(a, b, theirs), peer.version
    except ModuleNotFoundError:
        pass
    for run in arms.values():
        run()
    unpacked = tiles.numpy().transpose(0, 2, 1, 3).reshape(-1, tiles.shape[1] * tile.n0)
    ours = [unpacked[: product.m, : product.n], matrix.numpy()]
    peer_is_exact = "oneDNN" not in arms or bool((theirs == exact).all())
    if product.left == "float32":
        arms["NumPy"] = lambda: np.matmul(a, b, out=theirs)
    sampling = Sampling(
        rounds, rest_seconds=_REST_SECONDS if len(os.sched_getaffinity(0)) > 1 else 0
    )
    times = sampled([Arm(run, host.sync) for run in arms.values()], sampling)
    seconds = [each.median for each in times]
    return {
        "kernel": tile.kernel,
        "seconds": dict(zip(arms, seconds, strict=True)),
        "right": all(bool((each == exact).all()) for each in ours),
        "peer_is_exact": peer_is_exact,
        "versions": versions,
    }


def peak(kernel: str, threads: int, folder: Path) -> float | None:
    """Return the operations per second of multiply-adds alone on so many threads, or None."""
    program = folder / PEAKS
    if not program.exists():
        return None

    def run(cpu: int) -> float:
        command = ["taskset", "-c", str(cpu), str(program), kernel]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return float(text.split()[-1]) * 1e9

    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(run, sorted(os.sched_getaffinity(0))[:threads]))


def in_child(product: Product | Fused, threads: int, rounds: int) -> dict[str, Any]:
    """Measure in a process that has so many threads."""
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:threads]))
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    command = ["taskset", "-c", cpus, sys.executable, "-m", "texloom_bench.cpu"]
    request = json.dumps({**asdict(product), "rounds": rounds})
    environment = {**os.environ, **dict.fromkeys(names, str(threads))}
    done = subprocess.run(
        [*command, request], stdout=subprocess.PIPE, text=True, check=True, env=environment
    )
    return json.loads(done.stdout)


def _ratio(seconds: dict[str, float], own: str, peer: str) -> str:
    return f"{seconds[peer] / seconds[own]:.2f}" if peer in seconds else "-"


def table(options: argparse.Namespace) -> bool:
    """Measure and print; return whether all results were right."""
    head = ("product", "threads", "packed", "rows", "oneDNN", "NumPy", "packed/oneDNN")
    head += ("rows/oneDNN", "rows/NumPy", "of peak")
    print("10^9 operations per second\n")
    print(f"{head[0]:24}" + "".join(f"{each:>14}" for each in head[1:]))
    right, rows, versions = True, [], {}
    for product in PRODUCTS:
        for threads in options.threads:
            row = in_child(product, threads, options.rounds)
            best = peak(row["kernel"], threads, options.build)
            seconds = row["seconds"]
            rate = {arm: product.operations / each for arm, each in seconds.items()}
            cells = [str(threads)]
            cells += [
                f"{rate[arm] * 1e-9:.1f}" if arm in rate else "-"
                for arm in ("packed", "rows", "oneDNN", "NumPy")
            ]
            cells += [_ratio(seconds, own, "oneDNN") for own in ("packed", "rows")]
            cells += [_ratio(seconds, "rows", "NumPy")]
            cells += ["-" if best is None else f"{100 * rate['packed'] / best:.0f}%"]
            line = f"{product!s:24}" + "".join(f"{each:>14}" for each in cells)
            line += "" if row["peer_is_exact"] else "  oneDNN inexact"
            print(line + ("" if row["right"] else "  WRONG"), flush=True)
            right &= row["right"]
            versions |= row["versions"]
            rows.append({"product": str(product), "threads": threads, "peak": best, **row})
    print(f"\n{cpu_epilogues.HEAD}")
    for fused in cpu_epilogues.FUSED:
        for threads in options.threads:
            row = in_child(fused, threads, options.rounds)
            print(cpu_epilogues.line(fused, threads, row), flush=True)
            right &= row["right"]
            rows.append({**asdict(fused), "threads": threads, **row})
    print(f"\nversions     {', '.join(f'{name} {version}' for name, version in versions.items())}")
    print(LEGEND + cpu_epilogues.LEGEND)
    if options.json is not None:
        options.json.write_text(json.dumps({"machine": platform.uname()._asdict(), "rows": rows}))
    return right


def _numbers(text: str) -> list[int]:
    counts = [int(each) for each in text.split(",") if each.isdecimal()]
    most = len(os.sched_getaffinity(0))
    if not counts or not all(1 <= each <= most for each in counts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers from 1 to {most}")
    return counts


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse and check the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m texloom_bench cpu",
        description="Times products of matrices by micro-kernels on the target llvm, next to "
        "oneDNN (pip install onednn-cpu-gomp), NumPy and the peak of the machine; then products "
        "with what is computed of each tile in registers.",
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a first look")
    parser.add_argument(
        "--threads",
        type=_numbers,
        default=sorted({1, len(os.sched_getaffinity(0))}),
        metavar="N,...",
        help="numbers of threads (default: 1, and all)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the table to a file")
    parser.add_argument(
        "--build",
        type=Path,
        default=Path("build/release"),
        metavar="FOLDER",
        help="the build that has mmt4d_benchmark, which measures the peak (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    options.rounds = 5 if options.quick else 25
    return options


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; return 0, 1 if a result was wrong, 130 after Ctrl-C."""
    from . import command_line

    options = parse(arguments)
    return command_line.exit_status("texloom_bench", lambda: table(options))


if __name__ == "__main__":
    request = json.loads(sys.argv[1])
    rounds = request.pop("rounds")
    if "epilogue" in request:
        print(json.dumps(cpu_epilogues.measure(Fused(**request), rounds)))
    else:
        print(json.dumps(measure(Product(**request), rounds)))
