"""Windows and Fourier transforms."""

from __future__ import annotations

import numpy as np
import onnx

from ..._core import Tensor
from ...ops import signal
from ...ops.precision import sum_dtype
from ..nodes import Node, Value
from ..nodes.types import DTYPES, dtype_name
from .axes import check_extent
from .reductions import checked_axes
from .registry import converts

_WINDOWS = {  # the coefficients of cosines of 0, 1 and 2 periods
    "BlackmanWindow": (0.42, -0.5, 0.08),
    "HammingWindow": (25 / 46, -21 / 46),
    "HannWindow": (0.5, -0.5),
}


@converts("DFT")
def dft(node: Node) -> Value:
    """Convert a DFT along an axis, which is an attribute in version 17 and an input later."""
    x = node.input(0)
    is_old = node.version < 20
    given = node.ints(2) if node.has(2) else [node.attributes.get("axis", 1) if is_old else -2]
    (axis,) = checked_axes(node, given, x.rank)
    if axis == x.rank - 1 or x.shape[-1] not in (1, 2):
        node.refuse(
            f"the axis {axis} of the shape {x.shape} does not precede a last axis of extent 1 or 2"
        )
    length = node.ints(1)[0] if node.has(1) else x.shape[axis]
    if length < 1:
        node.refuse(f"its dft_length is {length}, which is not positive")
    onesided, inverse = (bool(node.attributes.get(name, 0)) for name in ("onesided", "inverse"))
    if onesided and x.shape[-1] == 2:
        node.refuse("the transform of complex numbers cannot be one-sided")
    powers = node.constant(signal.turns(length, inverse, sum_dtype(x.dtype)))
    scale = 1 / length if inverse else 1.0
    return node.emit("dft", signal.dft, [x, powers], axis=axis, onesided=onesided, scale=scale)


@converts("STFT")
def stft(node: Node) -> Value:
    """Convert Fourier transforms of frames. By default, a frame is as long as the window."""
    x = node.input(0)
    if x.rank != 3 or x.shape[2] not in (1, 2):
        node.refuse(f"its input has the shape {x.shape}, not [batch, length, 1 or 2]")
    (step,) = node.ints(1)
    window = [node.input(2)] if node.has(2) else []
    if node.has(3):
        (frame,) = node.ints(3)
    else:
        frame = window[0].shape[0] if window else x.shape[1]
    if step < 1 or not 1 <= frame <= x.shape[1] or (window and window[0].shape != (frame,)):
        node.refuse(
            f"frames of {frame} elements, {step} apart, do not fit the signal of "
            f"{x.shape[1]} elements or the window"
        )
    onesided = bool(node.attributes.get("onesided", 1))
    if onesided and x.shape[2] == 2:
        node.refuse("the transform of complex numbers cannot be one-sided")
    powers = node.constant(signal.turns(frame, dtype=sum_dtype(x.dtype)))
    return node.emit("stft", _stft, [x, powers, *window], step=step, onesided=onesided)


def _stft(x: Tensor, powers: Tensor, *window: Tensor, step: int, onesided: bool) -> Tensor:
    return signal.stft(x, powers, step, *window, onesided=onesided)


@converts(*_WINDOWS)
def window(node: Node) -> Value:
    """Make the weights of a window, a sum of cosines.

    A symmetric window of one element is NaN, as the angle 0 / 0 is in the standard's body. Weights
    are rounded to float32 before they are truncated to integers, so that 1 stays 1.
    """
    size = node.ints(0)[0]
    check_extent(node, [size])
    period = size if node.attributes.get("periodic", 1) else size - 1
    with np.errstate(invalid="ignore"):
        turns = 2 * np.pi * np.arange(size) / np.float64(period)
    weights = _WINDOWS[node.op]
    made = sum(weight * np.cos(number * turns) for number, weight in enumerate(weights))
    dtype = _made_dtype(node)
    if "int" in dtype:
        if np.isnan(made).any():
            node.refuse("a symmetric window of one element is NaN, which no integer is")
        made = made.astype("float32")
    return node.constant(made, dtype)


@converts("MelWeightMatrix")
def mel_weights(node: Node) -> Value:
    """Make the matrix that gathers frequencies into triangular bands of equal width in mels."""
    bands, length, rate = (node.ints(index)[0] for index in range(3))
    lowest, highest = (float(node.known(index).reshape(-1)[0]) for index in (3, 4))
    rows = length // 2 + 1
    check_extent(node, [rows, bands])
    low, high = (2595 * np.log10(1 + hertz / 700) for hertz in (lowest, highest))
    mels = low + np.arange(bands + 2) * (high - low) / (bands + 2)
    hertz = 700 * (10 ** (mels / 2595) - 1)
    edges = np.floor((length + 1) * hertz / rate).astype("int64")
    begin, center, end = edges[:-2], edges[1:-1], edges[2:]
    row = np.arange(rows)[:, None]
    with np.errstate(all="ignore"):  # a side of zero width is not used
        rising, falling = (row - begin) / (center - begin), (end - row) / (end - center)
    made = np.where((begin <= row) & (row <= center), rising, 0)
    made = np.where((center <= row) & (row < end), falling, made)
    made[(row == center) & (center == begin) & (center == end)] = 1
    return node.constant(made, _made_dtype(node))


def _made_dtype(node: Node) -> str:
    dtype = dtype_name(node.attributes.get("output_datatype", onnx.TensorProto.FLOAT))
    if dtype not in DTYPES:
        node.refuse(f"it makes elements of type {dtype}, which is not supported")
    return dtype


__all__ = ["dft", "mel_weights", "stft", "window"]
