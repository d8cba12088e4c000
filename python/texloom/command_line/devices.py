"""``texloom devices``: the devices that kernels can run on."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..devices.lookup import devices
from ..inspect.describe import aligned
from ..target import for_models, is_native
from .reports import reported

_DESCRIPTION = """\
Lists the devices of this machine. A device's name, such as opencl:0, is what --device takes.
"""


def named_devices() -> list[dict[str, Any]]:
    """Return the result of :func:`texloom.devices`, with the names that ``--device`` takes."""
    numbers: Counter[str] = Counter()
    found = []
    for each in devices():
        found.append({"device": f"{each['driver']}:{numbers[each['driver']]}", **each})
        numbers[each["driver"]] += 1
    return found


def device_lines(found: Sequence[dict[str, Any]]) -> list[str]:
    """Return a table of devices."""
    rows = [("device", "name", "platform", "version", "type", "units", "images", "half", "double")]
    rows += [
        (
            each["device"],
            each["name"],
            each["platform"],
            each["driver_version"] or "-",
            each["type"],
            str(each["compute_units"]),
            f"{each['max_image_width']} x {each['max_image_height']}" if each["images"] else "-",
            "yes" if each["float16_arithmetic"] else "-",
            "yes" if each["float64"] else "-",
        )
        for each in found
    ]
    return aligned(rows)


def default_line() -> str:
    """Return a sentence on what models are compiled for if no target or device is named."""
    target = for_models(None)
    runs = ": native code, which host:0 runs" if is_native(target) else ", which opencl:0 runs"
    return f"models without --target and --device are for {target}{runs}"


def _devices(options: argparse.Namespace) -> int:
    found = named_devices()
    print(json.dumps(found) if options.json else "\n".join([*device_lines(found), default_line()]))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """List the devices; return 0, or 1 with the reason on stderr."""
    parser = argparse.ArgumentParser(prog="texloom devices", description=_DESCRIPTION)
    parser.add_argument("--json", action="store_true", help="all that drivers tell, as JSON")
    options = parser.parse_args(arguments)
    return reported("devices", lambda: _devices(options))
