"""``texloom tune``: searches the knobs of a model's kernels on a device."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
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

if TYPE_CHECKING:
    from ..graph.scheduler import Collected

_DESCRIPTION = """\
Searches the knobs of a model's kernels on a device, and records every trial: knobs, all times,
whether the outputs are right, or why it failed. Trials that the database has count, so that a run
that was interrupted goes on. The kernel is measured next whose next trials are expected to save
most of the model's time; the search ends when nothing is expected to save 1 %, or when the trials
or the seconds are used up. Ctrl-C ends it, and loses nothing.
"""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="texloom tune", description=_DESCRIPTION)
    parser.add_argument("model", type=Path, metavar="MODEL", help="an .onnx file")
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
        "best point; random; grid (model)",
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
    if options.search == "model" and find_spec("lightgbm") is None:
        refuse(
            "UnknownName",
            "--search model needs the Python package lightgbm",
            "pip install 'texloom[tune]', or take --search directed",
        )
    if options.output is not None:
        refuse_missing_folder(options.output)
    if options.report is not None:
        refuse_missing_folder(options.report)
    choose_device(options)
    search = SEARCHES[options.search](options.search_seed)
    effort = EFFORTS[options.effort]
    if options.seconds is not None:
        effort = replace(effort, seconds=options.seconds)
    if options.trials is not None:
        effort = replace(effort, trials=options.trials)
    tasks = _tasks(options)
    with opened_session(options.device, database, tasks, search, effort) as session:
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
            print(f"texloom compile {options.model} --tuned {options.output}")
        if is_interrupted:
            print("interrupted: all trials are kept, and the next run goes on")
    return 130 if is_interrupted else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Tune a model; return 0, 1 with the reason on stderr, or 130 after Ctrl-C."""
    options = parse(arguments)
    return reported("tune", lambda: _tune(options))
