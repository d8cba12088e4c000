"""Changes one line of src/ at random, rebuilds, runs the tests, and counts the changes they notice.

That count, not the number of tests, shows how good the tests are. The same seed and sources give
the same mutants. The script works on copies below build/mutants, so the checkout is unchanged. A
change that does not compile is replaced by another; one that makes a test hang counts as noticed.

    .venv/bin/python tests/mutants.py --count 50 --seed 1
    .venv/bin/python tests/mutants.py --count 20 --seed 7 --paths src/ir/layout/layout.cc src/lower
    .venv/bin/python tests/mutants.py --runtime  # src/runtime only, built without the compiler
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

import mutation
from mutation import Mutation

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutants"
MEMORY_LIMIT = 12 << 30  # bytes of address space: a mutant may allocate without end
BUILD_LIMIT = 1200.0  # seconds

SURVIVED = "SURVIVED"
NO_COMPILE = "did not compile"


class Interrupted(Exception):
    """The user pressed Ctrl-C; the running commands were killed."""


class Processes:
    """Runs commands, and can kill all of them with their children from another thread."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def run(
        self, command: list[str], cwd: Path, env: dict[str, str], limit: float
    ) -> tuple[int, str]:
        """Return the exit status (124 after `limit` seconds) and the output."""
        with self._lock:
            if self._stopped:
                raise Interrupted
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
                preexec_fn=limit_memory,
            )
            self._running.add(process)
        try:
            output, _ = process.communicate(timeout=limit)
            status = process.returncode
        except subprocess.TimeoutExpired:
            status, output = 124, f"not finished within {limit:.0f} s"
        finally:
            kill_group(process)
            with self._lock:
                self._running.discard(process)
        if self._stopped:
            raise Interrupted
        return status, output

    def stop(self) -> None:
        """Kill all running commands; later calls of `run` raise Interrupted."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                kill_group(process)


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def kill_group(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class Copy:
    """A copy of the checkout with its own build folder."""

    def __init__(self, number: int, processes: Processes, runtime_alone: bool) -> None:
        self.runtime_alone = runtime_alone
        self.folder = WORK / f"copy{number}"
        self.build = self.folder / "build"
        self.targets: dict[str, str] = {}  # by test
        self.limits: dict[str, float] = {}  # seconds, by test
        self._processes = processes
        self._env = os.environ | {
            # The copies share ccache entries, also once a mutant is reverted.
            "CCACHE_BASEDIR": str(self.folder),
            "CCACHE_NOHASHDIR": "1",
            # These folders precede the checkout that .venv points to.
            "PYTHONPATH": os.pathsep.join(
                str(self.folder / root) for root in ("python", "apps", "benchmarks", "tests/fuzz")
            ),
            # A kernel compiled before the change must not be reused after it.
            "TEXLOOM_CACHE_DIR": str(self.build / "kernel-cache"),
            "GTEST_FAIL_FAST": "1",
            "GTEST_BRIEF": "1",
        }

    def run(self, *command: str, limit: float = BUILD_LIMIT) -> tuple[int, str]:
        return self._processes.run(list(command), self.folder, self._env, limit)

    def synchronize(self) -> None:
        """Copy the checkout's files to the copy; equal files keep their modification time."""
        listing = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        wanted = {name for name in listing.split("\0") if name and (ROOT / name).is_file()}
        for name in wanted:
            source, target = ROOT / name, self.folder / name
            if not target.is_file() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        for top in ("src", "tests", "python"):
            for file in (self.folder / top).rglob("*"):
                name = file.relative_to(self.folder).as_posix()
                if file.is_file() and name not in wanted and not file.name.startswith("_core."):
                    file.unlink()

    def prepare(self) -> None:
        """Configure and build everything; raise RuntimeError with the log if that fails."""
        self.synchronize()
        for command in (
            ["cmake", "--preset", "debug-fast", "-B", str(self.build)]
            + [f"-DPython_EXECUTABLE={sys.executable}"]
            + (["-DTEXLOOM_COMPILER=OFF", "-DTEXLOOM_PYTHON=OFF"] if self.runtime_alone else []),
            ["cmake", "--build", str(self.build)],
        ):
            status, output = self.run(*command, limit=3600)
            if status != 0:
                raise RuntimeError(f"{' '.join(command)} failed:\n{output[-6000:]}")

    def cxx_tests(self) -> dict[str, str]:
        """Return the names of the C++ tests, each with its build target."""
        _, output = self.run("ctest", "--test-dir", str(self.build), "--show-only=json-v1")
        tests = json.loads(output)["tests"]
        return {test["name"]: Path(test["command"][0]).name for test in tests}

    def cxx(self, name: str) -> tuple[int, str]:
        """Run one C++ test."""
        return self.run(
            *("ctest", "--test-dir", str(self.build), "--output-on-failure", "-R", f"^{name}$"),
            limit=self.limits.get(name, 1200),
        )

    def lit(self) -> tuple[int, str]:
        """Run the tests of texloom-opt."""
        lit = Path(sys.executable).parent / "lit"
        options = ("-q", "-j1", "--max-failures=1", "--param", f"build={self.build}")
        return self.run(str(lit), *options, "tests/lit", limit=self.limits.get("lit", 1200))

    def pytest(self) -> tuple[int, str]:
        """Run the Python tests that ./dev test runs."""
        options = ("-x", "-q", "-p", "no:cacheprovider", "-m", "not nightly")
        return self.run(
            *(sys.executable, "-m", "pytest", *options, "tests/python"),
            limit=self.limits.get("pytest", 1200),
        )

    def notices(self, name: str) -> tuple[int, str]:
        """Run one test, given its name in `targets`."""
        return {"lit": self.lit, "pytest": self.pytest}.get(name, lambda: self.cxx(name))()

    def baseline(self) -> None:
        """Run all tests on the unchanged sources, where they must pass, and set the limits."""
        self.targets = self.cxx_tests()
        if not self.runtime_alone:
            self.targets |= {"lit": "texloom-opt", "pytest": "_core"}
        for name, target in self.targets.items():
            status, output = self.run("cmake", "--build", str(self.build), "--target", target)
            if status != 0:
                raise RuntimeError(f"{target}, of the test {name}, is not built:\n{output[-6000:]}")
            begin = time.monotonic()
            status, output = self.notices(name)
            if status != 0:
                raise RuntimeError(f"{name} fails on the unchanged sources:\n{output[-6000:]}")
            self.limits[name] = 15 + 5 * (time.monotonic() - begin)

    def verdict(self, change: Mutation) -> str:
        """Apply one change, find the test that notices it, and revert it."""
        file = self.folder / change.path
        original = file.read_text()
        file.write_text(change.apply(original))
        shutil.rmtree(self.build / "kernel-cache", ignore_errors=True)
        try:
            return self._verdict(change)
        finally:
            file.write_text(original)

    def _verdict(self, change: Mutation) -> str:
        # The changed folder's own tests run first: they likely notice the change and build fastest.
        own = change.path.split("/")[1]
        last = ("lit", "pytest")
        for name in sorted(self.targets, key=lambda n: (n in last, n == "pytest", n != own)):
            build = ["cmake", "--build", str(self.build), "-j", "1", "--target", self.targets[name]]
            status, _ = self.run(*build)
            if status != 0:
                return NO_COMPILE
            status, _ = self.notices(name)
            if status != 0:
                step = name if name in last else f"ctest {name}"
                return f"noticed by {step}{', which hung' if status == 124 else ''}"
        return SURVIVED


