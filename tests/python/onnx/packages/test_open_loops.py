"""Recurrent layers and loops of open length: one package serves all lengths, as onnxruntime."""

import numpy as np
import pytest
from nightly import most_at_night
from one_package import STORAGES, checked, numbers

from texloom.errors import TVMError

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrent(op, directions, hidden, more=""):
    rows = GATES[op] * hidden
    rng = np.random.default_rng(0)

    def weights(*shape):
        given = rng.uniform(-0.25, 0.25, shape).astype("float32").reshape(-1)
        return ", ".join(map(str, given.tolist()))

    states = "y, h, c" if op == "LSTM" else "y, h"
    direction = "bidirectional" if directions == 2 else "forward"
    return f"""(float[t, N, 5] x, int32[N] lengths) => ({states})
        <float[{directions}, {rows}, 5] w = {{{weights(directions, rows, 5)}}},
         float[{directions}, {rows}, {hidden}] r = {{{weights(directions, rows, hidden)}}},
         float[{directions}, {2 * rows}] b = {{{weights(directions, 2 * rows)}}}> {{
        {states} = {op}<hidden_size = {hidden}, direction = "{direction}">(x, w, r, b{more}) }}"""


@pytest.mark.parametrize("op", most_at_night(["GRU", "LSTM", "RNN"], 1))
@pytest.mark.parametrize(
    ("directions", "more"), most_at_night([(2, ", lengths"), (1, ""), (2, "")], 1)
)
def test_recurrent_layers(tmp_path, op, directions, more):
    """Both the number of steps and the batch are sizes of the run."""
    feeds = [
        {
            "x": np.random.default_rng(t).uniform(-1, 1, (t, n, 5)).astype("float32"),
            "lengths": np.arange(n, dtype="int32") % t + 1,
        }
        for t, n in ((4, 2), (9, 1), (1, 3))
    ]
    # A step rounds about 40 times, on numbers below 4; the weights are small.
    checked(tmp_path, recurrent(op, directions, 4, more), feeds, error=9 * 40 * 4 * 2.0**-24)


@pytest.mark.nightly
def test_an_initial_state_of_open_batch(tmp_path):
    text = """(float[t, N, 1] x, float[1, M, 1] start) => (y, h)
        <float[1, 1, 1] w = {0.5}, float[1, 1, 1] r = {0.25}> {
        y, h = RNN<hidden_size = 1>(x, w, r, , , start) }"""
    x = np.linspace(-1, 1, 6, dtype="float32")
    feeds = [{"x": x.reshape(-1, n, 1), "start": x[:n].reshape(1, n, 1)} for n in (1, 2, 3)]
    checked(tmp_path, text, feeds, error=6 * 40 * 4 * 2.0**-24)
    with pytest.raises(TVMError, match="TL5003"):
        checked(tmp_path, text, [{"x": x.reshape(2, 3, 1), "start": x[:2].reshape(1, 2, 1)}])


SCANS = {
    "sums": """s, y = Scan<num_scan_inputs = 1,
        body = one_step (float[2] h, float[2] r) => (float[2] g, float[2] q) {
            g = Add(h, r) q = Neg(g) }>(start, x)""",
    "backward along another axis": """s, y = Scan<num_scan_inputs = 1, scan_input_axes = [1],
        scan_input_directions = [1], scan_output_directions = [1], scan_output_axes = [-1],
        body = one_step (float[2] h, float[2] r) => (float[2] g, float[2] q) {
            g = Sub(r, h) q = Identity(g) }>(start, turned)""",
    "products": """s, y = Scan<num_scan_inputs = 1,
        body = one_step (float[2] h, float[2] r) => (float[2] g, float[1, 2] q) {
            a = Unsqueeze(h, first) b = MatMul(a, turn) c = Unsqueeze(r, first) p = Relu(c)
            e = MatMul(p, turn) q = Sub(b, e) g = Squeeze(q, first) }>(start, x)""",
    "a loop with its number": """s, y = Loop<
        body = one_step (int64 i, bool c, float[2] h) => (bool d, float[2] g, float q) {
            d = Identity(c) r = Gather(x, i) k = Cast<to = 1>(i) m = Mul(r, k) g = Sub(m, h)
            q = ReduceMax<keepdims = 0>(g) }>(steps, , start)""",
    "a loop of two states": """s, y = Loop<
        body = one_step (int64 i, bool c, float[2] h, float[2] k)
            => (bool d, float[2] g, float[2] j) {
            d = Identity(c) g = Identity(k) j = Sub(h, k) }>(steps, , start, start)""",
}


@STORAGES
@pytest.mark.parametrize("name", most_at_night(SCANS, 1))
def test_loops_whose_steps_a_run_counts(tmp_path, name, storage):
    text = """(float[t, 2] x) => (s, y) <float[2] start = {1, 2}, float[2, 2] turn = {0, 1, -1, 0},
        int64[1] first = {0}> {
        turned = Transpose(x) length = Shape<end = 1>(x) steps = Squeeze(length) %s }"""
    feeds = [{"x": numbers(t, 2)} for t in (1, 4, 9)]
    checked(tmp_path, text % SCANS[name], feeds, storage=storage)
