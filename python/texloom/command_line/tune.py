"""``texloom tune``: searches the knobs of a model's kernels on a device."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import refuse
from ..inspect.describe import counted
from ..records.address import named_or_default
from ..records.best_file import write_best
from ..tuning.search import SEARCHES
from ..tuning.session import EFFORTS, opened_session
from .arrays import refuse_missing_folder
from .model_arguments import add_compile_arguments, choose_device, compile_model, is_package
from .reports import Progress, reported
from .tune_reports import (
    TuningView,
    findings_of,
    summary_facts,
    summary_lines,
    trial_facts,
    write_report,
)
from .tune_script import of_script, on_device

if TYPE_CHECKING:
    from ..graph.scheduler import Collected
    from ..tuning.user_kernel import UserKernel

_DESCRIPTION = """\
Searches the knobs of kernels on a device, of a model or a script, and records every trial: knobs,
all times, whether the outputs are right, or why it failed. Trials that the database has count, so
that a run that was interrupted goes on. The kernel is measured next whose next trials are expected
to save most of the model's time; the search ends when nothing is expected to save 1 %, or when the
trials or the seconds are used up. Ctrl-C ends it, and loses nothing.
"""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="texloom tune", description=_DESCRIPTION)
    parser.add_argument(
        "model",
        type=Path,
        metavar="MODEL",
        help="an .onnx file, or a Python script, which is run: the schedules with knobs that it "
        "calls (texloom.tune.space, autotvm.template), and the graphs that it compiles, are tuned",
    )
    add_compile_arguments(parser, tunes=True)
    parser.add_argument(
        "--db",
        metavar="DB",
        help="the database of records, a file or a URL (default: records.sqlite in "
        "TEXLOOM_CACHE_DIR)",
    )
    parser.add_argument(
        "--effort",
        choices=list(EFFORTS),
        default="normal",
        help="none: only what the records have; quick: 32 trials of a kernel, 60 s; normal: 200, "
        "900 s; full: 2000, no limit (normal)",
    )
    parser.add_argument("--seconds", type=float, metavar="S", help="end after so many seconds")
    parser.add_argument("--trials", type=int, metavar="N", help="the most trials of a kernel")
    parser.add_argument(
        "--search",
        choices=list(SEARCHES),
        default="model",
        help="model: estimates, then a model that learns from trials; directed: neighbors of the "
        "best point; genetic: children of the fastest points; random; grid (model)",
    )
    parser.add_argument(
        "--search-seed", type=int, default=0, metavar="N", help="of random choices (0)"
    )
    parser.add_argument(
        "-o",
        dest="output",
        type=Path,
        metavar="BEST.json",
        help="write the best knobs to this file, for `texloom compile --tuned`",
    )
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE.html",
        help="write a page about the run: gains, what each knob is worth, failures",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="write a line of JSON for each trial, and one with the summary",
    )
    options = parser.parse_args(arguments)
    if options.trials is not None and options.trials < 1:
        parser.error(f"--trials is {options.trials}, but must be at least 1")
    if options.seconds is not None and not options.seconds > 0:
        parser.error(f"--seconds is {options.seconds}, but must be positive")
    return options


def _found(options: argparse.Namespace) -> tuple[Collected, Sequence[UserKernel]]:
    """Return the tasks of operators, and the kernels that a script declares.

    Sets ``options.device``.
    """
    if options.model.suffix == ".py":
        found = of_script(options.model, options.target)
        options.device, tasks, kernels = on_device(found, options.device, options.model)
        return tasks, kernels
    choose_device(options)
    return _tasks(options), ()


def _tasks(options: argparse.Namespace) -> Collected:
    from ..graph.scheduler import collected_tasks

    if is_package(options.model):
        refuse(
            "BadOption",
            f"{options.model} is a package, whose kernels are compiled already",
            "give the .onnx file, and compile it again after tuning",
        )
    with collected_tasks() as tasks:
        compile_model(options.model, options, Progress("tune"))
    if not tasks:
        refuse(
            "BadOption",
            f"{options.model} has no operators to schedule before its inputs have shapes",
            "give the shape of each open input: --shape NAME=AxBxC",
        )
    return tasks


def _tune(options: argparse.Namespace) -> int:
    database = named_or_default(options.db)
    if options.output is not None:
        refuse_missing_folder(options.output)
    if options.report is not None:
        refuse_missing_folder(options.report)
    search = SEARCHES[options.search](options.search_seed)
    effort = EFFORTS[options.effort]
    if options.seconds is not None:
        effort = replace(effort, seconds=options.seconds)
    if options.trials is not None:
        effort = replace(effort, trials=options.trials)
    tasks, declared = _found(options)
    with opened_session(options.device, database, tasks, search, effort, declared) as session:
        if not session.kernels:
            print(
                f"{options.model} has no kernels with knobs for {session.device}", file=sys.stderr
            )
            return 0
        last: Any = None
        is_interrupted = False
        with TuningView(session.kernels, effort, quiet=options.json) as view:

            def show(progress: Any) -> None:
                nonlocal last
                last = progress
                view.show(progress)
                if options.json:
                    print(json.dumps(trial_facts(progress)), flush=True)

            try:
                session.run(show)
            except KeyboardInterrupt:
                is_interrupted = True
        if options.report is not None:
            found = findings_of(session.kernels, session.records, session.device)
            write_report(found, options.report, f"Tuning of {options.model.name}", not options.json)
    if options.output is not None:
        write_best(session.best_knobs(), options.output)
    if options.json:
        print(json.dumps(summary_facts(session.kernels, last)))
    else:
        print("\n".join(summary_lines(session.kernels, last)))
        print(f"{counted(0 if last is None else last.trials, 'trial')} in {database}")
        if options.output is not None:
            print(_use_of(options))
        if is_interrupted:
            print("interrupted: all trials are kept, and the next run goes on")
    return 130 if is_interrupted else 0


def _use_of(options: argparse.Namespace) -> str:
    """Return the line that uses the best knobs."""
    if options.model.suffix == ".py":
        return f'with texloom.tune.best("{options.output}"):  # around the calls in {options.model}'
    return f"texloom compile {options.model} --tuned {options.output}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Tune a model; return 0, 1 with the reason on stderr, or 130 after Ctrl-C."""
    options = parse(arguments)
    return reported("tune", lambda: _tune(options))
