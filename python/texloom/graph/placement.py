"""Nodes that a graph for a device runs on the host, as native code."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .._core import TargetValue
from ..errors import refuse
from ..target import Target, resolve
from .compilation import Compilation

Placed = Mapping[str, "str | Target"]


def host_nodes(
    placed: Placed, nodes: Sequence[tuple[str, str]], target: TargetValue
) -> tuple[list[bool], TargetValue]:
    """Return for each node (name, operation) whether it runs on the host, and the host's target."""
    if not isinstance(placed, Mapping) or not placed:
        refuse(
            "BadOption",
            f"placed is {placed!r}, not a target by node or operation",
            "write placed={'Softmax': 'llvm -mcpu=native'}",
        )
    known = [*dict.fromkeys(word for node in nodes for word in node)]
    operations = {op.lower() for _, op in nodes}  # imported ones are written in small letters
    for key in placed:
        if key not in known and str(key).lower() not in operations:
            close = difflib.get_close_matches(str(key), known, n=3)
            refuse(
                "UnknownName",
                f"placed names {key!r}, but the graph has no node and no operation of this name",
                f"it has {', '.join(map(repr, close or known[:8]))}",
            )
    targets = {str(each): each for each in map(resolve, placed.values())}
    wrong = [name for name, each in targets.items() if each.kind != "llvm"]
    if wrong or len(targets) > 1:
        refuse(
            "BadOption",
            f"placed names the targets {', '.join(map(repr, targets))}: nodes can be placed on one "
            "target of the kind 'llvm'",
            "leave the other nodes out of placed: they are for the graph's target",
        )
    if target.kind == "llvm":
        refuse(
            "BadOption",
            f"placed puts nodes on the host, but the whole graph is for {str(target)!r}",
            "leave placed out, or compile for a device, such as target='opencl'",
        )
    words = {key.lower() for key in placed}
    on_host = [name in placed or op.lower() in words for name, op in nodes]
    if all(on_host):
        (host,) = targets
        refuse(
            "BadOption",
            "placed puts every node on the host",
            f"leave placed out, and compile for target={host!r}",
        )
    (host_target,) = targets.values()
    return on_host, host_target


def refuse_unplaceable(symbols: Iterable[str], measure: object) -> None:
    """Refuse what graphs with parts on the host do not support."""
    names = ", ".join(symbols)
    if names:
        refuse(
            "BadOption",
            f"placed puts nodes of a graph with open sizes ({names}) on the host",
            "give the inputs shapes of numbers, or leave placed out",
        )
    if measure is not None:
        refuse(
            "BadOption",
            "a graph with nodes on the host cannot be measured",
            "leave out measure=, or measure the graph without placed",
        )


def with_host_parts(
    device_graph: Any,
    host_graph: Any,
    on_host: Sequence[bool],
    host: TargetValue,
    begin: Callable[[Any], Compilation],
) -> Any:
    """Return the core's graph for the device with a call of each part that is on the host.

    `host_graph` is the same graph for the host; `begin` begins the compilation of a part of it.
    """
    parts = []
    for part in host_graph.host_part_graphs(on_host):
        compilation = begin(part)
        compilation.schedule(textures=False, open_outputs=set())
        parts.append(compilation.run("global")[0])
    return device_graph.with_host_parts(on_host, parts, str(host))


__all__ = ["Placed", "host_nodes", "refuse_unplaceable", "with_host_parts"]
