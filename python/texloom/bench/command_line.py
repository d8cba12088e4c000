"""What the command lines that run kernels share: the device, and how a run ends."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from .. import TVMError
from .device import NoSuchDeviceError, message
from .opencl_host import OpenCLError


def _device_number(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of a device: 0, 1, ...")
    return number


def add_device_option(parser: argparse.ArgumentParser) -> None:
    """``--device N``; ``options.device`` is None where it is left out."""
    parser.add_argument(
        "--device",
        type=_device_number,
        metavar="N",
        help="number of the OpenCL device (default: the best)",
    )


def add_quick_option(parser: argparse.ArgumentParser) -> None:
    """``--quick``, of which :func:`rounds` makes a number."""
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a first look")


def rounds(options: argparse.Namespace) -> int:
    """How many samples each arm gets."""
    return 3 if options.quick else 15


def exit_status(program: str, run: Callable[[], bool]) -> int:
    """Run the program, and say on stderr why it failed.

    Returns
    -------
    int
        0, or 1 when a result was wrong or an error ended the run, 130 after Ctrl-C.
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
        problem = (
            f"the package {error.name} is missing\n"
            "  help: pip install '.[demo]' in a checkout, or ./dev setup and .venv/bin/python"
        )
    except BrokenPipeError:  # the reader has seen enough: `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OpenCLError, OSError) as error:
        problem = error
    if problem is not None:
        print(f"{program}: {problem}", file=sys.stderr)
    return 1
