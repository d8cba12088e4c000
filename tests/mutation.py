"""Finds the places in C++ sources where a test should notice one small change.

The text must be clang-formatted: binary operators have spaces, template brackets have none.
Comments, strings, preprocessor lines, checks and diagnostics are blanked first, and only function
bodies are searched.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

# Calls that only check or describe: their text is not behavior.
DIAGNOSTIC = re.compile(
    r"\b(?:TL_\w*CHECK\w*|TL_UNREACHABLE|static_assert|assert|fail|fail_with|make_error|"
    r"invalid_argument|die_\w+)\s*\("
)
# Lines on which no test could see a change: capacity, hashing, memory order.
INVISIBLE = re.compile(r"\.reserve\(|shrink_to_fit|hash|memory_order|std::array<|\bcase\b.*:$|#")

TOKENS = re.compile(
    r'R"(?P<d>[^()\\\s]{0,16})\((?:.|\n)*?\)(?P=d)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'  # string
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'"  # character, but not 1'000
    r"|//[^\n]*|/\*(?:.|\n)*?\*/"  # comments
    r"|^[ \t]*\#(?:\\\n|[^\n])*",  # preprocessor line with its continuations
    re.MULTILINE,
)


@dataclass(frozen=True)
class Mutation:
    """A change of one line: `before` and `after` are whole lines, without the newline."""

    path: str
    line: int
    operator: str
    before: str
    after: str

    def apply(self, text: str) -> str:
        """Return `text` with the line changed; the line must be the one that was drawn."""
        lines = text.split("\n")
        assert lines[self.line - 1] == self.before, f"{self.path}:{self.line} is another line now"
        lines[self.line - 1] = self.after
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}  {self.before.strip()}  ->  {self.after.strip()}"


def blank(text: str) -> str:
    """Return `text` with everything but its newlines replaced by spaces."""
    return re.sub(r"[^\n]", " ", text)


def closing(text: str, start: int) -> int:
    """Return the position of the parenthesis that closes the one at `start`, or -1."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i
    return -1


def mask(text: str) -> str:
    """Return `text` with everything blanked except the code that may be changed.

    Positions stay the same. String and character literals keep their quotes, so that an argument
    remains an argument.
    """

    def hide(match: re.Match[str]) -> str:
        token = match[0]
        if token[0] in "\"'R":
            return token[0] + blank(token[1:-1]) + token[-1]
        return blank(token)

    text = TOKENS.sub(hide, text)
    for match in list(DIAGNOSTIC.finditer(text)):
        end = closing(text, match.end() - 1)
        if end > 0:
            text = text[: match.start()] + blank(text[match.start() : end + 1]) + text[end + 1 :]
    in_body = bodies(text)
    return "".join(
        c if c == "\n" or inside else " " for c, inside in zip(text, in_body, strict=True)
    )


def bodies(text: str) -> list[bool]:
    """Return, for each character of masked text, whether it is in a function body."""
    inside = [False] * len(text)
    stack: list[tuple[bool, int]] = []  # (is code, where the header before the brace began)
    start = 0  # where the declaration of a possible brace begins
    for i, c in enumerate(text):
        code = bool(stack) and stack[-1][0]
        inside[i] = code
        if c == "{":
            header = text[start:i].strip()
            named = re.search(r"\b(?:namespace|enum|class|struct|union|extern)\b[^()]*$", header)
            stack.append((not named and (code or ")" in header), start))
            start = i + 1
        elif c == "}":
            inside[i] = False
            begin = stack.pop()[1] if stack else 0
            # An initializer's brace belongs to the declaration that continues after it.
            following = text[i + 1 : i + 200].lstrip()[:1]
            start = begin if following in {",", "{", ")", ";"} else i + 1
        elif c == ";":
            start = i + 1
    return inside


Edit = tuple[int, int, str]  # replaces line[begin:end]
Operator = Callable[[str], Iterator[Edit]]


def swaps(table: dict[str, tuple[str, ...]], pattern: str) -> Operator:
    """Return the operator that replaces a key of `table` by one of its values."""
    finder = re.compile(
        pattern % "|".join(re.escape(k) for k in sorted(table, key=len, reverse=True))
    )

    def operator(line: str) -> Iterator[Edit]:
        for match in finder.finditer(line):
            for other in table[match[1]]:
                yield match.start(1), match.end(1), other

    return operator


def constants(line: str) -> Iterator[Edit]:
    for match in re.finditer(r"(?<![\w.'<])(\d+)(\.\d+)?([uUlLf]*)(?![\w.'>])", line):
        number, fraction, suffix = int(match[1]), match[2] or "", match[3]
        for other in (number + 1, number - 1) if number > 0 else (1,):
            yield match.start(), match.end(), f"{other}{fraction}{suffix}"


def negated_condition(line: str) -> Iterator[Edit]:
    for match in re.finditer(r"\bif (?:constexpr )?(\()", line):
        if "constexpr" in match[0]:
            continue
        end = closing(line, match.start(1))
        if end > 0:
            begin = max(match.end(1), line.rfind("; ", match.end(1), end) + 2)
            yield begin, end, f"!({line[begin:end]})"


def removed_statement(line: str) -> Iterator[Edit]:
    target = r"[*]?(?:[A-Za-z_][\w:]*)(?:(?:\.|->)\w+|\[[^\]]*\]|\([^()]*\))*"
    match = re.fullmatch(
        rf"\s*(?!return\b|throw\b|delete\b|using\b|co_)((?:{target})\s*"
        r"(?:\(.*\)|(?:[-+*/|&%^]|<<|>>)?=(?!=).*|\+\+|--);|(?:\+\+|--)[\w.>-]+;)",
        line,
    )
    if match and line.count("(") == line.count(")"):
        yield match.start(1), match.end(1), ";"


