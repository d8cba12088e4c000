"""Calls of the functions that compute and schedule a node.

Errors in these functions are reported with the name of the node.
"""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

from .. import _core, extents, te
from .._core import Schedule, TargetValue, Tensor
from ..building import program
from ..checks.argument_kinds import kind_of
from ..errors import InternalError, TVMError, refuse, with_note
from ..tir import PrimExpr
from ..tir.buffer import Buffer, decl_buffer
from .tensor import GraphTensor

Compute = Callable[..., "Tensor | Sequence[Tensor]"]
"""Computes the outputs of a node from tensors that stand for its inputs."""

ScheduleFunction = Callable[[list[Tensor], list[Tensor], tuple[str, ...], TargetValue], Schedule]
"""``schedule(outputs, inputs, scopes, target)``: a schedule for inputs, then outputs, in these
scopes."""

_BAD = "BadNodeFunction"
_SCHEDULE_CALL = ("outputs", "inputs", "scopes", "target")


def _check_parameters(what: str, function: Any, parameters: Sequence[str]) -> None:
    """Refuse a function that cannot be called with these parameters; `what` is its name."""
    call = f"f({', '.join(parameters)})"
    if not callable(function):
        refuse(_BAD, f"{what} is {kind_of(function)}, not a function", f"define one: def {call}")
    try:
        inspect.signature(function).bind(*parameters)
    except ValueError:
        pass  # a built-in function, whose parameters Python cannot inspect
    except TypeError as error:
        refuse(_BAD, f"{what} cannot be called as {call}: {error}", f"define it as def {call}")


