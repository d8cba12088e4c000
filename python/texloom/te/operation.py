"""Placeholders, computes, axes and schedules."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from .. import _core
from .._core import IterVar, Operation, Schedule, Tensor
from ..checks.argument_kinds import shown
from ..checks.checked_calls import check_calls
from ..dtypes import DType
from ..errors import ComputeFunctionError, refuse
from ..tvm.ir import Range
from .attributes import Attributes, call_of
from .intrinsic_call import IntrinsicCall
from .tag import tag_of


def _extents(shape: Any) -> tuple[Any, ...]:
    if isinstance(shape, str):
        refuse(
            "BadArgument",
            f"the shape of a tensor is {shape!r}, not a list of extents",
            'write the extents first: te.placeholder((4, 4), "float32", "A")',
        )
    if isinstance(shape, np.ndarray) and shape.ndim == 1:
        return tuple(shape.tolist())
    return tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)


def placeholder(shape: Any, dtype: DType | None = None, name: str = "placeholder") -> Tensor:
    """Declare an input tensor.

    Parameters
    ----------
    shape : int or sequence of int
        Extents, all positive.
    dtype : str or NumPy dtype, optional
        Element type; float32 by default.
    name : str
        The name used in messages, texts and kernel arguments.

    Raises
    ------
    TVMError
        TL1001 for an extent that is not positive, TL1005 for an unknown dtype.
    """
    return _core.placeholder(_extents(shape), "float32" if dtype is None else dtype, name)


def compute(
    shape: Any,
    fcompute: Callable[..., Any],
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
    varargs_names: Sequence[str] | None = None,
) -> Any:
    """Define a tensor by a function of its indices.

    Parameters
    ----------
    shape : int or sequence of int
        Extents, all positive; floats are truncated to integers.
    fcompute : callable
        Takes one index for each extent and returns an expression, or a list of them; its parameters
        name the axes (``*i``: i0, i1, ...). Parameters with defaults, after those of all axes, keep
        the defaults: ``lambda i, p=p: p[i] + 1``. Trailing extents without a parameter are dropped;
        if `fcompute` returns a call of a tensor intrinsic, these are the extents that the intrinsic
        computes. A reduction such as ``te.sum`` must be the outermost expression.
    name : str
        The name used in messages, texts and stages.
    tag : str
        A tag, which is stored and shown; by default the tag of an enclosing ``te.tag_scope``.
    attrs : mapping, optional
        Numbers, strings and lists of them, stored as the operation's ``attrs``.
    varargs_names : sequence of str, optional
        Names for the indices that ``*i`` takes.

    Returns
    -------
    Tensor or tuple of Tensor
        A tuple if the function returns several expressions, the outputs of one operation.

    Raises
    ------
    TVMError
        TL1001 for a bad shape, TL1004 for a nested reduction, TL1007 for a function that does not
        take the axes or return expressions (also an ``AssertionError`` if its parameters are
        wrong).
    """
    whole = [int(n) if isinstance(n, float) and math.isfinite(n) else n for n in _extents(shape)]
    extents = _core.check_shape(whole, name)
    names = _axis_names(fcompute, len(extents), name, varargs_names)
    axes = [
        _core.data_axis(axis, extent)
        for axis, extent in zip(names, extents[: len(names)], strict=True)
    ]
    body = _body_of(fcompute, axes, name)
    values = list(body) if isinstance(body, (list, tuple)) else [body]
    if any(isinstance(value, np.ndarray) for value in values):
        refuse(
            "BadComputeBody",
            f"the function of '{name}' returns a NumPy array, not an expression",
            _PASS_THE_ARRAY,
        )
    kept = None if attrs is None else Attributes(attrs)
    if isinstance(body, IntrinsicCall):
        kept = Attributes({}) if kept is None else kept
        kept.call = body.applied(extents[len(names) :])
        axes, values = axes + kept.call.data_axes, kept.call.values
    outputs = _core.compute(name, tag_of(tag), axes, values, kept)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


_PASS_THE_ARRAY = "pass the array to the kernel: read a te.placeholder in the function"


def _body_of(fcompute: Callable[..., Any], axes: Sequence[IterVar], name: str) -> Any:
    try:
        return fcompute(*(axis.var for axis in axes))
    except IndexError as error:
        # NumPy's message for an index that is an expression begins with these words.
        if not str(error).startswith("only integers, slices"):
            raise
        refuse(
            "BadComputeBody",
            f"the function of '{name}' indexes a NumPy array by an axis",
            _PASS_THE_ARRAY,
        )


def _axis_names(
    fcompute: Callable[..., Any], count: int, tensor: str, varargs_names: Sequence[str] | None
) -> list[str]:
    if varargs_names is None and (plain := _plain_axis_names(fcompute, count)):
        return plain
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names: list[str] = []
    defaults: list[str] = []  # parameters with defaults that could also take axes
    takes_rest = False
    try:
        parameters = inspect.signature(fcompute).parameters
    except (TypeError, ValueError):  # a built-in function
        _refuse_function(tensor, "has parameters that Python cannot inspect", count)
    for parameter in parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            takes_rest = True
            left = count - len(names)
            if varargs_names is not None and len(varargs_names) != left:
                named = len(names) + len(varargs_names)
                problem = f"names {_axes(named)} with varargs_names"
                _refuse_function(tensor, problem, count)
            names += varargs_names or [f"{parameter.name}{i}" for i in range(left)]
        elif parameter.default is not inspect.Parameter.empty:
            defaults += [parameter.name] if parameter.kind in positional else []
        elif parameter.kind in positional:
            names.append(parameter.name)
        else:
            _refuse_function(tensor, f"has the parameter '{parameter}'", count)
    if len(names) > count:
        _refuse_function(tensor, f"takes {_axes(len(names))}", count)
    if defaults and (takes_rest or len(names) < count):
        _refuse_function(
            tensor,
            f"gives the parameter '{defaults[0]}' a default",
            count,
            "name every axis before the parameters with defaults: lambda i, j, p=p: p[i, j]",
        )
    return names


def _plain_axis_names(function: Callable[..., Any], count: int) -> list[str]:
    """Return a name for each axis if the function takes them by position, with no other parameters.

    Otherwise return an empty list: the caller then inspects the signature, which takes longer than
    the rest of a small compute.
    """
    if not inspect.isfunction(function) or hasattr(function, "__wrapped__"):
        return []
    code = function.__code__
    if code.co_kwonlyargcount or code.co_flags & inspect.CO_VARKEYWORDS or function.__defaults__:
        return []
    names = list(code.co_varnames[: code.co_argcount])
    left = count - len(names)
    if code.co_flags & inspect.CO_VARARGS and left >= 0:
        return names + [f"{code.co_varnames[code.co_argcount]}{i}" for i in range(left)]
    return names if left == 0 else []


def _axes(count: int) -> str:
    return f"{count} {'axis' if count == 1 else 'axes'}"


def _refuse_function(
    tensor: str,
    problem: str,
    axes: int,
    help_text: str = "give it one parameter for each axis of the shape",
) -> NoReturn:
    message = f"the function of '{tensor}' {problem}, but is called with {_axes(axes)}"
    refuse("BadComputeBody", message, help_text, ComputeFunctionError)


def _ends(dom: Any, function: str, example: str) -> tuple[Any, Any]:
    """Return the begin and the end of a domain."""
    if isinstance(dom, Range):
        return dom.min, dom.min + dom.extent
    if isinstance(dom, (list, tuple)) and len(dom) == 2:
        return dom[0], dom[1]
    refuse(
        "BadArgument",
        f"{function}: dom is {shown(dom)}, neither a pair nor a Range",
        f"give its begin and its end: {example}",
    )


def reduce_axis(dom: Any, name: str = "rv", thread_tag: str = "") -> IterVar:
    """Return an axis to reduce over.

    Parameters
    ----------
    dom : (int, int) or Range
        The first index, and one past the last. The ends may be symbols, and inside the function of
        ``te.compute`` expressions of the axes.
    name : str
        The name used in messages and texts.
    thread_tag : str
        Must be empty: a schedule binds the axis.

    Raises
    ------
    TVMError
        TL1001 for an empty range, TL2006 for a thread, TL2040 for a domain of another kind.
    """
    if thread_tag:
        refuse(
            "BadThreadAxis",
            f"reduce_axis is given the thread {thread_tag!r}",
            "bind the axis in the schedule: s[C].bind(axis, te.thread_axis(tag))",
        )
    begin, end = _ends(dom, "reduce_axis", 'te.reduce_axis((0, n), name="k")')
    return _core.reduce_axis(begin, end, name)


def thread_axis(dom: Any = None, tag: str = "", name: str = "") -> IterVar:
    """Return a thread axis: ``blockIdx.x`` to ``z``, ``threadIdx.x`` to ``z``, or ``vthread``.

    Each call makes a new object. In a kernel, all axes with one tag are one index, except that
    different virtual thread objects are always distinct.

    Parameters
    ----------
    dom : (int, int) or Range, optional
        Sets only ``.dom``: the number of threads is the extent of the loop that is bound to the
        axis. A string is the tag.
    tag : str
        The tag.
    name : str
        Accepted for compatibility.

    Raises
    ------
    TVMError
        TL2006 for a missing or unknown tag, TL2040 for a domain of another kind.
    """
    del name
    if isinstance(dom, str):
        dom, tag = None, dom
    if not tag:
        refuse("BadThreadAxis", "a thread axis has no tag", "give a tag, such as 'blockIdx.x'")
    if dom is None:
        return _core.thread_axis(tag)
    begin, end = _ends(dom, "thread_axis", 'te.thread_axis((0, n), "threadIdx.x")')
    return _core.thread_axis(tag, begin, end)


def create_schedule(ops: Operation | Tensor | Sequence[Operation | Tensor]) -> Schedule:
    """Create a schedule of these outputs and everything they read, with all stages at the root.

    Computes that call tensor intrinsics are already tensorized.

    Parameters
    ----------
    ops : Operation, Tensor or sequence of them
        The outputs.

    Raises
    ------
    TVMError
        TL2041 without outputs, TL2040 for a value that is not an operation.
    """
    s = _core.create_schedule(ops)
    for stage in s.stages:
        call = call_of(stage.op)
        if call is not None:
            call.tensorize(stage)
    return s


__all__ = [
    "compute",
    "create_schedule",
    "placeholder",
    "reduce_axis",
    "thread_axis",
]
check_calls(globals())
