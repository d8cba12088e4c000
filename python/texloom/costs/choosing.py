"""Selects the costs of a compilation: the file, and the device in it."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..devices.lookup import opencl
from ..errors import TVMError, refuse
from ..records import (
    Kind,
    MeasuredDevice,
    are_supported,
    default_file,
    measured_device,
    open_records,
)
from ..target import is_native
from .fitted import FittedModel, fitted
from .measured import MeasuredCost, MeasuredNetwork, costs_of, networks_of
from .table import CostTable

if TYPE_CHECKING:
    from ..records.database import Records


@dataclass(frozen=True)
class Costs:
    """The costs of one device.

    Attributes
    ----------
    records : texloom.records.Records
        The database that has them.
    device : MeasuredDevice
    """

    records: Records
    device: MeasuredDevice

    def measured(self) -> dict[str, MeasuredCost]:
        """Return the costs of all measured call sites, by key."""
        return costs_of(self.records, self.device)

    def networks(self) -> list[MeasuredNetwork]:
        """Return the networks that were measured."""
        return networks_of(self.records, self.device)

    def model(self) -> FittedModel | None:
        """Return the model that is fitted to all measurements; None without measurements."""
        table = self.table()
        return None if table is None else table.model

    def table(self) -> CostTable | None:
        """Return the costs that the compiler looks up; None without measurements.

        All costs of the device are read at once.
        """
        costs = self.measured()
        return CostTable(costs, fitted(costs.values())) if costs else None


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
        A database of records that has costs: a file, or a URL as for
        :func:`texloom.records.open_records`. By default the file ``records.sqlite`` in the folder
        TEXLOOM_CACHE_DIR, if it exists.
    device : str, optional
        A part of the name of the device, if the file has costs of several devices. The default is
        the first OpenCL device of this machine, if the file has its costs.
    measure : Device, optional
        The device that will be measured; its costs are returned. A file that does not exist is
        made.

    Raises
    ------
    TVMError
        TL5018 for a file that does not exist, TL5019 for a file without costs, TL7001 if no file
        is named where one is needed, TL5016 for a device that is not in the file, if several
        devices are in the file and none is named, or if packages are missing; others as for
        :func:`texloom.records.open_records`.
    """
    place = default_file() if path is None else fspath(path)
    if measure is not None:
        if place is None:
            refuse(
                "BadOption",
                "there is no file to store the measured costs in",
                "name a file: --costs FILE or costs=, or set TEXLOOM_CACHE_DIR to a folder",
            )
        return Costs(open_records(place, creates=True), measured_device(measure))
    is_missing = place is None or ("://" not in str(place) and not Path(place).exists())
    if path is None and (is_missing or not are_supported()):
        if device is not None:
            refuse(
                "BadOption",
                f"the costs of the device {device!r} are requested, but there is no file of costs",
                "name the file: --costs FILE, or leave out --costs-device",
            )
        return None
    if is_missing:
        refuse(
            "FileError",
            f"there is no file of costs {place}",
            f"measure a model: texloom compile MODEL.onnx --measure --costs {place}",
        )
    assert place is not None
    records = open_records(place)
    known = records.devices(Kind.CALL_SITE)
    if not known and path is not None:
        refuse(
            "BadFile",
            f"{records.name} has no costs",
            f"measure a model: texloom compile MODEL.onnx --measure --costs {place}",
        )
    chosen = _chosen(known, device, records.name, is_named=path is not None)
    return None if chosen is None else Costs(records, chosen)


def _chosen(
    known: list[MeasuredDevice], device: str | None, file: str, is_named: bool
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


__all__ = ["Costs", "costs_for", "open_costs"]
