"""Compiled functions in files.

A module file is a ZIP archive, so that any tool can look into it:

=================  ===============================================================================
``manifest.json``  format and version, name and target; the kernels by name and member; how the
                   array of each argument lies
``program.tl``     the launch plan and the kernels in the text form, with their parameters
``kernels/*.cl``   the source that the device's compiler gets
=================  ===============================================================================

Loading one compiles nothing: the kernels are the stored sources.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from typing import Any, NoReturn

from . import _core
from ._core import Function

FORMAT = "texloom module"
VERSION = 1
_MANIFEST, _PROGRAM = "manifest.json", "program.tl"
_LARGEST = 1 << 28  # bytes that a member may have when unpacked


def _manifest(function: Function, parts: dict[str, Any]) -> dict[str, Any]:
    arguments = [{"shape": list(shape), "layout": layout} for shape, layout in parts["arrays"]]
    kernels = [
        {"name": name, "file": f"kernels/{number}-{name}.cl"}
        for number, (name, _) in enumerate(parts["kernels"])
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": function.name,
        "target": parts["target"],
        "kernels": kernels,
        "arguments": arguments,
    }


def _export_library(
    self: Function, file_name: str | os.PathLike[str], fcompile: Any = None, **options: Any
) -> None:
    """Write the function to a file that :func:`load_module` reads, here or elsewhere.

    Parameters
    ----------
    file_name : str or path
        Any name; what was there is replaced.
    fcompile, **options
        Accepted for the sake of existing scripts: there is no host code to compile.

    Raises
    ------
    TVMError
        TL5012 when the file cannot be written.
    """
    del fcompile, options
    parts = _core.store_function(self)
    manifest = _manifest(self, parts)
    members = {_MANIFEST: json.dumps(manifest, indent=2) + "\n", _PROGRAM: parts["program"]}
    sources = [source for _, source in parts["kernels"]]
    members |= {k["file"]: v for k, v in zip(manifest["kernels"], sources, strict=True)}
    try:
        _write(file_name, members)
    except OSError as error:
        _refuse(f"'{os.fspath(file_name)}'", f"cannot be written: {error.strerror}")


def _write(file_name: str | os.PathLike[str], members: dict[str, str]) -> None:
    with zipfile.ZipFile(file_name, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            # With one date for all members, one function is always the same bytes.
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, text)


def _save(self: Function, file_name: str | os.PathLike[str], fmt: str = "") -> None:
    """:meth:`export_library`; for ``fmt="cl"``, or a name that ends so, the kernels' source."""
    if fmt == "cl" or (not fmt and os.fspath(file_name).endswith(".cl")):
        with open(file_name, "w", encoding="utf-8") as file:
            file.write(self.get_source())
    else:
        _export_library(self, file_name)


def load_module(path: str | os.PathLike[str], fmt: str = "") -> Function:
    """The function that ``export_library`` wrote to a file.

    Raises
    ------
    TVMError
        TL5012 for a file that cannot be read, is damaged, of another format or of another version.
    """
    del fmt
    name = os.fspath(path)
    manifest, program, sources = _read(name)
    try:
        names = [kernel["name"] for kernel in manifest["kernels"]]
        arrays = [(each["shape"], each["layout"]) for each in manifest["arguments"]]
        kernels = list(zip(names, sources, strict=True))
        return _core.load_function(
            program=program,
            file=f"{name}/{_PROGRAM}",
            target=manifest["target"],
            kernels=kernels,
            arrays=arrays,
        )
    except (KeyError, TypeError) as error:
        _refuse(name, f"has a manifest that says something else than it should: {error}")


def _read(name: str) -> tuple[dict[str, Any], str, list[str]]:
    """The manifest, the program and the kernels' sources."""
    try:
        with zipfile.ZipFile(name) as archive:

            def text(member: str) -> str:
                if archive.getinfo(member).file_size > _LARGEST:
                    raise ValueError(f"{member} is too large")
                return archive.read(member).decode("utf-8")

            manifest = json.loads(text(_MANIFEST))
            _check_version(name, manifest)
            return manifest, text(_PROGRAM), [text(k["file"]) for k in manifest["kernels"]]
    except OSError as error:
        _refuse(f"'{name}'", f"cannot be read: {error.strerror or error}")
    except zipfile.BadZipFile as error:
        _refuse(name, f"is no module file, or a damaged one: {error}")
    except (
        *(EOFError, KeyError, TypeError, ValueError, zlib.error),
        *(NotImplementedError, RecursionError),  # ways of packing, and of nesting, that none has
    ) as error:
        _refuse(name, f"is damaged: {error}")


def _check_version(name: str, manifest: dict[str, Any]) -> None:
    if manifest["format"] != FORMAT:
        _refuse(name, "is no module file")
    if manifest["version"] != VERSION:
        _refuse(name, f"has version {manifest['version']} of the format, not {VERSION}")


def _refuse(name: str, problem: str) -> NoReturn:
    _core.refuse_module_file(f"{name} {problem}")
    raise AssertionError("unreachable")


Function.export_library = _export_library
Function.save = _save

__all__ = ["FORMAT", "VERSION", "load_module"]
