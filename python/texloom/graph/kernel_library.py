"""The library of kernels that target-dependent passes over graphs query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .. import _core
from .._core import TargetValue, Tensor
from ..extents import collected
from ..ops import products
from ..ops.attention import attention
from ..ops.contraction import Contraction
from ..ops.normalization import softmax
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

        `first` is a depthwise convolution; `second` is a convolution that reads the result of
        `first` as its input `number`.
        """
        producer, reader = _Convolution.of(first), _Convolution.of(second)
        if producer is None or reader is None or reader.data != number:
            return False
        pair = [(each.sums, each.output) for each in (producer, reader)]
        return separable.is_faster_joined(pair[0], pair[1], self.target)

    def attention(
        self,
        scores: _core._Computation,
        weights: _core._Computation,
        product: _core._Computation,
        inputs: Sequence[Tensor],
        scale: float,
    ) -> _core._Computation | None:
        """Return attention as one kernel, which is faster on processors only.

        Parameters
        ----------
        scores, weights, product : _Computation
            The candidates: the product of queries and keys, its softmax over the last axis, and the
            product of the softmax with the values. For other computations, the result is None.
        inputs : sequence of Tensor
            Placeholders for the queries, the keys, the values, and the mask if there is one.
        scale : float
            The factor of the scores, before the mask is added.
        """
        if not self.target.is_cpu or not _is_narrow(inputs[2]):
            return None
        parts = ((scores, products.matmul), (weights, softmax), (product, products.matmul))
        if not all(_computes(function, part) for part, function in parts):
            return None
        return _core._Computation(list(inputs), [attention(*inputs, scale=scale)])


def _is_narrow(values: Tensor) -> bool:
    """Return whether attention reads few columns of values, over which its loops are unrolled."""
    return int(values.shape[-1]) <= 256


def _computes(function: Callable[..., Tensor], computation: _core._Computation) -> bool:
    """Whether a computation equals the one that `function` makes from the same inputs."""
    inputs = computation.inputs
    try:
        with collected():
            made = function(*inputs)
    except ValueError:
        return False
    return bool(_core._Computation(inputs, [made]) == computation)


@dataclass(frozen=True)
class _Convolution:
    """A computation with one sum of products.

    Attributes
    ----------
    sums, output : Tensor
        The sums, and the output that is computed from them.
    data : int or None
        The number of the input whose elements the sums read; None if they read several.
    """

    sums: Tensor
    output: Tensor
    data: int | None

    @classmethod
    def of(cls, computation: _core._Computation) -> _Convolution | None:
        """Return the convolution of a computation; None unless it has one sum of products."""
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
