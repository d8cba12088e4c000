"""Folds what scales and shifts channels into the weights of the node before it.

    y = BatchNormalization(Conv(x, w, b))    ->    y = Conv(x, w * factor, b * factor + shift)

So do Mul, Div, Add and Sub with a constant for each channel, one after another. The node before is
a Conv, a ConvTranspose, a Gemm or, without a shift, a MatMul, with constant weights, whose result
nothing else reads. The new weights are computed in float64 and rounded once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import onnx
from numpy.typing import NDArray

from .attributes import attributes_of

_Array = NDArray[np.float64]


@dataclass
class FoldedNodes:
    """The nodes of a graph, and the constants that some of them read beside the graph's own."""

    nodes: list[onnx.NodeProto]
    constants: dict[str, NDArray[np.floating]] = field(default_factory=dict)


def fold_normalization(graph: onnx.GraphProto) -> FoldedNodes:
    """Return the nodes of a graph after folding; the graph is not changed."""
    return _Folding(graph).run()


class _Folding:
    def __init__(self, graph: onnx.GraphProto) -> None:
        self._readers = Counter([*_names_read(graph.node), *(each.name for each in graph.output)])
        self._stored = {each.name: each for each in graph.initializer}
        for node in graph.node:
            if node.op_type == "Constant" and not node.domain and len(node.attribute) == 1:
                value = node.attribute[0]
                if value.name == "value":
                    self._stored[node.output[0]] = value.t
        self._folded = FoldedNodes(list(graph.node))
        self._producers: dict[str, int] = {}  # by output: the node's place in the list

    def run(self) -> FoldedNodes:
        nodes = self._folded.nodes
        for place, node in enumerate(nodes):
            made = self._folded_into_producer(node)
            if made is not None:
                nodes[self._producers[_data_of(node, self._stored)]] = onnx.NodeProto()
                nodes[place] = node = made
            if node.output and node.output[0]:
                self._producers[node.output[0]] = place
        self._folded.nodes = [node for node in nodes if node.op_type]
        return self._folded

    def _folded_into_producer(self, node: onnx.NodeProto) -> onnx.NodeProto | None:
        """Return the node whose result a node scales, with new weights; None if it cannot be."""
        if node.op_type not in _SCALES or node.domain not in ("", "ai.onnx"):
            return None
        data = _data_of(node, self._stored)
        if data not in self._producers or self._readers[data] != 1:
            return None
        producer = self._folded.nodes[self._producers[data]]
        if producer.op_type not in _WEIGHTED or producer.domain not in ("", "ai.onnx"):
            return None
        weights = _Weights.of(producer, [self._constant(each) for each in producer.input])
        constants = [self._constant(each) for each in node.input if each != data]
        if weights is None or any(each is None for each in constants):
            return None
        scale = _scale_of(node, constants, weights, is_minuend=node.input[0] == data)
        if scale is None:
            return None
        with np.errstate(all="ignore"):
            made = weights.scaled(*scale)
        return None if made is None else self._node(producer, node.output[0], made)

    def _constant(self, name: str) -> NDArray[np.floating] | None:
        if name in self._folded.constants:
            return self._folded.constants[name]
        if name not in self._stored:
            return None
        try:
            array = onnx.numpy_helper.to_array(self._stored[name])
        except Exception:  # whoever converts the node says what is wrong
            return None
        return array if array.dtype in (np.float32, np.float64) else None

    def _node(
        self, producer: onnx.NodeProto, output: str, made: list[NDArray[np.floating]]
    ) -> onnx.NodeProto:
        node = onnx.NodeProto()
        node.CopyFrom(producer)
        names = [
            node.input[0],
            *(self._named(f"{output}.{i}", each) for i, each in enumerate(made)),
        ]
        del node.input[:], node.output[:]
        node.input.extend(names)
        node.output.append(output)
        return node

    def _named(self, stem: str, array: NDArray[np.floating]) -> str:
        name = stem
        while name in self._readers or name in self._folded.constants:
            name += "'"
        self._folded.constants[name] = array
        return name


_SCALES = frozenset(["BatchNormalization", "Mul", "Div", "Add", "Sub"])
_WEIGHTED = frozenset(["Conv", "ConvTranspose", "Gemm", "MatMul"])


