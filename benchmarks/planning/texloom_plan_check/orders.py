"""Orders of operators, and the lifetimes that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .network import Network, Step, require

MAX_STEPS = 2**20  # operators that a network may leave unlisted


def implied_steps(network: Network) -> list[Step]:
    """Return the operators of a network that lists none; docs/planning.md has the rule."""
    items = network.tensors | network.buffers
    tensors = items.values()
    count = 1 + max((t.last for t in tensors), default=-1)
    require(count <= MAX_STEPS, f"a network without operators has times up to {count - 1}")
    written: list[set[int]] = [set() for _ in range(count)]
    read: list[set[int]] = [set() for _ in range(count)]
    for tensor in tensors:
        written[tensor.first].add(tensor.id)
        if tensor.last > tensor.first:
            read[tensor.last].add(tensor.id)
    for pair in network.pairs:
        early, late = sorted((items[key] for key in pair), key=lambda t: t.first)
        if early.first < late.first:
            read[late.first].add(early.id)
    steps: list[Step] = []
    barriers: list[int] = []  # the operators that write nothing
    for time in range(count):
        after = barriers[-1:]
        if not written[time]:
            after = list(range(barriers[-1] if barriers else 0, time))
            barriers.append(time)
        steps.append(Step(frozenset(read[time]), frozenset(written[time]), frozenset(after)))
    return steps


def in_order(network: Network, order: Sequence[int]) -> Network:
    """Return the network whose operators run in this order, with the lifetimes that follow."""
    steps = network.steps or implied_steps(network)
    require(
        sorted(order) == list(range(len(steps))),
        "the order does not list each operator once",
    )
    position = {operator: time for time, operator in enumerate(order)}
    for operator, earlier in enumerate(earlier_of(steps)):
        for other in earlier:
            require(
                position[other] < position[operator],
                f"operator {operator} runs before operator {other}, on which it depends",
            )
    times: dict[int, list[int]] = {}
    for operator, step in enumerate(steps):
        for tensor in step.inputs | step.outputs:
            times.setdefault(tensor, []).append(position[operator])
    tensors, buffers = (
        {k: replace(t, first=min(times[k]), last=max(times[k])) for k, t in kind.items()}
        for kind in (network.tensors, network.buffers)
    )
    return replace(network, tensors=tensors, buffers=buffers, steps=steps)


def earlier_of(steps: Sequence[Step]) -> list[set[int]]:
    """Return, for each operator, those that it directly depends on."""
    writer = {tensor: number for number, step in enumerate(steps) for tensor in step.outputs}
    return [
        {writer[tensor] for tensor in step.inputs if tensor in writer} | set(step.after)
        for step in steps
    ]
