"""What passes over graphs that depend on the target are told of its kernels."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _core
from .._core import TargetValue, Tensor
from ..ops.contraction import Contraction
from ..ops.schedules.gpu import separable
from ..ops.schedules.stages import stages_of


@dataclass(frozen=True)
class KernelLibrary:
    """The schedules of :mod:`texloom.ops.schedules` for a target.

    Attributes
    ----------
    target : TargetValue
    """

    target: TargetValue

    def is_faster_joined(
        self, first: _core._Computation, second: _core._Computation, number: int
    ) -> bool:
        """Whether one kernel for two computations is possible, and estimated to be faster.

        They are a depthwise convolution, and a convolution of its pixels, which it reads as its
        input of this number.
        """
        producer, reader = _Convolution.of(first), _Convolution.of(second)
        if producer is None or reader is None or reader.data != number:
            return False
        pair = [(each.sums, each.output) for each in (producer, reader)]
        return separable.is_faster_joined(pair[0], pair[1], self.target)


@dataclass(frozen=True)
class _Convolution:
    """A computation with one sum of products.

    Attributes
    ----------
    sums, output : Tensor
        The sums, and what is computed from them.
    data : int or None
        The number of the input whose elements the sums read; None if they read several.
    """

    sums: Tensor
    output: Tensor
    data: int | None

    @classmethod
    def of(cls, computation: _core._Computation) -> _Convolution | None:
        """Return the only sums of products of a computation; None if it has not exactly one."""
        (output,) = computation.outputs
        sums = [each for each in stages_of([output]) if Contraction.of(each) is not None]
        if len(sums) != 1:
            return None
        pixels = sums[0].op.input_tensors[0]
        while len(pixels.op.input_tensors) == 1:
            (pixels,) = pixels.op.input_tensors
        data = next((i for i, p in enumerate(computation.inputs) if p.op == pixels.op), None)
        return cls(sums[0], output, data)


__all__ = ["KernelLibrary"]
