"""Recurrent networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._core import Tensor
from ...extents import agree
from ...ops import recurrent
from ..nodes import Node, Value
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
    return node.emit_all(
        node.op.lower(),
        _layer,
        list(given.values()),
        names=tuple(given),
        layer_of=_LAYERS[node.op],
        direction=direction,
        functions=_functions(node, _DIRECTIONS[direction]),
        clip=node.attributes.get("clip"),
        batch_first=bool(node.attributes.get("layout", 0)),
        options=_options(node),
    )


def _layer(
    *tensors: Tensor,
    names: tuple[str, ...],
    layer_of: Callable[..., tuple[Tensor, ...]],
    options: dict[str, Any],
    **attributes: Any,
) -> tuple[Tensor, ...]:
    """Build a layer from its inputs, given by name."""
    given: dict[str, Any] = dict(zip(names, tensors, strict=True))
    shared = ("x", "weight", "recurrence", "bias", "lengths")
    steps = recurrent.Steps(**{name: given.pop(name, None) for name in shared}, **attributes)
    return layer_of(steps, **given, **options)


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
    batch_first = bool(node.attributes.get("layout", 0))
    batch, hidden = x.shape[0 if batch_first else 1], recurrence.shape[2]
    if node.attributes.get("hidden_size", hidden) != hidden:
        node.refuse(
            f"its hidden_size is {node.attributes['hidden_size']}, but its weights have {hidden}"
        )
    rows = _GATES[node.op] * hidden
    state = (batch, directions, hidden) if batch_first else (directions, batch, hidden)
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
