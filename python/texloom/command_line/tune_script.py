"""What a Python script declares for ``texloom tune``."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _core
from ..devices.lookup import name_of, present
from ..errors import TVMError, refuse
from ..graph.scheduler import Collected, collected_tasks
from ..target import Target, device_named
from ..tuning.declared import collected_kernels
from ..tuning.user_kernel import UserKernel
from .reports import described


@dataclass(frozen=True)
class Found:
    """What a script has asked for.

    Attributes
    ----------
    tasks : Collected
        Of the operators of graphs that it compiles.
    kernels : sequence of UserKernel
        That it declares and calls.
    device : str or None
        That the target of the command names.
    """

    tasks: Collected
    kernels: Sequence[UserKernel]
    device: str | None


def of_script(script: Path, target: str | None) -> Found:
    """Run a script, whose output goes to standard error; return what can be tuned.

    A script may fail because its own calls of tuners do nothing, so that it has no results of them.
    What it asked for before counts; the failure is told on standard error.

    Parameters
    ----------
    script : Path
    target : str or None
        The current target while it runs.

    Raises
    ------
    TVMError
        Of the script itself, if it asked for nothing before; TL7001 if it ended with another
        exception.
    """
    if not script.is_file():
        refuse("FileError", f"there is no file {script}", "give a Python script, or an .onnx file")
    context = nullcontext() if target is None else Target(target)
    arguments, path = sys.argv, sys.path[:]
    sys.argv, sys.path[:0] = [str(script)], [str(script.absolute().parent)]
    failure: TVMError | None = None
    try:
        with (
            collected_tasks() as tasks,
            collected_kernels() as kernels,
            redirect_stdout(sys.stderr),
            context,
        ):
            _run(script)
    except TVMError as error:
        failure = error
    finally:
        sys.argv, sys.path[:] = arguments, path
    if failure is not None:
        if not tasks and not kernels:
            raise failure
        print(f"{described(failure)}\nwhat it asked for before is tuned", file=sys.stderr)
    return Found(tasks, list(kernels.values()), device_named(target))


def _run(script: Path) -> None:
    """Run a script; its end with an error is TL7001, unless the error is Texloom's."""
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            _fails(script, f"exited with {end.code}")
    except TVMError:
        raise
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = (
            "" if isinstance(error, SyntaxError) else f" ({frame.filename}, line {frame.lineno})"
        )
        _fails(script, f"{type(error).__name__}: {error}{where}")


def _fails(script: Path, how: str) -> None:
    refuse(
        "BadOption",
        f"{script} failed: {how}",
        "a script is run before its schedules are tuned: mend it, and try again",
    )


def on_device(
    found: Found, device: str | None, script: Path
) -> tuple[str, Collected, Sequence[UserKernel]]:
    """Return the device on which a script is tuned, and what of it runs there.

    Parameters
    ----------
    found : Found
    device : str or None
        By default, the first device of the only kind that the script has targets for.
    script : Path
        For messages.

    Raises
    ------
    TVMError
        TL7001 if nothing can be tuned there, or if no device is given where there are several
        kinds.
    """
    drivers = {_driver(each): None for each in (*found.tasks.values(), *found.kernels)}
    if not drivers:
        refuse(
            "BadOption",
            f"{script} calls no schedule with knobs, and compiles no graph",
            "call a function of texloom.tune.space, or an AutoTVM template, with a target: "
            "--target NAME",
        )
    device = device or found.device
    if device is None and len(drivers) > 1:
        refuse(
            "BadOption",
            f"{script} has targets for devices of several kinds: {', '.join(drivers)}",
            "name the device to tune for: --device KIND:0",
        )
    on = present(device or f"{next(iter(drivers))}:0")
    if on.driver not in drivers:
        refuse(
            "BadOption",
            f"{script} has no target for {name_of(on)}, but for {', '.join(drivers)}",
            "name another device, or another target",
        )
    kernels = [each for each in found.kernels if _driver(each) == on.driver]
    return name_of(on), found.tasks.where(lambda each: _driver(each) == on.driver), kernels


def _driver(one: Any) -> str:
    return _core.driver_of_kind(one.target.kind)


__all__ = ["Found", "of_script", "on_device"]
