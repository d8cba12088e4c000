"""Files of arrays: reading inputs, writing outputs."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import refuse
from ..whole_file import write_whole

ARRAY_FILES = (".npy", ".npz")
_LONGEST_NAME = 255  # bytes in a file name, on most file systems


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a .npz file by name; the array of a .npy file has the name "".

    Raises
    ------
    TVMError
        TL5019 for a file that is damaged, or has no arrays.
    OSError
        If the file cannot be opened.
    """
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"": loaded}
        with loaded:
            return {name: loaded[name] for name in loaded.files}
    except (ValueError, EOFError, zipfile.BadZipFile, KeyError) as error:
        told = next(iter(str(error).splitlines()), type(error).__name__)
        refuse("BadFile", f"{path} is not a file of arrays: {told}", "write it with numpy.save")


def load_array(path: Path, name: str) -> NDArray[Any]:
    """Return the only array of a file, or the array of this name if the file has several."""
    arrays = load_arrays(path)
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    if name not in arrays:
        refuse(
            "UnknownName",
            f"{path} has several arrays, but none is named {name!r}",
            f"its arrays are {', '.join(arrays) or 'none'}",
        )
    return arrays[name]


def npy_bytes(array: NDArray[Any]) -> bytes:
    """Return the content of a .npy file."""
    content = io.BytesIO()
    np.save(content, array, allow_pickle=False)
    return content.getvalue()


def refuse_missing_folder(file: Path) -> None:
    """Refuse, before the work, an output file whose folder is missing."""
    if not file.parent.is_dir():
        refuse(
            "FileError", f"there is no folder {file.parent}", "make the folder, or choose another"
        )


def refuse_overwriting(file: Path, *sources: Path) -> None:
    """Refuse, before the work, an output file that is one of the files to read."""
    for source in sources:
        if file.exists() and source.exists() and file.samefile(source):
            refuse(
                "FileError", f"{file} is an input, and would be overwritten", "choose another file"
            )


def file_names(outputs: Iterable[str]) -> dict[str, str]:
    """Return a file name for each output: its name, with ``_`` in place of ``/`` and ``:``.

    Raises
    ------
    TVMError
        TL5016 if two outputs get the same name, or if a name is too long for a file.
    """
    names: dict[str, str] = {}
    for output in outputs:
        file = output.replace("/", "_").replace(":", "_") + ".npy"
        if len(os.fsencode(file)) > _LONGEST_NAME:
            refuse(
                "UnknownName",
                f"the name of the output {output[:40]!r}... is too long for a file",
                "rename it in the model, or leave out --output-dir",
            )
        for other, taken in names.items():
            if taken == file:
                refuse(
                    "UnknownName",
                    f"the outputs {other!r} and {output!r} would both be written to {file}",
                    "rename one of them in the model",
                )
        names[output] = file
    return names


def tensors_of(outputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays of outputs.

    The arrays of a sequence are called ``name.0``, ``name.1`` and so on; an absent optional value
    has no array.
    """
    made: dict[str, NDArray[Any]] = {}
    for name, value in outputs.items():
        if isinstance(value, list):
            made.update(tensors_of({f"{name}.{i}": each for i, each in enumerate(value)}))
        elif value is not None:
            made[name] = np.asarray(value)
    return made


def save_outputs(folder: Path, outputs: Mapping[str, NDArray[Any]]) -> dict[str, Path]:
    """Write each output to a file of its own in a folder, which is made if need be."""
    names = file_names(outputs)
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name, array in outputs.items():
        paths[name] = folder / names[name]
        write_whole(paths[name], npy_bytes(array))
    return paths


__all__ = [
    "ARRAY_FILES",
    "file_names",
    "load_array",
    "load_arrays",
    "npy_bytes",
    "refuse_missing_folder",
    "refuse_overwriting",
    "save_outputs",
    "tensors_of",
]
