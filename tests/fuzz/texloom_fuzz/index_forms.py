"""Random reads of a tensor, with index expressions in range or guarded."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace

from .extents import Extent, Shape, at_each_call, extent, is_constant

OUTSIDE = "index: outside where nothing is computed"


@dataclass(frozen=True)
class Axis:
    """A data or reduction axis with the values begin to begin + extent - 1.

    If the tensor is larger than its readers need, the axis has `whole` values, from 0.
    """

    name: str
    extent: Extent
    begin: int = 0
    reduction: bool = False
    whole: Extent | None = None

    @property
    def last(self) -> Extent:
        return self.extent + (self.begin - 1)


@dataclass(frozen=True)
class Index:
    """An expression with its range, and a condition if it may leave the tensor."""

    text: str
    form: str
    guard: str = ""


def _room(last: Extent, size: Extent) -> int:
    """Return how far an index with this last value may be shifted to be in range at each call."""
    return min(n - 1 - i for i, n in at_each_call(last, size))


def _plain(rng: random.Random, a: Axis, size: Extent) -> Index | None:
    room = _room(a.last, size)
    if room < 0:
        return None
    if rng.random() < 0.4:
        return Index(a.name, "plain")
    return Index(f"{a.name} + {rng.randint(-a.begin, room)}", "offset")


def _strided(rng: random.Random, a: Axis, size: Extent) -> Index | None:
    stride = rng.randint(2, 4)
    room = _room(a.last * stride, size)
    return Index(f"{a.name} * {stride} + {rng.randint(0, room)}", "strided") if room >= 0 else None


def _reversed(rng: random.Random, a: Axis, size: Extent) -> Index | None:
    room = _room(a.last, size)
    if room < 0:
        return None
    top = a.last + rng.randint(0, room + a.begin)
    if rng.random() < 0.5:
        top = size - (1 + rng.randint(0, room)) + a.begin
    return Index(f"{top} - {a.name}", "reversed")


def _floordiv(rng: random.Random, a: Axis, size: Extent) -> Index | None:
    by = rng.randint(2, 4)
    room = _room(a.last // by, size)
    return Index(f"{a.name} // {by} + {rng.randint(0, room)}", "floordiv") if room >= 0 else None


def _modulo(rng: random.Random, a: Axis, size: Extent) -> Index | None:
    by = extent(rng.randint(1, size.least))
    if size.is_symbolic and rng.random() < 0.5:
        by = size
    if rng.random() < 0.3:
        return Index(f"{by - 1} - {a.name} % ({by})", "mod, reversed")
    return Index(f"({a.name} + {rng.randint(0, 3)}) % ({by})", "mod")


def _padded(rng: random.Random, a: Axis, size: Extent) -> Index | None:
    before = rng.randint(0, min(3, a.last.least))  # at least one point is in range
    text = f"{a.name} - {before}" if before else a.name
    return Index(text, "padded", f"te.all({text} >= 0, {text} < {size})")


def _clamped(rng: random.Random, a: Axis, size: Extent) -> Index | None:
    shift = rng.randint(-2, 2)
    return Index(f"te.min(te.max({a.name} + {shift}, 0), {size - 1})", "clamped")


_OF_ONE = [_plain, _plain, _plain, _strided, _reversed, _floordiv, _modulo, _padded, _clamped]


def _of_two(rng: random.Random, a: Axis, b: Axis, size: Extent) -> Index | None:
    if rng.random() < 0.6:
        stride = rng.randint(1, 2)
        if _room(a.last * stride + b.last, size) >= 0:
            times = f" * {stride}" if stride > 1 else ""
            return Index(f"{a.name}{times} + {b.name}", "window")
        return None
    by = rng.randint(2, 5)
    flat = f"({a.name} * ({b.extent}) + {b.name})"
    if rng.random() < 0.5:
        return Index(f"{flat} % ({size})", "mod of two axes")
    if _room((a.last * b.extent + b.last) // by, size) >= 0:
        return Index(f"{flat} // {by}", "floordiv of two axes")
    return None


def random_index(rng: random.Random, axes: list[Axis], size: Extent) -> Index:
    """Return an index below `size`, which usually uses one or two of the axes."""
    for _ in range(20):
        index = None
        if len(axes) >= 2 and rng.random() < 0.25:
            index = _of_two(rng, *rng.sample(axes, 2), size)
        elif axes:
            index = rng.choice(_OF_ONE)(rng, rng.choice(axes), size)
        if index is not None:
            return index
    return Index(str(rng.randrange(size.least)), "constant")


def _leaves(text: str, axes: list[Axis], size: Extent) -> bool:
    """Whether an index is out of range for some values of whole axes, at the first call."""
    used = [a for a in axes if re.search(rf"\b{a.name}\b", text)]
    if not any(a.whole for a in used) or not is_constant([size, *(a.extent for a in used)]):
        return False
    code = compile(text, "<index>", "eval")
    ranges = [
        range(a.whole.most) if a.whole else range(a.begin, a.begin + a.extent.most) for a in used
    ]
    extrema = {"te": SimpleNamespace(min=min, max=max)}
    points = (dict(zip((a.name for a in used), at, strict=True)) for at in product(*ranges))
    return any(not 0 <= eval(code, extrema, point) < size.most for point in points)


def random_read(
    rng: random.Random,
    tensor: str,
    shape: Shape,
    axes: list[Axis],
    cast: str,
    dtype: str,
    first: Sequence[int] = (),
) -> tuple[str, set[str]]:
    """Return the text of a read, and the forms of its indices; prefers unused axes.

    The elements that may be read form a box with extents `shape` that begins at index `first`.
    """
    left = list(axes)
    rng.shuffle(left)
    indices = []
    for size in shape:
        pick = [left.pop()] if left and rng.random() < 0.8 else axes
        index = random_index(rng, pick if rng.random() < 0.8 else axes, size)
        indices.append(index)
    begins = first or [0] * len(indices)
    texts = [
        f"{i.text} + {begin}" if begin else i.text for i, begin in zip(indices, begins, strict=True)
    ]
    read = f"{tensor}({', '.join(texts)}){cast}"
    guards = [i.guard for i in indices if i.guard]
    if guards:
        condition = guards[0] if len(guards) == 1 else f"te.all({', '.join(guards)})"
        outside = f"te.const({rng.choice([0, 0, 1, 3])}, '{dtype}')"
        read = f"te.if_then_else({condition}, {read}, {outside})"
    forms = {f"index: {i.form}" for i in indices}
    if any(_leaves(i.text, axes, n) for i, n in zip(indices, shape, strict=True) if not i.guard):
        forms.add(OUTSIDE)
    used = [a.name for i in indices for a in axes if a.name in i.text]
    if used != sorted(used, key=[a.name for a in axes].index):
        forms.add("index: permuted")
    return read, forms
