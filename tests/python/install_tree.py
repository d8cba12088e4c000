"""An install tree of the runtime, and programs that use it.

``./dev test --also embedding`` builds what is installed; without it, these tests are skipped.
"""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build/release"  # built by GCC, as users' programs are
HEIGHT, WIDTH = 48, 64  # of the pictures of tests

needs_build = pytest.mark.skipif(
    not (BUILD / "src/runtime/libtexloom_runtime.a").is_file(),
    reason="there is no build by GCC: ./dev test --also embedding",
)


def run(*command, **options):
    done = subprocess.run(
        [str(each) for each in command],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def c_program(tree, folder, code, *linked, include=()):
    """Compile strict C11, link it with the runtime and the given files; return the program."""
    source, compiled, program = (folder / name for name in ("main.c", "main.o", "program"))
    source.write_text(code)
    strict = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wstrict-prototypes", "-Werror"]
    folders = [word for each in (tree / "include", *include) for word in ("-I", each)]
    run("cc", *strict, *folders, "-c", source, "-o", compiled)
    names = ("c_api", "drivers", "runtime", "plan", "support")
    libraries = [next(tree.rglob(f"libtexloom_{name}.a")) for name in names]
    run("c++", compiled, *libraries, *linked, "-ldl", "-pthread", "-o", program)
    return program
