"""The command line of the fuzzer."""

from __future__ import annotations

import argparse
import difflib
import itertools
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from texloom.devices.lookup import devices

from .case import make_script
from .check import GAVE_UP, PASSED_OVER, Outcome
from .fragment_products import STEPS
from .job import Job, Result, run_job
from .texts.reduce import Reducer
from .workers import Lost, Workers, processors

NAME = re.compile(r"'[^']*'")
BINDS = re.compile(r"bind (?:block|thread)Idx")
LIMIT = 120.0  # seconds for one program; no program needs as long, even on a busy machine
REDUCTION = 120.0  # seconds to reduce a failing program
DRAWS = 20_000  # programs that --only draws before the first that matches


@dataclass
class Findings:
    """The findings so far."""

    done: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, Outcome, str]] = field(default_factory=list)
    gave_up: list[tuple[int, Outcome, str]] = field(default_factory=list)
    not_compared: int = 0
    on_devices: int = 0
    of_fragments: int = 0
    bound: int = 0  # those of them that bind blocks or threads of a GPU

    def add(self, seed: int, result: Result) -> None:
        """Count one program."""
        self.done += 1
        outcome = result.outcome
        changed = "changed at random" in result.features
        kind = f"{outcome.kind} of those changed at random" if changed else outcome.kind
        self.kinds["failed" if outcome.failed else kind] += 1
        self.features.update(result.features)
        self.not_compared += not outcome.compared
        self.on_devices += outcome.on_devices
        self.of_fragments += STEPS in result.features
        self.bound += outcome.on_devices and any(map(BINDS.match, result.features))
        if outcome.kind == "refused":
            self.refusals[NAME.sub("'…'", outcome.detail)[:110]] += 1
        elif outcome.failed:
            self.failures.append((seed, outcome, result.text))
        elif outcome.kind.startswith(GAVE_UP):
            self.gave_up.append((seed, outcome, result.text))

    def summary(self, seconds: float, options: argparse.Namespace) -> str:
        """Return the summary of the run."""
        parts = ", ".join(f"{n} {kind}" for kind, n in self.kinds.most_common())
        lines = [
            f"{self.done} programs from seed {options.seed} in {seconds:.0f} s "
            f"({self.done / max(seconds, 1e-9):.1f} a second): {parts or 'none'}"
        ]
        if self.on_devices:
            lines.append(
                f"{self.on_devices} of them ran on devices, {self.bound} of these with blocks or "
                "threads of a GPU"
            )
        if self.of_fragments:
            lines.append(f"{self.of_fragments} of them had {STEPS}")
        if self.not_compared:
            lines.append(f"{self.not_compared} of them ran without an error bound")
        if self.gave_up:
            seeds = ", ".join(str(seed) for seed, *_ in self.gave_up)
            lines.append(
                "right in every version in the interpreter, while an implementation of OpenCL "
                f"crashed or did not finish: seeds {seeds}"
            )
        if options.verbose:
            tables = (("feature", self.features), ("refusal", self.refusals))
            for title, counts in tables:
                lines += [f"  {n:6d}  {title}: {name}" for name, n in counts.most_common()]
        return "\n".join(lines)


class NoMatch(Exception):
    """No program that was drawn has a feature that --only asks for."""


def similar(pattern: str, names: Iterable[str]) -> list[str]:
    """Return names that have a word like the pattern: up to three for each of three words."""
    with_word: dict[str, list[str]] = {}
    for name in names:
        for part in dict.fromkeys([name, *re.findall(r"\w+", name)]):
            with_word.setdefault(part, []).append(name)
    near = difflib.get_close_matches(pattern, with_word, n=3)
    return list(dict.fromkeys(name for word in near for name in with_word[word][:3]))


def no_match(pattern: str, names: Iterable[str]) -> NoMatch:
    """Return the error for a pattern that no feature matches."""
    near = similar(pattern, sorted(names))
    told = "these are similar: " + ", ".join(map(repr, near)) if near else "--verbose lists them"
    return NoMatch(f"none of {DRAWS} programs has a feature that matches {pattern!r}; {told}")


def failing(result: Result | Lost) -> str:
    """Return the kind of a failure, or an empty string."""
    if isinstance(result, Lost):
        return result.kind
    return result.outcome.kind if result.outcome.failed else ""


