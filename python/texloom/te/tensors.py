"""Placeholders, computes, axes and schedules."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from .._core import Expr, IterVar, Operation, Schedule, Tensor


def _shape(shape: Any) -> tuple[Any, ...]:
    return tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)


def placeholder(shape: Any, dtype: str | None = None, name: str = "placeholder") -> Tensor:
    """An input tensor.

    Parameters
    ----------
    shape : int or sequence of int
        Extents, all positive.
    dtype : str, optional
        Element type; float32 by default.
    name : str
        For messages, texts and kernel arguments.

    Raises
    ------
    TVMError
        TL1001 for an extent that is not positive, TL1005 for an unknown dtype.
    """
    return _core.placeholder(_shape(shape), dtype or "float32", name)


def compute(
    shape: Any, fcompute: Callable[..., Any], name: str = "compute", tag: str = ""
) -> Tensor:
    """A tensor whose elements are given by a function of their indices.

    Parameters
    ----------
    shape : int or sequence of int
        Extents, all positive.
    fcompute : callable
        Takes one axis for each extent and returns an expression; its parameters name the axes.
        A reduction (``te.sum`` and its like) may stand only at the top.
    name : str
        For messages, texts and stages.
    tag : str
        The user's own word; kept and shown.

    Raises
    ------
    TVMError
        TL1001 for a bad shape, TL1004 for a nested reduction, TL1007 for a function that does not
        take the axes or return an expression.
    """
    extents = _core.check_shape(_shape(shape), name)
    axes = [
        _core.data_axis(axis, extent)
        for axis, extent in zip(_axis_names(fcompute, len(extents), name), extents, strict=True)
    ]
    return _core.compute(name, tag, axes, fcompute(*axes))


def _axis_names(fcompute: Callable[..., Any], count: int, tensor: str) -> list[str]:
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names: list[str] = []
    for parameter in inspect.signature(fcompute).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            first = len(names)
            names += [f"{parameter.name}{i - first}" for i in range(first, count)]
        elif parameter.kind in positional and parameter.default is inspect.Parameter.empty:
            names.append(parameter.name)
        else:
            _core.bad_compute_function(tensor, f"has the parameter '{parameter}'", count)
    if len(names) != count:
        _core.bad_compute_function(tensor, f"takes {len(names)} axes", count)
    return names


def reduce_axis(dom: tuple[Any, Any], name: str = "rv") -> IterVar:
    """An axis to reduce over, from ``dom[0]`` to ``dom[1] - 1``."""
    begin, end = dom
    return _core.reduce_axis(begin, end, name)


def thread_axis(dom: Any = None, tag: str = "", name: str = "") -> IterVar:
    """A thread index: ``blockIdx.x`` to ``z``, ``threadIdx.x`` to ``z``, or ``vthread``.

    A string in the first place is the tag. Each call makes a new object; within one kernel those
    of one tag are one index, but virtual threads of different objects are never one. `dom` and
    `name` are accepted for the sake of existing scripts.
    """
    del name
    if isinstance(dom, str):
        tag = dom
    if not tag:
        raise ValueError("a thread axis needs a tag such as 'blockIdx.x'")
    return _core.thread_axis(tag)


def create_schedule(ops: Operation | Tensor | Sequence[Operation | Tensor]) -> Schedule:
    """A schedule of these outputs and everything they read, each stage at the root."""
    return _core.create_schedule(ops)


__all__ = [
    "Expr",
    "compute",
    "create_schedule",
    "placeholder",
    "reduce_axis",
    "thread_axis",
]
