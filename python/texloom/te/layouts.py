"""``transform_layout``: the layout of a stage's result in memory."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from .. import _core
from .._core import IterVar, Stage
from ..errors import refuse
from ..tir.op import var
from .directive_arguments import shown


class _AxisSeparator:
    """The separator of ``Stage.transform_layout``: rows before it, columns and lanes after it."""

    def __repr__(self) -> str:
        return "AXIS_SEPARATOR"


AXIS_SEPARATOR = _AxisSeparator()


def axis_names(function: Callable[..., Any], rank: int) -> list[str]:
    """Return a name for each axis that the function takes; ``*names`` takes the remaining axes.

    Keyword-only parameters, after ``*names``, are the last axes.
    """
    parameters = list(inspect.signature(function).parameters.values())
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        refuse(
            "BadLayout",
            "the function of transform_layout takes **parameters, but axes have no keywords",
            "name the axes: lambda i, j: [j, i], or *axes for as many as there are",
        )
    named = sum(p.kind is not p.VAR_POSITIONAL for p in parameters)
    names: list[str] = []
    for p in parameters:
        several = p.kind is p.VAR_POSITIONAL
        names += [f"{p.name}{i}" for i in range(rank - named)] if several else [p.name]
    return names


def mapped(function: Callable[..., Iterable[Any]], axes: list[Any]) -> list[Any]:
    """Return the axes and separators that the function makes from these axes."""
    parameters = inspect.signature(function).parameters.values()
    keywords = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    count = len(axes) - len(keywords)
    made = function(*axes[:count], **dict(zip(keywords, axes[count:], strict=True)))
    if not isinstance(made, Iterable):
        _core.refuse(
            "BadArgument",
            f"transform_layout: the function returns {shown(made)}, not a list of indices",
            "return a list, as [h, c // 4, c % 4]",
        )
    return list(made)


def _transform_layout(self: Stage, mapping_function: Callable[..., Iterable[Any]]) -> list[IterVar]:
    """Change the layout of the stage's result to other axes.

    In a buffer, the new axes are row-major. In a texture, the axes before ``AXIS_SEPARATOR`` are
    rows, and those after it are columns and, last, lanes; without a separator, the scope's mapping
    applies. The array for an argument has the new shape.

    Parameters
    ----------
    mapping_function : callable
        Takes the tensor's axes, or the new axes of an earlier call; ``lambda *i, last:`` names only
        the last one. Returns the new axes: axes, their quotients and remainders by constants,
        fusions such as ``h * 8 + w``, and ``AXIS_SEPARATOR``.

    Returns
    -------
    list of IterVar
        The loops over the new axes; empty for a placeholder.

    Raises
    ------
    TVMError
        TL2017 if the result is not a layout.
    """
    axes = [var(name) for name in axis_names(mapping_function, self._layout_rank)]
    indices: list[Any] = []
    separators: list[int] = []
    for entry in mapped(mapping_function, axes):
        if entry is AXIS_SEPARATOR:
            separators.append(len(indices))
        else:
            indices.append(entry)
    return self._transform_layout(axes, indices, separators)


Stage.transform_layout = _transform_layout

__all__ = ["AXIS_SEPARATOR"]
