"""Saves compiled functions to files, and loads them.

A module file is a ZIP archive, so that common tools can read it:

=================  ===============================================================================
``manifest.json``  format and version, name and target; the names of the kernels and their members;
                   the layout of each argument's array, and whether it is an output; which
                   arguments are numbers; the operations of a run, or null
``program.tl``     the launch plan and the kernels in the text form, with their parameters
``kernels/*.cl``   the source for the device's compiler
=================  ===============================================================================

A module of several functions has a folder with these members for each function, and a manifest
that lists the folders in order.

Loading does not run the Texloom compiler: the kernels are the stored sources.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from . import _core
from ._core import Function

FORMAT = "texloom module"
VERSION = 3
_MANIFEST, _PROGRAM = "manifest.json", "program.tl"
_LARGEST = 1 << 28  # bytes that a member may have when unpacked


def _manifest(function: Function, parts: dict[str, Any]) -> dict[str, Any]:
    arguments = [
        {"shape": list(shape), "layout": layout, "output": is_output}
        for shape, layout, is_output in parts["arrays"]
    ]
    values = [
        {"position": position, "symbol": symbol, "dtype": dtype}
        for position, symbol, dtype in parts["values"]
    ]
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
        "values": values,
        "operations": parts["operations"],
    }


def _text_of(manifest: dict[str, Any]) -> str:
    return json.dumps(manifest, indent=2) + "\n"


def _members(function: Function) -> dict[str, str]:
    """Return the members' texts, by member name."""
    parts = _core.store_function(function)
    manifest = _manifest(function, parts)
    sources = [source for _, source in parts["kernels"]]
    kernels = {k["file"]: v for k, v in zip(manifest["kernels"], sources, strict=True)}
    return {_MANIFEST: _text_of(manifest), _PROGRAM: parts["program"], **kernels}


def export(functions: Iterable[Function], file_name: str | os.PathLike[str]) -> None:
    """Write one or several functions to a file; raises what ``export_library`` raises."""
    each = [_members(function) for function in functions]
    if len(each) == 1:
        members = each[0]
    else:
        folders = [f"functions/{number}/" for number in range(len(each))]
        manifest = {"format": FORMAT, "version": VERSION, "functions": folders}
        members = {_MANIFEST: _text_of(manifest)}
        for folder, own in zip(folders, each, strict=True):
            members |= {folder + name: text for name, text in own.items()}
    _write(file_name, _zipped(members))


def _zipped(members: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            # All members have the same fixed date, so that a function always gives the same bytes.
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, text)
    return content.getvalue()


def _write(file_name: str | os.PathLike[str], content: bytes) -> None:
    """Write a file; an earlier one of that name is replaced only by the whole content."""
    try:
        target = Path(os.path.realpath(file_name))
        if target.exists() and not target.is_file():  # a pipe or a device
            target.write_bytes(content)
            return
        part = target.with_name(f"{target.name}.part")
        try:
            part.write_bytes(content)
            part.replace(target)
        except OSError:
            part.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:  # ValueError: a name with a null byte
        problem = error.strerror if isinstance(error, OSError) else error
        _core.refuse_output_file(f"'{os.fspath(file_name)}' cannot be written: {problem}")


def save(module: Any, file_name: str | os.PathLike[str], fmt: str = "") -> None:
    """Write a module file or, for ``fmt="cl"`` or a name in ``*.cl``, the kernels' source."""
    if fmt == "cl" or (not fmt and os.fspath(file_name).endswith(".cl")):
        _write(file_name, module.get_source().encode())
    else:
        module.export_library(file_name)


def load(path: str | os.PathLike[str]) -> list[Function]:
    """Load the functions that ``export_library`` wrote to a file.

    Raises
    ------
    TVMError
        TL5012 for a file that cannot be read, is damaged, or has another format or version.
    """
    name = os.fspath(path)
    return [_loaded(name, stored) for stored in _read(name)]


# Folder, manifest, program and kernel sources of one function.
_Stored = tuple[str, dict[str, Any], str, list[str]]


def _loaded(name: str, stored: _Stored) -> Function:
    folder, manifest, program, sources = stored
    try:
        names = [kernel["name"] for kernel in manifest["kernels"]]
        arrays = [(each["shape"], each["layout"], each["output"]) for each in manifest["arguments"]]
        values = [(each["position"], each["symbol"], each["dtype"]) for each in manifest["values"]]
        return _core.load_function(
            program=program,
            file=f"{name}/{folder}{_PROGRAM}",
            target=manifest["target"],
            kernels=list(zip(names, sources, strict=True)),
            arrays=arrays,
            values=values,
            operations=manifest["operations"],
        )
    except (KeyError, TypeError) as error:
        _refuse(name, f"has an invalid manifest: {error}")


def _read(name: str) -> list[_Stored]:
    if os.path.exists(name) and not os.path.isfile(name):  # a device or a pipe may never end
        _refuse(f"'{name}'", "cannot be read: it is not a file")
    try:
        with zipfile.ZipFile(name) as archive:

            def text(member: str) -> str:
                if archive.getinfo(member).file_size > _LARGEST:
                    raise ValueError(f"{member} is too large")
                return archive.read(member).decode("utf-8")

            def stored(folder: str) -> _Stored:
                manifest = json.loads(text(folder + _MANIFEST))
                _check_version(name, manifest)
                sources = [text(folder + k["file"]) for k in manifest["kernels"]]
                return folder, manifest, text(folder + _PROGRAM), sources

            manifest = json.loads(text(_MANIFEST))
            _check_version(name, manifest)
            if "functions" not in manifest:
                return [stored("")]
            if len(manifest["functions"]) < 2:
                raise ValueError("a module of several functions has one, or none")
            return [stored(folder) for folder in manifest["functions"]]
    except OSError as error:
        _refuse(f"'{name}'", f"cannot be read: {error.strerror or error}")
    except zipfile.BadZipFile as error:
        _refuse(name, f"is not a module file, or is damaged: {error}")
    except (
        *(EOFError, KeyError, TypeError, ValueError, zlib.error),
        *(
            NotImplementedError,
            RecursionError,
        ),  # compression methods and nesting depths that module files do not use
    ) as error:
        _refuse(name, f"is damaged: {error}")


def _check_version(name: str, manifest: dict[str, Any]) -> None:
    if manifest["format"] != FORMAT:
        _refuse(name, "is not a module file")
    if manifest["version"] != VERSION:
        _refuse(name, f"has version {manifest['version']} of the format, not {VERSION}")


def _refuse(name: str, problem: str) -> NoReturn:
    _core.refuse_module_file(f"{name} {problem}")
    raise AssertionError("unreachable")


__all__ = ["FORMAT", "VERSION", "export", "load", "save"]
