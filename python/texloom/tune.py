"""Schedules with knobs that users declare: their spaces, their search, and the best knobs.

docs/tuning.md has an example. ``texloom tune SCRIPT.py`` tunes the functions that a script calls.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Generic, ParamSpec

from . import _core
from ._core import Device, Schedule, Tensor
from .checks.argument_kinds import kind_of
from .devices.lookup import name_of, present
from .errors import refuse
from .records.address import named_or_default
from .records.best_file import BestKnobs, write_best
from .records.foreign import family_of
from .target import Target, TargetValue, resolve, target_for
from .tuning.choices import Choices, Point, Rule
from .tuning.declared import best, best_of, collect, has_best, is_collecting
from .tuning.search import SEARCHES
from .tuning.session import EFFORTS, Progress, opened_session
from .tuning.splits import factors, splits
from .tuning.user_kernel import UserKernel, first_legal, user_kernel

P = ParamSpec("P")
Scheduled = tuple[Schedule, Sequence[Tensor]]

_TUNER = "space"


@dataclass(frozen=True)
class Outcome:
    """What a search has found.

    Attributes
    ----------
    knobs : mapping of str to Any
        The fastest ones.
    seconds, default_seconds : float or None
        With these knobs, and with the first ones of the space; None if no run succeeded.
    trials : int
        Made by this search; those of earlier ones are not measured again.
    failures : mapping of str to int
        Failed trials by class, such as ``"constraint"``.
    entries : sequence of BestKnobs
        What :meth:`save` writes.
    """

    knobs: Mapping[str, Any]
    seconds: float | None
    default_seconds: float | None
    trials: int
    failures: Mapping[str, int]
    entries: Sequence[BestKnobs]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the best knobs to a file, for :func:`best`. Raises OSError."""
        write_best(self.entries, Path(path))


class Space(Generic[P]):
    """A function that returns a schedule and its arguments, with a space of knobs.

    Calling it with the function's own arguments returns the schedule with the best known knobs
    (:func:`best`), otherwise with the first values; knobs may be given by name.

    Attributes
    ----------
    name : str
        The name under which records have it.
    """

    def __init__(
        self,
        function: Callable[..., Scheduled],
        name: str,
        knobs: Mapping[str, Any],
        rules: Mapping[str, Callable[..., bool]],
        version: int,
    ) -> None:
        self.name, self._function = name, function
        self._knobs, self._rules, self._version = knobs, rules, version
        functools.update_wrapper(self, function)

    def choices(self, *args: Any) -> Choices:
        """Return the space for some arguments of the function.

        Raises
        ------
        TVMError
            TL2040 for a knob whose values are no sequence.
        """
        return Choices(
            {name: _values(name, own, args) for name, own in self._knobs.items()},
            {name: _rule(own) for name, own in self._rules.items()},
        )

    def kernel(
        self, *args: Any, target: str | Target | TargetValue | None = None, seed: int = 0
    ) -> UserKernel:
        """Return the kernel that is tuned for some arguments. See :meth:`tune` for errors."""
        chosen = Target.current() if target is None else target
        return user_kernel(
            family_of(_TUNER, self.name),
            args,
            self.choices(*args),
            lambda point: self._scheduled(args, point, chosen),
            resolve(chosen),
            version=self._version,
            seed=seed,
        )

    def __call__(self, *args: Any, **knobs: Any) -> Scheduled:
        """Return the schedule and its arguments.

        Parameters
        ----------
        *args
            Of the function.
        **knobs
            Values of some knobs; others have the best known values, or their first ones.

        Raises
        ------
        TVMError
            TL2040 for an unknown knob, and for a space without legal points.
        """
        unknown = set(knobs) - set(self._knobs)
        if unknown:
            refuse(
                "BadArgument",
                f"{self.name} has no knob {min(unknown)!r}",
                f"its knobs are {', '.join(self._knobs)}",
            )
        point: Mapping[str, Any] = {}
        if set(knobs) != set(self._knobs):
            if has_best() or is_collecting():
                kernel = self.kernel(*args)
                collect(kernel)
                point = best_of(kernel) or kernel.searched.default
            else:
                point = first_legal(self.choices(*args))
        return self._function(*args, **{**point, **knobs})

    def tune(
        self,
        *args: Any,
        target: str | Target | None = None,
        device: Device | str | None = None,
        records: str | PathLike[str] | None = None,
        effort: str = "normal",
        trials: int | None = None,
        seconds: float | None = None,
        search: str = "model",
        seed: int = 0,
        show: Callable[[Progress], object] | None = None,
    ) -> Outcome:
        """Measure points of the space on a device; each trial is recorded as it is made.

        Parameters
        ----------
        *args
            Of the function: values of JSON, by which records know the task.
        target : str or Target, optional
            By default the current one, or else that of the device.
        device : Device or str, optional
            By default, the first one of the kind that the target is for.
        records : str or path, optional
            A database, as for ``texloom tune --db``.
        effort, trials, seconds, search, seed
            As the options of ``texloom tune``.
        show : callable, optional
            Is told the progress after each trial.

        Raises
        ------
        TVMError
            TL2040 for a space without legal points and for unknown names, TL5016 if a Python
            package is missing, and what the function raises with the first legal point.
        """
        searches = SEARCHES[_known(search, SEARCHES, "search")](seed)
        wanted = EFFORTS[_known(effort, EFFORTS, "effort")]
        wanted = replace(
            wanted,
            trials=wanted.trials if trials is None else trials,
            seconds=wanted.seconds if seconds is None else seconds,
        )
        if target is None and device is not None:
            target = target_for(None, device)
        kernel = self.kernel(*args, target=target, seed=seed)
        on = present(device or f"{_core.driver_of_kind(kernel.target.kind)}:0")
        database = named_or_default(None if records is None else fspath(records))
        with opened_session(name_of(on), database, None, searches, wanted, [kernel]) as session:
            count = session.run(show or (lambda _: None))
        searched = kernel.searched
        return Outcome(
            dict(searched.best),
            searched.best_seconds,
            searched.default_seconds,
            count,
            {kind.value: number for kind, number in kernel.failures.items()},
            session.best_knobs(),
        )

    def _scheduled(
        self, args: Sequence[Any], point: Point, target: str | Target | TargetValue | None
    ) -> Scheduled:
        if target is None or isinstance(target, TargetValue):
            return self._function(*args, **point)
        with Target(target):
            return self._function(*args, **point)


