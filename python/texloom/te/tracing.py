"""``Schedule.trace``: the calls that made a schedule, as a script."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from .. import _core
from .._core import Expr, IterVar, Operation, Schedule, Stage, Tensor, TensorIntrin
from ..checks.checked_calls import check_methods, refuse_call
from ..tir.op import var
from . import intrinsic, intrinsic_call  # noqa: F401 (the directives they add are traced)
from .directive_arguments import PARAMETERS, check_arguments
from .layouts import AXIS_SEPARATOR, axis_names, mapped

SCHEDULE_DIRECTIVES = ("cache_read", "cache_write", "rfactor")
STAGE_DIRECTIVES = [name for name in PARAMETERS if name not in SCHEDULE_DIRECTIVES]
# These directives move axes to other stages, or call a function whose result may change. Calls up
# to and including such a call are written before it runs.
_WRITTEN_AT_ONCE = (*SCHEDULE_DIRECTIVES, "transform_layout")


def _stages(s: Schedule) -> Iterator[Stage]:
    """Return the stages of the schedule, looked up only when needed."""
    yield from s.stages


class _Call(NamedTuple):
    """A call of a directive that succeeded, and its result."""

    on: Stage | Schedule
    name: str
    args: Sequence[Any]
    options: Mapping[str, Any]
    result: Any


class Trace:
    """The calls and lines of one schedule, and the names of its tensors and axes.

    Few schedules are asked for their traces, so calls are kept as they are and written as lines
    when the trace is read.
    """

    def __init__(self) -> None:
        self.calls: list[_Call] = []  # calls after the lines, not yet written
        self.lines: list[str] = []
        self.tensors: dict[Operation, str] = {}
        self.axes: dict[IterVar, str] = {}
        self.mentioned: list[Stage] = []  # stages whose axes the current call probably names
        self.used: set[str] = {"s", "te"}

    def write(self, s: Schedule) -> None:
        """Write the calls as lines."""
        calls, self.calls = self.calls, []
        for each in calls:
            self.add_line(self.call(s, each.on, each.name, each.args, each.options), each.result)

    def call(
        self,
        s: Schedule,
        on: Stage | Schedule,
        name: str,
        args: Sequence[Any],
        options: Mapping[str, Any],
    ) -> str:
        """Return the source text of a call."""
        self.mentioned = [each for each in (on, *args) if isinstance(each, Stage)]

        def value(each: Any) -> str:
            if name == "transform_layout":
                return self.layout_function(on, each)
            return self.value(s, each)

        shown = [value(each) for each in args]
        shown += [f"{option}={value(each)}" for option, each in options.items()]
        target = "s" if on is s else self.value(s, on)
        return f"{target}.{name}({', '.join(shown)})"

    def add_line(self, call: str, result: Any) -> None:
        """Add a call, whose result gets a name."""
        assigned = "" if result in (None, []) else self.result(result) + " = "
        self.lines.append(assigned + call)

    def copy(self, s: Schedule) -> Trace:
        """Return a copy of the trace of `s`, for a copy of the schedule."""
        self.write(s)
        other = Trace()
        other.lines, other.used = list(self.lines), set(self.used)
        other.tensors, other.axes = dict(self.tensors), dict(self.axes)
        return other

    def new_name(self, stem: str) -> str:
        """Return an identifier that no line uses yet."""
        stem = re.sub(r"\W", "_", stem)
        if not stem or stem[0].isdigit():
            stem = "_" + stem
        name, count = stem, 1
        while name in self.used:
            count += 1
            name = f"{stem}_{count}"
        self.used.add(name)
        return name

    def tensor(self, op: Operation) -> str:
        """Return a name for a user's tensor: its own name, if no other line uses it."""
        if op not in self.tensors:
            self.tensors[op] = self.new_name(op.name)
        return self.tensors[op]

    def axis(self, s: Schedule, axis: IterVar) -> str:
        """Return the text of an axis: a variable, or its position among an operation's axes."""
        if axis in self.axes:
            return self.axes[axis]
        if tag := axis.thread_tag:  # not an axis of a stage
            name = self.axes[axis] = self.new_name(tag)
            self.lines.append(f'{name} = te.thread_axis("{tag}")')
            return name
        for stage in chain(self.mentioned, _stages(s)):
            for attribute in ("axis", "reduce_axis"):
                for i, own in enumerate(getattr(stage.op, attribute)):
                    if own.same_as(axis):
                        return f"{self.value(s, stage)}.op.{attribute}[{i}]"
            if stage.op._kind == "scan" and stage.op.scan_axis.same_as(axis):
                return f"{self.value(s, stage)}.op.scan_axis"
        return axis.name  # not an axis of a stage: the directive refuses it

    def value(self, s: Schedule, value: Any) -> str:
        """Return the source text of an argument."""
        if isinstance(value, Stage):
            return f"s[{self.tensor(value.origin_op)}]"
        if isinstance(value, Tensor):
            return self.tensor(value.op)
        if isinstance(value, Operation):
            return self.tensor(value) + ".op"
        if isinstance(value, IterVar):
            return self.axis(s, value)
        if isinstance(value, TensorIntrin):
            return value.name
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(self.value(s, each) for each in value) + "]"
        if isinstance(value, Expr):
            return re.sub(r"threadIdx\.[xyz]", lambda tag: self.thread(tag[0]) + ".var", str(value))
        return repr(value)

    def layout_function(self, stage: Stage, function: Callable[..., Any]) -> str:
        """Return the source text of the function that was passed to ``transform_layout``."""
        axes = [var(f"d{i}") for i in range(len(axis_names(function, stage._layout_rank)))]
        entries = [
            "te.AXIS_SEPARATOR"
            if entry is AXIS_SEPARATOR
            else re.sub(r"\b(floordiv|floormod)\(", r"te.\1(", str(entry))
            for entry in mapped(function, axes)
        ]
        return f"lambda {', '.join(map(str, axes))}: [{', '.join(entries)}]"

    def thread(self, tag: str) -> str:
        """Return the name of the thread axis with this tag; there is one for each tag."""
        for known, name in self.axes.items():
            if known.thread_tag == tag:
                return name
        name = self.axes[_core.thread_axis(tag)] = self.new_name(tag)
        self.lines.append(f'{name} = te.thread_axis("{tag}")')
        return name

    def result(self, value: Any) -> str:
        """Return names for the results of a call, as the target of an assignment."""
        if isinstance(value, Tensor):
            return self.tensor(value.op)
        if isinstance(value, IterVar):
            name = self.new_name(value.name)
            self.axes[value] = name
            return name
        names = [self.result(each) for each in value]
        return ", ".join(names) + ("," if len(names) == 1 else "")


