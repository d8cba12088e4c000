"""The storages of edges in a package that was compiled by costs, and their alternatives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

from .. import _core
from ..errors import refuse
from .describe import View, aligned, counted


@dataclass(frozen=True)
class Edge:
    """A tensor for which several storages were possible.

    Attributes
    ----------
    name : str
    written : tuple of str
        The storages in which a node writes the tensor.
    converted : tuple of str
        The storages to which the tensor is converted.
    others : tuple of (str, float)
        Each other storage in which the node could write the tensor, with the extra nanoseconds of
        the best choice for the whole graph that uses this storage; infinite if no choice uses it.
    """

    name: str
    written: tuple[str, ...]
    converted: tuple[str, ...]
    others: tuple[tuple[str, float], ...]


class ScopeChoice:
    """The choice of storages that a package stores.

    Parameters
    ----------
    facts : dict
        The entry ``scopes`` of :attr:`texloom.graph.CompiledGraph.summary`.
    """

    def __init__(self, facts: dict[str, Any]) -> None:
        self.device: str = facts["device"]
        self.cost: float = facts["cost"]
        self.lower_bound: float = facts["lower_bound"]
        self.nodes: list[str] = facts["node_names"]
        self.tensors: list[str] = facts["tensor_names"]
        self.storages: list[list[str]] = facts["storage_names"]
        self.option_names: list[list[str]] = facts["option_names"]
        self.chosen: list[int] = facts["chosen"]
        self._conversions = facts["conversions"]
        self._options = facts["nodes"]
        self._limits = facts["limits"]

    def reads(self, node: int) -> list[tuple[int, int]]:
        """Return (tensor, storage) for each tensor that a node reads."""
        return [(t, s) for t, s in self._options[node][self.chosen[node]][1]]

    def writes(self, node: int) -> list[tuple[int, int]]:
        """Return (tensor, storage) for each tensor that a node writes."""
        return [(t, s) for t, s in self._options[node][self.chosen[node]][2]]

    def edges(self) -> Iterator[Edge]:
        """Yield the tensors with more than one storage, in the order in which they are written."""
        read: dict[int, set[int]] = {}
        for node in range(len(self.nodes)):
            for tensor, storage in self.reads(node):
                read.setdefault(tensor, set()).add(storage)
        for node in range(len(self.nodes)):
            for tensor in sorted({tensor for tensor, _ in self.writes(node)}):
                names = self.storages[tensor]
                if len(names) < 2:
                    continue
                written = {s for t, s in self.writes(node) if t == tensor}
                yield Edge(
                    self.tensors[tensor],
                    tuple(names[s] for s in sorted(written)),
                    tuple(names[s] for s in sorted(read.get(tensor, set()) - written)),
                    tuple(self._others(node, tensor, written)),
                )

    def _others(self, node: int, tensor: int, written: set[int]) -> Iterator[tuple[str, float]]:
        for storage, name in enumerate(self.storages[tensor]):
            if storage not in written:
                yield name, self._added(node, tensor, storage)

    def _added(self, node: int, tensor: int, storage: int) -> float:
        """Return the extra cost of the best choice that writes the tensor in this storage."""
        own = [
            (cost if [tensor, storage] in writes else inf, reads, writes)
            for cost, reads, writes in self._options[node]
        ]
        if all(cost == inf for cost, *_ in own):
            return inf
        nodes = [own if n == node else each for n, each in enumerate(self._options)]
        _, cost, _ = _core.choose_options(self._conversions, nodes, self._limits)
        return max(0.0, float(cost) - self.cost)


def choice_of(view: View) -> ScopeChoice | None:
    """Return the choice in a package's metadata; None without one."""
    text = view["metadata"].get("scopes")
    if text is None:
        return None
    try:
        return ScopeChoice(json.loads(text))
    except (ValueError, KeyError, TypeError):
        refuse(
            "BadPackage",
            f"the metadata 'scopes' of the package {view['name']} cannot be read as a choice of "
            "storages",
            "compile it again: texloom compile MODEL.onnx --costs FILE",
        )


def scopes_of(views: list[View]) -> list[dict[str, Any]]:
    """Return the choice of each package as a JSON value."""
    return [
        {
            "package": view["name"],
            "device": choice.device,
            "nanoseconds": choice.cost,
            "least": choice.lower_bound,
            "edges": [
                {
                    "tensor": edge.name,
                    "written": list(edge.written),
                    "converted": list(edge.converted),
                    "others": {
                        name: None if added == inf else added for name, added in edge.others
                    },
                }
                for edge in choice.edges()
            ],
        }
        for view in views
        if (choice := choice_of(view)) is not None
    ]


def describe_scopes(view: View) -> str:
    """Return a table of the edges of one package."""
    choice = choice_of(view)
    if choice is None:
        return (
            f"{view['name']}: compiled without costs of kernels, so there was nothing to choose\n"
            "  help: texloom compile MODEL.onnx --costs FILE, or --measure"
        )
    proof = "the least of all choices"
    if choice.lower_bound < choice.cost:
        proof = f"no choice takes less than {_time(choice.lower_bound)}"
    rows = [("tensor", "stored in", "converted to", "else, and what that adds")]
    for edge in choice.edges():
        short = _short([*edge.written, *edge.converted, *(name for name, _ in edge.others)])
        others = [
            f"{short[name]}: {'impossible' if added == inf else '+' + _time(added)}"
            for name, added in edge.others
        ]
        rows.append(
            (
                edge.name,
                ", ".join(short[name] for name in edge.written),
                ", ".join(short[name] for name in edge.converted) or "-",
                "; ".join(others),
            )
        )
    lines = [
        f"{view['name']} on {choice.device}: {_time(choice.cost)} predicted, {proof}",
        f"{counted(len(rows) - 1, 'tensor')} could be stored in several ways",
    ]
    return "\n".join([*lines, *("  " + line for line in aligned(rows))])


def _short(storages: list[str]) -> dict[str, str]:
    """Return the scope of each storage if the scopes differ, else the storages."""
    scopes = {storage: storage.split(" ")[0] for storage in storages}
    is_clear = len(set(scopes.values())) == len(scopes)
    return scopes if is_clear else {storage: storage for storage in storages}


def _time(ns: float) -> str:
    return f"{ns / 1e3:,.1f} us"


__all__ = ["Edge", "ScopeChoice", "choice_of", "describe_scopes", "scopes_of"]
