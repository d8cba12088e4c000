"""Pictures as inputs of models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import refuse
from .reports import missing_package

_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


@dataclass(frozen=True)
class Pixels:
    """How the numbers of a picture become those of a tensor: ``(pixel * scale - mean) / std``.

    Attributes
    ----------
    mean, std : tuple of float
        One number, or one for each channel, in the order of the channels of the tensor.
    scale : float or None
        By default 1 for inputs of integers, else 1/255, so that `mean` and `std` are for numbers
        from 0 to 1.
    bgr : bool
        Whether blue comes first.
    """

    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    scale: float | None = None
    bgr: bool = False


@dataclass(frozen=True)
class _Layout:
    """The positions of height, width and channels in a shape; None if it has no channels."""

    height: int
    width: int
    channels: int | None


def _layout_of(name: str, shape: tuple[int | str, ...]) -> _Layout:
    """Return the layout of an input, with channels first if possible, else last."""
    rank = len(shape)
    if rank == 4 and shape[0] not in (1,) and not isinstance(shape[0], str):
        refuse(
            "WrongShape",
            f"the input {name!r} has the shape {shape}: a batch of {shape[0]}, not one picture",
            "give the whole batch as a .npy file",
        )
    if rank == 2:
        return _Layout(0, 1, None)
    if rank in (3, 4):
        if shape[-3] in _MODES or isinstance(shape[-3], str) and shape[-1] not in _MODES:
            return _Layout(rank - 2, rank - 1, rank - 3)
        if shape[-1] in _MODES:
            return _Layout(rank - 3, rank - 2, rank - 1)
    refuse(
        "WrongShape",
        f"the input {name!r} has the shape ({', '.join(map(str, shape))}), which no picture has",
        "give it as a .npy file; a picture fits (H, W), (C, H, W) or (H, W, C), where C is 1, 3 or "
        "4, also with a leading extent of 1",
    )


def _opened(path: Path) -> Any:
    try:
        from PIL import Image, UnidentifiedImageError
    except ModuleNotFoundError:
        missing_package("pillow", "reading pictures")
    try:
        picture = Image.open(path)
        picture.load()
        return picture
    except UnidentifiedImageError:
        refuse(
            "BadFile",
            f"{path} is neither a picture nor an array",
            "give a .npy or .npz file, or a picture such as .png or .jpg",
        )
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        if isinstance(error, OSError) and error.filename:
            raise
        refuse(
            "BadFile",
            f"the picture {path} cannot be read: {error}",
            "save it again, or in another format",
        )


def load_picture(
    path: Path, name: str, shape: tuple[int | str, ...] | None, dtype: str, pixels: Pixels
) -> NDArray[Any]:
    """Return a picture as an array for an input.

    Parameters
    ----------
    path : Path
        A file that Pillow reads.
    name : str
        The name of the input.
    shape : tuple of int or str
        The shape of the input, with words for open extents: an open height or width becomes the
        picture's, an open number of channels becomes 3, and other open extents become 1.
    dtype : str
        The dtype of the input: floating point or uint8.
    pixels : Pixels

    Raises
    ------
    TVMError
        TL5003 for a shape that no picture has, TL5002 for another dtype, TL5019 for a file that is
        not a picture, TL7001 for a `mean` or `std` of `pixels` that does not fit.
    """
    if shape is None:
        refuse(
            "WrongShape",
            f"the rank of the input {name!r} is open",
            f"give the shape of the picture: --shape {name}=1x3xHxW",
        )
    if not (dtype.startswith("float") or dtype == "uint8"):
        refuse(
            "WrongElementType",
            f"the input {name!r} is {dtype}, but pictures are for floating point or uint8",
            "give it as a .npy file",
        )
    layout = _layout_of(name, shape)
    channels = 1 if layout.channels is None else shape[layout.channels]
    if isinstance(channels, str):
        channels = 3
    with _opened(path) as opened:
        picture = opened.convert(_MODES[channels])
        open_size = {layout.width: picture.width, layout.height: picture.height}
        extents = [
            extent if isinstance(extent, int) else open_size.get(axis, 1)
            for axis, extent in enumerate(shape)
        ]
        if layout.channels is not None:
            extents[layout.channels] = channels
        size = (extents[layout.width], extents[layout.height])
        if picture.size != size:
            from PIL import Image

            picture = picture.resize(size, Image.Resampling.BILINEAR)
        values = np.asarray(picture, "float64").reshape(size[1], size[0], channels)
    values = _scaled(values, channels, dtype, pixels)
    if layout.channels is not None and layout.channels < layout.height:
        values = values.transpose(2, 0, 1)
    return np.ascontiguousarray(values.reshape(extents))


def _scaled(values: NDArray[Any], channels: int, dtype: str, pixels: Pixels) -> NDArray[Any]:
    """Return ``(pixel * scale - mean) / std`` for an array of height, width and channels."""
    for option, numbers in (("--mean", pixels.mean), ("--std", pixels.std)):
        if len(numbers) not in (1, channels):
            refuse(
                "BadOption",
                f"{option} has {len(numbers)} numbers, but the picture has {channels} channels",
                "give one number, or one for each channel",
            )
    if 0.0 in pixels.std:
        refuse(
            "BadOption", "--std has a 0, but pixels are divided by it", "give numbers other than 0"
        )
    if pixels.bgr and channels >= 3:
        values = values[..., [2, 1, 0, *range(3, channels)]]
    scale = pixels.scale
    if scale is None:
        scale = 1 / 255 if dtype.startswith("float") else 1.0
    values = (values * scale - np.asarray(pixels.mean)) / np.asarray(pixels.std)
    if dtype == "uint8":
        values = np.clip(np.rint(values), 0, 255)
    return values.astype(dtype)


__all__ = ["Pixels", "load_picture"]
