"""Checks plans of memory, and the proofs of their lower bounds.

This file shares no code with the planner and imports nothing but Python's library, so it also runs
by itself: ``python check.py NET.json PLAN.json``. ``docs/planning.md`` describes both files.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

MAX_STATES = 5_000_000  # of the enumeration that a proof asks for
MAX_STEPS = 2**20  # operators that a network may leave unlisted


class CheckError(Exception):
    """A fault of a plan or a proof."""


@dataclass(frozen=True)
class Tensor:
    """An item of the network. Lifetimes are inclusive; ``slices`` planes of height by width."""

    id: int
    first: int
    last: int
    height: int
    width: int
    slices: int
    format: str
    must_be_exact: bool

    def folded(self, fold: int) -> tuple[int, int]:
        """Return the width and height of the tensor folded by ``fold``."""
        return self.width * fold, self.height * -(-self.slices // fold)

    def narrow_folds(self, most: int) -> Iterator[int]:
        """Yield the folds up to ``most``, of those with equal heights only the least."""
        fold = 1
        while fold <= most:
            yield fold
            rows = -(-self.slices // fold)
            fold = -(-self.slices // (rows - 1)) if rows > 1 else most + 1

    def fits(self, width: int, height: int) -> bool:
        """Return whether some fold fits in an image of this size."""
        planes = height // self.height  # above each other
        return planes > 0 and self.folded(-(-self.slices // planes))[0] <= width


@dataclass(frozen=True)
class Buffer:
    """An item that lies in a buffer. Lifetimes are inclusive, sizes in bytes."""

    id: int
    first: int
    last: int
    size: int
    alignment: int


@dataclass(frozen=True)
class Step:
    """An operator: the tensors that it reads and writes, and the operators that it follows."""

    inputs: frozenset[int]
    outputs: frozenset[int]
    after: frozenset[int]


@dataclass(frozen=True)
class Views:
    """Requirements of a device for views over a buffer. Alignments are in texels."""

    row_pitch_alignment: int
    base_alignment: int
    unit: int  # bytes; each view begins at a multiple and is counted in multiples

    def row_pitch(self, width: int) -> int:
        """Return the texels from one row of a view to the next."""
        return -(-width // self.row_pitch_alignment) * self.row_pitch_alignment

    def size(self, tensor: Tensor, width: int, height: int) -> int:
        """Return the bytes that a view takes."""
        size = self.row_pitch(width) * height * texel_bytes(tensor.format)
        return -(-size // self.unit) * self.unit


@dataclass(frozen=True)
class Network:
    """The items, operators and limits that a plan must respect."""

    tensors: dict[int, Tensor]
    buffers: dict[int, Buffer]
    pairs: frozenset[frozenset[int]]  # of tensors that share no image or arena; or with buffers
    steps: list[Step]
    max_width: int
    max_height: int
    views: Views | None  # if textures are views over buffers


@dataclass(frozen=True)
class Verdict:
    """A plan that is right. It is optimal if its size is the bound."""

    size: int
    lower_bound: int
    unit: str  # texels or bytes
    buffers: Verdict | None = None  # of the tensors in buffers, if there are any

    def __str__(self) -> str:
        word = f"at most {self.size / max(1, self.lower_bound):.3f} x the best plan"
        if self.size == self.lower_bound:
            word = "optimal"
        text = f"valid: {self.size} {self.unit}; no plan has under {self.lower_bound}: {word}"
        return text if self.buffers is None else f"{text}\nbuffers {self.buffers}"


def require(condition: object, message: str) -> None:
    """Raise CheckError with the message unless the condition holds."""
    if not condition:
        raise CheckError(message)


def whole(value: Any, what: str) -> int:
    """Return a whole number."""
    require(isinstance(value, int) and not isinstance(value, bool), f"{what} is {value!r}")
    return int(value)


# --- the network ----------------------------------------------------------------------------------

_KINDS = {"float": "float", "int": "int", "uint": "uint"}


def _format(item: dict[str, Any]) -> str:
    if "format" in item or "dtype" not in item:
        return str(item.get("format", "rgba32float"))
    kind = item["dtype"].rstrip("0123456789")
    return f"rgba{item['dtype'][len(kind) :]}{_KINDS.get(kind, kind)}"


def _tensor(item: dict[str, Any]) -> Tensor:
    slices = item["slices"] if "slices" in item else -(-item["channels"] // 4)
    tensor = Tensor(
        *(whole(item[key], key) for key in ("id", "first", "last", "height", "width")),
        whole(slices, "slices"),
        _format(item),
        bool(item.get("exact")) and item.get("exact_cost") is None,
    )
    require(
        min(tensor.height, tensor.width, slices) > 0 and 0 <= tensor.first <= tensor.last,
        f"the network's item {tensor.id} has no size or no lifetime",
    )
    return tensor


def _buffer(item: dict[str, Any]) -> Buffer:
    size = item.get("size")
    if size is None:
        bits = re.search("[0-9]+$", item.get("dtype", "float32"))
        require(bits, f"the size of dtype {item.get('dtype')} is unknown")
        size = item["height"] * item["width"] * item["channels"] * int(bits[0] if bits else 0) // 8
    first, last = (whole(item[key], key) for key in ("first", "last"))
    alignment = whole(item.get("alignment", 1), "alignment")
    require(
        whole(size, "size") > 0 and alignment > 0 and 0 <= first <= last,
        f"the network's item {item['id']} has no size or no lifetime",
    )
    return Buffer(whole(item["id"], "id"), first, last, size, alignment)


def texel_bytes(form: str) -> int:
    """Return the bytes of a texel: 16 for rgba32float."""
    match = re.match("rgba(8|16|32)(?![0-9])", form)
    require(match, f"the size of a texel of format {form} is unknown")
    return int(match[1]) // 2 if match else 0


def _views(data: dict[str, Any], tensors: Iterable[Tensor]) -> Views:
    row, base = (data.get(f"{key}_alignment", 64) for key in ("row_pitch", "base"))
    return Views(row, base, math.lcm(*(base * texel_bytes(t.format) for t in tensors)))


def read_network(data: dict[str, Any], views: bool = False) -> Network:
    """Return the network that a JSON object describes."""
    is_buffer = {item["id"]: item.get("scope", "texture") == "global" for item in data["items"]}
    require(len(is_buffer) == len(data["items"]), "two items of the network have one id")
    tensors = {item["id"]: _tensor(item) for item in data["items"] if not is_buffer[item["id"]]}
    buffers = {item["id"]: _buffer(item) for item in data["items"] if is_buffer[item["id"]]}
    pairs = {frozenset(pair) for pair in data.get("read_write_conflicts", [])}
    steps = [
        Step(frozenset(op["inputs"]), frozenset(op["outputs"]), frozenset(op.get("after", [])))
        for op in data.get("operators", [])
    ]
    for step in steps:
        pairs |= {frozenset((a, b)) for a in step.inputs for b in step.outputs}
    return Network(
        tensors,
        buffers,
        frozenset(pairs),
        steps,
        data.get("max_width", 16384),
        data.get("max_height", 16384),
        _views(data, tensors.values()) if views else None,
    )


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
    for operator, earlier in enumerate(_earlier(steps)):
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


def _earlier(steps: Sequence[Step]) -> list[set[int]]:
    """Return, for each operator, those that it directly depends on."""
    writer = {tensor: number for number, step in enumerate(steps) for tensor in step.outputs}
    return [
        {writer[tensor] for tensor in step.inputs if tensor in writer} | set(step.after)
        for step in steps
    ]


# --- the plan -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """The rectangle of a tensor in an image. A range of an arena is one column of bytes."""

    tensor: Tensor
    image: int
    x: int
    y: int
    width: int
    height: int

    def overlaps(self, other: Place) -> bool:
        """Return whether two rectangles of one image share a texel at some time."""
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
            and self.tensor.first <= other.tensor.last
            and other.tensor.first <= self.tensor.last
        )


def _fields(row: dict[str, Any], names: Sequence[str]) -> list[int]:
    return [whole(row[name], f"item {row['id']}: {name}") for name in names]


def _folded(row: dict[str, Any], network: Network) -> tuple[Tensor, int, int, int]:
    """Return the tensor of a placement, its fold, and the width and height that it gives."""
    key = whole(row["id"], "an id of a placement")
    require(key in network.tensors, f"a placement names item {key}, which does not exist")
    tensor = network.tensors[key]
    fold, width, height = _fields(row, ("fold", "width", "height"))
    require(1 <= fold <= tensor.slices, f"item {key} has no fold {fold}")
    require(
        tensor.folded(fold) == (width, height),
        f"item {key} folded by {fold} does not have {width} by {height} texels",
    )
    return tensor, fold, width, height


def _place_in_image(row: dict[str, Any], network: Network, images: list[dict[str, Any]]) -> Place:
    tensor, fold, width, height = _folded(row, network)
    key = tensor.id
    image, x, y = _fields(row, ("image", "x", "y"))
    require(0 <= image < len(images), f"item {key}: there is no image {image}")
    target = images[image]
    require(
        0 <= x <= target["width"] - width and 0 <= y <= target["height"] - height,
        f"item {key} lies outside image {image}",
    )
    require(
        target["format"] == tensor.format,
        f"item {key} of format {tensor.format} lies in image {image} of {target['format']}",
    )
    if tensor.must_be_exact:
        require(
            fold == 1 and (width, height) == (target["width"], target["height"]),
            f"item {key} must have an image of exactly its extent",
        )
    return Place(tensor, image, x, y, width, height)


def _place_in_arena(
    row: dict[str, Any], network: Network, views: Views, arenas: list[dict[str, Any]]
) -> Place:
    tensor, fold, width, height = _folded(row, network)
    key = tensor.id
    arena, offset, row_pitch = _fields(row, ("arena", "offset", "row_pitch"))
    require(0 <= arena < len(arenas), f"item {key}: there is no arena {arena}")
    require(
        width <= network.max_width and height <= network.max_height,
        f"item {key}: a view of {width} by {height} texels exceeds the limits",
    )
    require(
        row_pitch == views.row_pitch(width),
        f"item {key}: rows of {width} texels have a pitch of {views.row_pitch(width)}",
    )
    size = row_pitch * height * texel_bytes(tensor.format)
    require(
        offset >= 0 and offset % (views.base_alignment * texel_bytes(tensor.format)) == 0,
        f"item {key}: an offset of {offset} is not aligned",
    )
    require(offset + size <= arenas[arena]["bytes"], f"item {key} lies outside arena {arena}")
    require(fold == 1 or not tensor.must_be_exact, f"item {key} must not be folded")
    return Place(tensor, arena, 0, offset, 1, size)


def _check_arenas(plan: dict[str, Any]) -> None:
    total = sum(whole(arena["bytes"], "bytes of an arena") for arena in plan["arenas"])
    require(
        whole(plan["bytes"], "bytes") == total,
        f"the arenas have {total} bytes, not {plan['bytes']}",
    )


def _check_images(network: Network, plan: dict[str, Any]) -> None:
    for number, image in enumerate(plan["images"]):
        width = whole(image["width"], f"image {number}: width")
        height = whole(image["height"], f"image {number}: height")
        require(
            1 <= width <= network.max_width and 1 <= height <= network.max_height,
            f"image {number} of {width} by {height} texels exceeds the limits",
        )
    texels = sum(image["width"] * image["height"] for image in plan["images"])
    require(
        whole(plan["texels"], "texels") == texels,
        f"the images have {texels} texels, not {plan['texels']}",
    )


def _check_places(network: Network, plan: dict[str, Any]) -> None:
    places: dict[int, Place] = {}
    what = "arena" if network.views else "image"
    for row in plan["placements"]:
        if row["id"] in network.buffers:
            continue
        if network.views:
            place = _place_in_arena(row, network, network.views, plan["arenas"])
        else:
            place = _place_in_image(row, network, plan["images"])
        require(place.tensor.id not in places, f"item {place.tensor.id} is placed twice")
        places[place.tensor.id] = place
    for key in network.tensors:
        require(key in places, f"item {key} is not placed")
    for a, b in (sorted(pair) for pair in network.pairs):
        if a in network.buffers or b in network.buffers:
            continue
        require(
            places[a].image != places[b].image,
            f"items {a} and {b}, which one operator reads and writes, share {what} "
            f"{places[a].image}",
        )
    live: list[Place] = []
    for place in sorted(places.values(), key=lambda p: p.tensor.first):
        live = [other for other in live if other.tensor.last >= place.tensor.first]
        for other in live:
            require(
                other.image != place.image or not place.overlaps(other),
                f"items {other.tensor.id} and {place.tensor.id} overlap in {what} {place.image}",
            )
        live.append(place)


def _check_ranges(buffers: dict[int, Buffer], plan: dict[str, Any]) -> None:
    """Check the places of buffers; disjoint ranges of one buffer may be read and written."""
    ranges: dict[int, tuple[int, int, int]] = {}
    for row in plan["placements"]:
        if row["id"] not in buffers:
            continue
        item = buffers[row["id"]]
        number, offset, size = _fields(row, ("buffer", "offset", "bytes"))
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


# --- the lower bound ------------------------------------------------------------------------------


class Relaxation:
    """The facts a proof may use: sizes and lifetimes of items, and pairs that share no image."""

    def __init__(self, network: Network, reorder: bool) -> None:
        self.network = network
        if reorder:
            self.live = self._always_live(network.steps)
        else:
            self.live = {key: frozenset((item.first, item.last)) for key, item in self._items()}
        self.reorder = reorder

    def _items(self) -> Iterable[tuple[int, Tensor | Buffer]]:
        return (self.network.tensors | self.network.buffers).items()

    def size(self, key: int) -> int:
        """Return the texels (or bytes) of the smallest fold that the limits allow."""
        network, tensor = self.network, self.network.tensors[key]
        most = min(tensor.slices, network.max_width // tensor.width)
        if network.views and tensor.must_be_exact:
            most = min(most, 1)
        sizes = [
            network.views.size(tensor, width, height) if network.views else width * height
            for width, height in map(tensor.folded, tensor.narrow_folds(most))
            if height <= network.max_height
        ]
        require(sizes, f"item {tensor.id} fits in no image")
        return min(sizes)

    def _always_live(self, steps: Sequence[Step]) -> dict[int, frozenset[int]]:
        """Return the operators at which an item is live in every order."""
        reach: list[int] = []  # for each operator, itself and what must run before it, as bits
        earlier = _earlier(steps)
        for number, others in enumerate(earlier):
            bits = 1 << number
            for other in others:
                bits |= reach[other]
            reach.append(bits)
        users: dict[int, list[int]] = {
            key: [] for key in self.network.tensors | self.network.buffers
        }
        for number, step in enumerate(steps):
            for key in step.inputs | step.outputs:
                users[key].append(number)
        result = {}
        for key, numbers in users.items():
            below = sum(1 << number for number in numbers)
            ahead = 0  # the users and all that must run before one of them
            for number in numbers:
                ahead |= reach[number]
            # The network lists operators in an order that is allowed, so they lie between users.
            between = range(numbers[0], numbers[-1] + 1)
            result[key] = frozenset(n for n in between if reach[n] & below and ahead >> n & 1)
        return result

    def together(self, a: int, b: int) -> bool:
        """Return whether two items are live at one time (in every order, for a reorder proof)."""
        if self.reorder:
            return bool(self.live[a] & self.live[b])
        s, t = self.network.tensors[a], self.network.tensors[b]
        return s.first <= t.last and t.first <= s.last

    def apart(self, a: int, b: int) -> bool:
        """Return whether no plan puts the two items in one image."""
        if frozenset((a, b)) in self.network.pairs:
            return True
        if self.network.views:
            return False
        s, t = self.network.tensors[a], self.network.tensors[b]
        if s.format != t.format:
            return True
        for one, other in ((s, t), (t, s)):
            if not one.must_be_exact:
                continue
            if other.must_be_exact and one.folded(1) != other.folded(1):
                return True
            if self.together(a, b) or not other.fits(*one.folded(1)):
                return True
        return False

    def times(self, items: Sequence[int]) -> list[frozenset[int]]:
        """Return the sets of these items that are live together."""
        if self.reorder:
            moments = sorted(set().union(*(self.live[key] for key in items)))
            sets = [frozenset(key for key in items if time in self.live[key]) for time in moments]
        else:
            tensors = [self.network.tensors[key] for key in items]
            moments = sorted({tensor.first for tensor in tensors})
            sets = [
                frozenset(t.id for t in tensors if t.first <= time <= t.last) for time in moments
            ]
        distinct = list(dict.fromkeys(sets))
        return [s for s in distinct if not any(s < other for other in distinct)]


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


def _check_proof(network: Network, plan: dict[str, Any], reorder: bool) -> int:
    relaxation = Relaxation(network, reorder)
    parts = [part for part in plan["proof"]["parts"] if part.get("scope") != "global"]
    formats = [part.get("format") for part in parts]  # arenas take all formats, so have one part
    require(len(set(formats)) == len(formats), "two parts of the proof have one format")
    shown = sum(_check_part(relaxation, part) for part in parts)
    key = "lower_bound_bytes" if network.views else "lower_bound_texels"
    bound = whole(plan[key], key)
    require(bound <= shown, f"the proof shows {shown}, not {bound}")
    return bound


def _check_buffers(network: Network, plan: dict[str, Any], reorder: bool) -> Verdict | None:
    """Check the places of buffers, and that those of the proof are live together."""
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
    return Verdict(plan["buffer_bytes"], bound, "bytes")


def check(network: dict[str, Any], plan: dict[str, Any]) -> Verdict:
    """Check a plan and its proof.

    Parameters
    ----------
    network, plan : dict
        The contents of the two JSON files.

    Raises
    ------
    CheckError
        If the plan breaks a rule, or the proof does not show the bound.
    """
    try:
        views, reorder = "arenas" in plan, "order" in plan
        net = read_network(network, views)
        if reorder:
            net = in_order(net, [whole(n, "an operator") for n in plan["order"]])
        if views and network.get("one_arena"):
            net = replace(net, pairs=frozenset())
        if views:
            _check_arenas(plan)
        else:
            _check_images(net, plan)
        _check_places(net, plan)
        bound = _check_proof(net, plan, reorder)
        buffers = _check_buffers(net, plan, reorder)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise CheckError(f"malformed: {type(error).__name__}: {error}") from error
    unit = "bytes" if views else "texels"
    require(bound <= plan[unit], f"a bound of {bound} exceeds the plan's {plan[unit]}")
    return Verdict(plan[unit], bound, unit, buffers)


def main(arguments: Sequence[str]) -> int:
    """Check a plan; print what it proves and return 0, or say what is wrong and return 1."""
    if len(arguments) != 2:
        print("usage: check.py NET.json PLAN.json", file=sys.stderr)
        return 2
    try:
        network, plan = (json.loads(Path(name).read_text()) for name in arguments)
        verdict = check(network, plan)
    except (OSError, ValueError) as error:
        print(f"check: {error}", file=sys.stderr)
        return 1
    except CheckError as error:
        print(f"check: {arguments[1]}: {error}", file=sys.stderr)
        return 1
    print(verdict)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