def reduced(text: str, kind: str, targets: tuple[str, ...], jobs: int, seconds: float) -> str:
    """Reduce a program to a small one that fails in the same way."""
    # The time limit of each trial; a program that hangs uses all of it.
    limit = 10.0 if kind.startswith("no end") else LIMIT
    with Workers(run_job, jobs, limit) as workers:

        def fails(texts: list[str]) -> list[bool]:
            numbered = [Job(n, targets, t) for n, t in enumerate(texts)]
            bad = {job.seed: failing(result) for job, result in workers.results(numbered)}
            same = kind.split(",")[0].split(" within")[0]
            return [bad[n].startswith(same) for n in range(len(texts))]

        if fails([text]) != [True]:  # not reproducible from the text alone
            return text
        return Reducer(fails, seconds, jobs).reduced(text)


def parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse and check the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m texloom_fuzz",
        description="Runs random schedules of random computations: as written, after every pass "
        "and on devices. All results must be the same, bit by bit wherever rounding allows it.",
    )
    parser.add_argument("--count", type=int, default=1000, help="programs (1000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program (0)")
    parser.add_argument(
        "--only",
        default="",
        metavar="REGEX",
        help="draw programs until --count of them exercise a feature that matches, such as "
        "'extern: pairs', and run these; --verbose lists the features",
    )
    parser.add_argument("--jobs", type=int, default=processors())
    parser.add_argument(
        "--device",
        action="append",
        metavar="D",
        help='such as "metal:0", or the number of an OpenCL device; may be repeated (default: all '
        "of OpenCL)",
    )
    parser.add_argument("--no-device", action="store_true", help="use only the interpreter")
    parser.add_argument(
        "--device-share",
        type=float,
        default=0.25,
        metavar="F",
        help="share of the programs that also run on devices, which takes longer (0.25)",
    )
    parser.add_argument(
        "--corpus", type=Path, default=Path("build/fuzz-findings"), help="where failures are kept"
    )
    parser.add_argument("--first", action="store_true", help="stop at the first failure")
    parser.add_argument("--no-reduce", action="store_true", help="keep failures as they are")
    parser.add_argument("--print", action="store_true", help="only print the script of the seed")
    parser.add_argument("--check", type=Path, metavar="FILE", nargs="+", help="run these programs")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what was exercised")
    options = parser.parse_args(arguments)
    if options.count < 1 or options.jobs < 1 or not 0 <= options.device_share <= 1:
        parser.error("--count and --jobs must be positive, --device-share between 0 and 1")
    try:
        re.compile(options.only)
    except re.error as error:
        parser.error(f"--only is no regular expression: {error}")
    return options


