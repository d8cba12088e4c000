"""A convolution with its arrays on a device, applied to NumPy arrays."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import building, nd, te
from .._core import Device, Function, Program
from ..target import target_for
from .conv2d import Storage, conv2d_nchw4c, schedule_conv2d_nchw4c
from .packing import pack_nchw4c, pack_oihw4o, unpack_nchw4c


class Conv2dLayer:
    """A compiled :func:`conv2d_nchw4c` with activations, weights and output on a device.

    Parameters
    ----------
    data, weight : array
        ``[N, I, H, W]`` and ``[O, I, KH, KW]``, both float32 or both float16; packed here.
    storage : "texture" or "buffer"
        Storage of the arrays.
    device : Device
        The device that runs it.
    stride, padding, tile
        As for :func:`conv2d_nchw4c` and :func:`schedule_conv2d_nchw4c`.

    Attributes
    ----------
    program : Program
        The schedule of the layer with its arguments.
    function : Function
        The compiled kernels.
    build_seconds : float
        Build time, from tensor expressions to source code.
    """

    program: Program
    function: Function
    build_seconds: float

    def __init__(
        self,
        data: npt.NDArray[Any],
        weight: npt.NDArray[Any],
        storage: Storage,
        device: Device,
        *,
        stride: int = 1,
        padding: int = 1,
        tile: tuple[int, int] | None = None,
    ) -> None:
        self._device = device
        self._outputs = len(weight)
        shapes = {"data": pack_nchw4c(data).shape, "weight": pack_oihw4o(weight).shape}
        begin = time.perf_counter()
        inputs = [te.placeholder(s, data.dtype.name, name=name) for name, s in shapes.items()]
        output = conv2d_nchw4c(*inputs, stride=stride, padding=padding)
        schedule = schedule_conv2d_nchw4c(output, storage, tile=tile)
        self.program = building.program(
            schedule, [*inputs, output], name=f"conv2d_{storage}", target=target_for(device)
        )
        self.function = building.build(self.program)
        self.build_seconds = time.perf_counter() - begin
        *self._inputs, self._output = (
            nd.empty([int(n) for n in tensor.shape], tensor.dtype, device, schedule[tensor].scope)
            for tensor in (*inputs, output)
        )
        self.write(data, weight)

    def write(self, data: npt.NDArray[Any], weight: npt.NDArray[Any]) -> None:
        """Replace activations and weights by arrays of the same shapes and dtype."""
        for array, packed in zip(
            self._inputs, (pack_nchw4c(data), pack_oihw4o(weight)), strict=True
        ):
            array.copyfrom(packed)

    def run(self) -> None:
        """Compute the output, without waiting for it."""
        self.function(*self._inputs, self._output)

    def sync(self) -> None:
        """Wait until the output is computed."""
        self._device.sync()

    def output(self) -> npt.NDArray[Any]:
        """The output ``[N, O, OH, OW]`` of the last run."""
        return np.ascontiguousarray(unpack_nchw4c(self._output.numpy(), self._outputs))
