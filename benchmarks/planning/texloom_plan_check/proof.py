"""Checks the proof of a lower bound for textures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .network import CheckError, Network, require, whole
from .relaxation import Relaxation

MAX_STATES = 5_000_000  # of the enumeration that a proof asks for


# The items of a part that still matter, and the most texels that were live in it at a time.
Part = tuple[frozenset[int], int]


class Partitions:
    """Enumerates the partitions of some items into images, and their sums of peaks."""

    def __init__(self, relaxation: Relaxation, items: Sequence[int]) -> None:
        self.sizes = {key: relaxation.size(key) for key in items}
        self.sets = relaxation.times(items)
        network = relaxation.network
        self.limit = math.inf if network.views else network.max_width * network.max_height
        first = {key: min(n for n, s in enumerate(self.sets) if key in s) for key in items}
        self.items = sorted(items, key=lambda key: (first[key], key))
        self.apart = {
            key: frozenset(o for o in items if o != key and relaxation.apart(key, o))
            for key in items
        }

    def any_below(self, bound: int) -> bool:
        """Return whether the peaks of some partition add up to less than the bound."""
        states: set[tuple[Part, ...]] = {()}
        seen = 0
        for number, key in enumerate(self.items):
            later = frozenset(self.items[number + 1 :])
            matter = frozenset(
                other
                for other in self.items[: number + 1]
                if self.apart[other] & later or any(other in s and s & later for s in self.sets)
            )
            states = self._without_dominated(self._next(states, key, matter, bound))
            seen += len(states)
            require(seen <= MAX_STATES, f"the proof needs more than {MAX_STATES} states")
            if not states:
                return False
        return True

    def _next(
        self, states: set[tuple[Part, ...]], key: int, matter: frozenset[int], bound: int
    ) -> set[tuple[Part, ...]]:
        result = set()
        for state in states:
            total = sum(peak for _, peak in state)
            for n, (members, peak) in enumerate((*state, (frozenset(), 0))):
                if members & self.apart[key]:
                    continue
                joined = members | {key}
                load = max(sum(self.sizes[m] for m in joined & s) for s in self.sets if key in s)
                grown = max(peak, load)
                if grown > self.limit or total - peak + grown >= bound:
                    continue
                parts = [*state[:n], (joined, grown), *state[n + 1 :]]
                result.add(tuple(sorted(((m & matter, p) for m, p in parts), key=_sort_key)))
        return result

    @staticmethod
    def _without_dominated(states: set[tuple[Part, ...]]) -> set[tuple[Part, ...]]:
        """Leave out states with the same parts as another one, and no smaller peak."""
        groups: dict[tuple[frozenset[int], ...], list[tuple[int, ...]]] = {}
        for state in states:
            peaks = tuple(peak for _, peak in state)
            groups.setdefault(tuple(members for members, _ in state), []).append(peaks)
        result = set()
        for members, rows in groups.items():
            kept: list[tuple[int, ...]] = []
            for peaks in sorted(rows, key=sum):
                if any(all(a <= b for a, b in zip(k, peaks, strict=True)) for k in kept):
                    continue
                kept.append(peaks)
                result.add(tuple(zip(members, peaks, strict=True)))
        return result


def _sort_key(part: Part) -> tuple[list[int], int]:
    return sorted(part[0]), part[1]


def _check_part(relaxation: Relaxation, part: dict[str, Any]) -> int:
    """Check one part of a proof and return the size that it proves."""
    unit = "bytes" if relaxation.network.views else "texels"
    size, items = whole(part[unit], f"{unit} of a proof"), part["items"]
    require(len(set(items)) == len(items) > 0, "a part of the proof repeats an item or has none")
    for key in items:
        require(
            key in relaxation.network.tensors, f"the proof names item {key}, which does not exist"
        )
        require(
            relaxation.network.views or relaxation.network.tensors[key].format == part["format"],
            f"the proof says that item {key} has another format",
        )
    if part["kind"] == "live":
        together = relaxation.times(items)
        require(len(together) == 1, "items of the proof are not all live together")
        total = sum(relaxation.size(key) for key in items)
        require(total >= size, f"the proof's live items have {total} {unit}, not {size}")
    elif part["kind"] == "partition":
        require(
            not Partitions(relaxation, items).any_below(size),
            f"some partition of the proof's items has less than {size} {unit}",
        )
    else:
        raise CheckError(f"there is no kind of proof {part['kind']!r}")
    return size


def check_proof(network: Network, plan: dict[str, Any], reorder: bool) -> int:
    """Check the parts of the proof; return the lower bound."""
    relaxation = Relaxation(network, reorder)
    parts = [part for part in plan["proof"]["parts"] if part.get("scope") != "global"]
    formats = [part.get("format") for part in parts]  # arenas take all formats, so have one part
    require(len(set(formats)) == len(formats), "two parts of the proof have one format")
    shown = sum(_check_part(relaxation, part) for part in parts)
    key = "lower_bound_bytes" if network.views else "lower_bound_texels"
    bound = whole(plan[key], key)
    require(bound <= shown, f"the proof shows {shown}, not {bound}")
    return bound