def _called(what: str, function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a function with the values of `arguments`, whose keys are the names in messages.

    Errors name the function as `what`.
    """
    try:
        return function(*arguments.values())
    except (InternalError, Warning):
        raise
    except Exception as error:
        failure = error
    symbols: Locals | None = getattr(_CURRENT, "symbols", None)
    if type(failure) is ValueError and symbols is not None:
        failure = symbols.in_graphs_words(failure)
    if isinstance(failure, TypeError):  # perhaps a wrong number of arguments
        _check_parameters(what, function, list(arguments))
    if isinstance(failure, TVMError):
        raise with_note(failure, f"in {what}") from None
    trace = failure.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f", at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""
    message = f"{what} raised {type(failure).__name__}: {failure}{place}"
    try:
        refuse(_BAD, message, "correct the function at the place of the exception")
    except TVMError as refusal:
        raise refusal from failure


class Locals:
    """The symbols of one node's computation.

    Each distinct extent of the inputs that is not a constant becomes one local symbol, whose name
    is independent of the graph. So nodes that differ only in the sizes of their tensors are equal,
    and indices are short. Other symbols of the graph that occur in the computation are passed to
    kernels as numbers.

    Attributes
    ----------
    placeholders : list of Tensor
        Placeholders for the inputs; their names are independent of the graph, too.
    """

    def __init__(self, inputs: Sequence[GraphTensor]) -> None:
        self._own: dict[Any, Any] = {}  # local symbols, by extents of the graph
        self._given: dict[str, Any] = {}
        for tensor in inputs:
            for extent in tensor.shape:
                if not isinstance(extent, int):
                    self._own.setdefault(extent, extents.symbol(f"_s{len(self._own)}"))
        self._back = {own: extent for extent, own in self._own.items()}
        self.placeholders = [
            te.placeholder([self.of(e) for e in t.shape], t.dtype, name=f"in{i}")
            for i, t in enumerate(inputs)
        ]

    def of(self, extent: Any) -> Any:
        """Express an extent of the graph in the computation's local symbols."""
        own = extents.rewritten(extent, self._own)
        for name, symbol in extents.symbols_of(own).items():
            if symbol not in self._back:
                self._given[name] = symbol
        return own

    def in_graph(self, extent: Any) -> Any:
        """Express an extent of the computation in the graph's symbols."""
        return extents.rewritten(extents.plain(extent), self._back)

    def shape_in_graph(self, tensor: Tensor) -> list[Any]:
        """Return the shape in the graph of a tensor of the computation."""
        return [self.in_graph(extent) for extent in tensor.shape]

    @property
    def given(self) -> list[Any]:
        """The symbols of the graph that are passed to kernels as numbers, sorted by name."""
        return [symbol for _, symbol in sorted(self._given.items())]

    @contextmanager
    def computing(self) -> Iterator[list[extents.Condition]]:
        """Make :func:`computed` use these symbols; collect the conditions on extents."""
        outer = getattr(_CURRENT, "symbols", None)
        _CURRENT.symbols = self
        try:
            with extents.collected() as conditions:
                yield conditions
        finally:
            _CURRENT.symbols = outer

    def function(self, compute: Compute) -> Compute:
        """Return the function with extents among its keyword arguments mapped to local symbols."""
        if not isinstance(compute, partial) or not compute.keywords:
            return compute
        return partial(compute.func, *compute.args, **self._localized(compute.keywords))

    def in_graphs_words(self, error: ValueError) -> ValueError:
        """Return an error whose text names extents of the graph in place of local symbols."""
        named = {str(own): str(extent) for own, extent in self._back.items()}
        text = re.sub(r"\b_s\d+\b", lambda m: named.get(m[0], m[0]), str(error))
        return ValueError(text).with_traceback(error.__traceback__)

    def _localized(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._localized(each) for key, each in value.items()}
        if type(value) in (list, tuple):
            return type(value)(self._localized(each) for each in value)
        if is_dataclass(value) and not isinstance(value, type):
            own = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
            return replace(value, **self._localized(own))
        return self.of(value) if isinstance(value, PrimExpr) else value


_CURRENT = threading.local()  # the symbols of the node that is being computed


def computed(node: str, compute: Compute, placeholders: Sequence[Tensor]) -> list[Tensor]:
    """Return the outputs of a node.

    Raises
    ------
    TVMError
        TL3042 for a function that does not take the inputs, that raises, or that returns no tensors
        or an input. Diagnostics raised inside the function get a note that names the node.
    """
    what = f"the function that computes the node {node!r}"
    symbols: Locals | None = getattr(_CURRENT, "symbols", None)
    if symbols is not None:
        compute = symbols.function(compute)
    made = _called(what, compute, {f"x{i}": each for i, each in enumerate(placeholders)})
    outputs = list(made) if isinstance(made, (list, tuple)) else [made]
    for each in outputs or [made]:
        if not isinstance(each, Tensor):
            refuse(
                _BAD,
                f"{what} returns {kind_of(each)} in place of a tensor",
                "return what te.compute returns, or a list of such tensors",
            )
        if sum(each is other for other in outputs) > 1:
            refuse(
                _BAD,
                f"{what} returns the tensor {each.name!r} twice",
                "return each tensor once, and use the output of the node twice",
            )
        if any(each is given for given in placeholders):
            refuse(
                _BAD,
                f"{what} returns its input, which no kernel computes",
                "use the input itself in place of the node, or return a copy: "
                "te.compute(x.shape, lambda *i: x(*i))",
            )
        if isinstance(each.op, te.PlaceholderOp):
            refuse(
                _BAD,
                f"{what} returns the placeholder {each.name!r}, which is none of its inputs, so "
                "it has no values",
                "return what te.compute returns",
            )
    return outputs


def check_schedule(node: str, schedule: ScheduleFunction) -> None:
    """Check that the schedule function of a node can be called.

    Raises
    ------
    TVMError
        TL3042 for a function with another number of parameters.
    """
    _check_parameters(f"the schedule function of the node {node!r}", schedule, _SCHEDULE_CALL)


def _declared(tensor: Tensor, storage: str) -> Buffer:
    """Return the buffer of an argument, given its scope or the text of its layout."""
    if storage.endswith("]"):
        scope = "texture" if storage.startswith("texture") else "global"
        return decl_buffer(tensor.shape, tensor.dtype, scope=scope, layout=storage)
    return decl_buffer(tensor.shape, tensor.dtype, scope=storage)


def scheduled(
    whose: str,
    schedule: ScheduleFunction,
    computation: _core._Computation,
    scopes: tuple[str, ...],
    target: TargetValue,
) -> _core.Program:
    """Return a schedule for one combination of scopes, with its arguments declared.

    `whose` names the owner in messages, such as "the node 'y'". The core names the kernels.

    Raises
    ------
    TVMError
        TL3042 for a function that raises or that returns no schedule. Diagnostics raised inside the
        function get a note that names the node.
    """
    inputs, outputs = computation.inputs, computation.outputs
    what = f"the schedule function of {whose} for the scopes {scopes}"
    given = dict(zip(_SCHEDULE_CALL, (outputs, inputs, scopes, target), strict=True))
    made = _called(what, schedule, given)
    if not isinstance(made, Schedule):
        refuse(
            _BAD,
            f"{what} returns {kind_of(made)}, not a schedule",
            "return the schedule: s = te.create_schedule(outputs[0].op); ...; return s",
        )
    arguments = [*inputs, *outputs]

    def declared() -> _core.Program:
        binds = {
            tensor: _declared(tensor, storage)
            for tensor, storage in zip(arguments, scopes, strict=True)
        }
        return program(made, [*arguments, *computation.symbols], "node", binds, target=target)

    try:
        return declared()
    except TVMError as error:
        raise with_note(error, f"in {whose} for the scopes {scopes}") from None


__all__ = [
    "Compute",
    "Locals",
    "ScheduleFunction",
    "check_schedule",
    "computed",
    "scheduled",
]
