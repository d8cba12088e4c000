"""The graph of a package as SVG: a line for each node, and edges in the colors of storages."""

from __future__ import annotations

from dataclasses import dataclass

from ..show.svg import FAINT, LINE, Canvas, Colors, elided, text_width
from .describe import View
from .scopes import ScopeChoice, choice_of

_COLORS = {
    "global": Colors("#ddf4ff", "#0969da"),
    "texture": Colors("#fff1e5", "#bc4c00"),
    "texture:weight": Colors("#fbefff", "#8250df"),
    "texture:nhwc": Colors("#dafbe1", "#1a7f37"),
}
_OTHER = Colors("#f6f8fa", "#57606a")
_WIDTH, _HEIGHT, _STEP = 460.0, 24.0, 34.0
_LANE = 9.0  # the distance of two parallel edges


@dataclass(frozen=True)
class _Edge:
    tensor: str
    begin: int  # the rows of the writer and of one reader
    end: int
    storage: str
    is_converted: bool


def _scope(storage: str) -> str:
    """Return the scope of a storage; the text of a storage may also have a layout."""
    return storage.split(" ")[0]


def _colors(storage: str) -> Colors:
    return _COLORS.get(_scope(storage), _OTHER)


def _edges(view: View, choice: ScopeChoice | None) -> tuple[list[_Edge], dict[str, str]]:
    """Return the edges between rows, and the storage of each tensor."""
    stored = {
        store["tensor"]: store["storage_scope"] or "global"
        for store in view["variants"][0]["stores"]
    }
    rows = {name: row for row, name in enumerate(view["inputs"])}
    read: dict[tuple[str, str], str] = {}  # storages, by node and tensor
    if choice is not None:
        for number, node in enumerate(choice.nodes):
            for tensor, storage in choice.reads(number):
                read[node, choice.tensors[tensor]] = choice.storages[tensor][storage]
            for tensor, storage in choice.writes(number)[:1]:
                stored[choice.tensors[tensor]] = choice.storages[tensor][storage]
    edges = []
    for row, node in enumerate(view["nodes"], len(rows)):
        for name in node["inputs"]:
            if name in rows:
                storage = read.get((node["name"], name), stored[name])
                edges.append(_Edge(name, rows[name], row, storage, storage != stored[name]))
        for name in node["outputs"]:
            rows[name] = row
    return edges, stored


def _lanes(edges: list[_Edge]) -> list[int]:
    """Return a lane for each edge. Edges in a lane do not overlap; adjacent rows use lane 0."""
    free: list[int] = []  # for each lane, the first row in which it is free
    lanes = []
    for edge in edges:
        if edge.end == edge.begin + 1:
            lanes.append(0)
            continue
        lane = next((i for i, row in enumerate(free) if row <= edge.begin), len(free))
        free[lane : lane + 1] = [edge.end]
        lanes.append(lane + 1)
    return lanes


def graph_picture(view: View) -> str:
    """Return the graph of one package as SVG."""
    canvas = Canvas()
    edges, stored = _edges(view, choice_of(view))
    canvas.text(0, 0, view["name"], bold=True)
    x = 0.0
    for name in sorted({_scope(each) for each in stored.values()}):
        canvas.box(x, LINE, 12, 12, _colors(name))
        canvas.text(x + 18, LINE + 10, name, color=FAINT)
        x += 18 + text_width(name) + 18
    canvas.text(x, LINE + 10, "dashed: converted before it is read", color=FAINT)
    top = 3 * LINE

    def middle(row: int) -> float:
        return top + row * _STEP + _HEIGHT / 2

    for edge, lane in sorted(
        zip(edges, _lanes(edges), strict=True), key=lambda each: each[0].is_converted
    ):
        hint = f"{edge.tensor}: {edge.storage}{', converted' if edge.is_converted else ''}"
        color = _colors(edge.storage).edge
        if lane == 0:
            begin, end = middle(edge.begin) + _HEIGHT / 2, middle(edge.end) - _HEIGHT / 2
            points = [(_WIDTH / 2, begin), (_WIDTH / 2, end)]
        else:
            right = _WIDTH + lane * _LANE
            points = [
                (_WIDTH, middle(edge.begin)),
                (right, middle(edge.begin)),
                (right, middle(edge.end)),
                (_WIDTH, middle(edge.end)),
            ]
        canvas.line(points, color, dashed=edge.is_converted, hint=hint)
    rows = [(name, "input", [name]) for name in view["inputs"]]
    rows += [(node["name"], node["op"], node["outputs"]) for node in view["nodes"]]
    for row, (name, op, outputs) in enumerate(rows):
        y = top + row * _STEP
        storage = stored[outputs[0]]
        canvas.box(0, y, _WIDTH, _HEIGHT, _colors(storage), hint=f"{name}: {op}, {storage}")
        words = elided(f"{op}  {name}", _WIDTH - 16)
        canvas.text(8, y + 16, words)
    return canvas.svg()


__all__ = ["graph_picture"]
