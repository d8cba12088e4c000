"""Rectangles of any direction around points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError


@dataclass(frozen=True)
class Rectangle:
    """A rectangle in pixels.

    Attributes
    ----------
    center : (float, float)
        Column and row.
    size : (float, float)
        Along the text, and across it.
    angle : float
        Of the direction of the text, in radians, between -pi/4 and 3 pi/4.
    """

    center: tuple[float, float]
    size: tuple[float, float]
    angle: float

    def corners(self) -> NDArray[np.float64]:
        """Return (4, 2) columns and rows: top left, top right, bottom right, bottom left."""
        along = np.array([np.cos(self.angle), np.sin(self.angle)])
        across = np.array([-along[1], along[0]])
        half = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * np.array(self.size) / 2
        return np.array(self.center) + half[:, :1] * along + half[:, 1:] * across

    def grown(self, ratio: float) -> Rectangle:
        """Return the rectangle moved outward by area * ratio / perimeter on each side."""
        width, height = self.size
        distance = width * height * ratio / (2 * (width + height))
        return Rectangle(self.center, (width + 2 * distance, height + 2 * distance), self.angle)


def around(points: NDArray[Any]) -> Rectangle | None:
    """Return the smallest rectangle around (n, 2) points; None for points on a line.

    One of its sides lies along a side of the convex hull (Freeman and Shapira, 1975).
    """
    try:
        hull = points[ConvexHull(points).vertices].astype("float64")
    except QhullError:
        return None
    sides = np.roll(hull, -1, axis=0) - hull
    best: tuple[float, float] | None = None
    for angle in np.unique(np.arctan2(sides[:, 1], sides[:, 0]) % (np.pi / 2)):
        low, high = _bounds(hull, angle)
        area = float(np.prod(high - low))
        if best is None or area < best[0]:
            best = (area, float(angle))
    assert best is not None
    angle = best[1]
    low, high = _bounds(hull, angle)
    center = _turned((low + high) / 2, -angle)
    width, height = high - low
    if height > width:  # the text runs along the longer side
        width, height, angle = height, width, angle + np.pi / 2
    if angle > 3 * np.pi / 4:
        angle -= np.pi
    return Rectangle((float(center[0]), float(center[1])), (float(width), float(height)), angle)


def _turned(points: NDArray[Any], angle: float) -> NDArray[Any]:
    """Return the points in axes that are turned by the angle."""
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, -s], [s, c]])


def _bounds(points: NDArray[Any], angle: float) -> tuple[NDArray[Any], NDArray[Any]]:
    turned = _turned(points, angle)
    return turned.min(axis=0), turned.max(axis=0)


__all__ = ["Rectangle", "around"]
