"""Random changes of a program's text: most are refused, and none may crash or change results."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

SCOPES = ("global", "shared", "local", "texture", '"texture:weight"', '"texture:nhwc"')
TAGS = ("blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y", "threadIdx.z")
KINDS = ("vectorize", "unroll", "parallel", "serial")


def _directives(lines: list[str]) -> list[int]:
    return [n for n, line in enumerate(lines) if line.startswith("  ") and n > 1]


def _removed(rng: random.Random, lines: list[str]) -> None:
    del lines[rng.choice(_directives(lines))]


def _repeated(rng: random.Random, lines: list[str]) -> None:
    at = rng.choice(_directives(lines))
    lines.insert(at, lines[at])


def _other_number(rng: random.Random, lines: list[str]) -> None:
    at = rng.choice(_directives(lines))
    numbers = list(re.finditer(r"(?<=[=< ])\d+", lines[at]))
    if numbers:
        place = rng.choice(numbers)
        number = rng.choice(["0", "1", "3", "7", "64", "5000", "3000000000"])
        lines[at] = lines[at][: place.start()] + number + lines[at][place.end() :]


def _other_word(words: tuple[str, ...]) -> Callable[[random.Random, list[str]], None]:
    def change(rng: random.Random, lines: list[str]) -> None:
        places = [n for n in _directives(lines) if any(w in lines[n].split() for w in words)]
        if places:
            at = rng.choice(places)
            parts = lines[at].split()
            parts = [rng.choice(words) if word in words else word for word in parts]
            lines[at] = "  " + " ".join(parts)

    return change


def _smaller_target(rng: random.Random, lines: list[str]) -> None:
    limits = ["max_num_threads=2", "local_memory_bytes=8", "texture_spatial_limit=1"]
    limits += ["max_image_reads=0", "images=0", "float64=0", "private_memory_bytes=8"]
    lines[0] = re.sub(r'"$', f' -{rng.choice(limits)}"', lines[0])


CHANGES = (
    _removed,
    _repeated,
    _other_number,
    _smaller_target,
    _other_word(SCOPES),
    _other_word(TAGS),
    _other_word(KINDS),
)


def mutated(rng: random.Random, text: str) -> str:
    """The text with one to three changes."""
    lines = text.split("\n")
    for _ in range(rng.randint(1, 3)):
        rng.choice(CHANGES)(rng, lines)
    return "\n".join(lines)
