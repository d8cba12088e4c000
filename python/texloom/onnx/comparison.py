"""Compares every node of a model with another implementation, on the same inputs of that node.

Both implementations get the inputs that Texloom computed. So an error in one node does not spread
to later nodes, and a bound for one node suffices.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import onnx
import onnx.reference
from numpy.typing import NDArray

from .initializers import array_of, initializers

Arrays = Mapping[str, NDArray[Any]]
Peer = Callable[[onnx.ModelProto, Arrays], list[NDArray[Any]]]
"""Runs a model of one node and returns its outputs, in the order of the model."""

_PEER_FACTOR = 4.0
"""The allowed error, as a multiple of the other implementation's own error."""

_FUNCTION_ULPS = 16
"""The largest error in units in the last place that OpenCL allows for functions such as ``pow``."""

_HALF_ROUNDING = 2.0**-11
"""The largest relative error of rounding a number to a normal number of float16."""

_LEAST_HALF = 2.0**-25
"""The largest error of rounding a number to a float16 close to 0."""

# Operators that compute sums of products. Applied to the magnitudes of the inputs, they give the
# sums of the magnitudes of the terms.
_SUMS = frozenset(
    ["Add", "AveragePool", "Conv", "ConvTranspose", "CumSum", "Div", "Einsum", "Gemm"]
    + ["GlobalAveragePool", "MatMul", "Mean", "Mul", "ReduceMean", "ReduceSum", "Sub", "Sum"]
)

_RANDOM = frozenset(
    ["Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform"]
    + ["RandomUniformLike"]
)


@dataclass(frozen=True)
class Comparison:
    """The comparison of one output of a node.

    Attributes
    ----------
    node, op, output : str
        Names.
    error, bound : float
        The error and the bound of the element with the largest ratio of error to bound. The bound
        is 0 for integers; the error is infinite if a value is not finite or the shape is wrong.
    index : tuple of int
        The index of that element.
    value, peer : float
        The results of Texloom and of the other implementation.
    exact : float or None
        The result of ONNX's reference implementation in float64, if it computes the node.
    """

    node: str
    op: str
    output: str
    error: float
    bound: float
    index: tuple[int, ...]
    value: float
    peer: float
    exact: float | None

    @property
    def is_within(self) -> bool:
        """Whether the error is allowed."""
        return self.error <= self.bound


