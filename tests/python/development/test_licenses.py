"""A wheel has the license of each package whose code is compiled into it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BUILD = ROOT / "build"
# The languages' own libraries, whose licenses except what is compiled with them; Python's headers;
# those with which the software Metal of tests is compiled.
EXEMPT = re.compile(
    r"libc6-dev|linux-libc-dev|libstdc\+\+-\d+-dev|libgcc-\d+-dev|libclang-common-\d+-dev|"
    r"libpython3.*-dev|libgnustep.*|libobjc.*"
)


def listed():
    """Return the packages of cmake/TexloomWheel.cmake."""
    text = (ROOT / "cmake/TexloomWheel.cmake").read_text()
    lists = re.findall(r"\((?:texloom_linked|APPEND texloom_linked) ([^)]*)\)", text)
    assert len(lists) == 2
    return {name for each in lists for name in each.split()}


def headers():
    """Return the system's headers that the module and the plug-in were compiled with."""
    command = ["ninja", "-C", BUILD, "-t", "deps"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found, is_shipped = set(), False
    for line in shown.splitlines():
        if line and not line.startswith(" "):
            is_shipped = line.startswith(("src/", "python/"))
        elif is_shipped and line.strip().startswith("/usr/"):
            found.add(str(Path(line.strip()).resolve()))
    return sorted(found)


@pytest.mark.skipif(
    shutil.which("dpkg") is None or not (BUILD / "build.ninja").exists(),
    reason="there is no build on Debian, whose packages have the licenses",
)
def test_each_package_whose_headers_are_compiled_is_listed():
    owners = subprocess.run(
        ["dpkg", "-S", *headers()], capture_output=True, text=True, check=False
    ).stdout
    packages = {name for line in owners.splitlines() for name in re.findall(r"^([^:]+):", line)}
    assert "libfmt-dev" in packages  # the headers and their owners are found
    needed = {name for name in packages if not EXEMPT.fullmatch(name)}
    assert needed <= listed(), f"texloom_linked lacks {sorted(needed - listed())}"
