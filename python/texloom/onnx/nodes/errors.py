"""Errors of the importer, which collects all refused nodes before it raises."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from ...errors import Diagnostic, TVMError, refuse, with_note

NOT_SUPPORTED = "the operator is not supported"
"""The reason for an operator without a converter."""


@dataclass(frozen=True)
class Refusal:
    """A node that cannot be converted.

    Attributes
    ----------
    op : str
        The operator, with its domain unless it is ONNX's own: ``"Conv"``, ``"my.domain::Conv"``.
    node : str
        The node's name, or that of its first output.
    reason : str
    """

    op: str
    node: str
    reason: str


class Unsupported(TVMError):
    """A model has nodes or options that are not supported; the text gives the reasons.

    Attributes
    ----------
    refusals : tuple of Refusal
        All nodes that cannot be converted.
    """

    def __init__(
        self,
        text: str,
        diagnostics: list[Diagnostic] | None = None,
        refusals: Sequence[Refusal] = (),
    ) -> None:
        super().__init__(text, diagnostics)
        self.refusals = tuple(refusals)


class NeedsValues(Exception):
    """A node needs the elements of inputs of the model, not only their shapes.

    Attributes
    ----------
    inputs : frozenset of str
    reasons : tuple of str
        Why: of the node that raises, or one of each node with its name.
    """

    def __init__(self, inputs: frozenset[str], *reasons: str) -> None:
        super().__init__(", ".join(sorted(inputs)))
        self.inputs = inputs
        self.reasons = reasons


def reason_of(error: TVMError) -> str:
    """Return what an error says, without its place and its help."""
    return error.diagnostics[0].message if error.diagnostics else str(error)


def refuse_model(message: str, help_text: str) -> NoReturn:
    """Raise :class:`Unsupported` as the diagnostic TL3043."""
    refuse("BadModel", message, help_text, Unsupported)


def refuse_nodes(refusals: Sequence[Refusal]) -> NoReturn:
    """Raise :class:`Unsupported` for all nodes, with a note for each operator and reason."""
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for each in refusals:
        groups[each.op, each.reason].append(each.node)
    way_out = "change the nodes in the model"
    if any(each.reason == NOT_SUPPORTED for each in refusals):
        way_out = "`texloom ops` lists the operators that are supported"
        if any("::" in each.op for each in refusals):
            way_out += "; operators= of texloom.compile adds others"
    try:
        if len(groups) == 1 and len(refusals) == 1:
            (only,) = refusals
            message = f"{only.op} {only.node!r}: {only.reason}"
            refuse_model(message, way_out)
        counted = ", ".join(
            f"{sum(len(n) for (op, _), n in groups.items() if op == each)} {each}"
            for each in dict.fromkeys(op for op, _ in groups)
        )
        refuse_model(f"{len(refusals)} nodes cannot be converted: {counted}", way_out)
    except Unsupported as error:
        if len(refusals) > 1:
            for (op, reason), nodes in groups.items():
                named = ", ".join(map(repr, nodes))
                with_note(error, f"{op}: {reason}: {len(nodes)} x ({named})")
        error.refusals = tuple(refusals)
        raise


__all__ = ["NOT_SUPPORTED", "NeedsValues", "Refusal", "Unsupported", "reason_of", "refuse_model"]
__all__ += ["refuse_nodes"]
