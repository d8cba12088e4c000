"""Saves compiled functions to package files, and loads them.

A function is a package of one node (``docs/packages.md``). The package has the program in the text
form, from which Python reads the parameters of calls. A module of several functions is a file of
several packages. Loading does not run the Texloom compiler: the kernels are the stored sources.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from .. import _core
from .._core import Device, Function
from ..errors import refuse

# What a name of a file says that TVM's export_library writes with a compiler and a linker.
_FOREIGN = {
    ".so": "a shared object",
    ".dylib": "a shared object",
    ".dll": "a shared object",
    ".o": "an object file",
    ".tar": "an archive of objects",
}


def export(functions: Iterable[Function], file_name: str | os.PathLike[str]) -> None:
    """Write one or several functions to a file; the errors are those of ``export_library``."""
    exported = list(functions)
    _core.write_functions(exported, os.fsencode(file_name))
    foreign = _FOREIGN.get(Path(os.fsdecode(file_name)).suffix)
    if foreign is None:
        return
    is_native = any(each.target.split()[0] == "llvm" for each in exported)
    links = "; save(FILE.o) writes an object file that a program links" if is_native else ""
    _core.warn(
        "NotProvided",
        f"'{os.fspath(file_name)}' is a package, though its name says {foreign}",
        f"load it by texloom.runtime.load_module(path{', native=True' if is_native else ''}), not "
        f"by the system's loader, and name it FILE.tlp{links}",
    )


def save(module: Any, file_name: str | os.PathLike[str], fmt: str = "") -> None:
    """Write a package, an object file to link, or the kernels' source.

    ``fmt="cl"``, or a name in ``*.cl``, stands for the source. A name in ``*.o`` stands for an
    object file, as :func:`write_object` writes it, if it is a function for the target ``llvm``.
    """
    is_native = isinstance(module, Function) and module.target.split()[0] == "llvm"
    if is_native and os.fspath(file_name).endswith(".o"):
        write_object(lambda *given: _core.save_object(module, *given), file_name)
    elif fmt == "cl" or (not fmt and os.fspath(file_name).endswith(".cl")):
        _write(file_name, module.get_source().encode())
    else:
        module.export_library(file_name)


# What a program that links kernels consists of, and the files beside FILE.o.
LINKED_FILES = {"object": ".o", "header": ".h", "package": ".tlp"}


def write_object(
    made: Callable[[str, bytes | None], tuple[bytes, str]],
    file_name: str | os.PathLike[str],
    emit: Sequence[str] = tuple(LINKED_FILES),
) -> None:
    """Write an object file with kernels, a C header beside it, and the package that they run.

    Only those of them that `emit` names are written. `made` takes a name and the package's path,
    writes the package if there is a path, and returns the other two.
    """
    unknown = [part for part in emit if part not in LINKED_FILES]
    if unknown:
        refuse(
            "BadArgument",
            f"emit names {unknown[0]!r}, which is no part of an object file",
            f"name some of {', '.join(map(repr, LINKED_FILES))}",
        )
    path = Path(file_name)
    paths = {part: path.with_suffix(LINKED_FILES[part]) for part in emit}
    package = os.fsencode(paths["package"]) if "package" in paths else None
    content, header = made(path.stem, package)
    if "object" in paths:
        _write(path, content)
    if "header" in paths:
        _write(paths["header"], header.encode())


def _write(file_name: str | os.PathLike[str], content: bytes) -> None:
    """Write a file; an existing file is replaced only when the new content is complete."""
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


def load(
    path: str | os.PathLike[str], device: Device | None = None, native: bool = False
) -> list[Function]:
    """Load the functions that ``export_library`` wrote to a file, as ``load_module`` does.

    Raises
    ------
    TVMError
        TL5018 for a file that cannot be read; TL5012 for one that is not a package, is damaged, was
        written by a newer version, has only native code that is not taken, or is the package of a
        graph.
    """
    return list(_core.load_functions(os.fsencode(path), device, native))


__all__ = ["LINKED_FILES", "export", "load", "save", "write_object"]
