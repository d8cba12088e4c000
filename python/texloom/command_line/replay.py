"""``texloom replay``: a recorded run once more."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph import load as load_package
from .model_arguments import add_native_argument
from .recording import load_record
from .reports import reported

_DESCRIPTION = """\
Repeats a run that `texloom run --record` wrote, and compares the outputs with those of that run,
bit by bit. Exits with 1 if they differ, or if the run fails.
"""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="texloom replay", description=_DESCRIPTION)
    parser.add_argument("record", type=Path, metavar="FILE.tlz")
    parser.add_argument("--device", metavar="D", help="another device than that of the record")
    add_native_argument(parser)
    parser.add_argument("--json", action="store_true", help="write the differences as JSON")
    return parser.parse_args(arguments)


def difference(was: NDArray[Any], now: NDArray[Any]) -> dict[str, Any]:
    """Return how many elements of two arrays differ, and by how much at most."""
    if was.shape != now.shape or was.dtype != now.dtype:
        return {"elements": max(was.size, now.size), "largest": None}
    both_nan = (was != was) & (now != now)
    differs = (was != now) & ~both_nan
    count = int(np.count_nonzero(differs))
    if not count or was.dtype.kind not in "fiu":
        return {"elements": count, "largest": None}
    with np.errstate(invalid="ignore"):
        distances = np.abs(was[differs].astype("float64") - now[differs].astype("float64"))
    largest = float(np.max(distances))
    return {"elements": count, "largest": largest if np.isfinite(largest) else None}


def _replay(options: argparse.Namespace) -> int:
    record = load_record(options.record)
    device = record.device if options.device is None else options.device
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "package.tlp"
        package.write_bytes(record.package)
        outputs = load_package(package, native=options.native).run(record.inputs, device)
    differences = {name: difference(was, outputs[name]) for name, was in record.outputs.items()}
    count = sum(each["elements"] for each in differences.values())
    facts = {
        "model": record.facts["model"],
        "recorded_on": record.facts["device_info"].get("name"),
        "error": record.facts["error"],
        "device": device,
        "differences": differences,
    }
    if options.json:
        print(json.dumps(facts))
        return int(count > 0)
    print(f"{facts['model']}, recorded on {facts['recorded_on']}, runs on {device}")
    if facts["error"]:
        print(f"the recorded run failed: {facts['error']}\nthis one did not")
    for name, each in differences.items():
        size = record.outputs[name].size
        by = "" if each["largest"] is None else f", by up to {each['largest']:.6g}"
        print(f"{name}: {each['elements']:,} of {size:,} elements differ{by}")
    return int(count > 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Repeat a run; return 0, or 1 if the outputs differ or the run fails."""
    options = parse(arguments)
    return reported("replay", lambda: _replay(options))
