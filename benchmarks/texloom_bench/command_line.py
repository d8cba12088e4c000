"""Shared parts of command lines that run kernels: the device, and the end of a run."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Collection

from texloom import TVMError
from texloom.devices.lookup import present

from .device import DRIVERS, NoSuchDeviceError, message
from .opencl_host import OpenCLError


def device_name(text: str, drivers: Collection[str] = DRIVERS) -> tuple[str, int]:
    """Return the driver, one of `drivers`, and the number of "1", "metal" or "metal:0"."""
    try:
        found = present(f"opencl:{text}" if text.isdecimal() else text)
    except TVMError as error:
        raise argparse.ArgumentTypeError(message(error)) from None
    if found.driver not in drivers:
        raise argparse.ArgumentTypeError(
            f"{text!r} cannot be used here: name a device of {' or '.join(drivers)}, as opencl:0"
        )
    return found.driver, found.device_id


def add_device_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--device D``: a driver and a number; without it, ``options.device`` is None."""
    parser.add_argument(
        "--device",
        type=device_name,
        metavar="D",
        help="number of the OpenCL device, or a name such as metal:0 (default: the best of OpenCL)",
    )


def add_quick_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--quick``, which :func:`rounds` converts to a number."""
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a first look")


def rounds(options: argparse.Namespace) -> int:
    """Return the number of samples of each arm."""
    return 3 if options.quick else 15


def exit_status(program: str, run: Callable[[], bool]) -> int:
    """Run the program, and print the reason for a failure to stderr.

    Returns
    -------
    int
        0, or 1 if a result was wrong or an error ended the run, 130 after Ctrl-C.
    """
    problem: object = None
    try:
        if run():
            return 0
        problem = "a result is wrong, see WRONG above"
    except KeyboardInterrupt:
        print(f"\n{program}: interrupted", file=sys.stderr)
        return 130
    except TVMError as error:
        print(message(error), file=sys.stderr)
    except NoSuchDeviceError as error:
        problem = f"{error}\n  help: ./dev demo --list-devices names them"
    except ModuleNotFoundError as error:
        problem = f"the package {error.name} is missing\n  help: ./dev setup installs it into .venv"
    except BrokenPipeError:  # the reader has closed the pipe, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OpenCLError, OSError) as error:
        problem = error
    if problem is not None:
        print(f"{program}: {problem}", file=sys.stderr)
    return 1
