"""Other orders of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ..._core import Tensor
from ...extents import number_of, shape_of
from .reshaping import reshape


def transpose(x: Tensor, axes: Sequence[int]) -> Tensor:
    """Return `x` with its axes in another order: axis ``axes[i]`` of `x` becomes axis ``i``.

    If only axes of extent 1 move, the result is a view.
    """
    shape = shape_of(x)
    long = [axis for axis in axes if number_of(shape[axis]) != 1]
    if long == sorted(long):
        return reshape(x, [shape[axis] for axis in axes])

    def at(*index: Any) -> Any:
        own = dict(zip(axes, index, strict=True))
        return x(*(own[axis] for axis in range(len(axes))))

    return te.compute(tuple(x.shape[axis] for axis in axes), at, name="transposed")


def depth_to_space(x: Tensor, block: int, channels_last: bool = True) -> Tensor:
    """Move channels into blocks of pixels.

    Parameters
    ----------
    x : Tensor
        ``[N, C * block * block, H, W]``.
    block : int
    channels_last : bool
        Whether the pixel in the block is the slower part of a channel's index ("DCR" in ONNX);
        otherwise it is the faster part ("CRD").

    Returns
    -------
    Tensor
        ``[N, C, H * block, W * block]``.
    """
    batch, deep, height, width = shape_of(x)
    channels = deep // (block * block)

    def at(n: Any, c: Any, h: Any, w: Any) -> Any:
        pixel = h % block * block + w % block
        source = pixel * channels + c if channels_last else c * (block * block) + pixel
        return x[n, source, h // block, w // block]

    return te.compute((batch, channels, height * block, width * block), at, name="spread")


def space_to_depth(x: Tensor, block: int, channels_last: bool = True) -> Tensor:
    """Move blocks of pixels into channels.

    Parameters
    ----------
    x : Tensor
        ``[N, C, H * block, W * block]``.
    block : int
    channels_last : bool
        As for :func:`depth_to_space`.

    Returns
    -------
    Tensor
        ``[N, block * block * C, H, W]``.
    """
    batch, channels, height, width = shape_of(x)

    def at(n: Any, c: Any, h: Any, w: Any) -> Any:
        pixel = c // channels if channels_last else c % (block * block)
        source = c % channels if channels_last else c // (block * block)
        return x[n, source, h * block + pixel // block, w * block + pixel % block]

    shape = (batch, channels * block * block, height // block, width // block)
    return te.compute(shape, at, name="stacked")


__all__ = ["depth_to_space", "space_to_depth", "transpose"]
