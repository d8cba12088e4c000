"""Pictures of plans: the contents of each image and buffer, operator by operator."""

from __future__ import annotations

import colorsys
from collections.abc import Iterator
from typing import Any

from ..show.svg import FAINT, INK, Canvas, Colors
from .network import lifetimes, with_operators, wrong

_LEFT = 110.0  # x of the first column, right of the names
_GAP = 34.0
_WIDEST = 1600.0  # width of all columns, unless columns would be invisible
_MOST_OPERATORS = 5000
_LIVE_HEIGHT = 90.0
_IMAGES_HEIGHT = 640.0  # total height of all images
_BUFFER_HEIGHT = 200.0


def _colors(number: int) -> Colors:
    """Return the color of a number; hues step by the golden ratio, so that neighbors differ."""
    hue = number * 0.618034 % 1
    red, green, blue = colorsys.hls_to_rgb(hue, 0.78 - 0.08 * (number % 2), 0.55)
    edge = colorsys.hls_to_rgb(hue, 0.38, 0.5)
    return Colors(_hex(red, green, blue), _hex(*edge))


def _hex(red: float, green: float, blue: float) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in (red, green, blue))


class _Picture:
    def __init__(self, network: dict[str, Any], plan: dict[str, Any]) -> None:
        self.items = {item["id"]: item for item in network["items"]}
        self.plan = plan
        self.lives = lifetimes(network, plan)
        self.start = min((first for first, _ in self.lives.values()), default=0)
        self.end = 1 + max((last for _, last in self.lives.values()), default=0)
        self.column = max(4.0, min(28.0, _WIDEST / (self.end - self.start)))
        self.canvas = Canvas()

    def at(self, time: int) -> float:
        return _LEFT + (time - self.start) * self.column

    def draw(self, name: str) -> str:
        plan, canvas = self.plan, self.canvas
        unit, parts = ("bytes", "arenas") if "arenas" in plan else ("texels", "images")
        size, bound = plan[unit], plan[f"lower_bound_{unit}"]
        word = "optimal" if bound == size else f"{size / max(1, bound):.3f} x"
        canvas.text(0, 16, name, size=16, bold=True)
        canvas.text(
            0,
            38,
            f"{size:,} {unit} in {len(plan['images'])} {parts}; no plan has fewer than "
            f"{bound:,} ({word})" + self.about_buffers(),
        )
        canvas.text(
            0,
            58,
            "Each column is one operator, from left to right: it shows what lies where at that "
            "time, squeezed to the column's width.",
            color=FAINT,
        )
        y = self.draw_live(84)
        most = sum(image["width"] * image["height"] for image in plan["images"])
        for number, image in enumerate(plan["images"]):
            share = image["width"] * image["height"] / most
            y = self.draw_image(number, image, y + _GAP, max(26.0, _IMAGES_HEIGHT * share))
        for number, image in enumerate(plan["strips"]):
            y = self.draw_image(number, image, y + _GAP, _BUFFER_HEIGHT)
        self.draw_axis(y)
        return canvas.svg()

    def about_buffers(self) -> str:
        if "buffer_bytes" not in self.plan:
            return ""
        size, bound = self.plan["buffer_bytes"], self.plan["lower_bound_buffer_bytes"]
        word = "optimal" if bound == size else f"{size / max(1, bound):.3f} x"
        return f". {size:,} bytes in a buffer; no plan has fewer than {bound:,} ({word})"

    def draw_live(self, y: float) -> float:
        """Draw the live texels at each operator, below the plan's texels."""
        live = [0] * (self.end - self.start)
        for place in self.plan["placements"]:
            first, last = self.lives[place["id"]]
            item = self.items[place["id"]]
            if item["scope"] == "global":
                continue
            for time in range(first, last + 1):
                live[time - self.start] += item["height"] * item["width"] * item["slices"]
        most = max(self.plan.get("texels", max(live, default=0)), 1)
        self.canvas.text(0, y + 12, "live texels", bold=True)
        self.canvas.text(0, y + 28, f"{max(live, default=0):,} at most", size=10, color=FAINT)
        frame = Colors("#f6f8fa", "#d0d7de")
        width = (self.end - self.start) * self.column
        self.canvas.box(_LEFT, y, width, _LIVE_HEIGHT, frame, radius=0)
        for time, texels in enumerate(live):
            height = _LIVE_HEIGHT * texels / most
            self.canvas.box(
                _LEFT + time * self.column,
                y + _LIVE_HEIGHT - height,
                self.column,
                height,
                Colors("#8c959f", "none"),
                radius=0,
                hint=f"operator {time + self.start}: {texels:,} live texels",
            )
        return y + _LIVE_HEIGHT

    def draw_image(self, number: int, image: dict[str, Any], y: float, height: float) -> float:
        canvas = self.canvas
        is_bytes = image["format"] == "bytes"
        kind = image.get("kind", "image")
        canvas.text(0, y + 12, f"{kind} {number}", bold=True)
        label = f"{image['width']} x {image['height']}"
        if is_bytes:
            label = f"{image['height']:,} bytes"
        canvas.text(0, y + 26, label, size=10, color=FAINT)
        if height > 36 and not is_bytes:
            canvas.text(0, y + 40, image["format"], size=10, color=FAINT)
        width = (self.end - self.start) * self.column
        canvas.box(_LEFT, y, width, height, Colors("#f6f8fa", "#d0d7de"), radius=0)
        for place in self.plan["placements"]:
            if place["image"] == number and place["kind"] == kind:
                self.draw_place(place, image, y, height / image["height"])
        return y + height

    def boxes(self, place: dict[str, Any], image: dict[str, Any]) -> Iterator[tuple[float, float]]:
        """Yield x and width: one box for whole rows, else one for each operator."""
        first, last = self.lives[place["id"]]
        if place["width"] == image["width"]:
            yield self.at(first), (last + 1 - first) * self.column
            return
        scale = self.column / image["width"]
        for time in range(first, last + 1):
            yield self.at(time) + place["x"] * scale, place["width"] * scale

    def draw_place(
        self, place: dict[str, Any], image: dict[str, Any], y: float, scale: float
    ) -> None:
        item, (first, last) = self.items[place["id"]], self.lives[place["id"]]
        hint = f"item {place['id']}: {place['height']:,} bytes at {place['y']:,}"
        if item["scope"] != "global":
            hint = (
                f"item {place['id']}: {item['height']} x {item['width']} texels in "
                f"{item['slices']} slices, folded by {place['fold']}, {place['width']} x "
                f"{place['height']} at ({place['x']}, {place['y']})"
            )
        hint += f", operators {first} to {last}"
        top, height = y + place["y"] * scale, place["height"] * scale
        for x, width in self.boxes(place, image):
            self.canvas.box(x, top, width, height, _colors(place["id"]), radius=0, hint=hint)
        label, room = str(place["id"]), (last + 1 - first) * self.column
        if height >= 10 and room >= 7 * len(label):
            middle = self.at(first) + room / 2
            self.canvas.text(middle, top + height / 2 + 4, label, size=10, centered=True)

    def draw_axis(self, y: float) -> None:
        step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 500, 10**9) if s * self.column >= 26)
        for time in range(self.start, self.end):
            if time % step == 0:
                x = self.at(time) + self.column / 2
                self.canvas.text(x, y + 16, str(time), size=10, color=FAINT, centered=True)
        self.canvas.text(0, y + 16, "operator", size=10, color=INK)


