"""``texloom db``: finds, checks, moves and removes records of trials."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..devices.lookup import present
from ..errors import refuse
from ..inspect.describe import aligned, counted
from ..records import Kind, Trial, Wanted, measured_device, open_records
from ..records.address import named_or_default
from ..records.autotvm import read_log, write_log
from ..records.best_file import best_knobs, write_best
from ..records.foreign import is_foreign
from ..records.lines import line_of, read_lines, write_lines
from ..records.points import Point
from ..records.t4 import read_t4, write_t4
from .arrays import refuse_missing_folder
from .db_reports import best_lines, count_lines, trial_lines, verified_row
from .reports import Progress, reported
from .tune_reports import write_report

if TYPE_CHECKING:
    from ..records.database import Records

_DESCRIPTION = """\
Finds, checks, moves and removes records of trials: what tuning and measurements of graphs found
out. A database is a file, or a URL such as postgresql://user:password@host/database.
"""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="texloom db", description=_DESCRIPTION)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, run: Callable[[argparse.Namespace], int], words: str) -> Any:
        made = commands.add_parser(name, help=words, description=words[0].upper() + words[1:] + ".")
        made.set_defaults(run=run)
        made.add_argument(
            "--db",
            metavar="DB",
            help="the database (default: records.sqlite in TEXLOOM_CACHE_DIR)",
        )
        return made

    best = add("best", _best, "list the fastest trial of each kernel on each device")
    show = add("show", _show, "show how many trials there are, or everything about one")
    show.add_argument("trial", nargs="?", metavar="TRIAL", help="the first digits of its name")
    verify = add("verify", _verify, "measure the fastest trials again on a device and compare")
    verify.add_argument("--on", default="opencl:0", metavar="D", help="the device (opencl:0)")
    verify.add_argument(
        "--count", type=int, default=10, metavar="N", help="of so many kernels (10)"
    )
    verify.add_argument(
        "--within",
        type=float,
        default=1.5,
        metavar="FACTOR",
        help="exit with 1 if one takes more than so many times as long, or is wrong (1.5)",
    )
    merge = add("merge", _merge, "add the trials of other databases; those of both are kept once")
    merge.add_argument("sources", nargs="+", metavar="FROM", help="databases to read")
    prune = add("prune", _prune, "remove trials, but never a fastest one of a current space")
    prune.add_argument(
        "--keep", type=int, metavar="N", help="keep the N fastest of each kernel on each device"
    )
    prune.add_argument("--failures", action="store_true", help="remove failed trials")
    prune.add_argument(
        "--outdated",
        action="store_true",
        help="remove all trials of kernels whose family of schedules, or its version, this version "
        "of Texloom does not have",
    )
    export = add(
        "export",
        _export,
        "write lines of JSON, one for each trial, or the best knobs",
    )
    export.add_argument("output", type=Path, metavar="OUT")
    export.add_argument(
        "--best",
        action="store_true",
        help="write the best knobs alone, as `texloom compile --tuned` reads them: a small file to "
        "check in",
    )
    export.add_argument(
        "--format",
        choices=("lines", "autotvm", "t4"),
        default="lines",
        help="lines of JSON with everything (the default), a log of AutoTVM, or Kernel Tuner's T4, "
        "of one kernel",
    )
    report = add(
        "report",
        _report,
        "write a page of HTML about tuned kernels: gains, knobs, storages, failures",
    )
    report.add_argument("output", type=Path, metavar="OUT.html")
    imports = add("import", _import, "add the trials of exported files; a trial is added once")
    imports.add_argument("files", type=Path, nargs="+", metavar="FILE.jsonl")
    imports.add_argument(
        "--format",
        choices=("lines", "autotvm", "t4"),
        default="lines",
        help="what `texloom db export` wrote (lines, the default), logs of AutoTVM, or T4",
    )
    imports.add_argument(
        "--device", metavar="NAME", help="the device of the trials; AutoTVM and T4 do not tell"
    )
    imports.add_argument(
        "--target", metavar="TARGET", help="the target of the trials; T4 does not tell"
    )
    imports.add_argument(
        "--kernel", metavar="NAME", help="the name of the kernel; T4 does not tell"
    )
    for each in (best, show, verify, export, report):
        _add_conditions(each)
    for each in (best, show, verify):
        each.add_argument("--json", action="store_true", help="write everything as JSON")
    return parser.parse_args(arguments)


def _add_conditions(parser: Any) -> None:
    parser.add_argument("--task", metavar="ID", help="only of tasks that begin with these digits")
    parser.add_argument("--family", metavar="NAME", help="only of this family of schedules")
    parser.add_argument("--target", metavar="TARGET", help="only of this target, as it is listed")
    parser.add_argument("--device", metavar="NAME", help="only of devices with this in their names")


def _wanted(options: argparse.Namespace, kind: Kind | None = None) -> Wanted:
    return Wanted(
        kind=kind,
        task=options.task,
        family=options.family,
        target=options.target,
        device=options.device,
    )


@contextmanager
def _opened(options: argparse.Namespace, creates: bool = False) -> Iterator[Records]:
    with open_records(named_or_default(options.db), creates=creates) as records:
        yield records


def _best(options: argparse.Namespace) -> int:
    with _opened(options) as records:
        trials = list(records.bests(_wanted(options, Kind.KERNEL)))
    if options.json:
        print(_as_json(trials))
        return 0
    print("\n".join(best_lines(trials)))
    print(f"{counted(len(trials), 'fastest trial')}")
    return 0


def _as_json(trials: Sequence[Trial]) -> str:
    return json.dumps([json.loads(line_of(each)) for each in trials])


def _show(options: argparse.Namespace) -> int:
    with _opened(options) as records:
        if options.trial is not None:
            return _show_trial(records, options)
        counts = records.count(_wanted(options))
    if options.json:
        rows = [[*key, number] for key, number in counts.items()]
        print(json.dumps(rows))
        return 0
    print("\n".join(count_lines(counts)))
    print(f"{counted(sum(counts.values()), 'trial')} in {records.name}")
    return 0


def _show_trial(records: Records, options: argparse.Namespace) -> int:
    found = records.named(options.trial)
    if len(found) != 1:
        refuse(
            "UnknownName",
            f"{records.name} has {'several trials' if found else 'no trial'} whose name begins "
            f"with {options.trial!r}",
            "give more digits" if found else "`texloom db best` lists the names of trials",
        )
    print(line_of(found[0]) if options.json else "\n".join(trial_lines(found[0])))
    return 0


def _verify(options: argparse.Namespace) -> int:
    from ..tuning import verified

    device = present(options.on)
    own = measured_device(device)
    wanted = _wanted(options, Kind.KERNEL)
    progress, rows = Progress("db verify"), []
    with _opened(options) as records:
        trials = [each for each in records.bests(wanted) if each.place.device.name == own.name]
        for done, each in enumerate(trials[: options.count]):
            progress("kernels are measured", done, min(len(trials), options.count))
            rows.append(verified(each, device))
            if rows[-1].again is not None:
                records.add(rows[-1].again)
    progress.end()
    if not rows:
        refuse(
            "UnknownName",
            f"{records.name} has no fastest trial of a kernel on {own.name}",
            "leave out conditions; `texloom db best` lists them with their devices",
        )
    is_wrong = any(
        (each.again is not None and each.again.failure is not None)
        or (each.ratio or 0) > options.within
        for each in rows
    )
    if options.json:
        print(json.dumps([verified_row(each) for each in rows]))
    else:
        heading = ("family", "trial", "us", "us now", "ratio", "kernels", "result")
        table = [tuple(map(str, verified_row(each).values())) for each in rows]
        print("\n".join(aligned([heading, *table])))
    return int(is_wrong)


def _merge(options: argparse.Namespace) -> int:
    with _opened(options, creates=True) as records:
        for source in options.sources:
            with open_records(source) as other:
                count = records.add_all(other.trials())
                print(f"{counted(count, 'new trial')} of {other.name}")
    return 0


def _prune(options: argparse.Namespace) -> int:
    if options.keep is None and not options.failures and not options.outdated:
        refuse(
            "BadOption",
            "nothing is named that should be removed",
            "give --keep N, --failures or --outdated",
        )
    if options.keep is not None and options.keep < 1:
        refuse(
            "BadOption",
            f"--keep {options.keep} would remove the fastest trials",
            "keep at least one: --keep 1",
        )
    with _opened(options) as records:
        count = records.prune(options.keep, options.failures)
        if options.outdated:
            count += records.remove(_outdated(records))
        records.shrink()
    print(f"{counted(count, 'trial')} removed")
    return 0


def _outdated(records: Records) -> list[Any]:
    from ..ops.schedules.families import FAMILIES

    current = {(each.name, each.version) for own in FAMILIES.values() for each in own}
    subjects = records.subjects(Kind.KERNEL)
    return [
        each
        for each in subjects
        if (each.family, each.version) not in current and not is_foreign(each.family)
    ]


def _export(options: argparse.Namespace) -> int:
    refuse_missing_folder(options.output)
    with _opened(options) as records:
        if options.best:
            entries = best_knobs(_best_points(records, _wanted(options, Kind.KERNEL)))
            write_best(entries, options.output)
            print(f"{options.output}: {counted(len(entries), 'kernel')}")
            return 0
        write = {"lines": write_lines, "autotvm": write_log, "t4": write_t4}[options.format]
        kind = None if options.format == "lines" else Kind.KERNEL
        count = write(records.trials(_wanted(options, kind)), options.output)
    print(f"{options.output}: {counted(count, 'trial')}")
    return 0


def _best_points(records: Records, wanted: Wanted) -> Iterator[Point]:
    """Yield the best verified point of each kernel on each device."""
    for each in list(records.bests(wanted)):
        point = records.best_point(each.subject, each.place.device)
        if point is not None:
            yield point


def _report(options: argparse.Namespace) -> int:
    from ..tuning.report import Findings

    refuse_missing_folder(options.output)
    with _opened(options) as records:
        findings = Findings(records.trials(_wanted(options, Kind.KERNEL)))
        if not findings.courses:
            refuse(
                "UnknownName",
                f"{records.name} has no such trials of kernels",
                "leave out conditions; `texloom db show` counts the trials",
            )
        write_report(findings, options.output, f"Tuned kernels of {Path(records.name).name}")
    return 0


def _import(options: argparse.Namespace) -> int:
    missing = next((file for file in options.files if not file.exists()), None)
    if missing is not None:
        refuse("FileError", f"there is no file {missing}", "give one of `texloom db export`")
    with _opened(options, creates=True) as records:
        for file in options.files:
            count = records.add_all(_read(file, options))
            print(f"{file}: {counted(count, 'new trial')}")
    return 0


def _read(file: Path, options: argparse.Namespace) -> Iterator[Trial]:
    """Yield the trials of a file in the format that the options name."""
    needed = {"lines": (), "autotvm": ("device",), "t4": ("kernel", "target", "device")}
    for name in ("device", "target", "kernel"):
        is_needed, is_given = name in needed[options.format], getattr(options, name) is not None
        if is_needed != is_given:
            refuse(
                "BadOption",
                f"--format {options.format} {'needs' if is_needed else 'does not take'} --{name}",
                f"{'add' if is_needed else 'leave out'} --{name}",
            )
    if options.format == "autotvm":
        return read_log(file, options.device)
    if options.format == "t4":
        return read_t4(file, options.kernel, options.target, options.device)
    return read_lines(file)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0, or 1 with the reason on stderr."""
    options = parse(arguments)
    return reported("db", lambda: int(options.run(options)))
