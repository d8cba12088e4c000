"""Recurrent layers: simple ones, gated recurrent units, and long short-term memory.

Gates are in the order of ONNX: z, r, h of a GRU, and i, o, f, c of an LSTM.
"""

from __future__ import annotations

from typing import Any

from ... import te
from ..._core import Tensor
from .steps import Steps


def rnn(steps: Steps, initial_h: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Compute ``h' = f(x W + h R + b)``.

    Parameters
    ----------
    steps : Steps
        With one activation for each direction.
    initial_h : Tensor ``[directions, batch, hidden]``, optional
        Zero by default.

    Returns
    -------
    sequence, last : Tensor
        As of :meth:`Steps.sequence` and :meth:`Steps.last`.
    """
    state = steps.state("h")
    product = steps.recurrent(state, "product", [0])

    def update(t: Any, d: Any, n: Any, j: Any) -> Any:
        own = steps.projected(steps.time(d, n, t - 1), d, n, 0, j) + product(t, d, n, 0, j)
        bias = steps.input_bias(d, 0, j) + steps.own_bias(d, 0, j)
        return steps.activated(0, d, own + bias)

    rows = te.scan(steps.initial(initial_h, "h0"), steps.updated(state, update, "next_h"), state)
    return steps.sequence(rows), steps.last(rows)


def gru(
    steps: Steps, initial_h: Tensor | None = None, linear_before_reset: bool = False
) -> tuple[Tensor, Tensor]:
    """Compute gated recurrent units.

    ``z = f(x Wz + h Rz + bz)``, ``r = f(x Wr + h Rr + br)``, ``h' = (1 - z) g(...) + z h``. The
    argument of `g` is ``x Wh + (r h) Rh + bh``, or ``x Wh + r (h Rh + bRh) + bWh`` if the reset
    comes after the product.

    Parameters
    ----------
    steps : Steps
        With the activations f and g for each direction.
    initial_h : Tensor ``[directions, batch, hidden]``, optional
    linear_before_reset : bool
        Whether the reset comes after the product.

    Returns
    -------
    sequence, last : Tensor
        As of :func:`rnn`.
    """
    state = steps.state("h")
    # Each kernel of a step computes the products that it reads.
    product = steps.recurrent(state, "product", range(3 if linear_before_reset else 1))
    own_reset = None if linear_before_reset else steps.recurrent(state, "own_reset", [1])

    def gate(which: int, t: Any, d: Any, n: Any, j: Any) -> Any:
        is_apart = which == 1 and own_reset is not None
        sums = own_reset(t, d, n, 0, j) if is_apart else product(t, d, n, which, j)
        bias = steps.input_bias(d, which, j) + steps.own_bias(d, which, j)
        own = steps.projected(steps.time(d, n, t - 1), d, n, which, j) + sums
        return steps.activated(0, d, own + bias)

    reset = te.compute(
        steps.rows, lambda t, d, n, j: gate(1, t, d, n, j) * state(t - 1, d, n, j), name="reset"
    )
    if not linear_before_reset:
        candidate = steps.weighted(reset, "candidate", [2])

    def argument(t: Any, d: Any, n: Any, j: Any) -> Any:
        own = steps.projected(steps.time(d, n, t - 1), d, n, 2, j) + steps.input_bias(d, 2, j)
        if linear_before_reset:
            linear = product(t, d, n, 2, j) + steps.own_bias(d, 2, j)
            return own + gate(1, t, d, n, j) * linear
        return own + candidate(t, d, n, 0, j) + steps.own_bias(d, 2, j)

    def update(t: Any, d: Any, n: Any, j: Any) -> Any:
        z = gate(0, t, d, n, j)
        new = steps.activated(1, d, argument(t, d, n, j))
        return (te.const(1, steps.dtype) - z) * new + z * state(t - 1, d, n, j)

    rows = te.scan(steps.initial(initial_h, "h0"), steps.updated(state, update, "next_h"), state)
    return steps.sequence(rows), steps.last(rows)


def lstm(
    steps: Steps,
    initial_h: Tensor | None = None,
    initial_c: Tensor | None = None,
    peepholes: Tensor | None = None,
    input_forget: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute long short-term memory.

    ``i = f(x Wi + h Ri + Pi c + bi)``, ``f`` likewise, ``c' = f c + i g(x Wc + h Rc + bc)``, ``o =
    f(x Wo + h Ro + Po c' + bo)``, ``h' = o h(c')``.

    Parameters
    ----------
    steps : Steps
        With the activations f, g and h for each direction.
    initial_h, initial_c : Tensor ``[directions, batch, hidden]``, optional
        Zero by default.
    peepholes : Tensor ``[directions, 3 * hidden]``, optional
        Pi, Po and Pf; zero by default.
    input_forget : bool
        Whether the forget gate is ``1 - i``.

    Returns
    -------
    sequence, last_h, last_c : Tensor
        As of :meth:`Steps.sequence` and :meth:`Steps.last`.
    """
    state, cell = steps.state("h"), steps.state("c")
    product = steps.recurrent(state, "product", range(4))
    hidden = steps.row[2]

    def argument(which: int, t: Any, d: Any, n: Any, j: Any) -> Any:
        own = steps.projected(steps.time(d, n, t - 1), d, n, which, j) + product(t, d, n, which, j)
        return own + steps.input_bias(d, which, j) + steps.own_bias(d, which, j)

    def gate(which: int, cells: Any, t: Any, d: Any, n: Any, j: Any) -> Any:
        value = argument(which, t, d, n, j)
        if peepholes is not None:
            value = value + peepholes(d, which * hidden + j).astype(steps.dtype) * cells
        return steps.activated(0, d, value)

    def next_cell(t: Any, d: Any, n: Any, j: Any) -> Any:
        before = cell(t - 1, d, n, j)
        i = gate(0, before, t, d, n, j)
        f = te.const(1, steps.dtype) - i if input_forget else gate(2, before, t, d, n, j)
        return f * before + i * steps.activated(1, d, argument(3, t, d, n, j))

    def next_states(t: Any, d: Any, n: Any, j: Any) -> tuple[Any, Any]:
        now = next_cell(t, d, n, j)
        # The ONNX standard is ambiguous about clipping here; onnxruntime does not clip the cell.
        return gate(1, now, t, d, n, j) * steps.activated(2, d, now, clips=False), now

    rows, cells = te.scan(
        [steps.initial(initial_h, "h0"), steps.initial(initial_c, "c0")],
        steps.updated_together([state, cell], next_states, "next"),
        [state, cell],
    )
    return steps.sequence(rows), steps.last(rows), steps.last(cells)


__all__ = ["gru", "lstm", "rnn"]
