"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence

from texloom import Device

from . import command_line, pytorch
from .device import choose

COLUMN = 12

LEGEND = """
buf/tex      above 1, textures are faster than buffers
build, first of the texture variant: from tensor expressions to OpenCL C; the first call, including
             the device's compiler (most cache earlier results)
Checked first: the variants against each other, and some output channels against SciPy's."""


def tile(text: str) -> tuple[int, int]:
    """Parse rows and columns, written ``2x4``."""
    match = re.fullmatch(r"([1-9]\d?)x([1-9]\d?)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not rows x columns, such as 2x4")
    return int(match[1]), int(match[2])


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse and check the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m texloom_bench",
        description="Times the 3x3 convolutions of ResNet-50 through textures and through "
        "buffers (and cuDNN, if PyTorch finds a CUDA device), float32, batch 1.",
        epilog="With `compile` as the first argument, measures compilation instead; with "
        "`kernels`, matrix products next to hand-written kernels; with `cpu`, products on the "
        "processor next to oneDNN; with `products`, products of matrices by the default schedules "
        "next to cuBLAS; with `operators`, single operators there next to onnxruntime.",
    )
    command_line.add_quick_option(parser)
    command_line.add_device_option(parser)
    parser.add_argument(
        "--tile",
        type=tile,
        metavar="RxC",
        help="rows and columns of pixels for one thread (default: by the layer's size)",
    )
    return parser.parse_args(arguments)


def line(cells: Iterable[str]) -> str:
    """Return a line of the table: the first cell left-aligned, the others right-aligned."""
    first, *rest = cells
    return f"{first:16}" + "".join(f"{cell:>{COLUMN}}" for cell in rest)


def run(options: argparse.Namespace) -> bool:
    """Measure and print; return whether all results were right."""
    device, description = choose(options.device)
    print(description)
    with pytorch.running() as peer:
        print(f"CUDA       {pytorch.described(peer)}")
        right = table(device, options, peer)
    print(LEGEND)
    if device.info["type"] == "cpu":
        print("\nThis device is a CPU: its textures are emulated in software.")
    return right


def table(device: Device, options: argparse.Namespace, peer: pytorch.PyTorch | None) -> bool:
    """Measure and print all shapes; return whether all results were right."""
    from . import convolution  # SciPy's import takes longer than --help should

    rounds = command_line.rounds(options)
    print(f"3x3 convolutions, stride 1, padding 1, float32, batch 1; medians of {rounds} samples\n")
    arms = ["texture", "buffer", *(["cuDNN"] if peer else [])]
    header = [cell for arm in arms for cell in (f"{arm} ms", "GFLOP/s")]
    print(line(["channels @ size", *header, "buf/tex", "build ms", "first ms"]), flush=True)
    right = True
    for shape in convolution.SHAPES:
        row = convolution.measure(shape, device, rounds=rounds, tile=options.tile, pytorch=peer)
        cells = [str(shape)]
        for arm in arms:
            seconds = row.times[arm]
            cells += [f"{seconds * 1e3:.3f}", f"{shape.operations / seconds * 1e-9:.1f}"]
        cells.append(f"{row.times['buffer'] / row.times['texture']:.2f}")
        cells += [f"{row.build_seconds * 1e3:.0f}", f"{row.first_call_seconds * 1e3:.0f}"]
        print(line(cells) + ("" if row.right else "  WRONG"), flush=True)
        right &= row.right
    return right


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks; return 0, 1 if a result was wrong, 130 after Ctrl-C."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["compile"]:
        from . import compilation

        return compilation.main(arguments[1:])
    if arguments[:1] == ["kernels"]:
        from . import kernels

        return kernels.main(arguments[1:])
    if arguments[:1] == ["cpu"]:
        from . import cpu

        return cpu.main(arguments[1:])
    if arguments[:1] == ["products"]:
        from . import products

        return products.main(arguments[1:])
    if arguments[:1] == ["operators"]:
        from . import operators

        return operators.main(arguments[1:])
    options = parse(arguments)
    return command_line.exit_status("texloom_bench", lambda: run(options))


if __name__ == "__main__":
    sys.exit(main())
