"""Real pictures, from files of the scikit-image package. Nothing is downloaded."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray
from PIL import Image


@dataclass(frozen=True)
class Photograph:
    """A picture as the activations of a layer.

    Attributes
    ----------
    name : str
        A word for file names.
    title : str
        What it is.
    pixels : array
        ``[1, channels, height, width]``, float32 from 0 to 1.
    """

    name: str
    title: str
    pixels: NDArray[np.float32]


TITLES = {
    "astronaut": "Photograph of Eileen Collins (NASA)",
    "page": "Scanned page",
}
"""The pictures that the demonstration reads."""


def load(name: str) -> Photograph:
    """Read a picture from scikit-image's folder of data.

    Raises
    ------
    FileNotFoundError
        If the installed scikit-image does not have the picture.
    """
    resource = files("skimage").joinpath("data", f"{name}.png")
    if not resource.is_file():
        raise FileNotFoundError(f"the installed scikit-image has no {name}.png")
    with as_file(resource) as path, Image.open(path) as image:
        values = np.asarray(image.convert("L" if image.mode == "L" else "RGB"))
    channels = values[np.newaxis] if values.ndim == 2 else values.transpose(2, 0, 1)
    return Photograph(name, TITLES.get(name, name), channels[np.newaxis].astype(np.float32) / 255)
