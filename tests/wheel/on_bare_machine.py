"""Installs a wheel, then does what the README shows; runs on a bare machine, by its Python alone.

``on_bare_machine.py ERRAND``, a folder with these files, which test_wheel.py writes:

* ``packages/``: the wheel, and what it depends on;
* ``script.py``, the README's script, and ``printed.txt``, what it prints there;
* ``commands.txt``, the README's commands, ``model.onnx`` and ``photo.png``.

Prints the seconds of processors that this took.
"""

from __future__ import annotations

import ctypes.util
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

ERRAND = Path(sys.argv[1])
ENVIRONMENT = Path.home() / "env"


def run(*command: str | Path, shell: bool = False) -> str:
    """Run a command; return what it prints, and end if it fails."""
    done = subprocess.run(
        command[0] if shell else command, shell=shell, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{command} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(holds: bool, what: str) -> None:
    """End with what is wrong, unless it holds."""
    if not holds:
        sys.exit(what)


def check_that_nothing_is_here() -> None:
    """Check that a success says something: there is no compiler, no OpenCL and no LLVM."""
    for tool in ("cc", "gcc", "g++", "clang", "clang-19", "ld", "ld.lld"):
        expect(shutil.which(tool) is None, f"the bare machine has {tool}")
    expect(ctypes.util.find_library("OpenCL") is None, "the bare machine has an OpenCL loader")
    expect(not list(Path("/usr/lib").rglob("libLLVM*")), "the bare machine has LLVM")


def install() -> None:
    """Make an environment with the wheel and what ``[onnx]`` adds."""
    run(sys.executable, "-m", "venv", ENVIRONMENT)
    packages = ERRAND / "packages"
    (wheel,) = packages.glob("texloom-*.whl")
    pip = (ENVIRONMENT / "bin/pip", "install", "--no-index", "--find-links", packages)
    run(*pip, f"{wheel}[onnx]")
    os.environ["PATH"] = f"{ENVIRONMENT}/bin:{os.environ['PATH']}"


def follow_the_readme() -> None:
    """Run the script and the commands."""
    printed = run("python", ERRAND / "script.py")
    said = (ERRAND / "printed.txt").read_text()
    expect(
        printed.split() == said.split(), f"the README says\n{said}but its script prints\n{printed}"
    )
    for file in ("model.onnx", "photo.png"):
        shutil.copy(ERRAND / file, ".")
    for command in (ERRAND / "commands.txt").read_text().splitlines():
        run(command, shell=True)
    colors = run("python", "-c", "import numpy; print(numpy.load('out/y.npy').ravel())")
    expect(
        len(set(colors.strip("[] \n").split())) == 3, f"the photo has three colors, not {colors}"
    )


def check_what_is_said_of_opencl() -> None:
    """Check that native code is ready, and that the way to OpenCL is told."""
    told = run("texloom", "doctor")
    expect("ready: kernels run on host:0" in told, told)
    expect("loader  missing: install ocl-icd-libopencl1" in told, told)
    asked = "import texloom; texloom.nd.empty((1,), 'float32', texloom.opencl())"
    done = subprocess.run(("python", "-c", asked), capture_output=True, text=True)
    expect(done.returncode != 0 and "no OpenCL loader" in done.stderr, done.stderr)


def main() -> None:
    """Do it all."""
    os.chdir(Path.home())
    check_that_nothing_is_here()
    install()
    follow_the_readme()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    check_what_is_said_of_opencl()
    print(f"{used.ru_utime + used.ru_stime:.1f}")


if __name__ == "__main__":
    main()
