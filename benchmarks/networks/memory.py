"""Planned memory of the activations of networks, beside the bound that the planner proves.

    python benchmarks/networks/memory.py [--target TARGET] [--storage auto] [NETWORK ...]

Prints a table with a row for each network of ``zoo.py``: what its temporaries take together, what
they take where they share memory, and a bound that no plan of them is below. Exits with 1 if the
median of the ratios is over the bar.
"""

from __future__ import annotations

import argparse
import sys
from statistics import median

from zoo import networks

from texloom.onnx.model import Model

BAR = 1.05
MEGABYTE = 1e6


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help="default: all")
    parser.add_argument("--target", help="default: opencl, a processor")
    parser.add_argument("--storage", choices=("buffer", "texture", "auto"), default="auto")
    options = parser.parse_args()
    makers = networks()
    unknown = sorted(set(options.networks) - set(makers))
    if unknown:
        parser.error(f"there is no network {unknown[0]}; there are {', '.join(makers)}")
    ratios = []
    print("| network | sum, MB | planned, MB | bound, MB | planned / bound |")
    print("| --- | --- | --- | --- | --- |")
    for name in options.networks or makers:
        summary = Model(makers[name](), options.target, options.storage).summary
        assert summary is not None
        planned, least = summary["workspace_bytes"], summary["least_bytes"]
        ratios.append(planned / least)
        sizes = (summary["temporary_bytes"], planned, least)
        shown = " | ".join(f"{each / MEGABYTE:.2f}" for each in sizes)
        print(f"| {name} | {shown} | {ratios[-1]:.3f} |", flush=True)
    print(f"\nmedian of the ratios: {median(ratios):.3f}, largest: {max(ratios):.3f}, bar: {BAR}")
    return int(median(ratios) > BAR)


if __name__ == "__main__":
    sys.exit(main())
