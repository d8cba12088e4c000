"""Joins depthwise convolutions with the products of their channels, as one kernel computes both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._core import Tensor
from ..extents import are_known
from ..ops.contraction import Contraction
from ..ops.schedules.gpu.separable import is_faster_joined
from ..target import Target
from .node_functions import Compute
from .operators import Operator, operators_of
from .tensor import GraphTensor


def join_separable(
    core: Any, functions: Mapping[str, Compute], tensors: Mapping[str, GraphTensor], target: str
) -> None:
    """Make one operator of a depthwise convolution and the 1x1 convolution that alone reads it.

    This is done for targets whose convolutions have channels last, where the kernel is estimated
    to be faster than the two. Parameters are those of :func:`.operators.operators_of`.
    """
    if Target(target).attrs.get("block_stack", True):
        return
    convolutions = {
        each.outputs[0].name: each
        for each in operators_of(core, functions, tensors)
        if len(each.outputs) == 1 and all(are_known(t.shape) for t in (*each.inputs, *each.outputs))
    }
    found = {name: _kernel(each) for name, each in convolutions.items()}
    # A join changes only the numbers of later operators.
    for name, reader in reversed(convolutions.items()):
        sums = found[name]
        if sums is None:
            continue
        data = sums[2]
        if data is None or found.get(reader.inputs[data].name) is None:
            continue
        producer = convolutions[reader.inputs[data].name]
        first = found[reader.inputs[data].name]
        if first is not None and is_faster_joined(first[:2], sums[:2]):
            core.join(producer.number, reader.number)


def _kernel(operator: Operator) -> tuple[Tensor, Tensor, int | None] | None:
    """Return the only sums of products of an operator, its output, and the number of its input.

    None if it has not exactly one; the number is None unless the sums read pixels of one input.
    """
    placeholders, (output,), stages = operator.computation()
    sums = [each for each in stages if Contraction.of(each) is not None]
    if len(sums) != 1:
        return None
    pixels = sums[0].op.input_tensors[0]
    while len(pixels.op.input_tensors) == 1:
        (pixels,) = pixels.op.input_tensors
    number = next((i for i, each in enumerate(placeholders) if each.op == pixels.op), None)
    return sums[0], output, number


__all__ = ["join_separable"]
