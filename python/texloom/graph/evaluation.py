"""Evaluates operators of graphs at compile time, where all inputs are constants."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, te
from ..extents import are_known, plain
from .node_functions import Compute, computed

_MOST_STEPS = 1 << 22
"""The interpreter's limit of steps for one operator, which takes some hundredths of a second.

An operator that has no batches (src/ir/interpret/batches/batches.h) may take a second.
"""

_MOST_STEPS_OF_ELEMENT = 4
"""The limit per element read or written, for large tensors: enough to dequantize weights."""


def evaluated(
    name: str, compute: Compute, arrays: Sequence[NDArray[Any]]
) -> list[NDArray[Any]] | None:
    """Return the outputs of an operator for these inputs, as the interpreter computes them.

    The interpreter executes the operations that kernels are made of, so that a constant has the
    value that a run would compute.

    Parameters
    ----------
    name : str
        The name of the node, for messages.
    compute : callable
        As for :meth:`texloom.graph.Graph.op`.
    arrays : sequence of array
        Arrays with element types of tensors; none is empty.

    Returns
    -------
    list of array, or None
        None if a shape is known only at a run, if the evaluation takes too many steps, if an
        element would be undefined, or if NumPy lacks the type of an output.

    Raises
    ------
    TVMError
        As for :meth:`texloom.graph.Graph.op`.
    """
    placeholders = [
        te.placeholder(each.shape, each.dtype.name, name=f"in{number}")
        for number, each in enumerate(arrays)
    ]
    outputs = computed(name, compute, placeholders)
    computation = _core._Computation(placeholders, outputs)
    try:
        dtypes = [np.dtype(each.dtype) for each in outputs]
    except TypeError:
        return None
    shapes = [[plain(extent) for extent in each.shape] for each in outputs]
    if not all(map(are_known, shapes)):
        return None
    size = sum(each.size for each in arrays) + sum(map(prod, shapes))
    most = max(_MOST_STEPS, _MOST_STEPS_OF_ELEMENT * size)
    elements = computation.evaluated(list(arrays), most)
    if elements is None:
        return None
    return [
        np.frombuffer(own, dtype).reshape(shape)
        for own, dtype, shape in zip(elements, dtypes, shapes, strict=True)
    ]


__all__ = ["evaluated"]
