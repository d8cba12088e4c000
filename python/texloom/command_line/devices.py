"""``texloom devices``: the devices that kernels can run on."""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from .._core import Device, warn
from ..devices.lookup import devices, name_of, present
from ..errors import refuse
from ..inspect.describe import aligned
from ..measure.device_profile import measure_profile
from ..profiles import family_named, family_of, keep, kept_profile
from ..profiles.kept import folder
from ..target import for_models, is_native
from .device_report import profile_lines
from .reports import Progress, reported

_DESCRIPTION = """\
Lists the devices of this machine, or measures what one can do. A device's name, such as opencl:0,
is what --device takes.
"""
_DRIVERS_WITHOUT_PROFILES = ("host", "null")


def named_devices() -> list[dict[str, Any]]:
    """Return the result of :func:`texloom.devices`, with the names that ``--device`` takes.

    Each has the name of its profile, measured or stated; None for native code.
    """
    numbers: Counter[str] = Counter()
    found = []
    for each in devices():
        number = numbers[each["driver"]]
        named = {"device": f"{each['driver']}:{number}", **each}
        found.append({**named, "profile": _profile_of(named, number)})
        numbers[each["driver"]] += 1
    return found


def _profile_of(info: dict[str, Any], number: int) -> str | None:
    if info["driver"] in _DRIVERS_WITHOUT_PROFILES:
        return None
    kept = kept_profile(info["device"], info)
    if kept is not None:
        return kept[0]
    return family_named(info["name"]) or family_of(Device(info["driver"], number)._target)


def device_lines(found: Sequence[dict[str, Any]]) -> list[str]:
    """Return a table of devices."""
    rows = [
        (
            *("device", "name", "platform", "version", "type", "units", "images", "half", "double"),
            "profile",
        )
    ]
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
            each["profile"] or "-",
        )
        for each in found
    ]
    return aligned(rows)


def default_line() -> str:
    """Return a sentence on what models are compiled for if no target or device is named."""
    target = for_models(None)
    runs = ": native code, which host:0 runs" if is_native(target) else ", which opencl:0 runs"
    return f"models without --target and --device are for {target}{runs}"


def _measure(options: argparse.Namespace) -> int:
    device = present(options.device)
    if device.driver in _DRIVERS_WITHOUT_PROFILES:
        refuse(
            "BadOption",
            f"{name_of(device)} is not measured: schedules of native code know the processor",
            "name an OpenCL or Metal device: --device opencl:0",
        )
    progress = Progress("devices")
    begin = time.monotonic()
    try:
        profile = measure_profile(device, progress)
    finally:
        progress.end()
    if options.json:
        print(profile.text(), end="", flush=True)
    else:
        print(f"{profile.device}, measured in {time.monotonic() - begin:.1f} s")
        print("\n".join([*profile_lines(profile), ""]), flush=True)
    try:
        name = keep(profile)
    except OSError as error:
        warn(
            "FileError",
            f"the profile is not kept in {folder()}: {error.strerror or error}",
            "set TEXLOOM_CACHE_DIR to a folder that can be written; or add --json, write what it "
            "prints to a file, and name it in targets: -profile=FILE.json",
        )
        return 0
    if options.json:
        return 0
    if name is None:
        print("not kept: set TEXLOOM_CACHE_DIR to a folder, or write a file with --json")
    else:
        print(f"kept as {name}, by which kernels for {name_of(device)} are chosen from now on")
        print(f"in {folder()}; delete the file to choose them by the profile of the family again")
    return 0


def _devices(options: argparse.Namespace) -> int:
    if options.measure:
        return _measure(options)
    if options.device is not None:
        refuse(
            "BadOption",
            "--device names a device to measure, but --measure is not given",
            "add --measure, or leave out --device",
        )
    found = named_devices()
    print(json.dumps(found) if options.json else "\n".join([*device_lines(found), default_line()]))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """List the devices, or measure one; return 0, or 1 with the reason on stderr."""
    parser = argparse.ArgumentParser(prog="texloom devices", description=_DESCRIPTION)
    parser.add_argument(
        "--measure",
        action="store_true",
        help="measure a device in some seconds, and keep its profile, by which kernels for it are "
        "chosen",
    )
    parser.add_argument("--device", metavar="D", help="the device to measure (default: opencl:0)")
    parser.add_argument(
        "--json",
        action="store_true",
        help="all that drivers report, or the measured profile, as JSON",
    )
    options = parser.parse_args(arguments)
    return reported("devices", lambda: _devices(options))
