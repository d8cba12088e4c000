"""What ``texloom tune`` shows: a live table, lines, and what was gained."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..inspect.describe import aligned, counted
from ..records import MeasuredDevice, Wanted
from ..whole_file import write_whole

if TYPE_CHECKING:
    from ..records.database import Records
    from ..tuning.report import Findings
    from ..tuning.session import Effort, Progress
    from ..tuning.tuned import Tuned

_LINE_SECONDS = 10.0  # between lines where there is no terminal
_MOST_ROWS = 20
_HEADING = ("times", "kernel", "trials", "failed", "default us", "best us", "times as fast")


def rows_of(kernels: Sequence[Tuned]) -> list[tuple[str, ...]]:
    """Return a row for each kernel, those that take most of the time first."""

    def seconds_of(each: Tuned) -> float:
        return each.count * (each.searched.default_seconds or 0.0)

    return [
        (
            f"{each.count}",
            f"{each.subject.family}, {each.subject.task[:8]}",
            f"{len(each.searched.trials)} of {each.searched.size:,}",
            f"{sum(each.failures.values())}",
            _microseconds(each.searched.default_seconds),
            _microseconds(each.searched.best_seconds),
            f"{each.speedup:.2f}",
        )
        for each in sorted(kernels, key=seconds_of, reverse=True)
    ]


def _microseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e6:.1f}"


def totals(kernels: Sequence[Tuned]) -> tuple[float, float]:
    """Return the seconds that all measured kernels take in a run, with defaults and best points."""
    known = [each for each in kernels if each.searched.default_seconds]
    default = sum(each.count * (each.searched.default_seconds or 0.0) for each in known)
    return default, sum(each.count * (each.searched.best_seconds or 0.0) for each in known)


def total_line(kernels: Sequence[Tuned]) -> str:
    """Return what all kernels take, and why trials failed."""
    default, best = totals(kernels)
    known = sum(1 for each in kernels if each.searched.default_seconds)
    line = f"{known} of {counted(len(kernels), 'kernel')} measured"
    if best:
        line += (
            f": {default * 1e6:,.0f} us a run, now {best * 1e6:,.0f}, which saves "
            f"{(default - best) * 1e6:,.0f}: {default / best:.2f} x as fast"
        )
    failures: Counter[str] = Counter()
    for each in kernels:
        failures.update({kind.value: number for kind, number in each.failures.items()})
    told = ", ".join(f"{number} {kind}" for kind, number in failures.most_common())
    return f"{line}; failed: {told}" if told else line


def summary_lines(kernels: Sequence[Tuned], last: Progress | None) -> list[str]:
    """Return what was gained where, how many points rules had left out, and what took the time.

    `last` is the state after the last trial; None if none was made.
    """
    rows = rows_of(kernels)
    lines = aligned([_HEADING, *rows[:_MOST_ROWS]])
    if len(rows) > _MOST_ROWS:
        lines.append(f"... and {len(rows) - _MOST_ROWS} more")
    cut: Counter[str] = Counter()
    for each in kernels:
        cut.update(each.cut)
    points = sum(each.searched.size for each in kernels)
    if cut:
        (rule, number), *_ = cut.most_common(1)
        whole = points + sum(cut.values())
        lines.append(
            f"{points:,} of {whole:,} points are legal; the rule that left out most: {rule} "
            f"({number:,})"
        )
    if last is not None:
        lines.append(
            f"{last.seconds:.0f} s, of which the device worked or kernels were compiled for "
            f"{last.working_seconds / last.seconds:.0%}, the tuner itself for "
            f"{last.own_seconds / last.seconds:.1%}"
        )
        if last.repeated:
            lines.append(
                f"{counted(last.repeated, 'trial')} made again, because the reference kernel had "
                "drifted"
            )
    return [*lines, total_line(kernels)]


def summary_facts(kernels: Sequence[Tuned], last: Progress | None) -> dict[str, Any]:
    """Return the summary for a line of JSON; `last` is as for :func:`summary_lines`."""
    default, best = totals(kernels)
    facts: dict[str, Any] = {"default_seconds": default, "best_seconds": best, "trials": 0}
    if last is not None:
        facts |= _course(last)
    return {"summary": facts}


def _course(progress: Progress) -> dict[str, Any]:
    return {
        "trials": progress.trials,
        "repeated": progress.repeated,
        "elapsed_seconds": progress.seconds,
        "working_seconds": progress.working_seconds,
        "own_seconds": progress.own_seconds,
    }


def trial_facts(progress: Progress) -> dict[str, Any]:
    """Return a trial for a line of JSON."""
    trial, one = progress.trial, progress.current
    return {
        "trial": str(trial.id),
        "family": trial.subject.family,
        "task": trial.subject.task,
        "knobs": dict(trial.knobs),
        "seconds": trial.seconds,
        "failure": None if trial.failure is None else trial.failure.value,
        "message": trial.message,
        "best_seconds": one.searched.best_seconds,
        "default_seconds": one.searched.default_seconds,
        "operators": one.count,
        **_course(progress),
    }


def findings_of(kernels: Sequence[Tuned], records: Records, device: MeasuredDevice) -> Findings:
    """Return what all trials of some kernels on a device say."""
    from ..tuning.report import Findings

    found = (records.trials(Wanted(subject=each.subject, device=device)) for each in kernels)
    counts = {each.subject.identity: each.count for each in kernels}
    return Findings((trial for trials in found for trial in trials), counts)


def write_report(findings: Findings, path: Path, title: str, tells: bool = True) -> None:
    """Write a page of HTML; an existing file is replaced when it is complete. Raises OSError."""
    from ..tuning.report import page_of

    write_whole(path, page_of(findings, title).encode())
    if tells:
        trials = sum(len(each.trials) for each in findings.courses)
        print(f"{path}: {counted(len(findings.courses), 'kernel')}, {counted(trials, 'trial')}")


class TuningView:
    """Shows a run: a live table on a terminal (with the package rich), else a line now and then."""

    def __init__(self, kernels: Sequence[Tuned], effort: Effort, *, quiet: bool) -> None:
        self._kernels, self._effort = kernels, effort
        self._live: Any = None
        self._next = time.monotonic() + _LINE_SECONDS
        self._quiet = quiet
        if not quiet and sys.stderr.isatty() and find_spec("rich") is not None:
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True)
            self._live = Live(console=console, refresh_per_second=4, transient=True)

    def __enter__(self) -> TuningView:
        """Begin to show."""
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the terminal back."""
        del kind, error, trace
        if self._live is not None:
            self._live.stop()

    def show(self, progress: Progress) -> None:
        """Show the state after a trial."""
        if self._live is not None:
            self._live.update(self._table(progress))
            return
        now = time.monotonic()
        if self._quiet or now < self._next:
            return
        self._next = now + _LINE_SECONDS
        print(f"texloom tune: {self._told(progress)}", file=sys.stderr, flush=True)

    def _told(self, progress: Progress) -> str:
        left = self._effort.seconds - progress.seconds
        told = f"{counted(progress.trials, 'trial')}, {total_line(self._kernels)}"
        return told if left == float("inf") else f"{told}; at most {max(left, 0):.0f} s left"

    def _table(self, progress: Progress) -> Any:
        from rich.table import Table

        table = Table(title=self._told(progress), title_justify="left")
        for name in _HEADING:
            table.add_column(name, justify="left" if name == "kernel" else "right")
        for row in rows_of(self._kernels)[:_MOST_ROWS]:
            table.add_row(*row)
        return table


__all__ = [
    "TuningView",
    "findings_of",
    "summary_facts",
    "summary_lines",
    "total_line",
    "totals",
    "trial_facts",
    "write_report",
]
