"""Compare the kernels that the compiler generates at a commit and in the working tree.

.venv/bin/python tests/kernel_diff.py REV [--opt-only] [--only operators|lit|fuzz] [--seeds N]

An empty difference shows that a refactoring changed no kernel. Both compilers get the same programs
in the text form, taken from REV (kernel_corpus.py). Their output is compared as text
(kernel_dump.py): lowered programs, launch plans, OpenCL C, and the codes of diagnostics. The
operators and random programs, which Python generates, are compared as well. With --opt-only,
texloom-opt compiles all programs, and the Python module need not be built.

REV is checked out and built once, under build/kernel_diff. Its output for the corpus is kept there
until the corpus changes. The exit status is 1 if there is a difference, and 2 if something failed.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kernel_corpus import PARTS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGETS = ("_core", "texloom-opt")
SHOWN_LINES = 60  # of one difference


class Failure(Exception):
    """The comparison could not be made."""


# --- Comparing ------------------------------------------------------------------------------------


@dataclass
class Difference:
    """The comparison of two folders of texts.

    Attributes
    ----------
    same : int
        Number of equal files.
    changed, missing, added : list of str
        Names of files that differ, that only the first folder has, and that only the second has.
    """

    same: int = 0
    changed: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing or self.added)

    def __str__(self) -> str:
        counts = {
            "equal": self.same,
            "changed": len(self.changed),
            "missing": len(self.missing),
            "added": len(self.added),
        }
        return ", ".join(f"{n} {word}" for word, n in counts.items() if n or word == "equal")


def compare(before: Path, after: Path, pattern: str = "*") -> Difference:
    """Compare the files in two folders whose names match `pattern`."""
    names = [{file.name for file in folder.glob(pattern)} for folder in (before, after)]
    found = Difference(missing=sorted(names[0] - names[1]), added=sorted(names[1] - names[0]))
    for name in sorted(names[0] & names[1]):
        if (before / name).read_bytes() == (after / name).read_bytes():
            found.same += 1
        else:
            found.changed.append(name)
    return found


def unified(before: Path, after: Path, name: str) -> str:
    """Return the first lines of the difference between two files."""
    texts = [(folder / name).read_text("utf-8").splitlines() for folder in (before, after)]
    lines = list(difflib.unified_diff(*texts, f"before/{name}", f"after/{name}", lineterm="", n=2))
    if len(lines) > SHOWN_LINES:
        left_out = len(lines) - SHOWN_LINES
        lines[SHOWN_LINES:] = [f"... {left_out} more lines of this difference"]
    return "\n".join(lines)


# --- Trees: checkouts with a build ----------------------------------------------------------------


@dataclass(frozen=True)
class Tree:
    """A checkout and its build folder.

    Attributes
    ----------
    opt_only : bool
        Whether to build and use only texloom-opt.
    jobs : int
        How many programs to compile at a time.
    """

    root: Path
    build: Path
    opt_only: bool = False
    jobs: int = 1

    @property
    def opt(self) -> Path:
        """The path of texloom-opt."""
        return self.build / "apps/texloom-opt"

    def is_built(self) -> bool:
        """Whether the module and the program exist."""
        module = (self.root / "python/texloom").glob("_core*.so")
        return self.opt.exists() and (self.opt_only or any(module))

    def environment(self) -> dict[str, str]:
        """The environment for Python with this tree's package, without Texloom's own variables."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("TEXLOOM_")}
        folders = (self.root / "python", self.root / "tests/fuzz")  # of texloom and texloom_fuzz
        path = os.pathsep.join(map(str, folders))
        return kept | {"PYTHONPATH": path, "PYTHONNOUSERSITE": "1"}


