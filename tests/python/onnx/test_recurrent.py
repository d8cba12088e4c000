"""Recurrent layers against float64 loops over the steps."""

import numpy as np
import onnx
import pytest
from single_node import floats, run_node

import texloom
from texloom.onnx.nodes import Unsupported

TIME, BATCH, INPUT, HIDDEN = 6, 3, 5, 4
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def inputs_of(op, directions=1, dtype="float32"):
    """Return x, W, R, B, None for the lengths, initial states, and an LSTM's peepholes.

    The weights are small, so that a step does not enlarge the errors of the steps before it.
    """
    gates = GATES[op]
    made = [
        floats(TIME, BATCH, INPUT),
        floats(directions, gates * HIDDEN, INPUT) / 4,
        floats(directions, gates * HIDDEN, HIDDEN) / 4,
        floats(directions, 2 * gates * HIDDEN) / 4,
        None,
        floats(directions, BATCH, HIDDEN),
    ]
    if op == "LSTM":
        made += [floats(directions, BATCH, HIDDEN, seed=1), floats(directions, 3 * HIDDEN) / 4]
    return [each if each is None else each.astype(dtype) for each in made]


def rnn_step(x, h, c, w, r, b, f=np.tanh, **_):
    return f(x @ w.T + h @ r.T + b.reshape(2, -1).sum(0)), c


def gru_step(x, h, c, w, r, b, f=sigmoid, g=np.tanh, linear=False, **_):
    wz, wr, wh = np.split(w, 3)
    rz, rr, rh = np.split(r, 3)
    bz, br, bh, cz, cr, ch = np.split(b, 6)
    z, reset = f(x @ wz.T + h @ rz.T + bz + cz), f(x @ wr.T + h @ rr.T + br + cr)
    own = reset * (h @ rh.T + ch) if linear else (reset * h) @ rh.T + ch
    return (1 - z) * g(x @ wh.T + own + bh) + z * h, c


def lstm_step(x, h, c, w, r, b, p=None, f=sigmoid, g=np.tanh, k=np.tanh, coupled=False, **o):
    low, high = (-o["clip"], o["clip"]) if "clip" in o else (-np.inf, np.inf)
    i, out, forget, new = np.split(x @ w.T + h @ r.T + b.reshape(2, -1).sum(0), 4, axis=1)
    pi, po, pf = np.zeros((3, HIDDEN)) if p is None else np.split(p, 3)
    i, forget = f(np.clip(i + pi * c, low, high)), f(np.clip(forget + pf * c, low, high))
    c = (1 - i if coupled else forget) * c + i * g(np.clip(new, low, high))
    return f(np.clip(out + po * c, low, high)) * k(c), c


STEPS = {"RNN": rnn_step, "GRU": gru_step, "LSTM": lstm_step}


def reference(op, inputs, direction="forward", **options):
    """Return Y, Y_h and Y_c."""
    x, w, r, b, lengths, h0, *rest = [e if e is None else e.astype("float64") for e in inputs]
    c0, p = (*rest, None, None)[:2]
    directions = w.shape[0]
    y = np.zeros((TIME, directions, BATCH, HIDDEN))
    hs, cs = np.zeros((2, directions, BATCH, HIDDEN))
    for d in range(directions):
        for n in range(BATCH):
            count = TIME if lengths is None else int(lengths[n])
            h, c = h0[d, n : n + 1], None if c0 is None else c0[d, n : n + 1]
            backward = direction == "reverse" or d == 1
            for t in reversed(range(count)) if backward else range(count):
                own = {} if p is None else {"p": p[d]}
                h, c = STEPS[op](x[t, n : n + 1], h, c, w[d], r[d], b[d], **own, **options)
                y[t, d, n] = h
            hs[d, n], cs[d, n] = h, 0 if c is None else c
    return [y, hs, cs][: 3 if op == "LSTM" else 2]


def check(got, expected, dtype="float32"):
    # A step rounds about 40 times, on numbers below 4; float16 adds one rounding of the result.
    bound = TIME * 40 * 4 * 2.0**-24 if dtype == "float32" else TIME * 2.0**-11
    for mine, other in zip(got, expected, strict=True):
        assert mine.dtype == dtype and mine.shape == other.shape
        np.testing.assert_allclose(mine, other, rtol=0, atol=bound)


def outputs_of(op):
    return 3 if op == "LSTM" else 2


@pytest.mark.parametrize("op", list(GATES))
def test_both_directions_and_lengths(op):
    """Each sequence is reversed within its length; after its end there are zeros."""
    inputs = inputs_of(op, 2)
    inputs[4] = np.array([TIME, 2, 0], "int32")
    got = run_node(op, inputs, 14, outputs_of(op), hidden_size=HIDDEN, direction="bidirectional")
    check(got, reference(op, inputs))


@pytest.mark.parametrize("op", list(GATES))
def test_backward_and_batch_first(op):
    inputs = inputs_of(op)
    expected = reference(op, inputs, "reverse")
    turned = list(inputs)
    for i in (0, *range(5, min(len(inputs), 7))):
        turned[i] = np.ascontiguousarray(inputs[i].swapaxes(0, 1))
    y, *states = run_node(
        op, turned, 14, outputs_of(op), hidden_size=HIDDEN, direction="reverse", layout=1
    )
    check([y.transpose(1, 2, 0, 3), *(s.swapaxes(0, 1) for s in states)], expected)


