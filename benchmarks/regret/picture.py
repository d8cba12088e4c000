"""A picture of estimates against times, by family, as SVG."""

from __future__ import annotations

import math
from typing import Any

SIZE, LEFT, TOP, GAP = 300, 60, 40, 70
COLORS = ("#0969da", "#cf222e")  # points, and defaults


def scatter(rows: list[dict[str, Any]]) -> str:
    """Return a plot for each family with estimates; both axes are logarithmic, in microseconds."""
    families: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["default"]["estimate"] is not None:
            families.setdefault(row["family"], []).append(row)
    width = LEFT + len(families) * (SIZE + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + SIZE + 50}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{TOP + SIZE + 50}" fill="white"/>',
    ]
    for number, (name, own) in enumerate(sorted(families.items())):
        parts += _plot(name, own, LEFT + number * (SIZE + GAP))
    return "\n".join([*parts, "</svg>\n"])


def _plot(name: str, rows: list[dict[str, Any]], left: float) -> list[str]:
    points = [
        (each["estimate"] * 1e6, each["seconds"] * 1e6, color, radius)
        for color, radius, kind in ((COLORS[0], 1.5, "measured"), (COLORS[1], 3, "default"))
        for row in rows
        for each in (row[kind] if kind == "measured" else [row[kind]])
    ]
    logs = [math.log10(value) for point in points for value in point[:2]]
    low, high = math.floor(min(logs)), math.ceil(max(logs))
    high = max(high, low + 1)

    def at(value: float) -> float:
        return (math.log10(value) - low) / (high - low) * SIZE

    bottom = TOP + SIZE
    parts = [
        f'<text x="{left}" y="{TOP - 12}" font-weight="bold">{name}</text>',
        f'<rect x="{left}" y="{TOP}" width="{SIZE}" height="{SIZE}" fill="none" stroke="#888"/>',
        f'<line x1="{left}" y1="{bottom}" x2="{left + SIZE}" y2="{TOP}" stroke="#bbb"/>',
        f'<text x="{left + SIZE / 2}" y="{bottom + 36}" text-anchor="middle">estimated, us</text>',
        f'<text x="{left - 40}" y="{TOP + SIZE / 2}" text-anchor="middle" '
        f'transform="rotate(-90 {left - 40} {TOP + SIZE / 2})">measured, us</text>',
    ]
    for power in range(low, high + 1):
        place, label = at(10.0**power), f"{10.0**power:g}"
        parts += [
            f'<text x="{left + place}" y="{bottom + 16}" text-anchor="middle">{label}</text>',
            f'<text x="{left - 6}" y="{bottom - place + 4}" text-anchor="end">{label}</text>',
        ]
    for color in COLORS:
        parts.append(f'<g fill="{color}" fill-opacity="0.5">')
        parts += [
            f'<circle cx="{left + at(x):.1f}" cy="{bottom - at(y):.1f}" r="{radius}"/>'
            for x, y, own, radius in points
            if own == color
        ]
        parts.append("</g>")
    return parts