def _trace_of(s: Schedule) -> Trace:
    if not hasattr(s, "_trace"):
        s._trace = Trace()
    return s._trace


def _traced(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    at_once = name in _WRITTEN_AT_ONCE

    @functools.wraps(method)
    def call(self: Stage | Schedule, *args: Any, **options: Any) -> Any:
        check_arguments(name, self, args, options)
        s = self if isinstance(self, Schedule) else self._schedule
        trace = _trace_of(s)
        line = None
        if at_once:
            trace.write(s)
            line = trace.call(s, self, name, args, options)
        try:
            result = method(self, *args, **options)
        except TypeError as error:
            refuse_call(error, method, (self, *args), options)
        if line is None:
            kept = [list(each) if isinstance(each, list) else each for each in args]
            trace.calls.append(_Call(self, name, kept, options, result))
        else:
            trace.add_line(line, result)
        return result

    return call


def _normalized(method: Callable[[Schedule], Schedule]) -> Callable[[Schedule], Schedule]:
    @functools.wraps(method)
    def call(self: Schedule) -> Schedule:
        copy = method(self)
        copy._trace = _trace_of(self).copy(self)
        return copy

    return call


def _trace(self: Schedule) -> str:
    """Return the directives called so far, as a script that repeats them.

    The script begins with ``create_schedule``; the user's tensors are variables with the tensors'
    names.
    """
    trace = _trace_of(self)
    trace.write(self)
    outputs = ", ".join(
        f"{trace.tensor(stage.origin_op)}.op" for stage in self.stages if stage.is_output
    )
    return "\n".join([f"s = te.create_schedule([{outputs}])", *trace.lines]) + "\n"


for _name in STAGE_DIRECTIVES:
    setattr(Stage, _name, _traced(_name, getattr(Stage, _name)))
for _name in SCHEDULE_DIRECTIVES:
    setattr(Schedule, _name, _traced(_name, getattr(Schedule, _name)))
Schedule.normalize = _normalized(Schedule.normalize)
Schedule.trace = _trace
check_methods(Schedule, Stage, but=PARAMETERS)

__all__ = ["Trace"]
