"""``texloom run --profile`` and ``--profile-file``: the commands of a run on the device's queue."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from types import TracebackType

from .. import _core
from .._core import Device
from ..devices.lookup import present
from ..errors import refuse
from ..trace import rows_of, table_of
from ..whole_file import write_whole
from .arrays import refuse_missing_folder
from .kernel_times import start_profile
from .model_arguments import choose_device

_TRACE, _CAPTURE = ".json", ".gputrace"


def add_profile_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that :class:`RunProfile` reads."""
    parser.add_argument(
        "--profile",
        choices=("queue",),
        help="record the commands on the device's queue; --profile-file implies --profile queue",
    )
    parser.add_argument(
        "--profile-file",
        type=Path,
        metavar="FILE",
        help=f"where the profile goes: FILE{_TRACE} is a trace for https://ui.perfetto.dev, "
        f"FILE{_CAPTURE} a capture of a Metal device for Xcode (default: a table on stderr)",
    )


class RunProfile:
    """Records the commands of devices in a ``with`` block; does nothing without either option.

    If the block raises an error, the capture for Xcode still ends, and the trace is still written.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        """Check the options and begin to profile, before devices are opened."""
        self._file: Path | None = options.profile_file
        self._profile: _core.Profile | None = None
        self._captured: Device | None = None  # of Metal
        if options.profile is None and self._file is None:
            return
        if self._file is not None and self._file.suffix == _CAPTURE:
            choose_device(options)
            self._captured = _metal_device(options.device, self._file)
            _core.check_capture(self._captured, os.fsencode(self._file))
        elif self._file is not None and self._file.suffix != _TRACE:
            refuse(
                "BadOption",
                f"--profile-file {self._file} has no known suffix",
                f"name a file that ends in {_TRACE} or {_CAPTURE}",
            )
        else:
            if self._file is not None:
                refuse_missing_folder(self._file)
            self._profile = start_profile("texloom run --profile")

    def __enter__(self) -> RunProfile:
        if self._captured is not None:
            _core.start_capture(self._captured, os.fsencode(self._file))
        if self._profile is not None:
            _core.finish_devices()
            self._profile.clear()  # drop the commands of the compilation
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._captured is None and self._profile is None:
            return
        try:
            if error is None:
                _core.finish_devices()
        finally:
            if self._captured is not None:
                _core.stop_capture(self._captured)
                print(f"profile: {self._file}", file=sys.stderr)
        if self._profile is not None:
            _write(self._profile, self._file, failed=error is not None)


def _metal_device(name: str, file: Path) -> Device:
    device = present(name)
    if device.driver != "metal":
        refuse(
            "BadOption",
            f"--profile-file {file} is a capture for Xcode, which needs a Metal device, but the "
            f"device is {device}",
            f"name a Metal device, such as --device metal:0, or a file that ends in {_TRACE}",
        )
    return device


def _write(profile: _core.Profile, file: Path | None, *, failed: bool) -> None:
    if file is not None:
        write_whole(file, profile.chrome_trace().encode())
        print(f"profile: {file}", file=sys.stderr)
        return
    rows = rows_of(profile.device_spans())
    if rows:
        print(table_of(rows), file=sys.stderr)
    elif not failed:
        print("no command ran on a device", file=sys.stderr)


__all__ = ["RunProfile", "add_profile_arguments"]
