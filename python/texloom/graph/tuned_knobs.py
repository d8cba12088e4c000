"""Knobs that were measured to be the best, in place of the defaults of families."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from .. import _core
from .._core import _Task
from ..ops.schedules.families import FAMILIES
from ..ops.schedules.family import Choose, Family, Kernel, KernelTask, point_with
from ..records import Kind, Subject
from ..records.best_file import BestKnobs, read_best
from ..records.foreign import is_foreign


def subject_of(task: _Task, kernel: Kernel) -> Subject:
    """Return what trials of a kernel of an operator measure."""
    return _subject(task.identity, str(task), str(task.target), kernel)


def _subject(identity: str, text: str, target: str, kernel: Kernel) -> Subject:
    family, facts = kernel
    return Subject(Kind.KERNEL, identity, text, target, family.name, str(facts), family.version)


class TunedKnobs:
    """The best knobs of some kernels; other kernels have the defaults of their families.

    Parameters
    ----------
    entries : iterable of BestKnobs
        The kernels, by keys that change exactly if the task, the target or the space does.
    name : str
        Where they come from, for messages.

    Attributes
    ----------
    used : set of str
        The keys of the kernels that compilations have scheduled with these knobs.

    Warns
    -----
    TexloomWarning
        TL5019 for entries of families, or of versions of them, that do not exist (any more); while
        a graph is compiled, for knobs that are not in the space of their kernel. These entries are
        not used.
    """

    def __init__(self, entries: Iterable[BestKnobs], name: str) -> None:
        self.name = name
        self.used: set[str] = set()
        self._entries = {each.key: each for each in entries}
        self._points: dict[str, Any] = {}
        current = {(each.name, each.version) for own in FAMILIES.values() for each in own}
        outdated = [
            each
            for each in self._entries.values()
            if (each.family, each.version) not in current and not is_foreign(each.family)
        ]
        for each in outdated:
            del self._entries[each.key]
        if outdated:
            families = ", ".join(sorted({f"{e.family} ({e.version})" for e in outdated}))
            self._warn(len(outdated), f"this version of Texloom lacks their spaces: {families}")

    @classmethod
    def read(cls, path: str | PathLike[str]) -> TunedKnobs:
        """Return the knobs of a file that ``texloom db export --best`` wrote.

        Raises
        ------
        TVMError
            TL5018 for a file that cannot be read, TL5019 for one with other contents.
        """
        return cls(read_best(Path(path)), str(path))

    def __len__(self) -> int:
        """Return the number of kernels that may be used."""
        return len(self._entries)

    def choose_for(self, task: _Task) -> Choose:
        """Return the function that chooses the knobs of the kernels of an operator."""
        identity, target = task.identity, str(task.target)

        def choose(family: Family[Any, Any], kernel: KernelTask) -> Any:
            subject = _subject(identity, "", target, (family, family.facts(kernel)))
            knobs = self._point(subject.identity, family, kernel)
            return family.default(kernel) if knobs is None else knobs

        return choose

    def _point(self, key: str, family: Family[Any, Any], kernel: KernelTask) -> Any:
        if key not in self._entries:
            return None
        if key not in self._points:
            entry = self._entries[key]
            self._points[key] = point_with(family.space(kernel), entry.knobs)
            if self._points[key] is None:
                self._warn(1, f"the knobs are not in the space of {family.name}: {entry.knobs}")
            else:
                self.used.add(key)
        return self._points[key]

    def _warn(self, count: int, reason: str) -> None:
        _core.warn(
            "BadFile",
            f"{count} of the kernels of {self.name} {'is' if count == 1 else 'are'} not used: "
            f"{reason}",
            "tune them again, and export their best knobs: texloom db export --best",
        )


__all__ = ["TunedKnobs", "subject_of"]
