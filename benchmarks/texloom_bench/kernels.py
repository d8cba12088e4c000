"""Matrix products next to hand-written kernels and cuBLAS, convolutions next to cuDNN."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from texloom import Device, build
from texloom.examples.matmul import (
    DIRECT,
    SHARED,
    WARPS,
    Tiles,
    declarations,
    matmul,
    schedule_matmul,
)
from texloom.examples.rounding import sum_error_bound
from texloom.measure.loop import Arm, Timed, medians

from . import command_line, pytorch, workloads
from .device import choose
from .opencl_host import Host, Kernel, Memory
from .pytorch import PyTorch

HAND_WRITTEN_OPTIONS = "-cl-mad-enable -cl-fast-relaxed-math"
OWN_OPTIONS = "-cl-std=CL1.2"
CHECKED_ROWS = 16
SIZES = ((4096, 4096, 4096), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 256))

TABLES = ("products", "convolutions", "workloads")

# The meaning of the columns and the check of the results, with the tables they apply to.
LEGEND = (
    (
        ("products",),
        """\
ours/hand    speed of the generated kernel, over that of the hand-written one of the same loops
ours/cuBLAS  over that of cuBLAS (float32 without TF32) in the same run""",
    ),
    (TABLES, "buf/tex      above 1, textures are faster than buffers"),
    (
        ("convolutions",),
        """\
ours/cuDNN   speed of the faster of both, over cuDNN's; each enqueues its runs together, cuDNN in a
             CUDA graph, in the better of its two memory formats""",
    ),
    (
        ("products",),
        """\
Checked first: some rows of products against float64, each element by its own bound. A small OpenCL
host launches all kernels of products.""",
    ),
    (
        ("convolutions",),
        """\
