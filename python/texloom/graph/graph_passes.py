"""The passes over graphs that compilations run."""

from __future__ import annotations

from collections.abc import Sequence

from .. import _core
from ..checks.argument_kinds import shown
from ..errors import refuse
from .precision import Precision, check_precision


def graph_passes(precision: Precision = "fp32", *, textures: bool = False) -> tuple[str, ...]:
    """Return the names of the passes over graphs, in the order in which they run.

    Parameters
    ----------
    precision : "fp32" or "fp16"
        As for :meth:`Graph.compile`.
    textures : bool
        Leave out passes whose operators have no kernels over textures, as ``scopes="texture"``
        does.
    """
    check_precision(precision)
    return tuple(_core.default_graph_passes(precision == "fp16", textures))


def checked_passes(passes: Sequence[str]) -> list[str]:
    """Return the names as the core takes them.

    Raises
    ------
    TVMError
        TL2040 for anything but a list of names.
    """
    if not isinstance(passes, (list, tuple)) or not all(isinstance(each, str) for each in passes):
        refuse(
            "BadArgument",
            f"passes={shown(passes)} is not a list of passes",
            f"give a list of these names: {', '.join(graph_passes('fp16'))}",
        )
    return list(passes)


__all__ = ["checked_passes", "graph_passes"]
