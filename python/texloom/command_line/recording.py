"""Records of runs, which another machine can repeat: ZIP files, usually named ``*.tlz``.

``record.json`` describes the run and its device, ``package.tlp`` is the package, and
``inputs/0.npy`` and ``outputs/0.npy`` are the arrays in the order of the names in ``record.json``.
"""

from __future__ import annotations

import io
import json
import platform
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..devices.lookup import present
from ..errors import TVMError, refuse
from ..whole_file import write_whole
from .arrays import npy_bytes
from .reports import described
from .runnable import Runnable

_FORMAT = 1


class Recording:
    """Writes a record at the end of a ``with`` block, also after an error.

    Without a path, nothing is written.

    Attributes
    ----------
    outputs : dict of str to array
        The results of the run; empty if it failed.
    """

    def __init__(
        self,
        path: Path | None,
        runnable: Runnable,
        inputs: Mapping[str, NDArray[Any]],
        device: str,
    ) -> None:
        self.outputs: dict[str, NDArray[Any]] = {}
        self._path = path
        self._runnable = runnable
        self._inputs = inputs
        self._device = device
        self._package = b"" if path is None else self._package_bytes()

    def _package_bytes(self) -> bytes:
        model = self._runnable.model
        if model is None:
            return self._runnable.path.read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder) / "package.tlp"
            fixed = model.fixed(self._inputs)
            fixed.save(package)
            self._inputs = {name: self._inputs[name] for name in fixed.inputs}
            return package.read_bytes()

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._path is None or isinstance(error, KeyboardInterrupt):
            return
        told = described(error) if isinstance(error, TVMError) else error and str(error)
        record = {
            "format": _FORMAT,
            "model": self._runnable.path.name,
            "device": self._device,
            "device_info": _device_info(self._device),
            "platform": platform.platform(),
            "inputs": list(self._inputs),
            "outputs": list(self.outputs),
            "error": told,
        }
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("record.json", json.dumps(record, indent=1))
            file.writestr("package.tlp", self._package)
            for folder, arrays in (("inputs", self._inputs), ("outputs", self.outputs)):
                for number, array in enumerate(arrays.values()):
                    file.writestr(f"{folder}/{number}.npy", npy_bytes(array))
        write_whole(self._path, content.getvalue())


def _device_info(device: str) -> dict[str, Any]:
    try:
        return dict(present(device).info)
    except TVMError as error:
        return {"error": described(error)}


@dataclass(frozen=True)
class Record:
    """The contents of a record file.

    Attributes
    ----------
    package : bytes
    device : str
        Such as ``"opencl:0"``.
    facts : dict
        The content of ``record.json``.
    inputs, outputs : dict of str to array
    """

    package: bytes
    device: str
    facts: dict[str, Any]
    inputs: dict[str, NDArray[Any]]
    outputs: dict[str, NDArray[Any]]


def load_record(path: Path) -> Record:
    """Read a record; TL5019 if the file is not a record, or is damaged."""
    try:
        with zipfile.ZipFile(path) as file:
            facts = json.loads(file.read("record.json"))
            if facts["format"] != _FORMAT:
                refuse(
                    "BadFile",
                    f"{path} has the format {facts['format']}, but this version reads {_FORMAT}",
                    "use the version of Texloom that recorded it",
                )
            arrays = [
                {
                    str(name): np.load(io.BytesIO(file.read(f"{folder}/{number}.npy")))
                    for number, name in enumerate(facts[folder])
                }
                for folder in ("inputs", "outputs")
            ]
            return Record(file.read("package.tlp"), str(facts["device"]), facts, *arrays)
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, EOFError) as error:
        refuse(
            "BadFile",
            f"{path} is not a complete record: {error}",
            "write it with texloom run --record",
        )


__all__ = ["Record", "Recording", "load_record"]
