"""How much slower the default schedules are than the best ones that a search finds.

    python benchmarks/regret/regret.py tasks MODEL.onnx... --target TARGET -o tasks.json
    python benchmarks/regret/regret.py measure tasks.json -o results.json [--points 300]
    python benchmarks/regret/regret.py report results.json... [--svg estimates.svg]

`tasks` writes the operators of networks for an OpenCL target; it needs the package onnx. `measure`
needs only Texloom and NumPy, so that the file can be carried to another machine. For each kernel
that has a family of schedules, it measures the default, a random search and a directed search of as
many points each, and checks all outputs. It writes its results after each operator; if it is
started again, it goes on. Operators are measured in a random order, so that a part of them is a
sample. With `--jobs`, processes compile side by side, and take turns to time. Times are those of
the kernels on the device, by its time stamps, and the profile's time of a launch for each.

`report` prints how many times as long as the best point the default takes, by family, and draws
estimates against times.

The directed search begins at the default. It measures the neighbors of the best point so far, those
first that differ in the fewest knobs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import time
from collections.abc import Iterator, MutableMapping
from contextlib import ExitStack
from dataclasses import asdict
from multiprocessing.synchronize import Lock
from pathlib import Path
from typing import Any

import numpy as np
from picture import scatter
from report import table
from stamps import StampedKernel

import texloom
from texloom import _core
from texloom.graph.scheduler import collected_tasks
from texloom.measure.loop import Sampling, measure
from texloom.ops.schedules.family import Kernel
from texloom.records import Trial
from texloom.tuning import Operator, measured_trial
from texloom.tuning.kernel_build import Phase

Taken = MutableMapping[tuple[str, str], str]
# Time on the device; short kernels take several times as long with their launches.
_SHORT = Sampling(rounds=3, sample_seconds=0.002, most_runs=200)
_FINAL = Sampling(rounds=15, sample_seconds=0.005, most_runs=500, warm_up_seconds=0.1)


class Search:
    """The points of a kernel that were measured.

    Parameters
    ----------
    operator : Operator
    kernel : Kernel
    turn : Lock
        Who holds it may time.
    profile : Profile
        Where the device's time stamps are.

    Attributes
    ----------
    trials : dict of knobs to Trial
    launch_seconds : float
        By the profile of the device, or of its kind.
    """

    def __init__(
        self, operator: Operator, kernel: Kernel, turn: Lock, profile: _core.Profile
    ) -> None:
        family, task = kernel[0], operator.kernels[kernel]
        self.space, self.default = family.space(task), family.default(task)
        self._operator, self._kernel, self._task = operator, kernel, task
        self._expected = StampedKernel(operator, kernel, profile)
        self.launch_seconds = self._task.profile.launch_seconds
        self._turn = turn
        self.trials: dict[Any, Trial] = {}

    def estimate(self, knobs: Any) -> float | None:
        """Return the estimated seconds of a point."""
        return self._kernel[0].estimate(self._task, knobs)

    @property
    def seconds(self) -> dict[Any, float]:
        """The measured points, with their launches."""
        return {
            knobs: self._launched(knobs, each.seconds)
            for knobs, each in self.trials.items()
            if each.seconds
        }

    @property
    def errors(self) -> dict[Any, str]:
        """The points that could not be measured."""
        return {knobs: each.message for knobs, each in self.trials.items() if each.failure}

    def try_points(self, points: Iterator[Any], count: int) -> None:
        """Measure up to `count` of some points; those that are measured already count, too."""
        for _, knobs in zip(range(count), points, strict=False):
            if knobs not in self.trials:
                self.trials[knobs] = self._trial(knobs)
                if self.trials[knobs].failure:
                    print("  wrong:", knobs, self.trials[knobs].message, file=sys.stderr)

    def _trial(self, knobs: Any) -> Trial:
        with ExitStack() as held:

            def see(phase: Phase) -> None:
                if phase is Phase.RUN:
                    held.enter_context(self._turn)

            return measured_trial(self._expected, knobs, _SHORT, see=see)

    def at_random(self) -> Iterator[Any]:
        """Yield all points in a random order."""
        for number in np.random.default_rng(1).permutation(len(self.space)):
            yield self.space.points[number]

    def directed(self) -> Iterator[Any]:
        """Yield the default, then neighbors of the best point so far."""
        yield self.default
        seen = {self.default}
        while len(seen) < len(self.space):
            own = {knobs: self.seconds[knobs] for knobs in seen if knobs in self.seconds}
            best = min(own, key=lambda knobs: own[knobs], default=self.default)
            new = next(each for each in self.space.neighbors(best) if each not in seen)
            seen.add(new)
            yield new

    def final(self) -> tuple[Any, float, float]:
        """Return the best point, and the seconds of the default and of this point, in turns."""
        best = min(self.seconds, key=lambda knobs: self.seconds[knobs])
        arms = [self._expected.arm(each) for each in (self.default, best)]
        with self._turn:
            default, other = measure(arms, _FINAL)
        own = self._launched(self.default, default.median)
        return best, own, self._launched(best, other.median)

    def _launched(self, knobs: Any, seconds: float) -> float:
        return seconds + len(self.trials[knobs].kernels) * self.launch_seconds


def _row(name: str, kernel: Kernel, search: Search) -> dict[str, Any]:
    best, default, other = search.final()
    return {
        "task": name,
        "family": kernel[0].name,
        "facts": str(kernel[1]),
        "points": len(search.space),
        "launch_seconds": search.launch_seconds,
        "measured": [
            {"knobs": asdict(knobs), "seconds": seconds, "estimate": search.estimate(knobs)}
            for knobs, seconds in search.seconds.items()
        ],
        "errors": [{"knobs": asdict(each), "error": e} for each, e in search.errors.items()],
        "default": {
            "knobs": asdict(search.default),
            "seconds": default,
            "estimate": search.estimate(search.default),
        },
        "best": {"knobs": asdict(best), "seconds": other, "estimate": search.estimate(best)},
    }


def write_tasks(options: argparse.Namespace) -> None:
    """Write the tasks of networks to a file."""
    with collected_tasks() as tasks:
        for model in options.models:
            texloom.compile(model, options.target, storage="buffer")
    found = {name: str(task) for name, task in tasks.items()}
    options.output.write_text(json.dumps(found, indent=1), encoding="utf-8")
    print(f"{len(found)} tasks")


class Measurer:
    """Measures the kernels of operators, in one of several processes.

    Parameters
    ----------
    options : argparse.Namespace
        Of the command line.
    end : float
        No kernel is begun after this Unix time.
    taken : mapping of (family, facts) to operator
        The kernels that a process measures, or has measured.
    turn : Lock
        Who holds it may time.
    """

    own: Measurer

    def __init__(self, options: argparse.Namespace, end: float, taken: Taken, turn: Lock) -> None:
        self._options, self._end, self._taken, self._turn = options, end, taken, turn
        profile = _core.start_profile()
        assert profile is not None  # no device is open
        self._profile = profile
        self._device = texloom.device("opencl", options.device)

    def rows(self, name: str, text: str) -> list[dict[str, Any]]:
        """Return the results of an operator's kernels that no other operator has."""
        found = []
        operator = Operator(text, self._device)
        for kernel in operator.tunable():
            is_wanted = self._options.family in (None, kernel[0].name)
            if not is_wanted or time.time() > self._end:
                continue
            if self._taken.setdefault((kernel[0].name, str(kernel[1])), name) != name:
                continue
            search = Search(operator, kernel, self._turn, self._profile)
            search.try_points(search.at_random(), self._options.points)
            search.try_points(search.directed(), self._options.points)
            found.append(_row(name, kernel, search))
        return found


