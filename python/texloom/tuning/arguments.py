"""Arguments of a function that is measured: random inputs, and the outputs of its first run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from .. import nd
from .._core import Function
from ..measure.loop import Arm


@dataclass(frozen=True)
class Arguments:
    """Values of the arguments of functions that compute the same.

    Attributes
    ----------
    values : sequence of array
        Of all arguments, in order; those of outputs are what they have before a run.
    outputs : sequence of int
        The places of outputs.
    device : Device
    """

    values: Sequence[NDArray[Any]]
    outputs: Sequence[int]
    device: Any

    def first_run(self, function: Function) -> tuple[Arm, list[NDArray[Any]]]:
        """Run a function, which compiles its kernels; return how to time it, and its outputs."""
        arguments = [
            nd.array(value, self.device, layout=layout) if layout else nd.array(value, self.device)
            for value, layout in zip(self.values, function.argument_layouts, strict=True)
        ]
        function(*arguments)
        outputs = [arguments[place].numpy() for place in self.outputs]
        return Arm(lambda: function(*arguments), self.device.sync), outputs


__all__ = ["Arguments"]
