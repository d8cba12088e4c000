"""``texloom doctor``: what is installed, what is missing, and whether devices work."""

from __future__ import annotations

import argparse
import ctypes.util
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core
from ..errors import TVMError
from ..inspect.describe import aligned
from ..target import for_models, target_for
from .devices import default_line, named_devices
from .reports import described, reported

_DESCRIPTION = """\
Shows what is installed and what is missing, and runs a kernel on each device: one screen to attach
to a report. Exits with 1 if no device works.
"""

_PACKAGES = {
    "numpy": "arrays",
    "onnx": "ONNX models: compile, run, compare, ops",
    "onnxruntime": "bench --compare, compare",
    "pillow": "pictures as inputs",
    "ml_dtypes": "arrays of bfloat16",
}


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _check(device: str, target: str | None = None) -> str:
    """Run a kernel, for the device's target by default; return "works", or the fault."""
    from .. import te
    from ..graph import Graph

    graph = Graph("doctor")
    x = graph.input("x", (64,))
    (y,) = graph.op("y", "square", lambda t: te.compute((64,), lambda i: t[i] * t[i]), [x])
    graph.output(y)
    values = np.arange(64, dtype="float32")
    try:
        compiled = graph.compile(target or target_for(device))
        squares = compiled.run({"x": values}, device)["y"]
    except TVMError as error:
        return described(error).splitlines()[0]
    return "works" if np.array_equal(squares, values * values) else "computes wrong numbers"


def _bytes_of(path: Path) -> int:
    """Return the size of a file; 0 if another process has deleted it."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _cache() -> dict[str, Any]:
    folder = _core.kernel_cache_folder()
    if not folder:
        return {"folder": None, "state": "off: set TEXLOOM_CACHE_DIR to keep compiled kernels"}
    existing = folder
    while existing and not os.path.exists(existing):
        existing = os.path.dirname(existing)
    if existing and not os.path.isdir(existing):
        return {"folder": folder, "state": f"cannot be used: {existing} is not a folder"}
    is_writable = os.access(existing or ".", os.W_OK)
    stored = sum(_bytes_of(path) for path in Path(folder).glob("*.tlbin"))
    used = f"{stored >> 20} MiB of at most {_core.KERNEL_CACHE_BYTES >> 20}"
    return {"folder": folder, "state": used if is_writable else "cannot be written"}


def _llvm() -> dict[str, str]:
    plugin, problem, help_ = _core.llvm_plugin()
    if problem:
        problem += f"; {help_}"
    return {"plugin": plugin, "check": problem or _check("host:0", "llvm")}


def examine() -> dict[str, Any]:
    """Return the facts that the command shows."""
    from .. import __version__

    try:
        found = named_devices()
        told = ""
    except TVMError as error:
        found, told = [], described(error)
    return {
        "texloom": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "opencl_loader": ctypes.util.find_library("OpenCL"),
        "llvm": _llvm(),
        "default_target": str(for_models(None)),
        "cache": _cache(),
        "devices": [
            {**each, "check": _check(each["device"])} for each in found if each["driver"] != "null"
        ],
        "device_error": told,
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = [
        f"Texloom {facts['texloom']}, Python {facts['python']}, {facts['platform']}",
        "",
        "Python packages",
    ]
    rows = []
    for name, version in facts["packages"].items():
        missing = f"not there, optional: pip install {name}"
        rows.append(("", name, version or missing, _PACKAGES[name]))
    lines += aligned(rows)
    lines += ["", "OpenCL"]
    loader = facts["opencl_loader"] or "missing: install ocl-icd-libopencl1, or the GPU's driver"
    lines += [f"  loader  {loader}"]
    lines += ["", "LLVM, for native code on host:0"]
    lines += aligned([("", "plug-in", facts["llvm"]["plugin"] or "none", facts["llvm"]["check"])])
    cache = facts["cache"]
    lines += ["", "Compiled kernels, of all drivers"]
    lines += [f"  cache  {cache['folder'] + ', ' if cache['folder'] else ''}{cache['state']}"]
    lines += ["", "Devices"]
    if facts["device_error"]:
        lines += [f"  {line}" for line in facts["device_error"].splitlines()]
    rows = [
        ("", each["device"], each["name"], each["platform"], each["driver_version"], each["check"])
        for each in facts["devices"]
    ]
    lines += aligned(rows) if rows else ["  none"]
    return [*lines, "", default_line()]


def _doctor(options: argparse.Namespace) -> int:
    facts = examine()
    print(json.dumps(facts) if options.json else "\n".join(_lines(facts)))
    works = [
        each["device"]
        for each in facts["devices"]
        if each["check"] == "works" and each["driver"] != "host"  # without LLVM it only interprets
    ]
    if facts["llvm"]["check"] == "works":
        works.append("host:0 (native code)")
    if not works:
        print("texloom doctor: no device works", file=sys.stderr)
    elif not options.json:
        print(f"\nready: kernels run on {', '.join(works)}")
    return 0 if works else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Examine this machine; return 0, or 1 if no device works."""
    parser = argparse.ArgumentParser(prog="texloom doctor", description=_DESCRIPTION)
    parser.add_argument("--json", action="store_true", help="write everything as JSON")
    options = parser.parse_args(arguments)
    return reported("doctor", lambda: _doctor(options))
