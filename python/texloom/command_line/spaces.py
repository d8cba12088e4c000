"""``texloom spaces``: the kernels of a model that have knobs, and how many choices there are."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import refuse
from ..inspect.describe import aligned, counted
from ..inspect.storage_table import storage_rows, storage_table
from .model_arguments import add_compile_arguments, compile_model
from .reports import Progress, reported

if TYPE_CHECKING:
    from .._core import _Task
    from ..ops.schedules.family import Kernel, KernelTask

_DESCRIPTION = """\
Lists the kernels of an ONNX model that a family of schedules makes: how many choices of knobs the
family has for a kernel, how many the rules of legality and the limits of the target leave out, the
default choice, and the time that the kernel is estimated to take with it. Kernels of equal facts
are listed once.

With --storages, it lists all operators instead: the estimated times of their best kernels over
buffers and over textures, what bounds them, which storage was chosen, and why. With --costs, times
are the measured ones where there are some.
"""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="texloom spaces", description=_DESCRIPTION)
    parser.add_argument("model", type=Path, metavar="MODEL", help="an .onnx file")
    add_compile_arguments(parser, runs=False, tunes=True)
    parser.add_argument(
        "--storages", action="store_true", help="compare buffers and textures of each operator"
    )
    parser.add_argument("--json", action="store_true", help="write the kernels as JSON")
    return parser.parse_args(arguments)


def kernels_of(tasks: Mapping[str, _Task]) -> dict[Kernel, tuple[KernelTask, int]]:
    """Return the kernels of tasks that have a family, and how many tasks have each."""
    from ..graph.scheduler import alternatives_of
    from ..ops.schedules import Choice

    found: dict[Kernel, tuple[KernelTask, int]] = {}
    for task in tasks.values():
        choice = Choice()
        alternatives_of(task, choice)
        for kernel, own in choice.kernels.items():
            found[kernel] = (own, found.get(kernel, (own, 0))[1] + 1)
    return found


def _described(kernel: Kernel, task: KernelTask, tasks: int) -> dict[str, Any]:
    family, facts = kernel
    space, default = family.space(task), family.default(task)
    return {
        "family": family.name,
        "facts": str(facts),
        "writes": [str(extent) for extent in task.root.shape],
        "tasks": tasks,
        "points": len(space),
        "cut": dict(space.cut),
        "default": {"knobs": type(default).__name__, **asdict(default)},
        "seconds": family.estimate(task, default),
    }


def _text(row: dict[str, Any]) -> tuple[str, ...]:
    cut = ", ".join(f"{count} {rule}" for rule, count in row["cut"].items())
    knobs = " ".join(f"{name}={value}" for name, value in row["default"].items() if name != "knobs")
    seconds = row["seconds"]
    estimate = "-" if seconds is None else f"{seconds * 1e6:.1f}"
    writes = "x".join(row["writes"])
    return row["family"], writes, str(row["tasks"]), str(row["points"]), estimate, knobs, cut or "-"


def _storages(options: argparse.Namespace) -> int:
    model = compile_model(options.model, options, Progress("spaces"), compare_storages=True)
    if model.summary == {}:
        refuse(
            "BadOption",
            f"{options.model} has no operator with a kernel, whose storages could be compared",
            "give a model that computes something",
        )
    choice = None if model.summary is None else model.summary.get("scopes")
    if model.summary is None or choice is None:
        refuse(
            "BadOption",
            f"the costs of {options.model}'s kernels are not known before its inputs have shapes, "
            "and only --storage auto compares them",
            "give the shape of each open input: --shape NAME=AxBxC; leave out --storage",
        )
    rows = storage_rows(model.summary, len(model.signature.inputs))
    if options.json:
        print(json.dumps([{**asdict(row), "reason": row.reason} for row in rows]))
        return 0
    print("\n".join(storage_table(rows)))
    nodes = sum(row.nodes for row in rows)
    in_textures = sum(row.nodes for row in rows if row.chosen == "textures")
    print(
        f"{in_textures} of {counted(nodes, 'operator')} in textures, "
        f"{choice['cost'] / 1e3:,.1f} us in all on {choice['device']}"
    )
    return 0


def _spaces(options: argparse.Namespace) -> int:
    if options.storages:
        return _storages(options)
    from ..graph.scheduler import collected_tasks

    with collected_tasks() as tasks:
        compile_model(options.model, options, Progress("spaces"))
    if not tasks:
        refuse(
            "BadOption",
            f"{options.model} has no operators to schedule before its inputs have shapes",
            "give the shape of each open input: --shape NAME=AxBxC",
        )
    kernels = kernels_of(tasks)
    rows = [_described(kernel, *found) for kernel, found in kernels.items()]
    rows.sort(key=lambda row: row["family"])
    if options.json:
        print(json.dumps(rows))
        return 0
    heading = ("family", "writes", "operators", "choices", "us", "default", "left out")
    print("\n".join(aligned([heading, *map(_text, rows)])))
    print(f"{counted(len(rows), 'kernel')} of {counted(len(tasks), 'operator')} have a family")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """List kernels; return 0, or 1 with the reason on stderr."""
    options = parse(arguments)
    return reported("spaces", lambda: _spaces(options))
