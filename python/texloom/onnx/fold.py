"""Computes nodes whose inputs are all known, with ONNX's reference implementation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx.reference
from numpy.typing import NDArray

_RANDOM = frozenset(
    ["Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform"]
    + ["RandomUniformLike"]
)
_CONTROL = frozenset(["If", "Loop", "Scan"])  # may read outer names
_CONVERTED = frozenset(
    # The reference implementation contradicts the standard, or takes seconds for an image,
    ["CenterCropPad", "Col2Im", "GridSample", "OneHot", "Resize", "RoiAlign", "Shape", "Slice"]
    # or makes constants that fill the memory.
    + ["ConstantOfShape", "Expand", "EyeLike", "Range", "Tile", "Upsample"]
)


def computed_now(
    node: onnx.NodeProto, arrays: Sequence[NDArray[Any] | None], version: int
) -> list[NDArray[Any]] | None:
    """Return the outputs of a node, or None if it cannot be computed here."""
    if node.op_type in _RANDOM | _CONTROL | _CONVERTED or node.domain not in ("", "ai.onnx"):
        return None
    names = [name for name in dict.fromkeys(node.input) if name]
    graph = onnx.helper.make_graph(
        [node],
        "fold",
        [onnx.ValueInfoProto(name=name) for name in names],
        [onnx.ValueInfoProto(name=name) for name in node.output if name],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", version)])
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # NaN and infinities are values as others
            evaluator = onnx.reference.ReferenceEvaluator(model)
            given = {n: a for n, a in zip(node.input, arrays, strict=True) if n}
            results = iter(evaluator.run(None, given))
    except Exception:  # whatever the reference implementation does not do
        return None
    made = [next(results) if name else np.zeros(0) for name in node.output]
    if any(each is None or isinstance(each, list) for each in made):
        return None  # sequences and optional values are no arrays
    return [np.asarray(each) for each in made]


__all__ = ["computed_now"]
