"""Networks with tensors in buffers and in textures: each kind has a plan of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._core import plan_buffers
from .network import lifetimes, wrong

_STEPS = 10_000  # steps of the search for buffers, per million steps for textures


def buffers_of(network: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the items of a network that lie in buffers."""
    return [item for item in network["items"] if item["scope"] == "global"]


def textures_of(network: dict[str, Any]) -> dict[str, Any]:
    """Return the network of the textures alone.

    An operator that reads a buffer comes after the operator that writes it. Conflicts with a buffer
    are left out, because a kernel may read and write disjoint parts of one buffer.
    """
    buffers = {item["id"] for item in buffers_of(network)}
    if not buffers:
        return network
    writers = {
        key: time
        for time, op in enumerate(network["operators"])
        for key in op["outputs"]
        if key in buffers
    }
    operators = []
    for op in network["operators"]:
        after = {writers[key] for key in op["inputs"] if key in writers}
        uses = {
            kind: [key for key in op[kind] if key not in buffers] for kind in ("inputs", "outputs")
        }
        operators.append({**uses, "after": sorted({*op["after"], *after})})
    return network | {
        "items": [item for item in network["items"] if item["scope"] != "global"],
        "read_write_conflicts": [
            pair for pair in network["read_write_conflicts"] if not buffers.intersection(pair)
        ],
        "operators": operators,
    }


def check_buffers(network: dict[str, Any]) -> None:
    """Refuse buffers that contradict the rest of a network, as the planner does for textures.

    Raises
    ------
    NetworkError
        For an id that occurs twice, an invalid lifetime, a pair of an item with itself, and
        operators that contradict the lifetimes.
    """
    ids: set[int] = set()
    buffers = {item["id"]: item for item in buffers_of(network)}
    for item in network["items"] if buffers else ():
        key = item["id"]
        if key in ids:
            raise wrong(f"two items have the id {key}", "give each item an id of its own")
        ids.add(key)
        if key in buffers and not 0 <= item["first"] <= item["last"]:
            raise wrong(
                f"item {key} lives from {item['first']} to {item['last']}",
                "`first` and `last` are the first and the last operator that uses the tensor, "
                "both inclusive, from 0 on",
            )
    for a, b in network["read_write_conflicts"]:
        if a == b and a in buffers:
            raise wrong(f"item {a} conflicts with itself", "name two different items")
        for key, other in ((a, b), (b, a)):
            if key in buffers and other not in ids:
                raise wrong(
                    f"the pair ({a}, {b}) names item {other}, which does not exist",
                    "name the ids of two items",
                )
    if network["operators"]:
        _check_uses(network["operators"], buffers)


def _check_uses(operators: list[dict[str, Any]], buffers: dict[int, dict[str, Any]]) -> None:
    users: dict[int, list[int]] = {key: [] for key in buffers}
    writers: dict[int, int] = {}
    for time, op in enumerate(operators):
        for key in buffers.keys() & {*op["inputs"], *op["outputs"]}:
            users[key].append(time)
        for key in buffers.keys() & set(op["outputs"]):
            if key in writers:
                raise wrong(
                    f"item {key} is written by the operators {writers[key]} and {time}",
                    "one operator writes each item: give each result an item of its own",
                )
            writers[key] = time
            if key in op["inputs"] or users[key][0] < time:
                raise wrong(
                    f"item {key} is read before operator {time} has written it",
                    "list operators in an order in which they can run",
                )
    for key, item in buffers.items():
        if not users[key] or (users[key][0], users[key][-1]) != (item["first"], item["last"]):
            span = f"from {users[key][0]} to {users[key][-1]}" if users[key] else "nowhere"
            raise wrong(
                f"operators use item {key} {span}, but it lives from {item['first']} to "
                f"{item['last']}",
                "`first` and `last` are the first and the last operator that uses the tensor",
            )


def _largest(sets: Iterable[list[int]], sizes: dict[int, int]) -> list[int]:
    return max(sets, key=lambda keys: sum(sizes[key] for key in keys), default=[])


def _live_set(network: dict[str, Any], in_any_order: bool, sizes: dict[int, int]) -> list[int]:
    """Return the buffers that are live together and have the most bytes.

    `in_any_order` requires that they are live together in every order of the operators.
    """
    if in_any_order:  # only buffers of one operator are live together in every order
        used = ([*op["inputs"], *op["outputs"]] for op in network["operators"])
        return _largest((sorted({k for k in keys if k in sizes}) for keys in used), sizes)
    buffers = buffers_of(network)
    return _largest(
        (
            [item["id"] for item in buffers if item["first"] <= time <= item["last"]]
            for time in sorted({item["first"] for item in buffers})
        ),
        sizes,
    )


def add_buffers(
    network: dict[str, Any], plan: dict[str, Any], effort: int, time_limit: float | None
) -> dict[str, Any]:
    """Return the plan of a network's textures with places for its buffers, too.

    Parameters
    ----------
    network : dict
        All items; also the operators, if the plan has an order of operators.
    plan : dict
        The plan of the textures.
    effort : int
        As for the textures.
    time_limit : float | None
        Seconds, for the plan of the buffers alone.

    Raises
    ------
    NetworkError
        If the sum of the sizes of the buffers is too large.
    """
    buffers = buffers_of(network)
    lives = lifetimes(network, plan)
    rows = [(*lives[item["id"]], item["size"], item["alignment"]) for item in buffers]
    try:
        found = plan_buffers(rows, steps=effort * _STEPS, time_limit=time_limit)
    except ValueError as error:
        raise wrong(f"the buffers cannot be planned: {error}", "give smaller sizes") from error
    sizes = {item["id"]: item["size"] for item in buffers}
    live = _live_set(network, "order" in plan, sizes)
    bound = sum(sizes[key] for key in live)
    places = {place["id"]: place for place in plan["placements"]}
    for item, offset in zip(buffers, found["offsets"], strict=True):
        places[item["id"]] = {
            "id": item["id"],
            "buffer": 0,
            "offset": offset,
            "bytes": item["size"],
        }
    part = {"kind": "live", "scope": "global", "bytes": bound, "items": live}
    return plan | {
        "placements": [places[item["id"]] for item in network["items"]],
        "proof": {"parts": [*plan["proof"]["parts"], part]},
        "deterministic": plan["deterministic"] and found["deterministic"],
        "buffers": [{"bytes": found["bytes"]}],
        "buffer_bytes": found["bytes"],
        "lower_bound_buffer_bytes": bound,
    }