@dataclass
class Result:
    """The outcome of one mutant."""

    mutation: Mutation
    verdict: str
    seconds: float

    @property
    def counts(self) -> bool:
        return self.verdict != NO_COMPILE


class Campaign:
    """Distributes the drawn mutants to the copies until `count` compiling ones are judged."""

    def __init__(self, chosen: list[Mutation], count: int, copies: list[Copy]) -> None:
        self._chosen = iter(chosen)
        self._count = count
        self._copies: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            self._copies.put(copy)
        self._workers = len(copies)
        self._begin = time.monotonic()
        self.results: list[Result] = []

    def _judge(self, change: Mutation) -> Result:
        copy = self._copies.get()
        begin = time.monotonic()
        try:
            return Result(change, copy.verdict(change), time.monotonic() - begin)
        finally:
            self._copies.put(copy)

    def judged(self) -> int:
        """Return how many compiling mutants were judged."""
        return sum(result.counts for result in self.results)

    def run(self, processes: Processes) -> None:
        """Judge mutants; on Ctrl-C raise KeyboardInterrupt and keep the results so far."""
        with ThreadPoolExecutor(self._workers) as pool:
            running: set[Future[Result]] = set()
            try:
                while True:
                    # Start no more mutants than may still count, so that the seed alone determines
                    # the set.
                    while len(running) < min(self._workers, self._count - self.judged()):
                        change = next(self._chosen, None)
                        if change is None:
                            break
                        running.add(pool.submit(self._judge, change))
                    if not running:
                        return
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        self.results.append(future.result())
                        self._tell(self.results[-1])
            except BaseException:
                processes.stop()
                raise

    def _tell(self, result: Result) -> None:
        judged = self.judged()
        elapsed = time.monotonic() - self._begin
        left = elapsed / judged * (self._count - judged) if judged else 0
        print(f"[{judged}/{self._count}] {result.mutation}")
        print(
            f"        {result.verdict} ({result.mutation.operator}, {result.seconds:.0f} s)"
            f"  about {left / 60:.0f} min left",
            flush=True,
        )


