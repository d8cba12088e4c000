"""A machine with Python and nothing else: a minimal Debian in a folder, without network.

Programs run there as root of the folder. What they write is gone afterwards; they see the folders
of this machine that they are given, and may not change them.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build/wheel/bare-machine"
PACKAGES = "python3,python3-venv"

as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]


def make() -> None:
    """Install the machine into its folder, if it is not there."""
    complete = FOLDER / "complete"
    if complete.exists():
        return
    subprocess.run([*as_root, "rm", "-rf", FOLDER], check=True)
    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    codename = dict(
        line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if line
    )["VERSION_CODENAME"]
    command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", codename, FOLDER]
    subprocess.run([*as_root, *command], check=True)
    subprocess.run([*as_root, "touch", complete], check=True)


def run(command: Sequence[str], seen: Iterable[Path]) -> subprocess.CompletedProcess[str]:
    """Run a command there, which sees the given folders at the paths that they have here."""
    steps = ["mount --make-rprivate /", f"cd {shlex.quote(str(FOLDER))}"]
    steps += ["mount --bind /dev dev", "mount -t proc proc proc"]
    steps += [f"mount -t tmpfs tmpfs {folder}" for folder in ("home", "root", "tmp")]
    for folder in seen:
        inside = shlex.quote(f".{folder}")
        steps += [f"mkdir -p {inside}", f"mount --bind {shlex.quote(str(folder))} {inside}"]
        steps += [f"mount -o remount,bind,ro {inside}"]
    words = ["env", "-i", "HOME=/root", "PATH=/usr/bin:/bin", *command]
    steps += [f"exec chroot . {shlex.join(words)}"]
    return subprocess.run(
        [*as_root, "unshare", "--mount", "--net", "bash", "-euc", "\n".join(steps)],
        capture_output=True,
        text=True,
    )
