"""The command line of memory planning."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._core import DEFAULT_PLAN_EFFORT
from .check import CheckError, check
from .network import NetworkError, load_json, read_network
from .picture import picture
from .textures import MODES, plan_network

_DESCRIPTION = """\
Plans the memory of a network's tensors. NET.json lists tensors with their lifetimes; each gets a
place in an image, and the plan comes with a proof of how few texels any plan can have. A CSV file
lists buffers instead (id,lower,upper,size), which get offsets in one arena.
"""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse and check the command line."""
    parser = argparse.ArgumentParser(prog="texloom plan", description=_DESCRIPTION)
    parser.add_argument("network", type=Path, metavar="NET", help="a JSON file, or a CSV file")
    parser.add_argument(
        "plan", type=Path, nargs="?", metavar="PLAN.json", help="with --check: the plan to check"
    )
    parser.add_argument("--json", action="store_true", help="write the plan as JSON")
    parser.add_argument(
        "--mode", choices=MODES, default="images", help="how tensors share (default: %(default)s)"
    )
    parser.add_argument(
        "--effort",
        type=int,
        metavar="N",
        default=DEFAULT_PLAN_EFFORT,
        help="millions of steps of the search (default: %(default)s)",
    )
    parser.add_argument(
        "--time-limit", type=float, metavar="S", help="seconds; the plan may differ from run to run"
    )
    parser.add_argument(
        "--reorder", action="store_true", help="let independent operators change places"
    )
    parser.add_argument("--max-width", type=int, metavar="TEXELS", help="limit of images")
    parser.add_argument("--max-height", type=int, metavar="TEXELS", help="limit of images")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the images over time")
    parser.add_argument(
        "--check", action="store_true", help="check PLAN.json, and the proof of its lower bound"
    )
    parser.add_argument(
        "--capacity", type=int, metavar="BYTES", help="of the arena, for a CSV file"
    )
    options = parser.parse_args(arguments)
    if options.check != (options.plan is not None):
        parser.error("--check takes two files, NET.json and PLAN.json; planning takes one")
    if (options.network.suffix == ".csv") < (options.capacity is not None):
        parser.error("--capacity is for buffers in a CSV file")
    return options


def _plan_buffers(options: argparse.Namespace) -> int:
    from .buffers import run_csv

    return int(
        run_csv(options.network, options.capacity, options.effort, options.time_limit, options.json)
    )


def _check(options: argparse.Namespace) -> int:
    read_network(options.network)  # whose errors are clearer
    try:
        verdict = check(load_json(options.network), load_json(options.plan))
    except CheckError as error:
        print(f"texloom plan: {options.plan}: {error}", file=sys.stderr)
        return 1
    print(
        f"valid: {verdict.texels} texels; no plan has fewer than {verdict.lower_bound}"
        + (": optimal" if verdict.texels == verdict.lower_bound else "")
    )
    return 0


def _table(plan: dict[str, Any]) -> str:
    bound = plan["lower_bound_texels"]
    ratio = plan["texels"] / max(1, bound)
    lines = [
        f"{plan['texels']:>12,} texels in {len(plan['images'])} images",
        f"{bound:>12,} texels at least, by the proof "
        + ("(the plan is optimal)" if bound == plan["texels"] else f"({ratio:.3f} x)"),
    ]
    for number, image in enumerate(plan["images"]):
        count = sum(place["image"] == number for place in plan["placements"])
        size = f"{image['width']} x {image['height']}"
        lines.append(f"  image {number}: {size:>13} {image['format']}, {count} tensors")
    if plan.get("lost_exact"):
        lines.append(f"  without an exact image: {', '.join(map(str, plan['lost_exact']))}")
    if not plan["deterministic"]:
        lines.append("  found within a time limit: another run may find another plan")
    return "\n".join(lines)


def _plan(options: argparse.Namespace) -> int:
    network = read_network(options.network)
    for key in ("max_width", "max_height"):
        if getattr(options, key) is not None:
            network[key] = getattr(options, key)
    plan = plan_network(
        network,
        mode=options.mode,
        effort=options.effort,
        time_limit=options.time_limit,
        reorder=options.reorder,
    )
    if options.svg:
        options.svg.write_text(picture(network, plan, options.network.stem), encoding="utf-8")
    print(json.dumps(plan) if options.json else _table(plan))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Plan or check; return 0, or 1 with the reason on stderr."""
    options = parse(arguments)
    try:
        if options.network.suffix == ".csv":
            return _plan_buffers(options)
        return _check(options) if options.check else _plan(options)
    except (NetworkError, ValueError) as error:
        print(f"texloom plan: {options.network}: {error}", file=sys.stderr)
    except OSError as error:
        print(f"texloom plan: {error.filename}: {error.strerror}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
