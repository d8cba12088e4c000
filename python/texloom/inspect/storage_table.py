"""The operators of a graph that was compiled by costs: their best kernels in each storage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from .describe import aligned

CLOSE = 0.1
"""Kernels whose costs differ by at most this share are as fast as one another."""


@dataclass(frozen=True)
class Kernels:
    """The kernels of an operator that cost least in one kind of storage.

    Attributes
    ----------
    ns : float
    spent : tuple of (str, float)
        Nanoseconds by what bounds the kernels, as :class:`texloom.profiles.Bound` calls it; () if
        the cost is not an estimate.
    key : str
        By which the source of costs knows it.
    """

    ns: float
    spent: tuple[tuple[str, float], ...]
    key: str

    @property
    def bound(self) -> str:
        """What takes most of the time; "" if that is not known."""
        return max(self.spent, key=itemgetter(1), default=("", 0.0))[0]

    def longer_by(self, other: Kernels) -> str:
        """Return what takes most of the time that these kernels take more than others."""
        others = dict(other.spent)
        more = [(bound, ns - others.get(bound, 0.0)) for bound, ns in self.spent]
        return max(more, key=itemgetter(1), default=("", 0.0))[0]


@dataclass(frozen=True)
class StorageRow:
    """An operator, and the storages that it may have.

    Attributes
    ----------
    name : str
        Of the first such node.
    nodes : int
        The nodes with equal kernels and an equal choice.
    buffers, textures : Kernels or None
        The best kernels without textures, and with some; None if there are none.
    chosen : str
        ``"buffers"`` or ``"textures"``.
    small_gain : float or None
        The share of the graph's cost that textures would save, if they are not used because it is
        too small.
    """

    name: str
    nodes: int
    buffers: Kernels | None
    textures: Kernels | None
    chosen: str
    small_gain: float | None

    @property
    def faster(self) -> str | None:
        """The faster kind of storage; None if both are close, or if there is only one."""
        if self.buffers is None or self.textures is None:
            return None
        buffers, textures = self.buffers.ns, self.textures.ns
        if abs(buffers - textures) <= CLOSE * min(buffers, textures):
            return None
        return "buffers" if buffers < textures else "textures"

    @property
    def reason(self) -> str:
        """Why the storage was chosen."""
        if self.buffers is None or self.textures is None:
            return f"no kernel over {'textures' if self.textures is None else 'buffers'}"
        if self.faster is None:
            return "equal: as the neighbors"
        if self.faster != self.chosen and self.small_gain is not None:
            return f"the graph gains {self.small_gain:.0%} by textures, too little"
        if self.faster != self.chosen:
            return f"conversions or images cost more than {self.faster} gain"
        losers = {"buffers": ("textures", self.textures), "textures": ("buffers", self.buffers)}
        other, loser = losers[self.chosen]
        winner = self.buffers if self.chosen == "buffers" else self.textures
        return f"{other}: {loser.longer_by(winner)}" if loser.spent else f"{other} are slower"


def storage_rows(summary: dict[str, Any], inputs: int, groups: bool = True) -> list[StorageRow]:
    """Return a row for each node, or for each group with equal kernels and an equal choice.

    Parameters
    ----------
    summary : dict
        That of a :class:`texloom.graph.CompiledGraph`, whose entry ``scopes`` is not None.
    inputs : int
        The number of inputs of the graph, which come before its nodes.
    groups : bool
    """
    if not groups:
        return list(_nodes(summary, inputs))
    rows: dict[tuple[Any, ...], StorageRow] = {}
    for row in _nodes(summary, inputs):
        key = (row.buffers, row.textures, row.chosen)
        known = rows.get(key)
        rows[key] = row if known is None else replace(known, nodes=known.nodes + 1)
    return list(rows.values())


def _nodes(summary: dict[str, Any], inputs: int) -> Iterator[StorageRow]:
    choice, small_gain = summary["scopes"], summary["small_gain"]
    spent = choice.get("spent")
    for node in range(inputs, len(choice["node_names"])):
        best: dict[str, Kernels] = {}
        kinds = []
        for place, (ns, reads, writes) in enumerate(choice["nodes"][node]):
            stored = [choice["storage_names"][t][s] for t, s in (*reads, *writes)]
            name = choice["option_names"][node][place]
            uses = name == "texture" or any(each.startswith("texture") for each in stored)
            kinds.append("textures" if uses else "buffers")
            parts = spent[node][place] if spent is not None else {}
            own = sum(parts.values()) if parts else ns  # the ns of what is ruled out are infinite
            made = Kernels(own, tuple(parts.items()), choice["option_keys"][node][place])
            if kinds[-1] not in best or own < best[kinds[-1]].ns:
                best[kinds[-1]] = made
        chosen = kinds[choice["chosen"][node]]
        found = best.get("buffers"), best.get("textures")
        yield StorageRow(choice["node_names"][node], 1, *found, chosen, small_gain)


def storage_table(rows: list[StorageRow]) -> list[str]:
    """Return the lines of a table."""
    heading = ("operator", "nodes", "buffers us", "bound by", "textures us", "bound by", "chosen")
    cells = [(*heading, "why"), *map(_line, rows)]
    return aligned(cells)


def _line(row: StorageRow) -> tuple[str, ...]:
    own = (*_cells(row.buffers), *_cells(row.textures))
    return (row.name, str(row.nodes), *own, row.chosen, row.reason)


def _cells(kernels: Kernels | None) -> tuple[str, str]:
    return ("-", "-") if kernels is None else (f"{kernels.ns / 1e3:.1f}", kernels.bound or "-")


__all__ = ["CLOSE", "Kernels", "StorageRow", "storage_rows", "storage_table"]