def chosen_devices(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the names of the devices to use."""
    if options.no_device:
        return ()
    if options.device is not None:
        return tuple(f"opencl:{each}" if each.isdecimal() else each for each in options.device)
    return all_opencl()


def all_opencl() -> tuple[str, ...]:
    """Return the names of all devices of OpenCL."""
    return tuple(f"opencl:{number}" for number in range(len(devices("opencl"))))


def check_files(files: Sequence[Path], targets: tuple[str, ...]) -> int:
    """Run each file separately; the exit status is nonzero if one fails."""
    failed = False
    with Workers(run_job, 1, LIMIT) as workers:
        jobs = [Job(n, targets, file.read_text()) for n, file in enumerate(files)]
        for job, result in workers.results(jobs):
            kind = failing(result)
            failed |= bool(kind)
            what = "" if isinstance(result, Lost) else f"{result.outcome.detail}"
            right = "right" if isinstance(result, Lost) else result.outcome.kind
            print(f"{files[job.seed]}: {kind or right} {what}".rstrip(), flush=True)
    return int(failed)


class ProgressLine:
    """A line about the progress: twice a second on a terminal, else every 20 s."""

    def __init__(self) -> None:
        self.begin = self.last = time.monotonic()

    def show(self, options: argparse.Namespace, drawn: int, found: Findings) -> None:
        """Print the line if it is time to."""
        now, is_terminal = time.monotonic(), sys.stdout.isatty()
        if now - self.last <= (0.5 if is_terminal else 20):
            return
        self.last = now
        rate = found.done / (now - self.begin)
        of_drawn = f", of {drawn} drawn" if options.only else ""
        print(
            f"{found.done} of {options.count}{of_drawn}, {rate:.1f} a second, "
            f"{len(found.failures)} failed",
            end="\r" if is_terminal else "\n",
            flush=True,
        )


def fuzz(options: argparse.Namespace, targets: tuple[str, ...], found: Findings) -> None:
    """Run all programs, or as many as end before Ctrl-C."""
    every = round(1 / options.device_share) if options.device_share else 0

    def jobs():
        for seed in itertools.count(options.seed):
            if not options.only and seed == options.seed + options.count:
                return
            yield Job(seed, targets if every and seed % every == 0 else (), only=options.only)

    progress = ProgressLine()
    passed_over: set[str] = set()  # the features of programs that do not match
    with Workers(run_job, options.jobs, LIMIT) as workers:
        for drawn, (job, answer) in enumerate(workers.results(jobs()), start=1):
            progress.show(options, drawn, found)
            result = result_of_lost(job, answer) if isinstance(answer, Lost) else answer
            if result.outcome.kind == PASSED_OVER:
                passed_over |= result.features
                if not found.done and drawn >= DRAWS:
                    raise no_match(options.only, passed_over)
                continue
            found.add(job.seed, result)
            if result.outcome.failed:
                print(f"\nseed {job.seed}: {result.outcome.kind}: {result.outcome.detail[:400]}")
                if options.first:
                    return
            if found.done == options.count:
                return


def result_of_lost(job: Job, lost: Lost) -> Result:
    """Determine whether the device is at fault for a job whose process died."""
    with Workers(run_job, 1, LIMIT) as workers:
        for _, again in workers.results([Job(job.seed, ())]):
            if isinstance(again, Lost):
                return Result(Outcome(again.kind), make_script(job.seed).text())
            if job.devices and not again.outcome.failed:
                return replace(again, outcome=Outcome(GAVE_UP + lost.kind))
            return replace(again, outcome=Outcome(lost.kind))
    raise AssertionError("a job has an answer")


def store(options: argparse.Namespace, targets: tuple[str, ...], found: Findings) -> None:
    """Reduce each failure and write it to the corpus."""
    options.corpus.mkdir(parents=True, exist_ok=True)
    kinds: set[str] = set()
    for seed, outcome, text in found.failures + found.gave_up:
        small = text
        may_be_small = outcome.failed and outcome.kind not in kinds and not options.no_reduce
        if may_be_small and text:
            print(f"reducing the program of seed {seed} ({outcome.kind}) …", flush=True)
            on = targets if outcome.kind.startswith(("device", GAVE_UP)) else ()
            small = reduced(text, outcome.kind, on, options.jobs, REDUCTION)
        kinds.add(outcome.kind)
        name = "".join(c if c.isalnum() else "_" for c in outcome.kind)[:60]
        file = options.corpus / f"{name}_{seed}.tl"
        comment = "".join(f"// {line}\n" for line in outcome.detail.split("\n")[:3])
        head, _, rest = small.partition("program ")
        file.write_text(f"{head}// seed {seed}: {outcome.kind}\n{comment}program {rest}")
        print(f"{file}: {len(small.splitlines())} lines, of {len(text.splitlines())}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the fuzzer; the exit status is nonzero if anything was found."""
    options = parse_options(sys.argv[1:] if arguments is None else arguments)
    if options.print:
        print(make_script(options.seed).text())
        return 0
    targets = chosen_devices(options)
    if options.check:
        return check_files(options.check, targets)
    found, begin, status = Findings(), time.monotonic(), 0
    try:
        fuzz(options, targets, found)
    except KeyboardInterrupt:
        status = 130
        print("\ninterrupted; found so far:")
    except NoMatch as error:
        print(f"texloom_fuzz: {error}", file=sys.stderr)
        return 2
    print(found.summary(time.monotonic() - begin, options), flush=True)
    try:
        if (found.failures or found.gave_up) and status == 0:
            store(options, targets, found)
    except KeyboardInterrupt:
        status = 130
    for seed, outcome, _ in found.failures:
        print(f"  seed {seed}: {outcome.kind}")
    return status or int(bool(found.failures))


if __name__ == "__main__":
    sys.exit(main())
