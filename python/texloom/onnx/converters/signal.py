"""Windows and Fourier transforms."""

from __future__ import annotations

from ..._core import Tensor
from ...ops import signal
from ...ops.precision import sum_dtype
from ..nodes import Node, Value
from .reductions import checked_axes
from .registry import converts


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
        node.refuse(f"its length is {length}")
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
            f"frames of {frame} elements, {step} apart, do not fit the signal or the window"
        )
    onesided = bool(node.attributes.get("onesided", 1))
    if onesided and x.shape[2] == 2:
        node.refuse("the transform of complex numbers cannot be one-sided")
    powers = node.constant(signal.turns(frame, dtype=sum_dtype(x.dtype)))
    return node.emit("stft", _stft, [x, powers, *window], step=step, onesided=onesided)


def _stft(x: Tensor, powers: Tensor, *window: Tensor, step: int, onesided: bool) -> Tensor:
    return signal.stft(x, powers, step, *window, onesided=onesided)


@converts("BlackmanWindow", "HammingWindow", "HannWindow", "MelWeightMatrix")
def table(node: Node) -> Value:
    """Refuse inputs that are not constants; constant ones were folded before this converter."""
    for i in range(len(node.inputs)):
        node.known(i)
    node.refuse("onnx.reference does not compute it for these inputs")


__all__ = ["dft", "stft", "table"]