def git(*arguments: str, root: Path = ROOT) -> str:
    """Return the output of git."""
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise Failure(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def run_logged(command: Sequence[str], log: Path, root: Path, env: dict[str, str]) -> None:
    """Run a command and append its output to a log."""
    with log.open("a") as out:
        done = subprocess.run(command, cwd=root, env=env, check=False, stdout=out, stderr=out)
    if done.returncode:
        raise Failure(f"{' '.join(command)} failed:\n{last_lines(log)}\nsee {log}")


def last_lines(log: Path, count: int = 15) -> str:
    """Return the last lines of a log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-count:])


def configure(tree: Tree, log: Path, env: dict[str, str]) -> None:
    """Configure a build that compiles quickly: the speed of the compiler itself matters little."""
    flags = {
        "CMAKE_CXX_COMPILER": "clang++-19",
        "CMAKE_COMPILE_WARNING_AS_ERROR": "OFF",  # old commits may warn here
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "CMAKE_CXX_FLAGS_RELWITHDEBINFO": "-O1",
        "TEXLOOM_TESTS": "OFF",
        "TEXLOOM_APPS": "ON",
        "TEXLOOM_PYTHON": "ON",
        "Python_EXECUTABLE": sys.executable,
    }
    command = ["cmake", "-S", str(tree.root), "-B", str(tree.build), "-G", "Ninja"]
    run_logged([*command, *(f"-D{k}={v}" for k, v in flags.items())], log, tree.root, env)


def make(tree: Tree, log: Path) -> None:
    """Build what is out of date."""
    env = os.environ | {"CCACHE_BASEDIR": str(tree.root), "CCACHE_NOHASHDIR": "1"}
    if not (tree.build / "build.ninja").exists():
        configure(tree, log, env)
    targets = TARGETS[1:] if tree.opt_only else TARGETS
    command = ["cmake", "--build", str(tree.build), "--target", *targets]
    run_logged(command, log, tree.root, env)


@contextlib.contextmanager
def locked(file: Path) -> Iterator[None]:
    """Admit one process at a time among all that share the baselines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another process that prepares {file.stem}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def baseline(sha: str, baselines: Path) -> Tree:
    """Return the checkout of a commit, built."""
    root = baselines / sha
    tree = Tree(root, root / "build")
    if tree.is_built():
        return tree
    if not root.exists():
        say(f"checking out {sha} in {root}")
        git("worktree", "add", "--force", "--detach", str(root), sha)
    say(f"building {sha}: this takes minutes, and is done once; log {baselines / f'{sha}.log'}")
    make(tree, baselines / f"{sha}.log")
    return tree


# --- Dumping --------------------------------------------------------------------------------------


def corpus_key() -> str:
    """Return a hash that changes with the corpus and with how it is compiled."""
    texts = [(HERE / f"kernel_{name}.py").read_bytes() for name in ("corpus", "dump")]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:8]


def write_corpus(part: str, tree: Tree, folder: Path, seeds: int) -> None:
    """Write the programs of one part to `folder`, using a tree's package."""
    script = [sys.executable, str(HERE / "kernel_corpus.py")]
    run_logged(
        [*script, part, str(tree.root), str(folder), str(seeds)],
        folder / "corpus.log",
        tree.root,
        tree.environment(),
    )


def compile_corpus(corpus: Path, tree: Tree, folder: Path) -> None:
    """Compile all programs of a folder with one tree."""
    script = [sys.executable, str(HERE / "kernel_dump.py"), str(corpus), str(folder), str(tree.opt)]
    options = ["--opt-only"] if tree.opt_only else []
    logs = [folder / f"{shard}.log" for shard in range(tree.jobs)]
    running = []
    try:
        for shard, log in enumerate(logs):
            with log.open("w") as out:
                command = [*script, str(shard), str(tree.jobs), *options]
                running.append(
                    subprocess.Popen(
                        command, cwd=tree.root, env=tree.environment(), stdout=out, stderr=out
                    )
                )
        begin = time.monotonic()
        while any(process.poll() is None for process in running):
            time.sleep(0.1)
            if time.monotonic() - begin > 15:
                begin = time.monotonic()
                say(f"  {len(list(folder.iterdir()))} files so far")
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()
            process.wait()
    for process, log in zip(running, logs, strict=True):
        if process.returncode:
            raise Failure(
                f"compiling {corpus} with {tree.root} ended with {process.returncode}:\n"
                f"{last_lines(log)}"
            )


@contextlib.contextmanager
def whole_or_not(folder: Path) -> Iterator[Path]:
    """Yield a new folder that gets its final name once it is complete."""
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    yield partial
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def dump_baseline(part: str, tree: Tree, folder: Path, seeds: int, kernels: str) -> None:
    """Store one part of the corpus and the baseline's output for it."""
    if not (folder / "programs").exists():
        with whole_or_not(folder / "programs") as partial:
            write_corpus(part, tree, partial, seeds)
    if not (folder / kernels).exists():
        say(f"{part}: compiling with {tree.root.name}")
        with whole_or_not(folder / kernels) as partial:
            compile_corpus(folder / "programs", tree, partial)


