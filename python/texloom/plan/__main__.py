"""The command line of memory planning."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._core import DEFAULT_PLAN_EFFORT
from .network import DEVICE, NetworkError, load_json, network_of
from .picture import picture
from .textures import MODES, plan_network

_DESCRIPTION = """\
Plans the memory of a network's tensors. NET.json lists tensors with their lifetimes; each gets a
place in an image or, if its scope is global, in a buffer, and the plan comes with a proof of how
few texels and bytes any plan can have. A CSV file lists buffers alone (id,lower,upper,size), which
get offsets in one arena.
"""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse and check the command line."""
    parser = argparse.ArgumentParser(prog="texloom plan", description=_DESCRIPTION)
    parser.add_argument("network", type=Path, metavar="NET", help="a JSON file, or a CSV file")
    parser.add_argument("--json", action="store_true", help="write the plan as JSON")
    parser.add_argument(
        "--mode", choices=MODES, default="images", help="how tensors share (default: %(default)s)"
    )
    parser.add_argument(
        "--effort",
        type=int,
        metavar="N",
        help=f"millions of steps of the search (default: {DEFAULT_PLAN_EFFORT})",
    )
    parser.add_argument(
        "--time-limit", type=float, metavar="S", help="seconds; the plan may differ from run to run"
    )
    parser.add_argument(
        "--reorder", action="store_true", help="let independent operators change places"
    )
    for key, default in DEVICE.items():
        parser.add_argument(
            f"--{key.replace('_', '-')}",
            type=int,
            metavar="TEXELS",
            help=f"of the device, instead of the network's (default: {default})",
        )
    parser.add_argument(
        "--one-arena",
        action="store_true",
        default=None,
        help="a kernel may read one view and write another one of the same arena",
    )
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the images over time")
    parser.add_argument(
        "--capacity", type=int, metavar="BYTES", help="of the arena, for a CSV file"
    )
    options = parser.parse_args(arguments)
    if (options.network.suffix == ".csv") < (options.capacity is not None):
        parser.error("--capacity is for buffers in a CSV file: leave it out")
    if options.capacity is not None and not 0 <= options.capacity < 1 << 61:
        parser.error("--capacity must be a number of bytes from 0 to 2**61 - 1")
    return options


def _plan_buffers(options: argparse.Namespace) -> int:
    from .buffers import run_csv

    return int(
        run_csv(options.network, options.capacity, options.effort, options.time_limit, options.json)
    )


def _load(options: argparse.Namespace) -> dict[str, Any]:
    """Read the network's file; options replace its facts about the device."""
    data = load_json(options.network)
    network_of(data)  # refuses data that is not a network
    given = {key: getattr(options, key) for key in (*DEVICE, "one_arena")}
    return data | {key: value for key, value in given.items() if value is not None}


def _ratio(size: int, bound: int) -> str:
    return "the plan is optimal" if size == bound else f"{size / max(1, bound):.3f} x"


def _table(plan: dict[str, Any]) -> str:
    unit, parts = ("bytes", "arenas") if "arenas" in plan else ("texels", "images")
    size, bound = plan[unit], plan[f"lower_bound_{unit}"]
    lines = [
        f"{size:>14,} {unit} in {len(plan[parts])} {parts}",
        f"{bound:>14,} {unit} at least, by the proof ({_ratio(size, bound)})",
    ]
    for number, part in enumerate(plan[parts]):
        count = sum(place.get(parts[:-1]) == number for place in plan["placements"])
        if unit == "bytes":
            extent = f"{part['bytes']:,} bytes"
        else:
            extent = f"{part['width']} x {part['height']} {part['format']}"
        lines.append(f"  {parts[:-1]} {number}: {extent:>24}, {count} tensors")
    if "buffers" in plan:
        size, bound = plan["buffer_bytes"], plan["lower_bound_buffer_bytes"]
        count = sum("buffer" in place for place in plan["placements"])
        lines.append(f"{size:>14,} bytes in a buffer, {count} tensors")
        lines.append(f"{bound:>14,} bytes at least, by the proof ({_ratio(size, bound)})")
    if plan.get("lost_exact"):
        lines.append(f"  without an exact image: {', '.join(map(str, plan['lost_exact']))}")
    if not plan["deterministic"]:
        lines.append("  found within a time limit: another run may find another plan")
    return "\n".join(lines)


def _plan(options: argparse.Namespace) -> int:
    network = network_of(_load(options))
    plan = plan_network(
        network,
        mode=options.mode,
        effort=DEFAULT_PLAN_EFFORT if options.effort is None else options.effort,
        time_limit=options.time_limit,
        reorder=options.reorder,
    )
    if options.svg:
        options.svg.write_text(picture(network, plan, options.network.stem), encoding="utf-8")
    print(json.dumps(plan) if options.json else _table(plan))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Plan; return 0, or 1 with the reason on stderr."""
    options = parse(arguments)
    try:
        if options.network.suffix == ".csv":
            return _plan_buffers(options)
        return _plan(options)
    except (NetworkError, ValueError) as error:
        print(f"texloom plan: {options.network}: {error}", file=sys.stderr)
    except OSError as error:
        # Errors of writing have no file name.
        print(f"texloom plan: {error.filename or options.svg}: {error.strerror}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