@dataclass
class _Weights:
    """The constants of a node.

    Attributes
    ----------
    weight : array
    bias : array or None
        None if the node has none.
    axes : tuple of int
        The axes of the array of `shape` that has an entry for each channel of the output.
    shape : tuple of int
        What the weights are reshaped to, so that the output's channels have axes of their own.
    rank : int or None
        Of the output; None if it is unknown.
    has_bias : bool
        Whether the node can have a bias.
    """

    weight: NDArray[np.floating]
    bias: NDArray[np.floating] | None
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    rank: int | None
    has_bias: bool = True

    @classmethod
    def of(
        cls, node: onnx.NodeProto, constants: list[NDArray[np.floating] | None]
    ) -> _Weights | None:
        """Return the constants of a node; None if they are not known, or contradict each other."""
        constants = [each for each, name in zip(constants, node.input, strict=True) if name]
        if len(constants) not in (2, 3) or any(each is None for each in constants[1:]):
            return None
        weight, bias = constants[1], constants[2] if len(constants) == 3 else None
        assert weight is not None
        made = cls._with_axes(node, weight, bias)
        if made is None or (bias is not None and bias.shape != (made.channels,)):
            return None
        return made

    @classmethod
    def _with_axes(
        cls,
        node: onnx.NodeProto,
        weight: NDArray[np.floating],
        bias: NDArray[np.floating] | None,
    ) -> _Weights | None:
        given = attributes_of(node)
        if node.op_type == "MatMul":
            fits = weight.ndim == 2
            return cls(weight, None, weight.shape, (1,), None, False) if fits else None
        if node.op_type == "Gemm":
            axis = 0 if given.get("transB", 0) else 1
            is_plain = weight.ndim == 2 and given.get("alpha", 1) == given.get("beta", 1) == 1
            return cls(weight, bias, weight.shape, (axis,), 2) if is_plain else None
        if weight.ndim < 3:
            return None
        if node.op_type == "Conv":
            return cls(weight, bias, weight.shape, (0,), weight.ndim)
        groups = given.get("group", 1)
        if groups < 1 or weight.shape[0] % groups:
            return None
        shape = (groups, weight.shape[0] // groups, *weight.shape[1:])
        return cls(weight, bias, shape, (0, 2), weight.ndim)

    @property
    def channels(self) -> int:
        """The channels of the output."""
        return int(np.prod([self.shape[axis] for axis in self.axes]))

    @property
    def channel_axis(self) -> int:
        """The axis of the output, from the end if its rank is unknown."""
        return -1 if self.rank is None else 1

    def scaled(self, factor: _Array, shift: _Array) -> list[NDArray[np.floating]] | None:
        """Return the weight and the bias of a node that also scales its output.

        None if it has no bias for the shift, or if numbers would not be finite.
        """
        dtype = self.weight.dtype
        along = [self.shape[axis] if axis in self.axes else 1 for axis in range(len(self.shape))]
        weight = self.weight.astype("float64").reshape(self.shape) * factor.reshape(along)
        made = [weight.reshape(self.weight.shape).astype(dtype)]
        if self.has_bias:
            bias = 0 if self.bias is None else self.bias.astype("float64")
            made.append((bias * factor + shift).astype(dtype))
        elif shift.any():
            return None
        return made if all(np.isfinite(each).all() for each in made) else None


def _scale_of(
    node: onnx.NodeProto, constants: list[NDArray[np.floating]], weights: _Weights, is_minuend: bool
) -> tuple[_Array, _Array] | None:
    """Return the factor and the shift of each channel; None if a node does something else."""
    wide = [each.astype("float64") for each in constants]
    ones, zeros = np.ones(weights.channels), np.zeros(weights.channels)
    given = attributes_of(node)
    if node.op_type == "BatchNormalization":
        is_other = given.get("training_mode", 0) or not given.get("spatial", 1)
        if is_other or weights.rank is None or any(node.output[1:]) or len(wide) != 4:
            return None
        if any(each.shape != (weights.channels,) for each in wide):
            return None
        scale, bias, mean, variance = wide
        with np.errstate(all="ignore"):
            factor = scale / np.sqrt(variance + given.get("epsilon", 1e-5))
        return factor, bias - mean * factor
    if len(wide) != 1 or "axis" in given or given.get("broadcast", 0):
        return None
    number = _by_channel(wide[0], weights)
    if number is None:
        return None
    if node.op_type == "Add":
        return ones, number
    if node.op_type == "Mul":
        return ones * number, zeros
    if node.op_type == "Sub":
        return (ones, -number) if is_minuend else (-ones, number)
    return (ones / number, zeros) if is_minuend and number.all() else None


def _by_channel(array: _Array, weights: _Weights) -> _Array | None:
    """Return a constant's number for each channel; None if it has more than these."""
    if array.size == 1 and array.ndim <= (weights.rank or 1):
        return np.full(weights.channels, array.item())
    if array.ndim > (weights.rank or 1) or array.size != weights.channels:
        return None
    axis = weights.channel_axis - (weights.rank or 0)  # from the end
    is_along = array.ndim >= -axis and array.shape[axis] == weights.channels
    return array.reshape(-1) if is_along else None


def _data_of(node: onnx.NodeProto, stored: dict[str, onnx.TensorProto]) -> str:
    """Return the input that a node scales: the first one that is no constant."""
    names = node.input if node.op_type != "BatchNormalization" else node.input[:1]
    return next((name for name in names if name not in stored), "")


def _names_read(nodes: Iterable[onnx.NodeProto]) -> list[str]:
    """Return what nodes read, those in graphs among their attributes too."""
    names: list[str] = []
    for node in nodes:
        names += node.input
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                names += _names_read(graph.node)
                names += [each.name for each in graph.output]
    return names


__all__ = ["FoldedNodes", "fold_normalization"]