def with_all_outputs(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with all tensors that its nodes compute among its outputs."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    try:
        inferred = onnx.shape_inference.infer_shapes(model).graph.value_info
    except Exception:  # the model is too large for protobuf
        inferred = []
    others = {e.name for e in inferred if e.type.WhichOneof("value") not in (None, "tensor_type")}
    taken = {each.name for each in (*made.graph.output, *made.graph.input)}
    for node in made.graph.node:
        for name in node.output:
            if name and name not in taken | others:
                made.graph.output.add().name = name
                taken.add(name)
    return made


def name_of(node: onnx.NodeProto) -> str:
    """Return the name that messages and compiled graphs give a node."""
    return node.name or next(filter(None, node.output), node.op_type)


def rounded_outputs(model: onnx.ModelProto, halves: Container[str]) -> set[str]:
    """Return the tensors that nodes of the model compute and that are stored as float16.

    `halves` is what :meth:`texloom.onnx.Model.halves` returns.
    """
    found = set()
    for node in model.graph.node:
        outputs = [output for output in node.output if output]
        for number, output in enumerate(outputs):
            name = name_of(node) + (f".{number}" if len(outputs) > 1 else "")
            if name in halves:
                found.add(output)
    return found


def with_roundings(model: onnx.ModelProto, rounded: Container[str]) -> onnx.ModelProto:
    """Return the model with casts to float16 and back after each of the tensors `rounded`.

    Tensors keep their names after the casts, so that all readers read the rounded values.
    """
    made = onnx.ModelProto()
    made.CopyFrom(model)
    del made.graph.node[:]
    for node in model.graph.node:
        own = made.graph.node.add()
        own.CopyFrom(node)
        for i, output in enumerate(node.output):
            if output not in rounded:
                continue
            own.output[i] = f"{output}.computed"
            computed, half = f"{output}.computed", f"{output}.half"
            own.output[i] = computed
            made.graph.node.extend(
                [
                    onnx.helper.make_node("Cast", [computed], [half], to=onnx.TensorProto.FLOAT16),
                    onnx.helper.make_node("Cast", [half], [output], to=onnx.TensorProto.FLOAT),
                ]
            )
    return made


def _free_names(node: onnx.NodeProto) -> list[str]:
    """Return the names that a node reads: its inputs, and outer names in its subgraphs."""
    names = [name for name in node.input if name]
    for attribute in node.attribute:
        if attribute.HasField("g"):
            own = {each.name for each in attribute.g.input} | initializers(attribute.g).keys()
            own.update(name for inner in attribute.g.node for name in inner.output)
            inside = [n for inner in attribute.g.node for n in _free_names(inner)]
            inside += [each.name for each in attribute.g.output]
            names += [name for name in inside if name not in own]
    return list(dict.fromkeys(names))


def _single(model: onnx.ModelProto, node: onnx.NodeProto, inputs: Arrays) -> onnx.ModelProto:
    """Return a model of one node."""
    types = [
        onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in inputs.items()
    ]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    graph = onnx.helper.make_graph([node], "node", types, outputs)
    made = onnx.helper.make_model(
        graph, opset_imports=model.opset_import, functions=model.functions
    )
    made.ir_version = model.ir_version
    return made


def reference_peer(model: onnx.ModelProto, inputs: Arrays) -> list[NDArray[Any]]:
    """Run a model with ONNX's reference implementation."""
    evaluator = onnx.reference.ReferenceEvaluator(model)
    return [np.asarray(each) for each in evaluator.run(None, dict(inputs))]


def _wide(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype("float64") if array.dtype.kind == "f" else array


def _exact(model: onnx.ModelProto, inputs: Arrays) -> list[NDArray[Any]] | None:
    try:
        with np.errstate(all="ignore"):
            return reference_peer(model, {name: _wide(each) for name, each in inputs.items()})
    except Exception:  # the reference implementation cannot run the node
        return None


def _magnitudes(
    model: onnx.ModelProto, node: onnx.NodeProto, inputs: Arrays
) -> list[NDArray[Any]] | None:
    """Return the sum of the magnitudes of the terms of each element; None if unknown."""
    if node.op_type not in _SUMS or node.domain not in ("", "ai.onnx"):
        return None
    if node.op_type == "Sub":  # the terms are a and -b, which may be one tensor
        a, b = (np.abs(_wide(inputs[name])) for name in node.input)
        return [a + b]
    return _exact(
        model, {n: np.abs(each) if each.dtype.kind == "f" else each for n, each in inputs.items()}
    )


def terms(node: onnx.NodeProto, shapes: Sequence[Sequence[int]], output: Sequence[int]) -> int:
    """Return an upper bound for the number of terms in an element of an output."""
    attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
    first = shapes[0] if shapes else ()
    if node.op_type == "Conv":
        return prod(shapes[1][1:]) + 1
    if node.op_type == "ConvTranspose":
        return prod(shapes[1]) // max(1, shapes[1][1]) + 1
    if node.op_type == "Gemm":
        return int(first[0 if attributes.get("transA") else 1]) + 1
    if node.op_type in ("MatMul", "CumProd", "CumSum"):
        return max(first[-1:] if node.op_type == "MatMul" else first, default=1)
    if node.op_type in ("Softmax", "LogSoftmax", "Hardmax", "LpNormalization"):
        return int(first[attributes.get("axis", -1)])
    if node.op_type in ("LayerNormalization", "RMSNormalization"):
        return prod(first[attributes.get("axis", -1) :])
    if node.op_type in ("InstanceNormalization", "GroupNormalization"):
        return prod(first[1:])
    if node.op_type in ("LSTM", "GRU", "RNN", "Attention", "Einsum"):
        return max((prod(shape) for shape in shapes), default=1)
    kernel = prod(attributes.get("kernel_shape", [1]))
    reduced = -(-sum(map(prod, shapes)) // max(1, prod(output)))
    return max(kernel, reduced)


def _half_unit(dtype: np.dtype[Any]) -> float:
    """Return the largest relative error of rounding to a floating-point type."""
    return 2.0**-8 if dtype.name == "bfloat16" else float(np.finfo(dtype).eps) / 2


def compared(
    names: tuple[str, str, str],
    ours: NDArray[Any],
    peer: NDArray[Any],
    exact: NDArray[Any] | None,
    magnitudes: NDArray[Any] | None,
    count: int,
    *,
    is_rounded: bool = False,
) -> Comparison:
    """Compare one output of a node.

    The bound for floating point is the larger of two: the rounding error of `count` additions of
    numbers with the given magnitudes, and four times the other implementation's own error, if the
    exact value is known. If the output was rounded to float16, the error of this rounding is added:
    half a unit in the last place of the exact value.

    Parameters
    ----------
    names : tuple of str
        The names of the node, of its operator, and of the output.
    ours, peer : array
        The results of Texloom and of the other implementation for the same inputs.
    exact, magnitudes : array or None
        In float64: the exact output, and the sums of the magnitudes of the terms.
    count : int
        The number of terms, as :func:`terms` returns it.
    is_rounded : bool
        Whether our result was rounded to float16.
    """
    if ours.shape != peer.shape or ours.dtype != peer.dtype:
        return Comparison(*names, np.inf, 0.0, (), np.nan, np.nan, None)
    if ours.size == 0:
        return Comparison(*names, 0.0, 0.0, (), np.nan, np.nan, None)
    a, b = _numbers(ours), _numbers(peer)
    truth = b if exact is None or exact.shape != ours.shape else _numbers(exact)
    same = (a == b) | (np.isnan(a) & np.isnan(b)) | (a == truth)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.where(same, 0.0, np.abs(a - truth))
        error = np.where(np.isnan(error), np.inf, error)
        bound = np.zeros(a.shape)
        if ours.dtype.kind == "f" or ours.dtype.name == "bfloat16":
            finite = np.abs(truth[np.isfinite(truth)])
            size: Any = float(finite.max()) if finite.size else 0.0
            if magnitudes is not None and magnitudes.shape == a.shape:
                size = _numbers(magnitudes)
            bound = bound + 2 * (count + _FUNCTION_ULPS) * _half_unit(ours.dtype) * size
            own = np.abs(b - truth)
            own = own[np.isfinite(own)]
            bound = np.maximum(bound, _PEER_FACTOR * (float(own.max()) if own.size else 0.0))
            if is_rounded:
                bound = bound * (1 + _HALF_ROUNDING) + _HALF_ROUNDING * np.abs(truth) + _LEAST_HALF
            bound = np.where(np.isfinite(bound), bound, 0.0)
        share = error / np.where(bound > 0, bound, np.finfo("float64").tiny)  # largest: worst
        worst = np.argmax(share)
    index = tuple(int(each) for each in np.unravel_index(int(worst), a.shape))
    told = None if truth is b else float(truth[index])
    amounts = float(error[index]), float(bound[index])
    return Comparison(*names, *amounts, index, float(a[index]), float(b[index]), told)


def _numbers(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype("float64")


def compare_nodes(
    model: onnx.ModelProto,
    values: Arrays,
    peer: Peer,
    skipped: Callable[[str, str], None],
    rounded: Container[str] = frozenset(),
) -> Iterator[Comparison]:
    """Compare all nodes, in the order of the model.

    Parameters
    ----------
    model : ModelProto
    values : mapping of str to array
        The model's inputs, and the outputs of nodes as Texloom computed them.
    peer : callable
        The other implementation.
    skipped : callable
        Is called with the name of a node that cannot be compared, and the reason.
    rounded : container of str
        The outputs of nodes whose `values` were rounded to float16.
    """
    known = {name: array_of(each) for name, each in initializers(model.graph).items()}
    known.update(values)
    for node in model.graph.node:
        name = name_of(node)
        if node.op_type in _RANDOM and node.domain in ("", "ai.onnx"):
            skipped(name, "its result is random")
            continue
        inputs = {each: known[each] for each in _free_names(node) if each in known}
        if len(inputs) < len(_free_names(node)):
            skipped(name, "its inputs are not tensors")
            continue
        try:
            single = _single(model, node, inputs)
            theirs = peer(single, inputs)
        except Exception as error:  # any implementation may raise any exception
            skipped(name, str(error).splitlines()[0] if str(error) else type(error).__name__)
            continue
        outputs = [output for output in node.output if output]
        exact = _exact(single, inputs) or [None] * len(outputs)
        sums = _magnitudes(single, node, inputs) or [None] * len(outputs)
        shapes = [known[each].shape for each in node.input if each]
        for output, got, true, size in zip(outputs, theirs, exact, sums, strict=True):
            if output in known:
                ours = known[output]
                count = terms(node, shapes, ours.shape)
                names, is_rounded = (name, node.op_type, output), output in rounded
                yield compared(names, ours, got, true, size, count, is_rounded=is_rounded)


__all__ = [
    "Comparison",
    "compare_nodes",
    "compared",
    "name_of",
    "reference_peer",
    "rounded_outputs",
    "terms",
    "with_all_outputs",
    "with_roundings",
]