def dump_tree(part: str, tree: Tree, before: Path, folder: Path, seeds: int, kernels: str) -> None:
    """Compile the baseline's programs with the working tree, and write its own programs."""
    say(f"{part}: compiling with the working tree")
    shutil.rmtree(folder, ignore_errors=True)
    if part != "lit" and not tree.opt_only:  # lit programs come from the baseline's tests
        with whole_or_not(folder / "programs") as partial:
            write_corpus(part, tree, partial, seeds)
    with whole_or_not(folder / kernels) as partial:
        compile_corpus(before / "programs", tree, partial)


# --- The command line -----------------------------------------------------------------------------


def say(text: str) -> None:
    """Report progress."""
    print(text, file=sys.stderr, flush=True)


def report(part: str, before: Path, after: Path, shown: int, kernels: str) -> bool:
    """Print the differences in one part and return whether there are any."""
    differs = False
    for kind in ("programs", kernels):
        if not (after / kind).exists():
            continue
        found = compare(before / kind, after / kind, "*.t*")
        print(f"{part:<10}{kind:<12}{found}")
        differs |= bool(found)
        for name in found.changed[:shown]:
            print(unified(before / kind, after / kind, name))
        for word in ("changed", "missing", "added"):
            names = getattr(found, word)
            listed = names[shown : shown + 20] if word == "changed" else names[:20]
            if listed:
                print(f"  {word}: {' '.join(listed)}{' ...' * (len(names) > shown + 20)}")
    return differs


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rev", help="the commit to compare with")
    parser.add_argument("--only", choices=PARTS, action="append", help="a part; may be repeated")
    parser.add_argument(
        "--opt-only", action="store_true", help="compare what texloom-opt makes, and build it alone"
    )
    parser.add_argument("--seeds", type=int, default=500, help="random programs (500)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="programs compiled at a time"
    )
    parser.add_argument("--show", type=int, default=3, help="differences to print of a part (3)")
    parser.add_argument(
        "--tree", type=Path, default=ROOT, help="the checkout to compare (the one of this script)"
    )
    parser.add_argument("--tree-build", type=Path, help="its build folder (TREE/build)")
    parser.add_argument("--no-build", action="store_true", help="compare what is built already")
    parser.add_argument(
        "--baselines", type=Path, default=ROOT / "build/kernel_diff", help="where commits are kept"
    )
    return parser.parse_args(arguments)


def run(options: argparse.Namespace) -> int:
    """Build, dump and compare; return the exit status."""
    begin = time.monotonic()
    sha = git("rev-parse", "--verify", f"{options.rev}^{{commit}}")[:7]
    root, baselines = options.tree.resolve(), options.baselines.resolve()
    tree = Tree(
        root, (options.tree_build or root / "build").resolve(), options.opt_only, options.jobs
    )
    own = root / "build/kernel_diff/tree"
    own.mkdir(parents=True, exist_ok=True)
    folders = {part: f"{part}{options.seeds}" if part == "fuzz" else part for part in PARTS}
    folders = {part: folders[part] for part in options.only or PARTS}
    kernels = "opt_kernels" if options.opt_only else "kernels"
    kept = baselines / f"{sha}.dump" / corpus_key()
    with locked(baselines / f"{sha}.lock"):
        before = baseline(sha, baselines)
        before = replace(before, opt_only=tree.opt_only, jobs=tree.jobs)
        for part, folder in folders.items():
            dump_baseline(part, before, kept / folder, options.seeds, kernels)
    if not options.no_build:
        say("building the working tree")
        log = own / "build.log"
        log.unlink(missing_ok=True)
        make(tree, log)
    if not tree.is_built():
        raise Failure(f"{tree.root} is not built in {tree.build}: leave --no-build out")
    for part, folder in folders.items():
        dump_tree(part, tree, kept / folder, own / part, options.seeds, kernels)
    differs = [
        report(part, kept / folder, own / part, options.show, kernels)
        for part, folder in folders.items()
    ]
    result = "DIFFERENT from" if any(differs) else "the same as"
    print(f"The kernels are {result} those of {sha} ({time.monotonic() - begin:.0f} s)")
    return int(any(differs))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    try:
        return run(options_of(arguments))
    except Failure as failure:
        say(f"kernel_diff: {failure}")
        return 2
    except KeyboardInterrupt:
        say("\ninterrupted; the same command goes on from here")
        return 130


if __name__ == "__main__":
    sys.exit(main())
