"""The network of a check: its items, its operators, and requirements of a device for views."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


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


def require(condition: object, message: str) -> None:
    """Raise CheckError with the message unless the condition holds."""
    if not condition:
        raise CheckError(message)


def whole(value: Any, what: str) -> int:
    """Return a whole number."""
    require(isinstance(value, int) and not isinstance(value, bool), f"{what} is {value!r}")
    return int(value)


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
