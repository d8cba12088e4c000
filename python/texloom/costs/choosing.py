"""Selects the costs of a compilation: the file, and the device in it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ..devices.lookup import opencl
from ..errors import TVMError, refuse
from ..records import MeasuredDevice, measured_device
from ..target import is_native
from .database import CostDatabase
from .fitted import FittedModel, fitted
from .table import CostTable

_FILE = "costs.sqlite"


@dataclass(frozen=True)
class Costs:
    """The costs of one device.

    Attributes
    ----------
    database : CostDatabase
    device : MeasuredDevice
    """

    database: CostDatabase
    device: MeasuredDevice

    def model(self) -> FittedModel | None:
        """Return the model that is fitted to all measurements; None without measurements.

        The file keeps the model until measurements are added.
        """
        table = self.table()
        return None if table is None else table.model

    def table(self) -> CostTable | None:
        """Return the costs that the compiler looks up; None without measurements.

        All rows of the device are read at once.
        """
        costs = self.database.costs(self.device)
        if not costs:
            return None
        stored = self.database.model(self.device)
        model = None if stored is None else FittedModel.read(stored)
        if model is None or model.rows != len(costs):
            model = fitted(costs.values())
            self.database.set_model(self.device, model.text())
        return CostTable(costs, model)


def default_file() -> Path | None:
    """Return the file of costs in the folder of compiled kernels; None if there is no folder."""
    folder = os.environ.get("TEXLOOM_CACHE_DIR")
    return Path(folder) / _FILE if folder else None


def costs_for(
    target: Any,
    path: str | PathLike[str] | None = None,
    device: str | None = None,
    measure: Any = None,
) -> Costs | None:
    """Return the costs to compile a model with for a target, as :func:`open_costs` does.

    A file that nobody named is not asked for native code: its costs, those of another device, would
    choose textures, which are slower there.
    """
    names_none = path is None and device is None and measure is None
    skips = names_none and target is not None and is_native(target)
    return None if skips else open_costs(path, device, measure)


def open_costs(
    path: str | PathLike[str] | None = None,
    device: str | None = None,
    measure: Any = None,
) -> Costs | None:
    """Return the costs to compile with; None without a file.

    Parameters
    ----------
    path : str or path, optional
        A file of costs; by default that of :func:`default_file`, if it exists.
    device : str, optional
        A part of the name of the device, if the file has costs of several devices. The default is
        the first OpenCL device of this machine, if the file has its costs.
    measure : Device, optional
        The device that will be measured; its costs are returned.

    Raises
    ------
    TVMError
        TL5018 for a file that does not exist, TL5019 for a file without costs, TL7001 if no file
        is named where one is needed, TL5016 for a device that is not in the file, or if several
        devices are in the file and none is named.
    """
    file = Path(path) if path is not None else default_file()
    if measure is not None:
        if file is None:
            refuse(
                "BadOption",
                "there is no file to store the measured costs in",
                "name a file: --costs FILE or costs=, or set TEXLOOM_CACHE_DIR to a folder",
            )
        return Costs(CostDatabase(file), measured_device(measure))
    if file is None or (path is None and not file.exists()):
        if device is not None:
            refuse(
                "BadOption",
                f"the costs of the device {device!r} are requested, but there is no file of costs",
                "name the file: --costs FILE, or leave out --costs-device",
            )
        return None
    if not file.exists():
        refuse(
            "FileError",
            f"there is no file of costs {file}",
            f"measure a model: texloom compile MODEL.onnx --measure --costs {file}",
        )
    database = CostDatabase(file)
    known = database.devices()
    if not known and path is not None:
        refuse(
            "BadFile",
            f"{file} has no costs",
            f"measure a model: texloom compile MODEL.onnx --measure --costs {file}",
        )
    chosen = _chosen(known, device, file, is_named=path is not None)
    return None if chosen is None else Costs(database, chosen)


def _chosen(
    known: list[MeasuredDevice], device: str | None, file: Path, is_named: bool
) -> MeasuredDevice | None:
    if device is not None:
        known = [each for each in known if device in str(each)]
        if not known:
            refuse(
                "UnknownName",
                f"{file} has no costs of a device whose name contains {device!r}",
                "leave out --costs-device, or measure the device: texloom compile --measure",
            )
    if len(known) > 1:
        present = _present_device()
        if present in known:
            return present
        if is_named:
            names = ", ".join(map(str, known))
            refuse(
                "UnknownName",
                f"{file} has costs of several devices: {names}",
                "name one of them: --costs-device NAME",
            )
        return None
    return known[0] if known else None


def _present_device() -> MeasuredDevice | None:
    try:
        return measured_device(opencl(0))
    except (TVMError, IndexError):
        return None


__all__ = ["Costs", "costs_for", "default_file", "open_costs"]
