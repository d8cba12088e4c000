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
    """Return the path of xcrun, which finds Apple's tools; TL5016 if xcrun is missing."""
    path = shutil.which("xcrun")
    if path is None:
        refuse(
            "UnknownName",
            "no metallib can be made: there is no xcrun on this machine; xcrun finds Apple's "
            "compiler for Metal",
            "run this on a Mac with Xcode, or leave out --metallib: then the device compiles the "
            "kernels when they are first run",
        )
    return os.path.abspath(path)  # absolute, because xcrun runs in another folder


def _options(given: Sequence[str], is_fast: bool) -> list[str]:
    """Translate the compile options that a package stores into options of Apple's compiler."""
    options = ["-ffast-math" if is_fast else "-fno-fast-math"]
    for option in given:
        version = re.fullmatch(r"-std=metal(\d+)\.(\d+)", option)
        if version is not None and int(version[1]) < 3:  # the option names the system
            options.append(f"-std=macos-metal{version[1]}.{version[2]}")
        elif not option.startswith("-simd-width="):  # only the driver reads -simd-width
            options.append(option)
    return options


def _compiled(xcrun: str, source: MetalSource) -> tuple[bytes, str]:
    """Return a metallib, or the reason why it cannot be made."""
    text, given, is_fast = source
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernels.metal").write_text(text, encoding="utf-8")
        command = [xcrun, "-sdk", "macosx", "metal", *_options(given, is_fast)]
        # Relative paths, because metallibs store them.
        command += ["kernels.metal", "-o", "kernels.metallib"]
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            errors="replace",  # affects only messages
            check=False,
        )
        metallib = Path(folder, "kernels.metallib")
        made = metallib.read_bytes() if metallib.is_file() else b""
        if done.returncode == 0 and made:
            return made, ""
        return b"", done.stderr.strip() or "xcrun printed no message"


def add_metallibs(
    package: str | os.PathLike[str], output: str | os.PathLike[str] | None = None
) -> int:
    """Add a metallib to a package file for each source in Metal's language.

    Parameters
    ----------
    package : str or path
        The file.
    output : str or path, optional
        The file that the package is written to after all sources are compiled; by default
        `package`.

    Returns
    -------
    int
        The number of compiled metallibs: kernels with the same source share one.

    Raises
    ------
    TVMError
        TL5016 if there is no xcrun, TL5010 if xcrun fails, TL5012 if the package has no kernel for
        Metal, TL5018 if a file cannot be read or written. After an error, `output` is unchanged.
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
