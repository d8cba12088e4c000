"""Drawing of textures: a grid of texels with four lanes, showing the element of each."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from .._core import PlacedBuffer
from .svg import FAINT, LINE, Canvas, Colors, elided, text_width
from .units import shape_text, size_text

LABEL = 11
"""Font size of elements."""
LANE_HEIGHT = 15
MAX_ROWS, MAX_COLUMNS = 6, 8
"""Maximum number of texels drawn; other texels are elided."""
MAX_WIDTH = 900.0

TINTS = (Colors("#eaf5ff", "#8ec1ee"), Colors("#fff4e0", "#e3b866"))
"""Colors of consecutive values of the most significant digit."""
PADDING = Colors("#f0f0f0", "#c4c4c4")

Digit = tuple[str, int]  # the text of a digit, and the number of its values


class _Line(NamedTuple):
    """The rows, or the columns, of a texture."""

    digits: list[Digit]
    count: int

    @property
    def stride(self) -> int:
        """Entries per value of the most significant digit; all entries if it is the only digit."""
        extents = [extent for _, extent in self.digits if extent > 1]
        return prod(extents[1:]) if len(extents) > 1 else self.count

    def shown(self, limit: int) -> list[int | None]:
        """Return the entries to draw: the first ones, both sides of a color change, and the last.

        None stands for elided entries.
        """
        if self.count <= limit:
            return list(range(self.count))
        change = {self.stride - 1, self.stride} if self.stride < self.count else set()
        chosen = {0, self.count - 1} | change
        for number in range(self.count):
            if len(chosen) >= limit:
                break
            chosen.add(number)
        result: list[int | None] = []
        for number in sorted(chosen):
            if result and result[-1] != number - 1:
                result.append(None)
            result.append(number)
        return result


def number_text(digits: list[Digit]) -> str:
    """Return the number that digits form: ``(d0 * 3 + d1) * 8 + d2``."""
    text = ""
    for own, extent in digits:
        if not text:
            text = own
        else:
            text = f"({text})" if " + " in text else text
            text = f"{text} * {extent} + {own}"
    return text or "0"


def draw_texture(canvas: Canvas, texture: PlacedBuffer, y: float) -> float:
    """Draw the texture from y on; return the y of its end."""
    y = _heading(canvas, texture, y)
    rows = _Line(texture.row_digits, texture.rows)
    columns = _Line(texture.column_digits, texture.columns)
    longest = ",".join(str(extent - 1) for extent in texture.shape)
    lane = max(text_width(longest, LABEL), text_width("padding", LABEL)) + 12
    gap = 26.0
    left = text_width(f"row {rows.count - 1}", LABEL) + 12
    fitting = max(int((MAX_WIDTH - left - 2 * gap) / lane), 3)
    shown_columns = columns.shown(min(MAX_COLUMNS, fitting))
    shown_rows = rows.shown(MAX_ROWS)

    at_column: list[tuple[float, int | None]] = []
    x = left
    for column in shown_columns:
        at_column.append((x, column))
        name = "⋯" if column is None else f"{column}"
        wide = gap if column is None else lane
        canvas.text(x + wide / 2, y + 12, name, size=LABEL, color=FAINT, centered=True)
        x += wide
    canvas.text(0, y + 12, "column", size=LABEL, color=FAINT)
    y += LINE
    for row in shown_rows:
        if row is None:
            canvas.text(left + lane / 2, y + 17, "⋮", centered=True, color=FAINT)
            y += gap
            continue
        middle = y + 2 * LANE_HEIGHT + 4
        canvas.text(0, middle, f"row {row}", size=LABEL, color=FAINT)
        for x, column in at_column:
            if column is None:
                canvas.text(x + gap / 2, middle, "⋯", centered=True, color=FAINT)
            else:
                parity = row // rows.stride + column // columns.stride
                _texel(canvas, texture, (row, column), (x, y, lane), TINTS[parity % 2])
        y += texture.lanes * LANE_HEIGHT + 4
    return y + LINE


def _heading(canvas: Canvas, texture: PlacedBuffer, y: float) -> float:
    shape = texture.shape
    lanes = texture.rows * texture.columns * texture.lanes
    held = prod(shape)
    canvas.text(0, y + 12, texture.name, size=15, bold=True)
    canvas.text(
        text_width(texture.name, 15) + 16, y + 12, shape_text(texture.dtype, shape), color=FAINT
    )
    lines = [
        f"row = {number_text(texture.row_digits)},  "
        f"column = {number_text(texture.column_digits)},  "
        f"lane = {number_text(texture.lane_digits)}",
        f"{texture.columns:,} columns × {texture.rows:,} rows of texels, "
        f"{size_text(lanes * texture.element_bytes)}"
        + (f"; {lanes - held:,} of {lanes:,} lanes are padding" if lanes > held else ""),
    ]
    y += 20
    for line in lines:
        y += LINE
        canvas.text(0, y, elided(line, MAX_WIDTH), hint=line)
    return y + 14


def _texel(
    canvas: Canvas,
    texture: PlacedBuffer,
    place: tuple[int, int],
    where: tuple[float, float, float],
    tint: Colors,
) -> None:
    """Draw a texel at x, y: its lanes from top to bottom."""
    row, column = place
    x, y, width = where
    indices = [texture.index_at(row, column, lane) for lane in range(texture.lanes)]
    colors = tint if any(index is not None for index in indices) else PADDING
    canvas.box(x + 1, y, width - 2, texture.lanes * LANE_HEIGHT + 2, colors, radius=3)
    for lane, index in enumerate(indices):
        label = "padding" if index is None else ",".join(map(str, index))
        if index is None and colors is not PADDING:
            top = y + lane * LANE_HEIGHT + 1
            canvas.box(x + 2, top, width - 4, LANE_HEIGHT, Colors(PADDING.fill, "none"), radius=2)
        canvas.text(
            x + width / 2,
            y + (lane + 1) * LANE_HEIGHT - 3,
            label,
            size=LABEL,
            color=FAINT if index is None else "#24292f",
            centered=True,
            texel=f"{texture.name} {row} {column} {lane}",
        )
