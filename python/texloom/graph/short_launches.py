"""A graph of almost empty kernels, whose run time is the time of its launches."""

from __future__ import annotations

from typing import Any

from .. import te
from ..target import Target

_LAUNCHES = 256  # enough to make the fixed time of a run negligible
_ELEMENTS = 4


def short_launches(graph: Any, target: str | Target | None) -> Any:
    """Fill the empty :class:`Graph` `graph`, and return it compiled for a target.

    The graph has one input, and each kernel reads the output of the kernel before.
    """
    tensor = graph.input("x", (_ELEMENTS,))
    for number in range(_LAUNCHES):
        (tensor,) = graph.op(f"launch{number}", "one_more", _one_more, [tensor])
    graph.output(tensor)
    return graph.compile(target, scopes="global", passes=())


def _one_more(x: Any) -> Any:
    return te.compute(x.shape, lambda i: x[i] + 1.0)


__all__ = ["short_launches"]
