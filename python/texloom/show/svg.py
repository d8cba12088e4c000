"""SVG rectangles and text, with sizes that are computed without a browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

FONT = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
SIZE = 12
"""Font size of ordinary text, in pixels."""
LINE = 18
"""Line height."""
INK, FAINT = "#24292f", "#6e7781"


def text_width(text: str, size: int = SIZE) -> float:
    """Return the largest width of the text: letters are at most 0.6 of the font size wide."""
    return 0.61 * size * len(text)


def elided(text: str, width: float, size: int = SIZE) -> str:
    """Return the text, shortened with … if it is wider."""
    letters = max(int(width / text_width("m", size)), 1)
    return text if len(text) <= letters else text[: letters - 1] + "…"


@dataclass(frozen=True)
class Colors:
    """Colors of a box: fill and edge."""

    fill: str
    edge: str


@dataclass
class Canvas:
    """The elements drawn so far; later elements are above earlier ones."""

    width: float = 0
    height: float = 0
    _parts: list[str] = field(default_factory=list)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: int = SIZE,
        color: str = INK,
        bold: bool = False,
        centered: bool = False,
        hint: str = "",
        **attributes: str,
    ) -> None:
        """Draw words on the line at y; `hint` is a tooltip, `attributes` become data-*."""
        wide = text_width(words, size)
        self._grow(x + (wide / 2 if centered else wide), y + 4)
        style = ' font-weight="bold"' if bold else ""
        style += ' text-anchor="middle"' if centered else ""
        data = "".join(f" data-{key}={quoteattr(value)}" for key, value in attributes.items())
        title = f"<title>{escape(hint)}</title>" if hint else ""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{color}"{style}{data}>'
            f"{escape(words)}{title}</text>"
        )

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        colors: Colors,
        *,
        radius: float = 4,
        dashed: bool = False,
        at: int | None = None,
        hint: str = "",
    ) -> None:
        """Draw a rectangle above the first `at` elements, or above everything.

        `hint` shows under the mouse.
        """
        self._grow(x + width, y + height)
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        end = f"><title>{escape(hint)}</title></rect>" if hint else "/>"
        part = (
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" '
            f'fill="{colors.fill}" stroke="{colors.edge}"{dash}{end}'
        )
        self._parts.insert(len(self._parts) if at is None else at, part)

    def line(
        self,
        points: Sequence[tuple[float, float]],
        color: str,
        *,
        dashed: bool = False,
        hint: str = "",
    ) -> None:
        """Draw a line through points; `hint` shows under the mouse."""
        for x, y in points:
            self._grow(x, y)
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        title = f"<title>{escape(hint)}</title>" if hint else ""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"{dash}>'
            f"{title}</polyline>"
        )

    def mark(self) -> int:
        """Return a position for :meth:`box`, below all elements that are drawn later."""
        return len(self._parts)

    def svg(self, margin: float = 16) -> str:
        """Return the picture, on white."""
        width, height = self.width + 2 * margin, self.height + 2 * margin
        body = "\n".join(self._parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="{-margin:g} {-margin:g} {width:.0f} {height:.0f}" '
            f'font-family="{FONT}" xml:space="preserve">\n'
            f'<rect x="{-margin:g}" y="{-margin:g}" width="100%" height="100%" fill="#ffffff"/>\n'
            f"{body}\n</svg>\n"
        )

    def _grow(self, x: float, y: float) -> None:
        self.width, self.height = max(self.width, x), max(self.height, y)
