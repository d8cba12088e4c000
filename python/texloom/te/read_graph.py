"""Queries of ``te.schedule``: the tensors that operations read, and the loops that enclose them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from .._core import IterVar, Operation, Schedule, Stage, Tensor
from ..checks.checked_calls import check_calls
from ..errors import refuse

ReadGraph = Mapping[Operation, Sequence[Tensor]]


def _read_by(op: Operation) -> list[Tensor]:
    """Return the tensors that an operation reads; a scan reads its init and its update."""
    return [*op.init, *op.update] if op._kind == "scan" else list(op.input_tensors)


def _in_post_order(
    outputs: Iterable[Operation], graph: ReadGraph, ends: Iterable[Operation] = ()
) -> list[Operation]:
    """Return the outputs and everything they depend on, producers first."""
    order: list[Operation] = []
    seen = set(ends)
    left = [(op, False) for op in reversed(list(outputs))]
    while left:
        op, inputs_are_done = left.pop()
        if inputs_are_done:
            order.append(op)
        elif op not in seen:
            seen.add(op)
            left.append((op, True))
            left += [(tensor.op, False) for tensor in reversed(graph.get(op, []))]
    return order


def CreateReadGraph(ops: Sequence[Operation]) -> dict[Operation, list[Tensor]]:  # noqa: N802 (TVM's)
    """Return the tensors that each operation reads, for `ops` and all operations they depend on."""
    graph: dict[Operation, list[Tensor]] = {}
    left = list(ops)
    while left:
        op = left.pop()
        if op not in graph:
            graph[op] = _read_by(op)
            left += [tensor.op for tensor in graph[op]]
    return graph


def PostDFSOrder(outputs: Sequence[Operation], graph: ReadGraph) -> list[Operation]:  # noqa: N802
    """Return the operations of the graph that the outputs depend on, producers first."""
    return _in_post_order(outputs, graph)


def CreateAttachPath(sch: Schedule) -> dict[Operation, list[IterVar]]:  # noqa: N802
    """Return the loops of other stages that enclose each stage, innermost first."""
    return {stage.op: _attach_path(stage) for stage in sch.stages}


def _attach_path(stage: Stage) -> list[IterVar]:
    path: list[IterVar] = []
    seen = {stage}
    host, loop = stage.attach_stage, stage.attach_ivar
    while host is not None and loop is not None:
        if host in seen:
            refuse(
                "AttachCycle",
                f"the stage of '{stage.op.name}' is attached inside itself",
                "attach each stage to a loop of a stage that reads it",
            )
        seen.add(host)
        leaves = list(host.leaf_iter_vars)
        (inside,) = [i for i, leaf in enumerate(leaves) if leaf.same_as(loop)]
        path += reversed(leaves[: inside + 1])
        host, loop = host.attach_stage, host.attach_ivar
    return path


def ScanGetBody(op: Operation) -> list[Operation]:  # noqa: N802
    """Return the operations of a scan that depend on a state, with the updates last."""
    if op._kind != "scan":
        refuse(
            "BadArgument",
            f"cannot apply ScanGetBody to '{op.name}': it is not a scan",
            "give the operation of a tensor that te.scan returned",
        )
    graph = CreateReadGraph([op])
    graph |= CreateReadGraph([tensor.op for tensor in op.update])
    depends = {state.op for state in op.state_placeholder}
    body = []
    for each in _in_post_order([tensor.op for tensor in op.update], graph, depends):
        if any(tensor.op in depends for tensor in graph[each]):
            depends.add(each)
            body.append(each)
    return body


def ScanFixPointAnalysis(scan: Operation) -> NoReturn:  # noqa: N802
    """Refused: Texloom does not analyze which axes a scan leaves unchanged."""
    refuse(
        "NotProvided",
        f"the ScanFixPointAnalysis of '{scan.name}': Texloom does not analyze which axes a scan "
        "leaves unchanged",
        "schedule the scan; texloom.lower reports whether its steps can share a kernel",
    )


__all__ = [
    "CreateAttachPath",
    "CreateReadGraph",
    "PostDFSOrder",
    "ScanFixPointAnalysis",
    "ScanGetBody",
]
check_calls(globals())
