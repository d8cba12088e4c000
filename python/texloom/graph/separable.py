"""Joins depthwise convolutions with the products of their channels, as one kernel computes both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._core import TargetValue, Tensor
from ..extents import are_known
from ..ops.contraction import Contraction
from ..ops.schedules.gpu.separable import is_faster_joined
from ..ops.schedules.stages import stages_of
from .operators import Operator, operators_of
from .tensor import GraphTensor


@dataclass(frozen=True)
class _Convolution:
    """An operator with one sum of products.

    Attributes
    ----------
    sums, output : Tensor
        The sums, and what is computed from them.
    data : str or None
        The name of the tensor whose elements the sums read; None if they read several.
    """

    sums: Tensor
    output: Tensor
    data: str | None


def join_separable(core: Any, tensors: Mapping[str, GraphTensor], target: TargetValue) -> None:
    """Make one operator of a depthwise convolution and the 1x1 convolution that alone reads it.

    This is done for targets whose convolutions have channels last, where the kernel is estimated
    to be faster than the two. Parameters are those of :func:`.operators.operators_of`.
    """
    if target.is_cpu:
        return
    operators = {
        each.outputs[0].name: each
        for each in operators_of(core, tensors)
        if len(each.outputs) == 1 and all(are_known(t.shape) for t in (*each.inputs, *each.outputs))
    }
    found = {name: _convolution(each) for name, each in operators.items()}
    for name, reader in found.items():
        producer = None if reader is None or reader.data is None else found.get(reader.data)
        if reader is None or reader.data is None or producer is None:
            continue
        pair = [(each.sums, each.output) for each in (producer, reader)]
        if is_faster_joined(*pair, target) and core.join(
            operators[reader.data].name, operators[name].name
        ):
            found[reader.data] = None  # which is not an operator any more


def _convolution(operator: Operator) -> _Convolution | None:
    """Return the only sums of products of an operator; None if it has not exactly one."""
    placeholders, (output,) = operator.computation.inputs, operator.computation.outputs
    stages = stages_of([output])
    sums = [each for each in stages if Contraction.of(each) is not None]
    if len(sums) != 1:
        return None
    pixels = sums[0].op.input_tensors[0]
    while len(pixels.op.input_tensors) == 1:
        (pixels,) = pixels.op.input_tensors
    names = (each.name for each in operator.inputs)
    data = next(
        (name for name, p in zip(names, placeholders, strict=True) if p.op == pixels.op), None
    )
    return _Convolution(sums[0], output, data)


__all__ = ["join_separable"]
