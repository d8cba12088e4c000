"""Kernels that users schedule by functions of knobs, as kernels of a tuning run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import inf
from typing import Any, ClassVar

from .. import te
from .._core import Program, Schedule, TargetValue, Tensor
from ..building import lower, program
from ..errors import refuse
from ..measure.loop import Sampling
from ..ops.schedules import schedule_default
from ..records import Failure, Kind, Subject
from ..records.trial import canonical, digest_of
from .choices import Choices, Drawing, Drawn, Point
from .device_process import Request
from .kernel_build import Build
from .program_trial import UserProgram
from .search import Searched
from .tuned import Tuned

Make = Callable[[Point], tuple[Schedule, Sequence[Tensor]]]
"""Makes the schedule of a point, and lists its arguments."""
_BEST = 3
"""Fastest points whose neighbors are drawn from a large space."""
_TRIES = 1 << 16
"""Points of a space that are tried to find a legal one."""
_MOST_REFUSED = 64
"""Legal points that a user's function may refuse before it accepts one."""


@dataclass
class DrawnSearched(Searched):
    """A space that may be too large to be listed: a search sees points that are drawn."""

    drawing: Drawing = field(kw_only=True)

    @property
    def size(self) -> int:
        """The number of points, with those that break rules."""
        return self.drawing.length

    def values_of(self, knobs: Point) -> Mapping[str, Any]:
        """Return the values of knobs by name."""
        return knobs

    def with_values(self, knobs: Point, values: Mapping[str, Any]) -> Point | None:
        """Return a point with these values, other knobs unchanged; None if it is not legal."""
        point = Point({**knobs, **values})
        return point if self.drawing.has(point) else None

    def draw(self, is_ordered: bool) -> None:
        """Draw points: all, if they are few; neighbors of the fastest ones are among them."""
        if len(self.space) and self.drawing.has_all:
            return
        if is_ordered:
            self.space = self.drawing.all_in_order()
            return
        known = [each for each, seconds in self.trials.items() if seconds]
        known.sort(key=lambda each: self.seconds_of(each) or 0.0)
        self.space = self.drawing.at_random(known[:_BEST])


@dataclass
class UserKernel(Tuned):
    """A kernel that a user schedules.

    Attributes
    ----------
    searched : DrawnSearched
    make : callable
    target : TargetValue
    expected_program : str or None
        A program with the outputs that points must have; None if they are not compared.
    """

    searched: DrawnSearched
    make: Make = field(kw_only=True)
    target: TargetValue = field(kw_only=True)
    expected_program: str | None = field(kw_only=True)

    needs_default: ClassVar[bool] = False

    def point_of(self, values: Any) -> Point | None:
        """Return the legal point with these values of knobs; None if the space has none."""
        choices = self.searched.drawing.choices
        index = choices.index(values)
        point = None if index is None else choices.point(index)
        return None if point is None or choices.broken(point) is not None else point

    def program(self, knobs: Point) -> UserProgram:
        """Return the program of a point, for another process.

        Whatever the user's function raises is raised here.
        """
        text = str(_program(*self.make(knobs), self.target))
        return UserProgram(text, self.expected_program)

    def request(self, knobs: Point, sampling: Sampling, hopeless_seconds: float = inf) -> Request:
        """Return the trial of a point; one that will fail if the user's function fails."""
        request = super().request(knobs, sampling, hopeless_seconds)
        try:
            return replace(request, program=self.program(knobs))
        except Exception as error:
            return replace(request, build=refused(error))


def refused(error: Exception) -> Build:
    """Return the build of a point that the user's function, or Texloom, refuses."""
    return Build(None, failure=Failure.CONSTRAINT, message=_reason_of(error))


def _reason_of(error: Exception) -> str:
    """Return the first line of an error's message, with its type unless it is a diagnostic."""
    text = str(error).partition("\n")[0]
    return text if text.startswith("error[") else f"{type(error).__name__}: {text}"


