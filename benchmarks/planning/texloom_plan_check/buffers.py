"""Checks the places of tensors in buffers, and the proof of their lower bound."""

from __future__ import annotations

from typing import Any

from .network import Buffer, Network, require, whole
from .places import fields_of
from .relaxation import Relaxation


def _check_ranges(buffers: dict[int, Buffer], plan: dict[str, Any]) -> None:
    """Check the places of buffers; disjoint ranges of one buffer may be read and written."""
    ranges: dict[int, tuple[int, int, int]] = {}
    for row in plan["placements"]:
        if row["id"] not in buffers:
            continue
        item = buffers[row["id"]]
        number, offset, size = fields_of(row, ("buffer", "offset", "bytes"))
        require(item.id not in ranges, f"item {item.id} is placed twice")
        require(0 <= number < len(plan["buffers"]), f"item {item.id}: there is no buffer {number}")
        require(size == item.size, f"item {item.id} has {item.size} bytes, not {size}")
        require(
            offset >= 0 and offset % item.alignment == 0,
            f"item {item.id}: an offset of {offset} is not aligned",
        )
        end = offset + size
        require(
            end <= plan["buffers"][number]["bytes"],
            f"item {item.id} lies outside buffer {number}",
        )
        for other, (their_number, start, stop) in ranges.items():
            meets = item.first <= buffers[other].last and buffers[other].first <= item.last
            require(
                not meets or number != their_number or end <= start or stop <= offset,
                f"items {other} and {item.id} overlap in buffer {number}",
            )
        ranges[item.id] = (number, offset, end)
    for key in buffers:
        require(key in ranges, f"item {key} is not placed")
    total = sum(whole(buffer["bytes"], "bytes of a buffer") for buffer in plan["buffers"])
    require(
        whole(plan["buffer_bytes"], "buffer_bytes") == total,
        f"the buffers have {total} bytes, not {plan['buffer_bytes']}",
    )


def check_buffers(network: Network, plan: dict[str, Any], reorder: bool) -> tuple[int, int] | None:
    """Check the places of buffers, and that those of the proof are live together.

    Returns their bytes and the lower bound; None for a network without buffers.
    """
    parts = [part for part in plan["proof"]["parts"] if part.get("scope") == "global"]
    if not network.buffers:
        require(not parts and "buffers" not in plan, "the network has no item in a buffer")
        return None
    _check_ranges(network.buffers, plan)
    require(len(parts) == 1 and parts[0]["kind"] == "live", "buffers need one proof by live bytes")
    items = parts[0]["items"]
    require(len(set(items)) == len(items), "a part of the proof repeats an item")
    for key in items:
        require(key in network.buffers, f"the proof names item {key}, which is in no buffer")
    live = Relaxation(network, reorder).live
    spans = [live[key] for key in items]
    if reorder:
        together = not spans or frozenset.intersection(*spans)
    else:
        together = max(map(min, spans), default=0) <= min(map(max, spans), default=0)
    require(together, "items of the proof are not all live together")
    shown = sum(network.buffers[key].size for key in items)
    bound = whole(plan["lower_bound_buffer_bytes"], "lower_bound_buffer_bytes")
    require(bound <= shown, f"the proof shows {shown} bytes in buffers, not {bound}")
    require(bound <= plan["buffer_bytes"], f"a bound of {bound} exceeds {plan['buffer_bytes']}")
    return plan["buffer_bytes"], bound
