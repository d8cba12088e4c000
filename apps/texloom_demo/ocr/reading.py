"""From a page to its lines of text: detection, direction, recognition.

The steps and constants are those of PP-OCR (Du et al., 2020; Liao et al., 2020, for the
detection of regions).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.measure import label, regionprops
from skimage.morphology import dilation
from skimage.transform import AffineTransform, warp

from .engines import Engine
from .rectangles import Rectangle, around

_THRESHOLD = 0.3  # the least probability of a pixel of text
_LEAST_SCORE = 0.5  # the least mean probability of a region
_LEAST_SIDE = 3  # pixels
_GROWTH = 1.6  # regions are trained to be smaller than the text
LINE_HEIGHT = 48  # of a line, in pixels
_DIRECTION_WIDTH = 4 * LINE_HEIGHT
_WIDTHS = 320  # widths of lines are multiples of this, so that few sizes are compiled


@dataclass(frozen=True)
class Line:
    """A line of text.

    Attributes
    ----------
    box : Rectangle
        Where it is on the page.
    text : str
    score : float
        The mean probability of its characters.
    """

    box: Rectangle
    text: str
    score: float


def _planes(picture: NDArray[Any]) -> NDArray[np.float32]:
    """Return (1, 3, rows, columns) values in -1..1 of a picture of values in 0..1."""
    return np.ascontiguousarray((picture.transpose(2, 0, 1)[None] - 0.5) / 0.5, dtype="float32")


def part(page: NDArray[Any], box: Rectangle, rows: int, columns: int) -> NDArray[Any]:
    """Return the part of a page in a box, with horizontal text, as rows by columns of pixels.

    Each pixel is the mean of samples that are at most as far apart as pixels of the page.
    """
    steps = np.array([box.size[0] / columns, box.size[1] / rows])
    samples = int(np.ceil(steps.max()))
    along = np.array([np.cos(box.angle), np.sin(box.angle)])
    across = np.array([-along[1], along[0]])
    first = box.corners()[0] + (along * steps[0] + across * steps[1]) / (2 * samples)
    place = AffineTransform(scale=steps / samples, rotation=box.angle, translation=first)
    made = warp(page, place, output_shape=(rows * samples, columns * samples), order=1, mode="edge")
    return made.reshape(rows, samples, columns, samples, 3).mean(axis=(1, 3))


def probabilities(engine: Engine, page: NDArray[Any], scale: float = 1.0) -> NDArray[Any]:
    """Return the probability of text for each pixel of the page, (rows, columns).

    Parameters
    ----------
    engine : Engine
    page : array
        (rows, columns, 3), values in 0..1.
    scale : float
        The factor by which the page is enlarged for the network; sizes become multiples of 32.
    """
    rows, columns = (max(32, round(n * scale / 32) * 32) for n in page.shape[:2])
    height, width = page.shape[:2]
    whole = Rectangle(((width - 1) / 2, (height - 1) / 2), (width, height), 0.0)
    return engine.run("detection", _planes(part(page, whole, rows, columns)))[0, 0]


def boxes(probability: NDArray[Any], shape: tuple[int, int]) -> list[Rectangle]:
    """Return the boxes around text on a page of this shape, from the top to the bottom."""
    scale = np.array([shape[1] / probability.shape[1], shape[0] / probability.shape[0]])
    regions = label(dilation(probability > _THRESHOLD, np.ones((2, 2))), connectivity=2)
    found = []
    for region in regionprops(regions, probability):
        if region.intensity_mean < _LEAST_SCORE:
            continue
        points = region.coords[:, ::-1] * scale
        box = around(points)
        if box is not None and min(box.size) >= _LEAST_SIDE:
            found.append(box.grown(_GROWTH))
    return sorted(found, key=lambda box: (round(box.center[1] / 10), box.center[0]))


def line_in(page: NDArray[Any], box: Rectangle) -> NDArray[Any]:
    """Return the line of text in a box, `LINE_HEIGHT` rows high."""
    return part(page, box, LINE_HEIGHT, max(1, round(box.size[0] * LINE_HEIGHT / box.size[1])))


def _shape(width: int) -> tuple[int, int, int, int]:
    return (1, 3, LINE_HEIGHT, width)


def _input(line: NDArray[Any], width: int) -> NDArray[np.float32]:
    """Return the first columns of a line as input of a network, with zeros behind them."""
    made = np.zeros(_shape(width), "float32")
    made[..., : line.shape[1]] = _planes(line[:, :width])
    return made


def is_upside_down(engine: Engine, lines: Sequence[NDArray[Any]]) -> bool:
    """Return whether a page is upside down, which is decided by all its lines together.

    The network sees only the beginning of a long line, because squeezing a line distorts its
    letters.
    """
    inputs = [_input(each, _DIRECTION_WIDTH) for each in lines]
    return bool(np.mean([engine.run("direction", x)[0, 1] for x in inputs]) > 0.5)


def decode(scores: NDArray[Any], characters: Sequence[str]) -> tuple[str, float]:
    """Return the text of (steps, classes) probabilities, and its mean probability.

    Class 0 is a blank, and equal classes of adjacent steps are one character (Graves et al., 2006).
    """
    best = scores.argmax(axis=1)
    kept = (best != 0) & (best != np.concatenate([[0], best[:-1]]))
    text = "".join(characters[each - 1] for each in best[kept])
    return text, float(scores.max(axis=1)[kept].mean()) if kept.any() else 0.0


def recognize(engine: Engine, line: NDArray[Any], characters: Sequence[str]) -> tuple[str, float]:
    """Return the text of a line and its score."""
    width = _WIDTHS * int(np.ceil(line.shape[1] / _WIDTHS))
    return decode(engine.run("recognition", _input(line, width))[0], characters)


def read(engine: Engine, page: NDArray[Any], scale: float, characters: Sequence[str]) -> list[Line]:
    """Return the lines of text of a page, (rows, columns, 3) with values in 0..1."""
    engine.prepare("direction", _shape(_DIRECTION_WIDTH))
    found = boxes(probabilities(engine, page, scale), page.shape[:2])
    lines = [line_in(page, box) for box in found]
    if lines and is_upside_down(engine, lines):
        lines = [each[::-1, ::-1] for each in lines]
    return [
        Line(box, *recognize(engine, line, characters))
        for box, line in zip(found, lines, strict=True)
    ]


__all__ = [
    "LINE_HEIGHT",
    "Line",
    "boxes",
    "decode",
    "is_upside_down",
    "line_in",
    "part",
    "probabilities",
    "read",
    "recognize",
]