Checked first: all results of convolutions against float64, each element by its own bound.""",
    ),
    (("workloads",), "Checked first: results of blocked tensors against each other."),
    (TABLES, "All arms take turns."),
)


@dataclass(frozen=True)
class Variant:
    """One loop nest, as a schedule and by hand.

    Attributes
    ----------
    file, entry, options : str
        The hand-written kernel: its file, its name, and its macros.
    hand_is_square : bool
        Whether its blocks and threads have two indices, for columns and rows, or one.
    """

    name: str
    storage: str
    tiles: Tiles
    file: str
    entry: str
    options: str
    hand_is_square: bool

    def fits(self, m: int, n: int, k: int) -> bool:
        """Whether the tiles divide the product."""
        block_m, block_n, block_k = self.tiles.block
        return (
            m % (block_m * self.tiles.swizzle) == 0
            and n % block_n == 0
            and (not block_k or k % block_k == 0)
        )


def _simple(name: str, storage: str, tiles: Tiles, entry: str, options: str = "") -> Variant:
    rows, columns = tiles.thread
    macros = f"-DTM={rows} -DTN={columns} {options}"
    return Variant(name, storage, tiles, "gemm.cl", entry, macros, True)


def _warps(name: str, storage: str, tiles: Tiles) -> Variant:
    values = dict(
        zip(("BM", "BN", "BK"), tiles.block, strict=True),
        TM=tiles.thread[0],
        TN=tiles.thread[1],
        LM=tiles.lanes[0],
        LN=tiles.lanes[1],
        SW=tiles.swizzle,
        EARLY=int(tiles.fetch_ahead == 2),
        SP=0 if tiles.fetch_ahead == 2 else tiles.block[2] - 1,
    )
    macros = " ".join(f"-D{key}={value}" for key, value in values.items())
    if storage == "texture":
        macros += " -DTEX"
    return Variant(name, storage, tiles, "sgemm.cl", "gemm", macros, False)


TALL = replace(DIRECT, block=(256, 128, 0), thread=(16, 8))
DEEP = replace(WARPS, block=(128, 128, 16))
SMALL = replace(WARPS, block=(128, 64, 8))
EARLIER = replace(WARPS, swizzle=4, fetch_ahead=2)
MANY_BLOCKS = Tiles((128, 64, 32), (8, 4), (8, 4))
VARIANTS = (
    _simple("registers 8x8", "texture", DIRECT, "gemm_tex"),
    _simple("registers 16x8", "texture", TALL, "gemm_tex"),
    _simple("registers 8x8", "buffer", DIRECT, "gemm_glb"),
    _simple("shared 8x8", "texture", SHARED, "gemm_loc", "-DKB=8 -DLTEX"),
    _simple("shared 8x8", "buffer", SHARED, "gemm_loc", "-DKB=8"),
    *(
        _warps(f"{name} {'x'.join(map(str, tiles.block))}", storage, tiles)
        for name, tiles in (
            ("warps", WARPS),
            ("warps", DEEP),
            ("warps", SMALL),
            ("2 ahead", EARLIER),
            ("small", MANY_BLOCKS),
        )
        for storage in ("texture", "buffer")
    ),
)


class Product:
    """Inputs and output of one size on the device, and the expected output."""

    def __init__(self, host: Host, m: int, n: int, k: int) -> None:
        self.extents = (m, n, k)
        self.host = host
        rng = np.random.default_rng(m + n + k)
        self.a = rng.standard_normal((k, m), dtype=np.float32)
        self.b = rng.standard_normal((k, n), dtype=np.float32)
        self.buffers = {"A": host.buffer(self.a), "B": host.buffer(self.b)}
        self.images = {"A": host.image(self.a), "B": host.image(self.b)}
        self.output = host.buffer(np.zeros((m, n), np.float32))
        self._rows = rng.choice(m, min(m, CHECKED_ROWS), replace=False)
        columns = self.a[:, self._rows].T.astype(np.float64)
        self._expected = columns @ self.b
        self._bound = sum_error_bound(k, np.abs(columns) @ np.abs(self.b).astype(np.float64))

    def memory(self, name: str, storage: str) -> Memory:
        """Return the argument with this name."""
        if name == "C":
            return self.output
        return (self.images if storage == "texture" else self.buffers)[name]

    def is_right(self, kernel: Kernel) -> bool:
        """Whether the kernel computes the product."""
        m, n, _ = self.extents
        result: NDArray[np.float32] = np.full((m, n), np.nan, np.float32)
        self.host.write(self.output, result)
        kernel.launch()
        self.host.read(self.output, result)
        return bool((np.abs(result[self._rows] - self._expected) <= self._bound).all())


def generated(product: Product, variant: Variant) -> Kernel:
    """Return the kernel of our schedule."""
    a, b, c = matmul(*product.extents)
    schedule = schedule_matmul(a, b, c, variant.tiles)
    binds = declarations((a, b), variant.storage)
    (kernel,) = build(schedule, [a, b, c], "opencl -device=nvidia", binds=binds).kernels
    result = product.host.kernel(kernel.source, kernel.name, OWN_OPTIONS, kernel.grid, kernel.block)
    result.set_arguments(
        [product.memory(argument["name"], variant.storage) for argument in kernel.args]
    )
    return result


def hand_written(product: Product, variant: Variant, source: str) -> Kernel:
    """Return the kernel of the reference."""
    m, n, k = product.extents
    tiles = variant.tiles
    options = f"{HAND_WRITTEN_OPTIONS} {variant.options}"
    grid, block = (m // tiles.block[0] * (n // tiles.block[1]),), (tiles.threads,)
    if variant.hand_is_square:
        grid, block = (n // tiles.block[1], m // tiles.block[0]), tiles.lanes[::-1]
    kernel = product.host.kernel(source, variant.entry, options, grid, block)
    memory = [product.memory(name, variant.storage) for name in "ABC"]
    kernel.set_arguments([*memory, m, n, k])
    return kernel


@dataclass(frozen=True)
class Row:
    """Median seconds of one variant; `hand` is None without a source."""

    variant: Variant
    ours: float
    hand: float | None
    right: bool


def measure(
    product: Product, reference: Path | None, rounds: int, peer: PyTorch | None
) -> tuple[list[Row], float | None]:
    """Check all variants that fit the product, then time them and cuBLAS alternately."""
    arms: list[Timed] = []
    rows: list[tuple[Variant, int, int | None, bool]] = []

    def add(kernel: Kernel) -> int:
        arms.append(Arm(kernel.launch, product.host.sync))
        return len(arms) - 1

    for variant in VARIANTS:
        if not variant.fits(*product.extents):
            continue
        own = generated(product, variant)
        right = product.is_right(own)
        by_hand = None
        if reference is not None:
            other = hand_written(product, variant, (reference / variant.file).read_text())
            right &= product.is_right(other)
            by_hand = add(other)
        rows.append((variant, add(own), by_hand, right))
    if peer is not None:
        arms += peer.arms("matmul", product.a, product.b).values()
    times = medians(arms, rounds=rounds)
    result = [
        Row(variant, times[own], None if by_hand is None else times[by_hand], right)
        for variant, own, by_hand, right in rows
    ]
    return result, None if peer is None else times[-1]


def table(product: Product, rows: Sequence[Row], library: float | None) -> Iterator[str]:
    """Return the lines for one product."""
    m, n, k = product.extents
    operations = 2 * m * n * k
    yield f"\n{m} x {n} x {k}"
    yield (
        f"{'loops':20}{'inputs':9}{'ours ms':>10}{'TFLOP/s':>9}{'hand ms':>10}{'TFLOP/s':>9}"
        f"{'ours/hand':>11}{'ours/cuBLAS':>13}"
    )
    for row in rows:
        line = f"{row.variant.name:20}{row.variant.storage:9}"
        for seconds in (row.ours, row.hand):
            known = seconds is not None
            line += f"{seconds * 1e3:10.3f}" if known else f"{'-':>10}"
            line += f"{operations / seconds * 1e-12:9.2f}" if known else f"{'-':>9}"
        line += f"{row.hand / row.ours:11.3f}" if row.hand else f"{'-':>11}"
        line += f"{library / row.ours:13.3f}" if library else f"{'-':>13}"
        yield line + ("" if row.right else "  WRONG")
    best = {
        storage: min((row.ours for row in rows if row.variant.storage == storage), default=None)
        for storage in ("texture", "buffer")
    }
    if best["texture"] and best["buffer"]:
        ratio = best["buffer"] / best["texture"]
        yield f"{'best of both, buf/tex':29}{ratio:10.3f}"
    if library:
        yield f"{'cuBLAS':29}{library * 1e3:10.3f}{operations / library * 1e-12:9.2f}"


def size(text: str) -> tuple[int, int, int]:
    """Parse rows, columns and steps, written ``4096x4096x256``."""
    match = re.fullmatch(r"([1-9]\d{0,4})x([1-9]\d{0,4})x([1-9]\d{0,4})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not rows x columns x steps")
    return int(match[1]), int(match[2]), int(match[3])


def number_of_runs(text: str) -> int:
    """Parse a positive number."""
    if not re.fullmatch(r"[1-9]\d{0,4}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of runs")
    return int(text)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse and check the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m texloom_bench kernels",
        description="Times matrix products, convolutions and computations of blocked tensors: "
        "generated kernels with textures and with buffers, hand-written kernels for products, and "
        "cuBLAS and cuDNN if PyTorch finds a CUDA device; float32.",
    )
    command_line.add_quick_option(parser)
    command_line.add_device_option(parser)
    parser.add_argument(
        "--reference",
        type=Path,
        default=Path("../shared/reference"),
        metavar="FOLDER",
        help="folder of the hand-written kernels gemm.cl and sgemm.cl (default: %(default)s)",
    )
    parser.add_argument(
        "--size",
        type=size,
        action="append",
        metavar="MxNxK",
        help="rows, columns and steps of a product; may be repeated",
    )
    parser.add_argument("--only", choices=TABLES, help="one of the tables (default: all)")
    parser.add_argument(
        "--runs",
        type=number_of_runs,
        default=100,
        metavar="N",
        help="runs of a convolution that are enqueued together (default: %(default)s)",
    )
    return parser.parse_args(arguments)


def run(options: argparse.Namespace) -> bool:
    """Measure and print; return whether all results were right."""
    device, description = choose(options.device)
    print(description)
    right = True
    wanted = TABLES if options.only is None else (options.only,)
    with pytorch.running() as peer:
        print(f"CUDA       {pytorch.described(peer)}")
        rounds = command_line.rounds(options)
        if "products" in wanted:
            right &= products(device, options, peer)
        if "convolutions" in wanted:
            from . import layers  # SciPy's import takes longer than --help should

            right &= printed(layers.table(device, rounds, options.runs, peer))
        if "workloads" in wanted:
            right &= printed(workloads.table(device, rounds, options.runs, options.quick))
    print(f"\n{legend(wanted)}")
    return right


def legend(tables: Iterable[str]) -> str:
    """Return the meaning of these tables' columns, and how their results were checked."""
    return "\n".join(text for about, text in LEGEND if set(about) & set(tables))


def printed(lines: Iterable[tuple[str, bool]]) -> bool:
    """Print a table line by line; return whether all its results were right."""
    right = True
    for line, holds in lines:
        print(line, flush=True)
        right &= holds
    return right


def products(device: Device, options: argparse.Namespace, peer: PyTorch | None) -> bool:
    """Print the table of matrix products; return whether all results were right."""
    host = Host(device.info["name"])
    reference: Path | None = options.reference
    missing = [name for name in ("gemm.cl", "sgemm.cl") if not (reference / name).is_file()]
    print(f"by hand    {reference}" + (f" lacks {', '.join(missing)}: skipped" if missing else ""))
    rounds = command_line.rounds(options)
    print(f"matrix products, float32; medians of {rounds} samples")
    right = True
    for extents in options.size or SIZES:
        product = Product(host, *extents)
        rows, library = measure(product, None if missing else reference, rounds, peer)
        for line in table(product, rows, library):
            print(line, flush=True)
        if not rows:
            print("no variant's tiles divide this product")
        right &= all(row.right for row in rows)
    return right


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; return 0, 1 if a result was wrong, 130 after Ctrl-C."""
    options = parse(arguments)
    return command_line.exit_status("texloom_bench", lambda: run(options))
