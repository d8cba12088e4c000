"""Sheets of pictures: the input and each filter's response, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from .filters import FILTERS, luminance

COLUMNS = 4
GAP = 16
BACKGROUND = (250, 250, 248)
INK = (30, 30, 34)
LABEL_SIZE, TITLE_SIZE = 20, 26


def stretched(values: NDArray[Any], low: float, high: float) -> NDArray[np.uint8]:
    """Map values from `low` to `high` to levels 0 to 255, with clipping."""
    levels = (values - low) * (255 / max(high - low, 1e-12))
    return np.clip(np.rint(levels), 0, 255).astype(np.uint8)


def brightness_range(pixels: NDArray[np.float32]) -> tuple[float, float]:
    """Return the luminance of a picture's darkest and brightest pixels, except 0.5 % each."""
    low, high = np.percentile(luminance(pixels), (0.5, 99.5))
    return float(low), float(high)


def change_range(response: NDArray[Any]) -> tuple[float, float]:
    """Return a range around zero, which becomes mid-gray.

    Few pixels are on an edge, so the 2 % with the largest values are excluded; so are pixels at the
    border, which depend on zero padding.
    """
    high = float(np.percentile(np.abs(response[1:-1, 1:-1]), 98))
    return -high, high


def cells(pixels: NDArray[np.float32], responses: NDArray[Any]) -> list[tuple[str, Image.Image]]:
    """Return the labeled pictures of a sheet.

    Responses that are pictures have the range of the input, so that they can be compared.
    """
    brightness = brightness_range(pixels)
    levels = stretched(pixels, *brightness)
    shown = levels[0] if len(levels) == 1 else levels.transpose(1, 2, 0)
    result = [("input", Image.fromarray(shown))]
    for response, f in zip(responses, FILTERS, strict=True):
        limits = brightness if f.shows == "brightness" else change_range(response)
        result.append((f.name, Image.fromarray(stretched(response, *limits))))
    return result


def sheet(title: str, pixels: NDArray[np.float32], responses: NDArray[Any]) -> Image.Image:
    """Draw the input ``[channels, H, W]`` and the responses ``[filters, H, W]``, with labels."""
    labeled = cells(pixels, responses)
    height, width = pixels.shape[1:]
    rows = -(-len(labeled) // COLUMNS)
    step_x, step_y = width + GAP, height + LABEL_SIZE + GAP + 8
    top = TITLE_SIZE + 2 * GAP
    result = Image.new("RGB", (COLUMNS * step_x + GAP, top + rows * step_y + GAP), BACKGROUND)
    draw = ImageDraw.Draw(result)
    draw.text((GAP, GAP), title, INK, ImageFont.load_default(TITLE_SIZE))
    label_font = ImageFont.load_default(LABEL_SIZE)
    for number, (label, picture) in enumerate(labeled):
        x = GAP + number % COLUMNS * step_x
        y = top + number // COLUMNS * step_y
        draw.text((x, y), label, INK, label_font)
        result.paste(picture, (x, y + LABEL_SIZE + 8))
    return result


def write_sheet(
    path: Path, title: str, pixels: NDArray[np.float32], responses: NDArray[Any]
) -> None:
    """Write a sheet as PNG."""
    sheet(title, pixels, responses).save(path)
