"""A copy of the checkout with its own build folder, for builds of changed or measured code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Fault:
    """A change of a source: the only occurrence of `before` becomes `after`."""

    name: str
    source: str
    before: str
    after: str
    explained: str = ""  # why no test can notice the fault

    def apply(self, text: str) -> str:
        """Return the changed source."""
        assert text.count(self.before) == 1, f"{self.source}: not one place: {self.before}"
        return text.replace(self.before, self.after)


class TreeCopy:
    """A copy of the checkout's tracked and new files, and its build of the Python module."""

    def __init__(self, folder: Path, flags: str) -> None:
        self.folder, self.build, self._flags = folder, folder / "build", flags
        self.env = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, (folder / "python", folder / "tests/fuzz"))),
            "CCACHE_BASEDIR": str(folder),
            "CCACHE_NOHASHDIR": "1",
        }

    def update(self) -> None:
        """Copy only the files that changed, so that little is rebuilt."""
        command = ["git", "ls-files", "-co", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        for name in listed.stdout.splitlines():
            source, target = ROOT / name, self.folder / name
            if not source.is_file():
                continue
            if not target.exists() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
                shutil.copymode(source, target)

    def compile(self) -> None:
        """Build; raise CalledProcessError, with the log in `build.log`, on failure."""
        if not (self.build / "build.ninja").exists():
            self._run(
                *("cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug"),
                f"-DCMAKE_CXX_FLAGS_DEBUG={self._flags}",
                *("-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF", "-DTEXLOOM_TESTS=OFF"),
                *("-DTEXLOOM_APPS=OFF", "-DTEXLOOM_PYTHON=ON"),
                f"-DPython_EXECUTABLE={sys.executable}",
            )
        self._run("cmake", "--build", "build", "--target", "_core")

    def _run(self, *command: str) -> None:
        with (self.folder / "build.log").open("w") as log:
            subprocess.run(command, cwd=self.folder, check=True, stdout=log, stderr=log)

    def fuzz(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run the copy's fuzzer."""
        command = [sys.executable, "-m", "texloom_fuzz", *options]
        return subprocess.run(
            command, cwd=self.folder, env=self.env, check=False, capture_output=True, text=True
        )
