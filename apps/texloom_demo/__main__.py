"""The command line of the demonstration."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from texloom import Device, devices
from texloom.target import has_llvm
from texloom_bench.command_line import device_name, exit_status
from texloom_bench.device import DRIVERS, NoSuchDeviceError, choose, describe

from . import texture_cache
from .console import Output, standard_output

NATIVE_DRIVER = "host"
NATIVE_DESCRIPTION = (
    "Native code of this processor by LLVM: no driver, and nothing is compiled while kernels run"
)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse and check the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m texloom_demo",
        description="Reads the text of a scanned page with three networks, compares each step "
        "with onnxruntime, and writes a picture. With `schedule`: shows a schedule with a texture "
        "cache, step by step; then runs a convolution layer over a photograph and the page, "
        "compares it with SciPy, and writes pictures.",
    )
    parser.add_argument(
        "part",
        nargs="?",
        choices=("page", "schedule"),
        default="page",
        help="what to show (default: %(default)s)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("build/demo"),
        metavar="FOLDER",
        help="where the pictures and kernels are written (default: %(default)s)",
    )
    parser.add_argument(
        "--device",
        type=partial(device_name, drivers=[*DRIVERS, NATIVE_DRIVER]),
        metavar="D",
        help="number of the OpenCL device, or a name such as opencl:0 or metal:0 (default: for the "
        "page, native code of the processor, host:0, if the LLVM plug-in is built; otherwise the "
        "best of OpenCL)",
    )
    parser.add_argument("--list-devices", action="store_true", help="show the devices and stop")
    return parser.parse_args(arguments)


def choose_for_page(given: tuple[str, int] | None) -> tuple[Device, str]:
    """Return the device that reads the page, described: by default the processor."""
    driver, _ = given or (NATIVE_DRIVER, 0)
    if driver != NATIVE_DRIVER:
        return choose(given)
    if has_llvm():
        return Device(NATIVE_DRIVER, 0), NATIVE_DESCRIPTION
    if given is not None:
        raise NoSuchDeviceError("there is no native code: the LLVM plug-in is not built")
    device, description = choose(None)
    return device, f"{description}\nThe LLVM plug-in is not built: there is no native code."


def choose_for_schedule(given: tuple[str, int] | None) -> tuple[Device, str]:
    """Return the device of the schedule, whose source is shown, described."""
    if given is not None and given[0] == NATIVE_DRIVER:
        raise NoSuchDeviceError("the schedule is for textures: OpenCL and Metal have them")
    return choose(given)


def read_page(out: Output, device: Device, description: str, folder: Path) -> bool:
    """Read a page; return whether all checks held."""
    from . import page  # so that --help works without the packages that it needs

    folder.mkdir(parents=True, exist_ok=True)
    out.text(description)
    out.heading("A scanned page, read by three networks")
    return page.show(out, device, folder)


def schedule(out: Output, device: Device, description: str, folder: Path) -> bool:
    """Show a schedule, then a layer; return whether all checks held."""
    # Imported here, so that the first part and --help work without these packages.
    from . import convolution, photographs

    folder.mkdir(parents=True, exist_ok=True)
    out.text(description)

    out.heading(f"Part 1: a texture cache, from the schedule to {texture_cache.language(device)}")
    right = texture_cache.show(out, device)

    out.heading("Part 2: a convolution layer through textures and through buffers")
    out.text(
        "3x3, stride 1, padding 1; activations in NCHW4c in `texture`, weights in OIHW4o in\n"
        "`texture:weight`; the buffer variant is the same computation in `global`. Compared with\n"
        "SciPy in float64, pixel by pixel: |error| <= gamma_n * sum|w||x|, n products per pixel."
    )
    for name in photographs.TITLES:
        right &= convolution.show(out, device, photographs.load(name), folder)
    if device.info["type"] == "cpu":
        out.text(
            "\nThis device is a CPU: its textures are emulated in software, so the texture\n"
            "variant is slower here. The times say nothing about a GPU."
        )
    elif device.driver == "metal" and device.info["name"].startswith("Software Metal"):
        out.text(
            "\nThis device is a software Metal for tests, on the processor. The times say nothing\n"
            "about a GPU."
        )
    out.text("\nwritten:")
    for name in photographs.TITLES:
        out.text(f"  {folder / name}.png  the input and all responses")
        kernels = f"{folder / name}_*{convolution.suffix(device)}"
        out.text(f"  {kernels}, .tl  kernels; schedules, as texloom-compile reads them")
    return right


def list_devices() -> bool:
    """Print a line for each device that ``--device`` takes."""
    numbers = dict.fromkeys(DRIVERS, 0)
    for info in devices():
        driver = info["driver"]
        if driver in numbers:
            prefix = "" if driver == "opencl" else f"{driver}:"
            print(f"{prefix}{describe(numbers[driver], info)}")
            numbers[driver] += 1
    if has_llvm():
        print(f"{NATIVE_DRIVER}:0: {NATIVE_DESCRIPTION}")
    elif not any(numbers.values()):
        raise NoSuchDeviceError("this machine has no OpenCL and no Metal device")
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; return 0 if all checks passed, 1 otherwise, 130 after Ctrl-C."""
    options = parse(arguments)

    def demonstrate() -> bool:
        if options.part == "schedule":
            return schedule(standard_output(), *choose_for_schedule(options.device), options.out)
        return read_page(standard_output(), *choose_for_page(options.device), options.out)

    return exit_status("texloom_demo", list_devices if options.list_devices else demonstrate)


if __name__ == "__main__":
    sys.exit(main())