def arguments(line: str, begin: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of the arguments between two parentheses."""
    spans, depth, start = [], 0, begin
    for i in range(begin, end):
        depth += (line[i] in "([{") - (line[i] in ")]}")
        if line[i] == "," and depth == 0:
            spans.append((start, i))
            start = i + 1
    spans.append((start, end))
    return spans


LITERAL = re.compile(r'[0-9"].*|[A-Z]\w*::[A-Z]\w*')

# Calls whose two arguments may be swapped without effect.
COMMUTATIVE = {"min", "max", "swap", "gcd", "lcm", "if", "for", "while", "switch", "return"}


def swapped_arguments(line: str) -> Iterator[Edit]:
    for match in re.finditer(r"\b(\w+)(\()", line):
        end = closing(line, match.start(2))
        if match[1] in COMMUTATIVE or end < 0:
            continue
        spans = arguments(line, match.end(2), end)
        for (a, b), (c, d) in zip(spans, spans[1:], strict=False):
            first, second = line[a:b].strip(), line[c:d].strip()
            alike = [bool(LITERAL.fullmatch(first)), bool(LITERAL.fullmatch(second))]
            if alike[0] == alike[1]:  # otherwise the types would rarely fit
                yield a, d, f"{' ' if line[a] == ' ' else ''}{second}, {first}"


def changed_return(line: str) -> Iterator[Edit]:
    match = re.fullmatch(r"(?:.*\s)?return (.+);.*", line)
    if not match or ";" in match[1] or match[1].count("(") != match[1].count(")"):
        return
    value, begin, end = match[1], match.start(1), match.end(1)
    if re.search(r" (?:==|!=|<|>|<=|>=|&&|\|\|) |^!", value):
        yield begin, end, f"!({value})"
    elif not re.fullmatch(r'\{\}|nullptr|nullopt|std::nullopt|false|true|0|""|[*]this', value):
        yield begin, end, "{}"


OPERATORS: dict[str, Operator] = {
    "relation": swaps(
        {
            "<": ("<=", ">="),
            ">": (">=", "<="),
            "<=": ("<", ">"),
            ">=": (">", "<"),
            "==": ("!=",),
            "!=": ("==",),
        },
        r" (%s) ",
    ),
    "arithmetic": swaps(
        {
            "+": ("-",),
            "-": ("+",),
            "*": ("+",),
            "/": ("*",),
            "%": ("/",),
            "+=": ("-=",),
            "-=": ("+=",),
            "*=": ("+=",),
        },
        r"(?<=[\w)\]] )(%s)(?= [\w(*!-])",
    ),
    "logic": swaps({"&&": ("||",), "||": ("&&",)}, r" (%s) "),
    "truth": swaps({"true": ("false",), "false": ("true",)}, r"\b(%s)\b"),
    "min/max": swaps(
        {
            "std::min": ("std::max",),
            "std::max": ("std::min",),
            "min": ("max",),
            "max": ("min",),
            "min_element": ("max_element",),
            "max_element": ("min_element",),
        },
        r"(?<![\w:.>])(%s)(?=[<(])",
    ),
    "constant": constants,
    "negated condition": negated_condition,
    "removed statement": removed_statement,
    "swapped arguments": swapped_arguments,
    "changed return": changed_return,
}


def mutations(path: str, text: str) -> Iterator[list[Mutation]]:
    """Return, for each line of one source that can be changed, all the ways to change it."""
    real, masked = text.split("\n"), mask(text).split("\n")
    previous = "{"
    for number, (line, code) in enumerate(zip(real, masked, strict=True), 1):
        whole = previous.endswith((";", "{", "}", ":"))  # whether a statement begins on this line
        previous = code.rstrip() or previous
        if not code.strip() or INVISIBLE.search(code):
            continue
        found = []
        for name, operator in OPERATORS.items():
            if name == "removed statement" and not whole:
                continue
            for begin, end, other in operator(code):
                # Text that an operator moves is copied from the real line, including strings.
                moved = rewrite(line, code, begin, end, other)
                after = line[:begin] + moved + line[end:]
                if after != line:
                    found.append(Mutation(path, number, name, line, after))
        if found:
            yield found


def rewrite(line: str, code: str, begin: int, end: int, other: str) -> str:
    """Return `other`, made of masked text, with the real text of its parts restored."""
    if line[begin:end] == code[begin:end]:
        return other
    for (a, b), (c, d) in zip(
        arguments(code, begin, end), arguments(code, begin, end)[1:], strict=False
    ):
        if other.strip() == f"{code[c:d].strip()}, {code[a:b].strip()}":
            return f"{line[c:d].strip()}, {line[a:b].strip()}"
    return other.replace(code[begin:end], line[begin:end])


def draw(root: Path, paths: list[str], seed: int) -> list[Mutation]:
    """Return one mutation of every mutable line, in the random order that `seed` gives.

    Lines are drawn uniformly; on a line, first the operator is drawn, then the place.
    """
    lines: list[list[Mutation]] = []
    for file in sorted([*(root / "src").rglob("*.cc"), *(root / "src").rglob("*.h")]):
        path = file.relative_to(root).as_posix()
        if any(path == p or path.startswith(p.rstrip("/") + "/") for p in paths):
            lines.extend(mutations(path, file.read_text()))
    rng = random.Random(seed)
    rng.shuffle(lines)
    chosen = []
    for found in lines:
        operator = rng.choice(sorted({m.operator for m in found}))
        chosen.append(rng.choice([m for m in found if m.operator == operator]))
    return chosen
