"""Drawing of loop nests: loops and threads, buffers with their scopes, and traffic."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from .svg import FAINT, INK, LINE, SIZE, Canvas, Colors, elided, text_width
from .traffic import Traffic, buffer_bytes, rows_of
from .units import extents_text, shape_text, size_text

WIDTH = 880.0
PAD = 10.0
CHIP = 20.0
"""Height of a loop's label."""

LOOPS = {
    "blockIdx": Colors("#d6ebff", "#58a6ff"),
    "threadIdx": Colors("#d4f5dc", "#3fb257"),
    "virtual": Colors("#d2f3f2", "#35a7a3"),
    "for": Colors("#eef0f2", "#adb5bd"),
    "unrolled": Colors("#fff3bf", "#d4a72c"),
    "vectorized": Colors("#f1e4ff", "#b083f0"),
    "guard": Colors("#ffffff", "#e08a4a"),
    "pipelined": Colors("#ffe3ec", "#e2739b"),
}
LEGEND = {
    "blockIdx": "blocks of the grid",
    "threadIdx": "threads of a block",
    "virtual": "virtual threads",
    "for": "serial",
    "unrolled": "unrolled",
    "vectorized": "lanes",
    "guard": "condition",
    "pipelined": "runs ahead",
}
SCOPES = {
    "global": Colors("#eef0f2", "#adb5bd"),
    "texture": Colors("#ffe3ec", "#e2739b"),
    "shared": Colors("#d4f5dc", "#3fb257"),
    "local": Colors("#fff3bf", "#d4a72c"),
}
SHARERS = {"shared": ["for each block"], "local": ["for each thread"]}
CARD = Colors("#ffffff", "#d0d7de")
BODY = Colors("#fbfcfd", "#d8dee4")

Node = dict[str, Any]


def draw_kernel(canvas: Canvas, kernel: Node, body: list[Node], y: float) -> float:
    """Draw one kernel from y on, with the loops of `body`; return the y of its end."""
    mark, top = canvas.mark(), y
    y = _heading(canvas, kernel, y + PAD + 12)
    y = _traffic(canvas, rows_of(kernel), y)
    y = _statements(canvas, _without_single_loops(body), PAD, y, WIDTH - 2 * PAD)
    canvas.box(0, top, WIDTH, y - top + PAD, CARD, radius=8, at=mark)
    return y + PAD + LINE


def draw_legend(canvas: Canvas, bodies: list[list[Node]], y: float) -> float:
    """Draw the legend of the loops that occur; return the y of its end."""
    kinds = {_label(node)[0] for body in bodies for node in _all_blocks(body)}
    x = 0.0
    for kind, words in LEGEND.items():
        if kind not in kinds:
            continue
        width = text_width(words, 11) + 12
        canvas.box(x, y, width, CHIP, LOOPS[kind], dashed=kind == "guard")
        canvas.text(x + 6, y + 14, words, size=11)
        x += width + 6
    return y + CHIP + LINE


def _heading(canvas: Canvas, kernel: Node, y: float) -> float:
    grid, block = kernel["grid"], kernel["block"]
    canvas.text(PAD, y, kernel["name"], size=15, bold=True)
    words = (
        f"grid {extents_text(grid)}, block {extents_text(block)}: {prod(grid) * prod(block):,} "
        "threads"
    )
    canvas.text(PAD + text_width(kernel["name"], 15) + 20, y, words, color=FAINT)
    return y + PAD


COLUMNS = (0.0, 62.0, 250.0, 330.0, 480.0, 640.0, 750.0)
"""The positions of a table row's cells."""


def _traffic(canvas: Canvas, rows: list[Traffic], y: float) -> float:
    """Draw a line for the reads and one for the writes of each buffer."""
    header = ("buffer", "scope", "size", "accesses", "bytes", "of its size")
    for x, words in zip(COLUMNS[1:], header, strict=True):
        canvas.text(PAD + x, y + LINE - 4, words, size=11, color=FAINT)
    for row in rows:
        y += LINE
        _traffic_line(canvas, row, y + LINE - 4)
    return y + LINE + 6


def _traffic_line(canvas: Canvas, row: Traffic, y: float) -> None:
    buffer = row.buffer
    most = "" if row.exact else "≤ "
    accesses = size = "unknown"
    if row.accesses is not None and row.bytes is not None:
        each = f" × {row.bytes // row.accesses} B" if row.bytes % row.accesses == 0 else ""
        accesses, size = f"{most}{row.accesses:,}{each}", most + size_text(row.bytes)
    times = row.times_its_size
    cells = (
        row.verb,
        elided(buffer.name, COLUMNS[2] - COLUMNS[1] - 8),
        buffer.scope,
        size_text(buffer_bytes(buffer)) + (" a block" if buffer.scope == "shared" else ""),
        accesses,
        size,
    )
    data = {"traffic": f"{row.verb} {buffer.name} {row.accesses} {row.bytes}"}
    for x, words in zip(COLUMNS, cells, strict=False):
        faint = FAINT if words == row.verb else INK
        canvas.text(PAD + x, y, words, color=faint, **(data if x == COLUMNS[5] else {}))
    if times is not None:
        canvas.text(PAD + COLUMNS[6], y, f"{most}{times:,.2f} ×")


