"""Tries a Metal device and writes one page about it, to attach to a report (./dev metal-report).

    .venv/bin/python tests/metal_report.py [--device metal:0] [--count 1000] [--out FILE.md]

Runs the conformance suite on all Metal devices. Runs random programs on the given device. Runs
MobileNetV2 with custom operators twice: within the network's command buffers, and with a wait for
each operator. On systems other than Apple's, the device is the software Metal. Exits with 1 if
anything was wrong.
"""

from __future__ import annotations

import argparse
import platform
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import texloom
from texloom.devices.lookup import present

ROOT = Path(__file__).resolve().parents[1]
_ON_APPLE = sys.platform == "darwin"
_SYSTEM = {
    "commit": ["git", "describe", "--always", "--dirty"],
    "macOS": ["sw_vers", "-productVersion"],
    "machine": ["sysctl", "-n", "hw.model"],
    "processor": ["sysctl", "-n", "machdep.cpu.brand_string"],
    "SDK": ["xcrun", "--show-sdk-version"],
    "compiler": ["/usr/bin/clang++", "--version"],
}
_LONGEST = 60  # lines that a section quotes
_MOST_SECONDS = 3600.0  # of a section; a GPU may hang


@dataclass
class Section:
    """The output and the exit status of one command."""

    title: str
    command: list[str]
    keeps: str  # pattern of the lines to quote; if the command fails, the last lines follow
    lines: list[str] = field(default_factory=list)
    seconds: float = 0
    status: int | str = 0

    def run(self) -> None:
        """Run the command and keep the lines to quote; print the title to stderr."""
        print(f"{self.title} …", file=sys.stderr, flush=True)
        begin = time.monotonic()
        with tempfile.TemporaryFile("w+", errors="replace") as log:
            try:
                self.status = subprocess.run(
                    self.command, cwd=ROOT, stdout=log, stderr=log, timeout=_MOST_SECONDS,
                    check=False,
                ).returncode  # fmt: skip
            except subprocess.TimeoutExpired:
                self.status = "no end"
            log.seek(0)
            lines = log.read().rstrip().splitlines()
        self.seconds = time.monotonic() - begin
        self.lines = [line for line in lines if re.search(self.keeps, line)][-_LONGEST:]
        if self.status != 0:
            self.lines += ["...", *lines[-_LONGEST:]]

    def text(self) -> str:
        """Return the section as text for the page."""
        outcome = "right" if self.status == 0 else f"**ended with {self.status}**"
        quoted = "\n".join(self.lines)
        return f"## {self.title}: {outcome}, {self.seconds:.0f} s\n\n```text\n{quoted}\n```\n"


def system() -> str:
    """Return a list of facts about the machine."""
    facts = {"system": platform.platform()}
    for name, command in _SYSTEM.items():
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            continue  # this system lacks the command
        facts[name] = done.stdout.partition("\n")[0]
    facts["Texloom"] = texloom.__version__
    return "\n".join(f"* {name}: {fact}" for name, fact in facts.items())


def sections(device: str, count: int) -> list[Section]:
    """Return the sections of the report, not yet run."""
    sizes = ("224", "64") if _ON_APPLE else ("32",)
    return [
        Section(
            "Conformance",
            ["build/tests/conformance_tests", "--gtest_brief=1", "--gtest_filter=*/metal*"],
            r"FAILED|^metal|^  (skipped|excluded)",
        ),
        Section(
            f"{count} random programs",
            [sys.executable, "-m", "texloom_fuzz", "--device", device, "--count", str(count),
             "--device-share", "1"],
            r"programs from seed|^ran|^\d+ of them|wrong|differ|error",
        ),
        Section(
            "MobileNetV2 with custom operators, in command buffers and waited for",
            [sys.executable, "benchmarks/commit/mobilenet.py", "--device", device,
             "--size", *sizes],
            r"^\|",
        ),
    ]  # fmt: skip


def main() -> int:
    """Run all sections; write and print the page."""
    parser = argparse.ArgumentParser(
        prog="./dev metal-report",
        description="Builds the driver and its tests, runs the conformance suite, random programs "
        "and MobileNetV2 on a Metal device, and writes one page to attach to an issue. Where there "
        "is no Metal, the device is the software Metal of the tests. Takes about half an hour.",
    )
    parser.add_argument("--device", default="metal:0", help="which device (metal:0)")
    parser.add_argument("--count", type=int, default=1000, help="random programs (1000)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("metal-report.md"),
        metavar="FILE",
        help="where the page goes (metal-report.md)",
    )
    options = parser.parse_args()
    try:
        info = present(options.device).info
    except texloom.TVMError as error:
        print(error, file=sys.stderr)
        return 1
    page = [f"# Texloom on {info['name']}", system()]
    page.append("\n".join(f"* {name}: {fact}" for name, fact in info.items()))
    tried = sections(options.device, options.count)
    for section in tried:
        options.out.write_text("\n\n".join(page) + "\n")  # Ctrl-C keeps the finished sections
        section.run()
        page.append(section.text().rstrip())
    options.out.write_text("\n\n".join(page) + "\n")
    print(options.out.read_text())
    print(f"wrote {options.out}", file=sys.stderr)
    return int(any(section.status != 0 for section in tried))


if __name__ == "__main__":
    sys.exit(main())
