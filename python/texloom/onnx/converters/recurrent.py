"""Recurrent networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._core import Tensor
from ...extents import Extent, agree, are_known
from ...ops import recurrent
from ..nodes import Node, Value, empty
from .registry import converts

_FUNCTIONS = {
    "GRU": ["Sigmoid", "Tanh"],
    "LSTM": ["Sigmoid", "Tanh", "Tanh"],
    "RNN": ["Tanh"],
}
_INPUTS = {
    "GRU": ["x", "weight", "recurrence", "bias", "lengths", "initial_h"],
    "LSTM": ["x", "weight", "recurrence", "bias", "lengths", "initial_h", "initial_c", "peepholes"],
    "RNN": ["x", "weight", "recurrence", "bias", "lengths", "initial_h"],
}
_LAYERS = {"GRU": recurrent.gru, "LSTM": recurrent.lstm, "RNN": recurrent.rnn}
_GATES = {"GRU": 3, "LSTM": 4, "RNN": 1}
_DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}


@converts(*_LAYERS)
def layer(node: Node) -> list[Value]:
    """Convert all steps of a recurrent layer, in one or both directions."""
    given = {name: node.input(i) for i, name in enumerate(_INPUTS[node.op]) if node.has(i)}
    direction = node.attributes.get("direction", "forward")
    if direction not in _DIRECTIONS:
        node.refuse(f"its direction is {direction!r}, not one of {', '.join(_DIRECTIONS)}")
    _check_shapes(node, given, _DIRECTIONS[direction])
    if _extents_of_x(node)[0] == 0:
        return _no_steps(node, given, _DIRECTIONS[direction])
    given = {"projected_x": _projected(node), **given}
    given["recurrence"] = _recurrence(node, given["recurrence"])
    del given["x"], given["weight"]
    return node.emit_all(
        node.op.lower(),
        _layer,
        list(given.values()),
        names=tuple(given),
        layer_of=_LAYERS[node.op],
        direction=direction,
        functions=_functions(node, _DIRECTIONS[direction]),
        clip=node.attributes.get("clip"),
        batch_first=_is_batch_first(node),
        options=_options(node),
    )


def _projected(node: Node) -> Value:
    """Return the products of all inputs and the weights: a kernel of its own, with all steps."""
    x, weight = node.input(0), node.input(1)
    rows = node.convert("Reshape", [weight, node.constant([-1, x.shape[2]], "int64")])
    factor = node.convert("Transpose", [rows], perm=[1, 0])
    if not are_known(x.shape):
        return node.convert("MatMul", [x, factor])
    # All inputs are rows of one matrix, so that tiles have rows of several steps.
    inputs = node.convert("Reshape", [x, node.constant([-1, x.shape[2]], "int64")])
    product = node.convert("MatMul", [inputs, factor])
    return node.convert("Reshape", [product, node.constant([*x.shape[:2], -1], "int64")])


def _recurrence(node: Node, weights: Value) -> Value:
    """Return the weights of a state as :class:`texloom.ops.recurrent.Steps` takes them."""
    directions, _, hidden = weights.shape
    shape = node.constant([directions, _GATES[node.op], hidden, hidden], "int64")
    of_gates = node.convert("Reshape", [weights, shape])
    return node.convert("Transpose", [of_gates], perm=[0, 3, 1, 2])


def _layer(
    *tensors: Tensor,
    names: tuple[str, ...],
    layer_of: Callable[..., tuple[Tensor, ...]],
    options: dict[str, Any],
    **attributes: Any,
) -> tuple[Tensor, ...]:
    """Build a layer from its inputs, given by name."""
    given: dict[str, Any] = dict(zip(names, tensors, strict=True))
    shared = ("projected_x", "recurrence", "bias", "lengths")
    steps = recurrent.Steps(**{name: given.pop(name, None) for name in shared}, **attributes)
    return layer_of(steps, **given, **options)


def _no_steps(node: Node, given: dict[str, Value], directions: int) -> list[Value]:
    """Return the outputs of a layer of length 0: an empty sequence, and the initial states."""
    x, state = node.input(0), _state_shape(node, directions)
    shape = (state[0], 0, *state[1:]) if _is_batch_first(node) else (0, *state)
    made = [empty(shape, x.dtype)]
    for name in ("initial_h", "initial_c"):
        zeros = node.constant(np.zeros(state, "float32"))
        made.append(given[name] if name in given else node.cast(zeros, x.dtype))
    return made if node.op == "LSTM" else made[:2]


def _is_batch_first(node: Node) -> bool:
    return bool(node.attributes.get("layout", 0))


def _extents_of_x(node: Node) -> tuple[Extent, Extent]:
    """Return the number of steps and the batch."""
    first, second, _ = node.input(0).shape
    return (second, first) if _is_batch_first(node) else (first, second)


def _state_shape(node: Node, directions: int) -> tuple[Extent, ...]:
    batch, hidden = _extents_of_x(node)[1], node.input(2).shape[2]
    return (batch, directions, hidden) if _is_batch_first(node) else (directions, batch, hidden)


def _options(node: Node) -> dict[str, Any]:
    if node.op == "GRU":
        return {"linear_before_reset": bool(node.attributes.get("linear_before_reset", 0))}
    if node.op == "LSTM":
        return {"input_forget": bool(node.attributes.get("input_forget", 0))}
    return {}


def _functions(node: Node, directions: int) -> list[list[Any]]:
    """Return the activations of each direction."""
    default = _FUNCTIONS[node.op]
    names = node.attributes.get("activations") or default * directions
    if len(names) != len(default) * directions:
        node.refuse(f"it has {len(names)} activations, not {len(default) * directions}")
    try:
        made = recurrent.activations(
            names,
            node.attributes.get("activation_alpha", ()),
            node.attributes.get("activation_beta", ()),
        )
    except ValueError as error:
        node.refuse(str(error))
    first, second = made[: len(default)], made[len(default) :]
    return [first, second] if second and names != default * 2 else [first]


def _check_shapes(node: Node, given: dict[str, Value], directions: int) -> None:
    x, recurrence = node.input(0), node.input(2)
    if x.rank != 3 or recurrence.rank != 3:
        node.refuse(
            f"its input has {x.rank} axes and its recurrence weights {recurrence.rank}, not 3 each"
        )
    batch, hidden = _extents_of_x(node)[1], recurrence.shape[2]
    if node.attributes.get("hidden_size", hidden) != hidden:
        node.refuse(
            f"its hidden_size is {node.attributes['hidden_size']}, but its weights have {hidden}"
        )
    rows = _GATES[node.op] * hidden
    state = _state_shape(node, directions)
    expected = {
        "weight": (directions, rows, x.shape[2]),
        "recurrence": (directions, rows, hidden),
        "bias": (directions, 2 * rows),
        "lengths": (batch,),
        "initial_h": state,
        "initial_c": state,
        "peepholes": (directions, 3 * hidden),
    }
    for name, value in given.items():
        wanted = expected.get(name, value.shape)
        if value.rank != len(wanted) or not all(map(agree, value.shape, wanted)):
            node.refuse(f"its {name} has the shape {value.shape}, not {wanted}")


__all__ = ["layer"]
