"""Random changes of a program's text: most are refused, and none may crash or change results."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

Change = Callable[[random.Random, list[str]], None]

SCOPES = ("global", "shared", "local", "texture", '"texture:weight"', '"texture:nhwc"')
TAGS = ("blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y", "threadIdx.z")
KINDS = ("vectorize", "unroll", "parallel", "serial")
REDUCERS = ("max", "min", "sum", "prod")
TYPES = ("float32", "float64", "float16", "int32", "int64", "uint8", "bool")
NUMBERS = ("0", "1", "3", "7", "64", "5000", "3000000000")
NAME = r'(?:[A-Za-z_][\w.]*|"[^"]*")'
AXES = re.compile(rf"(?<![\w.]){NAME}(?= <| from )|(?<=-> )\S+|(?<=, )\S+$")
ORIGIN = "  origin = "
OPERATION = re.compile(rf"^(?:compute|placeholder|extern) ({NAME})")


def _heads(lines: list[str]) -> list[int]:
    return [n for n, line in enumerate(lines) if OPERATION.match(line)]


def _directives(lines: list[str]) -> list[int]:
    """Return the numbers of the lines that a mutation may change.

    Some lines are excluded. An intrinsic's statement, and the reducers in it, must match the
    intrinsic's computation. The interpreter takes the results of foreign functions from that
    computation, too. If the memory of an extern became shared, the script itself would race.
    """
    found, of_intrinsic = [], False
    unchanged = {"", "buffer.alloca"}
    if any(line.startswith("  intrinsic ") for line in lines):
        unchanged.add("reducer")
    for n, line in enumerate(lines):
        word = line.split()[0] if line.startswith("  ") else ""
        inside = line.startswith("   ") or word in ("body", "reset", "update", "}")
        of_intrinsic = word == "intrinsic" or (of_intrinsic and inside)
        if word not in unchanged and "import_c" not in line and n > 0 and not of_intrinsic:
            found.append(n)
    return found


def _stage(lines: list[str], at: int) -> tuple[int, int]:
    """Return the lines of the operation that begins here."""
    end = at + 1
    while end < len(lines) and lines[end].startswith("  "):
        end += 1
    return at, end


def _axes(lines: list[str], at: int) -> list[str]:
    """Return the axes of the operation that begins here, with their parts."""
    begin, end = _stage(lines, at)
    return [name for line in lines[begin:end] for name in AXES.findall(line)]


def _removed(rng: random.Random, lines: list[str]) -> None:
    del lines[rng.choice(_directives(lines))]


def _repeated(rng: random.Random, lines: list[str]) -> None:
    at = rng.choice(_directives(lines))
    lines.insert(at, lines[at])


def _swapped(rng: random.Random, lines: list[str]) -> None:
    one, other = rng.choice(_directives(lines)), rng.choice(_directives(lines))
    lines[one], lines[other] = lines[other], lines[one]


def _added(rng: random.Random, lines: list[str]) -> None:
    """Append a directive to an operation, on its own axes or on those of another operation."""
    heads = _heads(lines)
    at, other = rng.choice(heads), rng.choice(heads)
    axes = (_axes(lines, at) or ["i"]) + (_axes(lines, other)[:1] if rng.random() < 0.2 else [])
    axis, host = rng.choice(axes), OPERATION.match(lines[other])[1]
    hosted = rng.choice(_axes(lines, other) or ["i"])
    directive = rng.choice(
        [
            *(f"vectorize {axis}", f"unroll {axis}", f"bind {axis} {rng.choice(TAGS)}"),
            *(f"scope {rng.choice(SCOPES)}", f"compute_at {host}, {hosted}", "inline"),
            *(f"align {axis} {rng.randint(0, 9)}, {rng.randint(-1, 3)}", "double_buffer"),
            *(f"pipeline stages={rng.randint(0, 3)}", f"fuse {axis}, {rng.choice(axes)} -> f.f"),
            *(f"split {axis} factor={rng.randint(0, 5)} -> s.o, s.i", f"bind {axis} vthread v"),
            *(f"predicate {axis} < 1", f'pragma {axis} auto_unroll_max_step="{axis}"'),
            f"reorder {axis}, {rng.choice(axes)}",
            f"transform ({', '.join(axes[:2])}) -> ({', '.join(reversed(axes[:2]))})",
        ]
    )
    intrinsics = [line.split()[1] for line in lines if line.startswith("  intrinsic ")]
    if intrinsics and rng.random() < 0.4:
        directive = f"tensorize {axis} {rng.choice(intrinsics)}"
    if directive == "inline" and f"  param {OPERATION.match(lines[at])[1]}" in lines:
        return  # an inlined argument is never written
    lines.insert(_stage(lines, at)[1], f"  {directive}")


def _other_axis(rng: random.Random, lines: list[str]) -> None:
    """Replace an axis in a directive by another axis of the operation."""
    at = rng.choice(_heads(lines))
    axes = _axes(lines, at)
    begin, end = _stage(lines, at)
    if not axes or end == begin + 1:
        return
    n, axis = rng.randrange(begin + 1, end), rng.choice(axes)
    word = rf"(?<![\w.]){re.escape(axis)}(?![\w.])"
    lines[n] = re.sub(word, lambda _: rng.choice(axes), lines[n], count=1)


def _other_number(rng: random.Random, lines: list[str]) -> None:
    """Replace a number in a directive, a shape or an expression.

    Numbers of reducers stay: with another identity, results depend on the schedule.
    """
    at = rng.choice(_directives(lines) if rng.random() < 0.6 else _heads(lines))
    if lines[at].startswith("  reducer "):
        return
    numbers = list(re.finditer(r"(?<=[=< \[])\d+", lines[at]))
    if numbers:
        place, number = rng.choice(numbers), rng.choice(NUMBERS)
        lines[at] = lines[at][: place.start()] + number + lines[at][place.end() :]


def _other_word(words: tuple[str, ...], lines_of: Callable[[list[str]], list[int]]) -> Change:
    pattern = re.compile("|".join(rf"(?<![\w.]){re.escape(w)}(?![\w.:])" for w in words))

    def change(rng: random.Random, lines: list[str]) -> None:
        places = [n for n in lines_of(lines) if pattern.search(lines[n])]
        if places:
            at = rng.choice(places)
            found = rng.choice(list(pattern.finditer(lines[at])))
            lines[at] = lines[at][: found.start()] + rng.choice(words) + lines[at][found.end() :]

    return change


def _smaller_target(rng: random.Random, lines: list[str]) -> None:
    limits = [f"{name}={n}" for name in ("max_num_threads", "max_num_threads_z") for n in (1, 2)]
    limits += [f"{name}={8 * n}" for name in ("max_local_memory", "max_private_memory")
               for n in (1, 4)]  # fmt: skip
    limits += ["texture_spatial_limit=1", "texture_spatial_limit=4", "images=0", "float64=0"]
    limits += [f"{name}={n}" for name in ("max_image_reads", "max_image_writes") for n in (1, 2)]
    limits += ["max_parameter_size=24"]
    lines[0] = re.sub(r'"$', f' -{rng.choice(limits)}"', lines[0])


CHANGES: tuple[Change, ...] = (
    *(_removed, _repeated, _swapped, _added, _added, _other_axis, _other_number),
    *(_smaller_target, _smaller_target),
    _other_word(SCOPES, _directives),
    _other_word(TAGS, _directives),
    _other_word(KINDS, _directives),
    _other_word(REDUCERS, _heads),
    _other_word(TYPES, _heads),
)


def mutated(rng: random.Random, text: str) -> str:
    """Return the text with one to three changes.

    Original expressions of stages (`origin`) are removed: results are compared with them, and a
    change of one expression would make the two differ.
    """
    lines = [line for line in text.split("\n") if not line.startswith(ORIGIN)]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        rng.choice(CHANGES)(rng, lines)
    return "\n".join(lines)