def space(
    name: str | None = None,
    *,
    rules: Mapping[str, Callable[..., bool]] | None = None,
    version: int = 1,
    **knobs: Any,
) -> Callable[[Callable[..., Scheduled]], Space[...]]:
    """Declare the knobs of a function that returns a schedule and its arguments.

    Parameters
    ----------
    name : str, optional
        The name under which records have it; by default, that of the function.
    rules : mapping of str to callable, optional
        What must hold, by what it says: called with the knobs by name. Points that break a rule are
        not built.
    version : int
        Increase it when a point means another schedule than before: then earlier records do not
        count.
    **knobs : sequence or callable
        The values of each knob, or a function of the arguments that returns them. The function is
        given one of them, by name. Values are numbers, texts or tuples of these.

    Examples
    --------
    >>> @space(rows=[1, 2, 4], rules={"rows divide n": lambda rows: 8 % rows == 0})
    ... def product(n, rows): ...
    """

    def decorate(function: Callable[..., Scheduled]) -> Space[...]:
        own = name or function.__name__
        if not knobs:
            refuse("BadArgument", f"{own} has no knobs", "give values: rows=[1, 2, 4]")
        return Space(function, own, knobs, rules or {}, version)

    return decorate


def _values(name: str, own: Any, args: Sequence[Any]) -> Sequence[Any]:
    values = own(*args) if callable(own) else own
    if isinstance(values, (str, Mapping)) or not hasattr(values, "__iter__"):
        refuse(
            "BadArgument",
            f"the values of the knob {name!r} are {kind_of(values)}, not a sequence",
            f"list them: {name}=[1, 2, 4]",
        )
    return tuple(values)


def _rule(own: Callable[..., bool]) -> Rule:
    return lambda point: bool(own(**point))


def _known(name: str, known: Mapping[str, Any], what: str) -> str:
    if name not in known:
        refuse("BadArgument", f"there is no {what} {name!r}", f"it is one of {', '.join(known)}")
    return name


__all__ = ["Outcome", "Space", "best", "factors", "space", "splits"]