def _first_made(choices: Choices, make: Make) -> tuple[Point, Schedule, Sequence[Tensor]]:
    """Return the first legal point with which a user's function returns a schedule, and that."""
    first = first_legal(choices)
    for point in islice(_legal(choices), _MOST_REFUSED):
        made = _made(make, point)
        if made is not None:
            return point, *made
    return first, *make(first)  # which raises what is wrong


def _made(make: Make, point: Point) -> tuple[Schedule, Sequence[Tensor]] | None:
    try:
        return make(point)
    except Exception:  # a user's function refuses knobs by any exception
        return None


def _legal(choices: Choices) -> Iterator[Point]:
    points = map(choices.point, range(min(choices.size, _TRIES)))
    return (each for each in points if choices.broken(each) is None)


def first_legal(choices: Choices) -> Point:
    """Return the first legal point.

    Raises
    ------
    TVMError
        TL2040 if there is none, or if none is found among many.
    """
    found = next(_legal(choices), None)
    if found is None:
        cut = choices.drawn(range(min(choices.size, _TRIES))).cut
        rule, number = max(cut.items(), key=lambda each: each[1], default=("", 0))
        which = "" if choices.size <= _TRIES else f"first {_TRIES:,} of the "
        refuse(
            "BadArgument",
            f"no point of the {which}{choices.size:,} is legal: {rule!r} leaves out {number:,}"
            if cut
            else "a knob has no values, so that the space has no points",
            "give knobs more values, or weaken a rule",
        )
    return found


def user_kernel(
    name: str,
    facts: Sequence[Any],
    choices: Choices,
    make: Make,
    target: TargetValue,
    *,
    version: int = 1,
    seed: int = 0,
    limits: tuple[int, int] | None = None,
) -> UserKernel:
    """Return the kernel of a user's function with some arguments, of which nothing is measured.

    Parameters
    ----------
    name : str
        The family of its records.
    facts : sequence
        The arguments, as values of JSON. They and the computation identify the task.
    choices : Choices
    make : callable
    target : TargetValue
    version : int
        Of the schedule: records of other versions do not count.
    seed : int
        Of the points that are drawn from a large space.
    limits : pair of int, optional
        The numbers of the first and the last point that may be measured.

    Raises
    ------
    TVMError
        TL2040 for a space without legal points; whatever `make` raises with the first point, if it
        does so with dozens of others.
    """
    default, s, args = _first_made(choices, make)
    plain = te.create_schedule([each.op for each in args if _is_output(each)])
    text = str(_program(plain, args, target))
    subject = Subject(
        Kind.KERNEL, digest_of(text), text, str(target), name, canonical(list(facts)), version
    )
    drawing = Drawing(choices, seed, *(limits or ()))
    searched = DrawnSearched((name, tuple(facts)), Drawn((), {}), default, drawing=drawing)
    expected = _expected_program(s, args, target)
    return UserKernel(subject, searched, 1, {}, make=make, target=target, expected_program=expected)


def _is_output(tensor: Tensor) -> bool:
    return isinstance(tensor, Tensor) and not isinstance(tensor.op, te.PlaceholderOp)


def _program(s: Schedule, args: Sequence[Tensor], target: TargetValue) -> Program:
    if not all(isinstance(each, Tensor) for each in args):
        refuse(
            "BadArguments",
            "an argument is a variable: only tensors of known shapes are measured",
            "give the function of the schedule numbers for all extents",
        )
    return program(s, list(args), target=target)


def _expected_program(s: Schedule, args: Sequence[Tensor], target: TargetValue) -> str:
    """Return a program with the outputs that all schedules of a computation must have.

    Its schedule is the default one of operators; if that does not suit the computation, the given
    one.
    """
    outputs = [each for each in args if _is_output(each)]
    inputs = [each for each in args if not _is_output(each)]
    try:
        own = schedule_default(outputs, inputs, ["global"] * len(args), target)
        made = _program(own, args, target)
        lower(made)
    except Exception:  # it is made for operators of networks, and may not know this computation
        made = _program(s, args, target)
    return str(made)


__all__ = ["DrawnSearched", "Make", "UserKernel", "first_legal", "refused", "user_kernel"]