def test_halves_are_computed_in_float32():
    inputs = inputs_of("GRU", dtype="float16")
    got = run_node("GRU", inputs, 7, 2, hidden_size=HIDDEN)
    check(got, reference("GRU", inputs), "float16")


def test_reset_after_the_product():
    inputs = inputs_of("GRU")
    got = run_node("GRU", inputs, 14, 2, hidden_size=HIDDEN, linear_before_reset=1)
    check(got, reference("GRU", inputs, linear=True))


def test_clipped_gates_and_coupled_ones():
    inputs = inputs_of("LSTM")
    got = run_node("LSTM", inputs, 14, 3, hidden_size=HIDDEN, clip=0.25, input_forget=1)
    check(got, reference("LSTM", inputs, clip=0.25, coupled=True))


def test_activations_take_parameters_in_order():
    """Tanh takes no alpha, so the second alpha belongs to LeakyRelu, the third function."""
    inputs = inputs_of("LSTM")
    got = run_node(
        "LSTM",
        inputs,
        14,
        3,
        hidden_size=HIDDEN,
        activations=["HardSigmoid", "tanh", "LeakyRelu"],
        activation_alpha=[0.3, 0.1],
        activation_beta=[0.4],
    )
    functions = {
        "f": lambda x: np.clip(0.3 * x + 0.4, 0, 1),
        "k": lambda x: np.where(x < 0, 0.1 * x, x),
    }
    check(got, reference("LSTM", inputs, **functions))


ACTIVATIONS = {
    "Affine": lambda x: 0.4 * x + 0.2,
    "Elu": lambda x: np.where(x > 0, x, 0.4 * np.expm1(x)),
    "Relu": lambda x: np.maximum(x, 0),
    "ScaledTanh": lambda x: 0.4 * np.tanh(0.2 * x),
    "Softplus": lambda x: np.log1p(np.exp(x)),
    "Softsign": lambda x: x / (1 + abs(x)),
    "ThresholdedRelu": lambda x: np.where(x > 0.4, x, 0),
}


def test_every_activation():
    """Each direction has its own activation."""
    names = list(ACTIVATIONS)
    for first, second in zip(names[::2], [*names[1::2], names[0]], strict=True):
        inputs = inputs_of("RNN", 2)
        needs = {"Affine": 2, "ScaledTanh": 2, "Elu": 1, "ThresholdedRelu": 1}
        got = run_node(
            "RNN",
            inputs,
            14,
            2,
            hidden_size=HIDDEN,
            direction="bidirectional",
            activations=[first, second],
            activation_alpha=[0.4] * sum(needs.get(n, 0) > 0 for n in (first, second)) or None,
            activation_beta=[0.2] * sum(needs.get(n, 0) > 1 for n in (first, second)) or None,
        )
        for d, name in enumerate((first, second)):
            one = [e if e is None or i == 0 else e[d : d + 1] for i, e in enumerate(inputs)]
            way = ("forward", "reverse")[d]
            expected = reference("RNN", one, way, f=ACTIVATIONS[name])
            check([got[0][:, d : d + 1], got[1][d : d + 1]], expected)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"direction": "upward"}, "its direction is 'upward'"),
        ({"activations": ["Tanh", "Tanh"]}, "2 activations, not 1"),
        ({"activations": ["Cosine"]}, "no activation 'Cosine'"),
        ({"direction": "bidirectional"}, r"its weight has the shape \(1, 4, 5\), not \(2, 4, 5\)"),
    ],
)
def test_refused(change, why):
    with pytest.raises(Unsupported, match=why):
        run_node("RNN", inputs_of("RNN"), 14, 2, hidden_size=HIDDEN, **change)


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("layout", [0, 1])
def test_a_sequence_of_no_steps_ends_in_the_initial_states(op, layout):
    """The sequence of states is empty; onnxruntime aborts on such inputs."""
    x, w, r, b, lengths, *states = inputs_of(op, 2)
    swapped = [each.swapaxes(0, 1) if layout else each for each in (x[:0], *states[:2])]
    x, *states = [np.ascontiguousarray(each) for each in swapped]
    options = {"hidden_size": HIDDEN, "direction": "bidirectional", "layout": layout}
    count = 3 if op == "LSTM" else 2
    y, *last = run_node(op, [x, w, r, b, lengths, *states], 14, count, **options)
    assert y.shape == ((BATCH, 0, 2, HIDDEN) if layout else (0, 2, BATCH, HIDDEN))
    assert y.dtype == "float32"
    for got, want in zip(last, states[: count - 1], strict=True):
        np.testing.assert_array_equal(got, want)
    for got in run_node(op, [x, w, r], 14, count, **options)[1:]:
        assert got.shape == states[0].shape and got.dtype == "float32" and not got.any()


def test_an_open_length_may_be_0():
    model = onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 14]> one
        (float[t, {BATCH}, {INPUT}] x, float[1, {HIDDEN}, {INPUT}] w,
         float[1, {HIDDEN}, {HIDDEN}] r, float[1, {BATCH}, {HIDDEN}] h) => (y, last)
        {{ y, last = RNN<hidden_size={HIDDEN}>(x, w, r, , , h) }}"""
    )
    x, w, r, _, _, h = inputs_of("RNN")
    got = texloom.compile(model).run({"x": x[:0], "w": w, "r": r, "h": h})
    assert got["y"].shape == (0, 1, BATCH, HIDDEN)
    np.testing.assert_array_equal(got["last"], h)