def summarize(results: list[Result], args: argparse.Namespace) -> int:
    """Print the survivors and the share of noticed mutants; write the report."""
    counted = [result for result in results if result.counts]
    survivors = [result for result in counted if result.verdict == SURVIVED]
    noticed = len(counted) - len(survivors)
    share = 100 * noticed / len(counted) if counted else 0.0
    if survivors:
        print("\nnobody noticed:")
        for result in survivors:
            print(f"  {result.mutation}")
    print(
        f"\n{noticed} of {len(counted)} mutants noticed: {share:.0f} % "
        f"(wanted: {args.threshold:g} %; seed {args.seed}; "
        f"{len(results) - len(counted)} more did not compile)"
    )
    report = WORK / "report.json"
    content = {
        "seed": args.seed,
        "paths": args.paths,
        "noticed": noticed,
        "counted": len(counted),
        "mutants": [
            asdict(r.mutation) | {"verdict": r.verdict, "seconds": round(r.seconds, 1)}
            for r in results
        ],
    }
    report.write_text(json.dumps(content, indent=1) + "\n")
    print(f"report: {report.relative_to(ROOT)}")
    return 0 if counted and share >= args.threshold else 1


def main() -> int:
    """Run the campaign; the exit status tells whether enough mutants were noticed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=50, help="mutants that compile (50)")
    parser.add_argument("--seed", type=int, default=1, help="gives the order of the draw (1)")
    parser.add_argument("--paths", nargs="+", help="folders or files (src)")
    parser.add_argument(
        "--runtime", action="store_true", help="the runtime and its C++ tests alone (src/runtime)"
    )
    parser.add_argument("--jobs", type=int, default=2, help="copies that work side by side (2)")
    parser.add_argument("--threshold", type=float, default=95, help="wanted share in %% (95)")
    parser.add_argument("--list", action="store_true", help="print the mutants, run nothing")
    args = parser.parse_args()
    args.paths = args.paths or (["src/runtime"] if args.runtime else ["src"])

    chosen = mutation.draw(ROOT, args.paths, args.seed)
    if args.list:
        for change in chosen[: args.count]:
            print(f"{change}  ({change.operator})")
        print(f"{len(chosen)} lines of {' '.join(args.paths)} can be changed")
        return 0
    if not chosen:
        print("nothing to change in these paths")
        return 2

    WORK.mkdir(parents=True, exist_ok=True)
    processes = Processes()
    copies = [Copy(number, processes, args.runtime) for number in range(args.jobs)]
    campaign = Campaign(chosen, args.count, copies)
    try:
        for copy in copies:
            print(f"building {copy.folder.relative_to(ROOT)} …", flush=True)
            copy.prepare()
        print("running all tests on the unchanged sources …", flush=True)
        copies[0].baseline()
        for copy in copies[1:]:
            copy.targets, copy.limits = copies[0].targets, copies[0].limits
        campaign.run(processes)
    except RuntimeError as error:
        print(error)
        return 2
    except (KeyboardInterrupt, Interrupted):
        processes.stop()
        print("\ninterrupted; so far:")
        summarize(campaign.results, args)
        return 130
    return summarize(campaign.results, args)


if __name__ == "__main__":
    sys.exit(main())