def _begin(*arguments: Any) -> None:
    Measurer.own = Measurer(*arguments)


def _measured(job: tuple[str, str]) -> list[dict[str, Any]]:
    return Measurer.own.rows(*job)


def measure_tasks(options: argparse.Namespace) -> None:
    """Measure the kernels of tasks, each once, and write the results after each operator."""
    tasks = list(json.loads(options.file.read_text(encoding="utf-8")).items())
    random.Random(1).shuffle(tasks)
    rows = json.loads(options.output.read_text()) if options.output.exists() else []
    context = multiprocessing.get_context("spawn")
    with ExitStack() as stack:
        taken = stack.enter_context(context.Manager()).dict()
        taken.update({(row["family"], row["facts"]): "" for row in rows})
        given = (options, time.time() + options.seconds, taken, context.Lock())
        pool = stack.enter_context(context.Pool(options.jobs, _begin, given))
        for made in pool.imap_unordered(_measured, tasks):
            for row in made:
                print(table([row])[-1], flush=True)
            rows += made
            options.output.write_text(json.dumps(rows), encoding="utf-8")


def report(options: argparse.Namespace) -> None:
    """Print the table, and draw the picture."""
    rows = [row for file in options.files for row in json.loads(file.read_text())]
    print("\n".join(table(rows)))
    if options.svg is not None:
        options.svg.write_text(scatter(rows), encoding="utf-8")


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    tasks = commands.add_parser("tasks")
    tasks.add_argument("models", nargs="+", metavar="MODEL.onnx")
    tasks.add_argument("--target", required=True, help='such as "opencl -device=nvidia"')
    tasks.add_argument("-o", dest="output", type=Path, required=True)
    tasks.set_defaults(run=write_tasks)
    measured = commands.add_parser("measure")
    measured.add_argument("file", type=Path, metavar="tasks.json")
    measured.add_argument("-o", dest="output", type=Path, required=True)
    measured.add_argument("--points", type=int, default=300, help="of each search (300)")
    measured.add_argument("--device", type=int, default=0, help="the number of the OpenCL device")
    measured.add_argument("--jobs", type=int, default=1, help="processes that compile (1)")
    measured.add_argument("--family", help="only kernels of this family")
    measured.add_argument(
        "--seconds", type=float, default=1e9, help="begin no kernel after so many seconds"
    )
    measured.set_defaults(run=measure_tasks)
    shown = commands.add_parser("report")
    shown.add_argument("files", nargs="+", type=Path, metavar="results.json")
    shown.add_argument("--svg", type=Path)
    shown.set_defaults(run=report)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