def _without_single_loops(nodes: list[Node]) -> list[Node]:
    """Return the nodes without loops of one iteration, which kernels do not have."""
    result: list[Node] = []
    for node in nodes:
        if "body" not in node:
            result.append(node)
            continue
        body = _without_single_loops(node["body"])
        single = node["kind"] == "loop" and node["extent"] == "1" and "Idx" not in node["loop"]
        result += body if single else [{**node, "body": body}]
    return result


def _all_blocks(nodes: list[Node]) -> Iterator[Node]:
    for node in nodes:
        if "body" in node:
            yield node
            yield from _all_blocks(node["body"])


def _statements(canvas: Canvas, nodes: list[Node], x: float, y: float, width: float) -> float:
    for node in nodes:
        if "body" in node:
            y = _chain(canvas, node, x, y, width)
        elif node["kind"] == "allocate":
            y = _allocation(canvas, node["buffer"], x, y)
        elif node["kind"] == "barrier":
            canvas.text(x + 4, y + LINE - 5, "barrier", color="#b35900")
            y += LINE
        else:
            text = node["text"].strip()
            for number, words in enumerate(_statement(node, width - 34)):
                canvas.text(x + (4 if number == 0 else 30), y + LINE - 5, words, hint=text)
                y += LINE
    return y


def _statement(node: Node, width: float) -> list[str]:
    """Return the text of a store; if it is long, only the buffers that it reads."""
    lines = _lines(node["text"].strip(), width)
    if len(lines) <= 2:
        return lines
    reads = ", ".join(f"{buffer.name}[…]" for buffer in node["reads"])
    return [elided(f"{node['buffer'].name}[…] ← {reads}", width)]


def _lines(text: str, width: float) -> list[str]:
    """Wrap the words of a statement into lines; a longer word gets its own line."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".lstrip()
        if text_width(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return [elided(line, width) for line in lines if line]


def _chain(canvas: Canvas, node: Node, x: float, y: float, width: float) -> float:
    """Draw perfectly nested loops as a row of labels, around their body."""
    mark, top = canvas.mark(), y
    chip_x, chip_y = x + 6, y + 6
    while True:
        kind, words = _label(node)
        shown = _shortened(words, width - 30)
        wide = text_width(shown) + 12
        if chip_x + wide > x + width - 6 and chip_x > x + 6:
            chip_x, chip_y = x + 6, chip_y + CHIP + 4
        canvas.box(chip_x, chip_y, wide, CHIP, LOOPS[kind], dashed=kind == "guard")
        canvas.text(chip_x + 6, chip_y + 14, shown, hint=words if shown != words else "")
        chip_x += wide + 6
        body = node["body"]
        if len(body) != 1 or "body" not in body[0]:
            break
        node = body[0]
    y = _statements(canvas, body, x + PAD, chip_y + CHIP + 4, width - 2 * PAD)
    canvas.box(x, top, width, y - top + 4, BODY, radius=6, at=mark)
    return y + 8


def _shortened(words: str, width: float) -> str:
    """Shorten a label in the middle, keeping the loop's kind and extent."""
    letters = int(width / text_width("m"))
    if len(words) <= letters:
        return words
    half = (letters - 1) // 2
    return f"{words[:half]}…{words[-half:]}"


def _label(node: Node) -> tuple[str, str]:
    """Return a label's kind, a key of LOOPS, and its text."""
    if node["kind"] == "loop":
        loop = node["loop"]
        return loop.split(".")[0], f"{loop} {node['name']} < {node['extent']}"
    if node["kind"] == "guard":
        return "guard", f"if {node['condition']}"
    if node["kind"] == "while":
        return "guard", f"while {node['condition']}"
    return "pipelined", f"pipelined {node['buffer'].name}, {node['stages']} stages"


def _allocation(canvas: Canvas, buffer: Any, x: float, y: float) -> float:
    size = size_text(prod(buffer.shape) * buffer.element_bytes)
    words = f"{buffer.name}: {buffer.scope} {shape_text(buffer.dtype, buffer.shape)}"
    wide = text_width(words) + 12
    canvas.box(x, y + 2, wide, CHIP, SCOPES[buffer.scope], radius=10)
    canvas.text(x + 6, y + 16, words)
    shared = " ".join([size, *SHARERS.get(buffer.scope, [])])
    canvas.text(x + wide + 8, y + 16, shared, color=FAINT, size=SIZE - 1)
    return y + CHIP + 6
