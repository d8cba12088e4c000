"""Knobs that were measured to be the best, in place of the defaults of families."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from .. import _core
from .._core import _Task
from ..ops.schedules.families import FAMILIES
from ..ops.schedules.family import Choose, Family, Kernel, KernelTask, Space, point_with
from ..records import Kind, Subject
from ..records.best_file import BestKnobs, read_best
from ..records.foreign import is_foreign


def subject_of(task: _Task, kernel: Kernel) -> Subject:
    """Return what trials of a kernel of an operator measure."""
    return _subject(task.identity, str(task), str(task.target), kernel)


def _subject(identity: str, text: str, target: str, kernel: Kernel) -> Subject:
    family, facts = kernel
    return Subject(Kind.KERNEL, identity, text, target, family.name, str(facts), family.version)


@dataclass
class UsedKnobs:
    """The kernels with several points that a compilation has scheduled.

    Attributes
    ----------
    tuned : dict of str to BestKnobs
        Those that were measured, by the identities of their subjects.
    transferred : dict of str to BestKnobs
        Those with knobs of another operator's kernel, which has the same family and facts.
    estimated : set of str
        The identities of the others, which have the defaults of their families.
    """

    tuned: dict[str, BestKnobs] = field(default_factory=dict)
    transferred: dict[str, BestKnobs] = field(default_factory=dict)
    estimated: set[str] = field(default_factory=set)

    def add(self, other: UsedKnobs) -> None:
        """Add those of another compilation."""
        self.tuned |= other.tuned
        self.transferred |= other.transferred
        self.estimated |= other.estimated

    def facts(self) -> dict[str, Any]:
        """Return numbers and knobs as values of JSON, in an order that kernels decide on.

        The key of a transferred kernel's knobs is that of the kernel they were measured for.
        """
        used = [self.tuned[key] for key in sorted(self.tuned)]
        used += [self.transferred[key] for key in sorted(self.transferred)]
        return {
            "tuned": len(self.tuned),
            "transferred": len(self.transferred),
            "estimated": len(self.estimated),
            "kernels": [vars(each) for each in used],
        }


def facts_key(kernel: Subject | BestKnobs) -> tuple[str, int, str, str]:
    """Return what kernels have in common whose spaces and estimates are equal."""
    return kernel.family, kernel.version, kernel.target, kernel.facts


class TunedKnobs:
    """The best knobs of some kernels; other kernels have the defaults of their families.

    A kernel that is not there has the knobs of one with equal facts: the same kernel, with other
    elementwise operations fused into it.

    Parameters
    ----------
    entries : iterable of BestKnobs
        The kernels, by keys that change exactly if the task, the target or the space does.
    name : str
        Where they come from, for messages.

    Attributes
    ----------
    name : str
    used : UsedKnobs
        Of all compilations.

    Warns
    -----
    TexloomWarning
        TL5019 for entries of families, or of versions of them, that do not exist (any more); while
        a graph is compiled, for knobs that are not in the space of their kernel. These entries are
        not used.
    """

    def __init__(self, entries: Iterable[BestKnobs], name: str) -> None:
        self.name = name
        self.used = UsedKnobs()
        self._entries = {each.key: each for each in entries}
        self._points: dict[str, tuple[BestKnobs | None, Any]] = {}
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
        fastest_last = sorted(self._entries.values(), key=lambda e: (-e.microseconds, e.key))
        self._by_facts = {facts_key(each): each for each in fastest_last}

    @classmethod
    def read(cls, path: str | PathLike[str]) -> TunedKnobs:
        """Return the knobs of a file that ``texloom db export --best`` wrote.

        Raises
        ------
        TVMError
            TL5018 for a file that cannot be read, TL5019 for one with other contents.
        """
        return cls(read_best(Path(path)), str(path))

    def choose_for(self, task: _Task, used: UsedKnobs) -> Choose:
        """Return the function that chooses the knobs of the kernels of an operator.

        It adds the kernels with several points to `used`.
        """
        identity, target = task.identity, str(task.target)

        def choose(family: Family[Any, Any], kernel: KernelTask) -> Any:
            subject = _subject(identity, "", target, (family, family.facts(kernel)))
            key = subject.identity
            if key not in self._points:
                self._points[key] = self._point(subject, family.space(kernel))
            entry, knobs = self._points[key]
            if entry is None:
                if key not in used.estimated and len(family.space(kernel)) > 1:
                    used.estimated.add(key)
                return family.default(kernel)
            (used.tuned if entry.key == key else used.transferred)[key] = entry
            return knobs

        return choose

    def _entry(self, subject: Subject) -> BestKnobs | None:
        """Return the best knobs of a kernel, else those of one with equal facts; None without."""
        own = self._entries.get(subject.identity)
        return self._by_facts.get(facts_key(subject)) if own is None else own

    def _point(self, subject: Subject, space: Space[Any]) -> tuple[BestKnobs | None, Any]:
        """Return the best knobs of a kernel with their point; None if they are not in its space."""
        entry = self._entry(subject)
        if entry is None:
            return None, None
        knobs = point_with(space, entry.knobs)
        if knobs is None:
            self._warn(1, f"the knobs are not in the space of {entry.family}: {entry.knobs}")
            return None, None
        return entry, knobs

    def _warn(self, count: int, reason: str) -> None:
        _core.warn(
            "BadFile",
            f"{count} of the kernels of {self.name} {'is' if count == 1 else 'are'} not used: "
            f"{reason}",
            "tune them again, and export their best knobs: texloom db export --best",
        )


__all__ = ["TunedKnobs", "UsedKnobs", "facts_key", "subject_of"]
