"""``te.scan``: tensors whose rows are computed from earlier rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import _core
from .._core import Tensor
from ..checks.argument_kinds import kind_of
from ..checks.checked_calls import check_calls
from ..errors import refuse
from .attributes import Attributes
from .tag import tag_of


def scan(
    init: Tensor | Sequence[Tensor],
    update: Tensor | Sequence[Tensor],
    state_placeholder: Tensor | Sequence[Tensor],
    inputs: Sequence[Tensor] | None = None,
    name: str = "scan",
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
) -> Any:
    """Define a recurrence over the first axis: tensors whose rows are computed in order.

    The first ``init.shape[0]`` rows are those of `init`. Each step computes the row ``t`` as
    ``update[t, ...]``, whose function reads earlier rows as elements of `state_placeholder`, such
    as ``state[t - 1, ...]``, ``state[te.min(k, t - 1), ...]``, or ``state[k, ...]`` under a
    condition ``k < t``. Tensors that the update reads may read the state too, at the same ``t``.
    Several states are computed together, and may read one another.

    Parameters
    ----------
    init, update, state_placeholder : Tensor or sequence of Tensor
        One of each per state: init and update made by ``te.compute``, the state by
        ``te.placeholder``. Update and state have the shape of the result; the init has fewer rows,
        a constant number.
    inputs : sequence of Tensor, optional
        Other tensors that the update reads; accepted for compatibility.
    name : str
        The name used in messages, texts and stages; the loop over the steps is ``name.idx``.
    tag : str
        A tag, which is stored and shown; by default the tag of an enclosing ``te.tag_scope``.
    attrs : mapping, optional
        Numbers, strings and lists of them, stored as the operation's ``attrs``.

    Returns
    -------
    Tensor or list of Tensor
        A list if there are several states.

    Raises
    ------
    TVMError
        TL1024 (also a ValueError) for lists of different lengths or with elements that are not
        tensors, for shapes or dtypes that do not match, and for a step that is not proven to read
        only earlier rows.
    """
    parts = [_several(part) for part in (init, update, state_placeholder)]
    if len({len(part) for part in parts}) != 1:
        refuse(
            "BadScan",
            f"the scan '{name}' has different numbers of inits, updates and states: "
            f"{', '.join(str(len(part)) for part in parts)}",
            "give one init, one update and one placeholder for each state",
        )
    for tensor in [t for part in parts for t in part] + _several(inputs or []):
        if not isinstance(tensor, Tensor):
            refuse(
                "BadScan",
                f"the scan '{name}' is given {kind_of(tensor)}, not a tensor",
                "make init and update by te.compute, and the state by te.placeholder",
            )
    kept = None if attrs is None else Attributes(attrs)
    outputs = _core.scan(name, tag_of(tag), *parts, kept)
    return outputs[0] if len(outputs) == 1 else outputs


def _several(tensors: Tensor | Sequence[Tensor]) -> list[Tensor]:
    return list(tensors) if isinstance(tensors, Sequence) else [tensors]


__all__ = ["scan"]
check_calls(globals())