def _drawn(item: dict[str, Any], place: dict[str, Any]) -> dict[str, Any]:
    """Return a placement as a rectangle; a range of bytes is one byte wide."""
    if item["scope"] == "global":
        extent = {"x": 0, "y": place["offset"], "width": 1, "height": place["bytes"]}
        return place | extent | {"kind": "buffer", "image": place["buffer"]}
    if "arena" not in place:
        return place | {"kind": "image"}
    channel = int("".join(filter(str.isdigit, item["format"]))) // 8
    size = 4 * channel * place["row_pitch"] * place["height"]
    extent = {"x": 0, "y": place["offset"], "width": 1, "height": size}
    return place | extent | {"kind": "arena", "image": place["arena"]}


def _as_images(network: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
    """Return the plan with rectangles for all placements; arenas are images one byte wide.

    Buffers are added as ``strips``, in the form of images.
    """
    items = {item["id"]: item for item in network["items"]}

    def in_bytes(kind: str, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {"width": 1, "height": part["bytes"], "format": "bytes", "kind": kind} for part in parts
        ]

    return plan | {
        "images": in_bytes("arena", plan["arenas"]) if "arenas" in plan else plan["images"],
        "strips": in_bytes("buffer", plan.get("buffers", [])),
        "placements": [_drawn(items[place["id"]], place) for place in plan["placements"]],
    }


def picture(network: dict[str, Any], plan: dict[str, Any], name: str) -> str:
    """Draw a plan's images or arenas, and its buffers, over time as SVG.

    Raises
    ------
    NetworkError
        If the network has too many operators to draw.
    """
    network = with_operators(network) if "order" in plan else network
    last = max((item["last"] for item in network["items"]), default=0)
    if last > _MOST_OPERATORS:
        raise wrong(
            f"a network of {last:,} operators is too large to draw",
            f"draw a network of at most {_MOST_OPERATORS:,} operators",
        )
    return _Picture(network, _as_images(network, plan)).draw(name)
