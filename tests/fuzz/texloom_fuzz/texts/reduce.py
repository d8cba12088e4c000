"""Reduction of failing programs: fewer directives, stages and steps, with the same failure."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

Fails = Callable[[list[str]], list[bool]]

NUMBER = re.compile(r"(?<![\w.\"])(\d+)(?![\w.\"])")
SPLIT = re.compile(r"^  split (\S+) (?:factor|nparts)=\d+(?: exact)? -> (\S+), (\S+)$")
FUSE = re.compile(r"^  fuse (\S+), (\S+) -> (\S+)$")
COMPUTE = re.compile(r"^compute (\S+|\"[^\"]*\")\((.*?)\): (\w+) = ")
CALL = re.compile(r"[\w.#\"]*[(\[]")


class Reducer:
    """Tries smaller texts until none fails in the same way."""

    def __init__(self, fails: Fails, seconds: float, batch: int = 2) -> None:
        self._fails = fails  # whether each text fails as the first one does
        self._end = time.monotonic() + seconds
        self._batch = batch  # texts that are tried concurrently
        self._tried: set[str] = set()

    def reduced(self, text: str) -> str:
        """Return the smallest text found within the time limit."""
        steps = (without_lines, without_splits, without_stages, with_smaller_numbers, simpler)
        changed = True
        while changed and time.monotonic() < self._end:
            changed = False
            for step in steps:
                smaller = self._first(step(text))
                while smaller is not None:
                    text, changed = smaller, True
                    smaller = self._first(step(text))
        return text

    def _first(self, candidates: Iterator[str]) -> str | None:
        """Return the first text that fails, if any."""
        batch: list[str] = []
        for each in candidates:
            if time.monotonic() > self._end:
                return None
            if each in self._tried:
                continue
            self._tried.add(each)
            batch.append(each)
            if len(batch) == self._batch:
                found = self._any(batch)
                if found is not None:
                    return found
                batch = []
        return self._any(batch)

    def _any(self, batch: list[str]) -> str | None:
        return next((t for t, bad in zip(batch, self._fails(batch), strict=True) if bad), None)


def joined(lines: list[str]) -> str:
    """Join the lines."""
    return "\n".join(lines)


def without_lines(text: str) -> Iterator[str]:
    """Yield texts that lack some directives and parameters: first half of them, at last one."""
    lines = text.split("\n")
    may_go = [
        i for i, line in enumerate(lines) if line.startswith("  ") and SPLIT.match(line) is None
    ]
    size = max(1, len(may_go) // 2)
    while may_go:
        for at in range(0, len(may_go), size):
            gone = set(may_go[at : at + size])
            yield joined([line for i, line in enumerate(lines) if i not in gone])
        if size == 1:
            return
        size //= 2


def word(name: str) -> re.Pattern[str]:
    """Return a pattern for the name as a whole word."""
    return re.compile(rf"(?<![\w.]){re.escape(name)}(?![\w.])")


def without_splits(text: str) -> Iterator[str]:
    """Undo a split or fusion: uses of one part become the axis; uses of the other part are removed.

    The lines of a stage begin at its head and end before the next stage's head.
    """
    lines = text.split("\n")
    for i, line in enumerate(lines):
        found = SPLIT.match(line)
        fused = FUSE.match(line)
        if found:
            whole, parts = found[1], (found[2], found[3])
        elif fused:
            whole, parts = fused[1], (fused[3],)
        else:
            continue
        for kept in parts:
            others = [p for p in parts if p != kept] + ([fused[2]] if fused else [])
            result = []
            for j, each in enumerate(lines):
                if j == i:
                    continue
                is_directive = each.startswith("  ")
                is_order = each.startswith("  reorder")
                names_other = any(word(o).search(each) for o in others)
                if j > i and is_directive and not is_order and names_other and not fused:
                    continue
                if j > i and is_order and not fused:
                    names = [n for n in each[10:].split(", ") if n not in others]
                    each = "  reorder " + ", ".join(names)
                result.append(word(kept).sub(whole, each) if is_directive else each)
            yield joined(result)


def parts_of(text: str) -> tuple[list[str], list[list[str]]]:
    """Split a program into the lines of its head and of each operation."""
    head, *operations = text.split("\n\n")
    return head.split("\n"), [each.strip("\n").split("\n") for each in operations]


def text_of(head: list[str], operations: list[list[str]]) -> str:
    """Join head and operations."""
    return "\n\n".join(joined(lines) for lines in [head, *operations]) + "\n"


def with_param(head: list[str], name: str) -> list[str]:
    """Return the head with a parameter of this name."""
    pattern = re.compile(rf"  param {re.escape(name)}(?::|$)")
    return head if any(pattern.match(line) for line in head) else [*head, f"  param {name}"]


def without_stages(text: str) -> Iterator[str]:
    """Yield texts with an input in place of a computation, and texts without one of the stages."""
    head, operations = parts_of(text)
    for n, lines in enumerate(operations):
        before, after = operations[:n], operations[n + 1 :]
        found = COMPUTE.match(lines[0])
        name = found[1] if found else lines[0].split(" ")[1].rstrip(":")
        if found:
            extents = ", ".join(re.findall(r"< (\d+)", found[2]))
            placeholder = [f"placeholder {name}: {found[3]}[{extents}]"]
            yield text_of(with_param(head, name), [*before, placeholder, *after])
        others = [line for line in head if not re.match(rf"  param {re.escape(name)}(?::|$)", line)]
        yield text_of(others, before + after)
        if "  output" not in lines:
            continue
        # If the removed stage was an output, an earlier stage may become the output instead.
        for at, source in enumerate(before):
            reads = COMPUTE.match(source[0])
            if reads:
                output = [source[0], "  output", *source[1:]]
                handed = [*before[:at], output, *before[at + 1 :], *after]
                yield text_of(with_param(others, reads[1]), handed)


def with_smaller_numbers(text: str) -> Iterator[str]:
    """Yield texts with a number replaced by 1, its half, or one less; everywhere or once."""
    numbers = sorted({int(n) for n in NUMBER.findall(text)}, reverse=True)
    for n in numbers:
        for smaller in dict.fromkeys((1, n // 2, n - 1)):
            if 0 <= smaller < n:
                yield re.sub(rf"(?<![\w.\"]){n}(?![\w.\"])", str(smaller), text)
    for found in NUMBER.finditer(text):
        n = int(found[1])
        for smaller in dict.fromkeys((0, 1, n // 2, n - 1)):
            if smaller < n:
                yield text[: found.start()] + str(smaller) + text[found.end() :]


def simpler(text: str) -> Iterator[str]:
    """Yield texts with an operand for its expression, or without `where`, `init`, `origin`."""
    for option in (r", where=[^\n]*(?=\)$)", r", init=[^\n]*(?=\)$)"):
        for found in re.finditer(option, text, re.MULTILINE):
            yield text[: found.start()] + text[found.end() :]
    for found in CALL.finditer(text):
        inside, end = arguments(text, found.end())
        if text.rfind("\n", 0, found.start()) < text.rfind("= ", 0, found.start()):
            for argument in inside:
                yield text[: found.start()] + argument.strip() + text[end:]
    for found in re.finditer(r" (?:[-+*/|&^]|<<|>>|&&|\|\||[<>=!]=|[<>]) ", text):
        left, right = operand_before(text, found.start()), operand_after(text, found.end())
        yield text[: found.start()] + text[right:]
        yield text[:left] + text[found.end() :]


def outside_brackets(text: str, begin: int, step: int) -> Iterator[int]:
    """Yield positions from `begin`, in steps of 1 or -1, outside nested brackets.

    The last position is that of the bracket that closes the enclosing expression.
    """
    opening, closing = ("([", ")]") if step > 0 else (")]", "([")
    depth, at = 0, begin
    while 0 <= at < len(text):
        if depth == 0:
            yield at
        if text[at] in closing:
            if depth == 0:
                return
            depth -= 1
        depth += text[at] in opening
        at += step


def arguments(text: str, begin: int) -> tuple[list[str], int]:
    """Return the comma-separated texts between the brackets, and their end."""
    start, parts = begin, []
    for at in outside_brackets(text, begin, 1):
        if text[at] in ",)]":
            parts.append(text[start:at])
            start = at + 1
    return parts, start


def operand_before(text: str, end: int) -> int:
    """Return the beginning of the operand that ends here."""
    places = outside_brackets(text, end - 1, -1)
    return next((at + 1 for at in places if text[at] in " \n(["), 0)


def operand_after(text: str, begin: int) -> int:
    """Return the end of the operand that begins here."""
    places = outside_brackets(text, begin, 1)
    return next((at for at in places if text[at] in " \n,)]"), len(text))
