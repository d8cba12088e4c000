"""Compiles the Metal kernels of packages ahead of time, by Apple's tools.

A metallib has the kernels in Metal's intermediate representation: a program that loads the package
need not compile their source, which stays beside it (``docs/metal.md``).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from .. import _core
from ..errors import refuse

MetalSource = tuple[str, list[str], bool]


def find_xcrun() -> str:
    """Return the path of xcrun, which finds Apple's tools; TL5016 where it is missing."""
    path = shutil.which("xcrun")
    if path is None:
        refuse(
            "UnknownName",
            "no metallib can be made: there is no xcrun on this machine, which finds Apple's "
            "compiler for Metal",
            "install Xcode on a Mac, or leave out --metallib: the device compiles the source",
        )
    return os.path.abspath(path)  # it runs in another folder


def _options(given: Sequence[str], is_fast: bool) -> list[str]:
    """Return the options of Apple's compiler for those of a source in a package."""
    options = ["-ffast-math" if is_fast else "-fno-fast-math"]
    for option in given:
        version = re.fullmatch(r"-std=metal(\d+)\.(\d+)", option)
        if version is not None and int(version[1]) < 3:  # older ones are named by system
            options.append(f"-std=macos-metal{version[1]}.{version[2]}")
        elif not option.startswith("-simd-width="):  # of the driver alone
            options.append(option)
    return options


def _compiled(xcrun: str, source: MetalSource) -> tuple[bytes, str]:
    """Return a metallib, or the reason why it cannot be made."""
    text, given, is_fast = source
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernels.metal").write_text(text, encoding="utf-8")
        command = [xcrun, "-sdk", "macosx", "metal", *_options(given, is_fast)]
        command += ["kernels.metal", "-o", "kernels.metallib"]  # no path gets into a metallib
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            errors="replace",  # of messages alone
            check=False,
        )
        metallib = Path(folder, "kernels.metallib")
        made = metallib.read_bytes() if metallib.is_file() else b""
        if done.returncode == 0 and made:
            return made, ""
        return b"", done.stderr.strip() or "it says nothing"


def add_metallibs(
    package: str | os.PathLike[str], output: str | os.PathLike[str] | None = None
) -> int:
    """Add a metallib beside each source in Metal's language of a package file.

    Parameters
    ----------
    package : str or path
        The file.
    output : str or path, optional
        Where the package goes once all are compiled; by default, it replaces the file.

    Returns
    -------
    int
        How many were compiled: kernels with the same source share one.

    Raises
    ------
    TVMError
        TL5016 if there is no xcrun, TL5010 if it fails, TL5012 if the package has no kernel for
        Metal, TL5018 if a file cannot be read or written. Then `output` is unchanged.
    """
    compiled = partial(_compiled, find_xcrun())

    def compile_all(sources: list[MetalSource]) -> list[bytes]:
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            results = list(threads.map(compiled, sources))
        for _, problem in results:
            if problem:
                refuse(
                    "KernelRefused",
                    f"xcrun metal made no metallib: {problem}",
                    "try `xcrun -sdk macosx metal --version`, or leave out --metallib",
                )
        return [metallib for metallib, _ in results]

    written = os.fsencode(package if output is None else output)
    count: int = _core.add_metallibs(os.fsencode(package), written, compile_all)
    return count


__all__ = ["add_metallibs", "find_xcrun"]
