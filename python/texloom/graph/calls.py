"""Checks of custom operators in a graph, and the storages that they accept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..custom.operators import Operator
from ..errors import refuse

_BAD = "BadGraph"
_SCOPES = {"texture": "texture", "buffer": "global", "any": "global"}


def _check_accesses(name: str, op: Operator, inputs: int) -> None:
    """Refuse operators that do not declare all inputs before all outputs."""
    for argument in op.arguments:
        if argument.access == "read-write":
            refuse(
                _BAD,
                f"the node {name!r} calls {op.name!r}, whose argument {argument.name!r} "
                "is read and written",
                "tensors of a graph do not change: declare one argument to read and one to write",
            )
    accesses = [argument.access for argument in op.arguments]
    if accesses != sorted(accesses):  # "read" before "write"
        refuse(
            _BAD,
            f"the node {name!r} calls {op.name!r}, which declares an argument to read after one "
            "to write",
            "declare all arguments that are read before those that are written",
        )
    if inputs != accesses.count("read"):
        names = ", ".join(each.name for each in op.arguments if each.access == "read")
        refuse(
            _BAD,
            f"the node {name!r} has {inputs} inputs, but {op.name!r} reads {names}",
            "give a list with one tensor for each argument that is read",
        )


def accepted_scopes(
    name: str, op: Operator, inputs: int, given: Mapping[str, Sequence[str]] | None
) -> Mapping[str, Sequence[str]]:
    """Return the combinations of scopes of a call: those given, or those that `op` declares.

    Raises
    ------
    TVMError
        TL3040 for an operator that graphs cannot call, and for scopes that it does not accept.
    """
    _check_accesses(name, op, inputs)
    if given is None:
        scopes = tuple(_SCOPES[argument.storage] for argument in op.arguments)
        return {"texture" if "texture" in scopes else "global": scopes}
    if not isinstance(given, Mapping):
        return given
    for label, scopes in given.items():
        named = scopes if isinstance(scopes, (list, tuple)) else ()
        for argument, scope in zip(op.arguments, named, strict=False):
            is_texture = str(scope).startswith("texture")
            if argument.storage != "any" and is_texture != (argument.storage == "texture"):
                refuse(
                    _BAD,
                    f"the scopes {label!r} of the node {name!r} have {scope!r} for "
                    f"{argument.name!r}, which {op.name!r} declares as a {argument.storage}",
                    f"give {_SCOPES[argument.storage]!r} for it, or leave out scopes=",
                )
    return given


__all__ = ["accepted_scopes"]
