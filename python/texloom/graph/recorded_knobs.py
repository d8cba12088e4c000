"""The best knobs of kernels from records, and where a compilation gets knobs from."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .. import _core
from ..devices.lookup import present
from ..records import (
    Kind,
    MeasuredDevice,
    Subject,
    are_supported,
    default_file,
    measured_device,
    open_records,
)
from ..records.best_file import BestKnobs
from ..target import device_named
from .tuned_knobs import TunedKnobs, facts_key

if TYPE_CHECKING:
    from ..records.database import Records

Knobs = str | PathLike[str] | TunedKnobs | Literal[False] | None
"""A file of the best knobs, or a database of records; False for none, None for the default file."""
_MAGIC = b"SQLite format 3\0"


class RecordedKnobs(TunedKnobs):
    """The best verified knobs that a database has for a device, looked up when they are needed.

    Of several trials of a point, their median counts. Trials on `devices` count if there are any
    for the target, with those by the present version of the driver before others. If no device is
    named, the target must have trials on one device alone.

    Parameters
    ----------
    records : Records
    devices : sequence of MeasuredDevice
        Those for which a model is compiled.

    Warns
    -----
    TexloomWarning
        TL7001 if several devices have trials for a target and none is named: none is used.
    """

    def __init__(self, records: Records, devices: Sequence[MeasuredDevice] = ()) -> None:
        super().__init__((), records.name)
        self._records, self._devices = records, devices
        self._chosen: dict[str, MeasuredDevice | None] = {}
        self._subjects: dict[str, dict[object, list[Subject]]] = {}

    def _entry(self, subject: Subject) -> BestKnobs | None:
        target = subject.target
        if target not in self._chosen:
            self._chosen[target] = self._device_for(target)
        device = self._chosen[target]
        if device is None:
            return None
        own = self._best(subject, device)
        if own is not None:
            return own
        others = (self._best(each, device) for each in self._alike(subject))
        found = [each for each in others if each is not None]
        return min(found, key=lambda each: each.microseconds, default=None)

    def _best(self, subject: Subject, device: MeasuredDevice) -> BestKnobs | None:
        point = self._records.best_point(subject, device)
        if point is None or point.seconds is None:
            return None
        return BestKnobs.of(subject, point.knobs, point.seconds, device)

    def _alike(self, subject: Subject) -> Sequence[Subject]:
        """Return the recorded kernels of equal facts; the subjects of a target are read once."""
        if subject.target not in self._subjects:
            by_facts = self._subjects[subject.target] = {}
            for each in self._records.subjects(Kind.KERNEL, subject.target):
                by_facts.setdefault(facts_key(each), []).append(each)
        return self._subjects[subject.target].get(facts_key(subject), [])

    def _device_for(self, target: str) -> MeasuredDevice | None:
        known = self._records.devices(Kind.KERNEL, target)
        for own in self._devices:
            if own in known:
                return own
        names = {own.name for own in self._devices}
        if names:
            known = [each for each in known if each.name in names]
        if len({each.name for each in known}) > 1:
            told = ", ".join(sorted({each.name for each in known}))
            _core.warn(
                "BadOption",
                f"the records of {self.name} are not used, because they have several devices for "
                f"{target}: {told}",
                "name the device, such as --target opencl:0, or export its best knobs: texloom db "
                "export --best --device NAME",
            )
            return None
        return known[-1] if known else None


def knobs_for(
    place: Knobs, targets: Sequence[object] = (), measure: object = None
) -> TunedKnobs | None:
    """Return the knobs to compile with; None without a file.

    Parameters
    ----------
    place : str, path, TunedKnobs, False or None
        A file that ``texloom db export --best`` wrote, or a database of records: a file, or a URL
        as for :func:`texloom.records.open_records`. None stands for the file ``records.sqlite`` in
        the folder TEXLOOM_CACHE_DIR, if it exists; False for no knobs.
    targets : sequence of str or Target
        Those that name a device, such as ``"opencl:0"``, choose its records.
    measure : Device, optional
        Another device whose records are chosen.

    Raises
    ------
    TVMError
        TL5018, TL5019 and TL7001 for files and URLs that cannot be read; TL5016 if packages are
        missing.
    """
    if place is False:
        return None
    if isinstance(place, TunedKnobs):
        return place
    if place is None:
        file = default_file()
        if file is None or not file.exists() or not are_supported():
            return None
        place = file
    elif not _is_database(place):
        return TunedKnobs.read(place)
    named = [device_named(each) for each in targets]
    devices = [measured_device(present(each)) for each in named if each is not None]
    if measure is not None:
        devices.append(measured_device(present(measure)))
    return RecordedKnobs(open_records(place), devices)


def _is_database(place: str | PathLike[str]) -> bool:
    """Whether a place is a URL, or a file of SQLite by its first bytes."""
    if "://" in fspath(place):
        return True
    try:
        with Path(place).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False  # the reader of files says why


__all__ = ["Knobs", "RecordedKnobs", "knobs_for"]
