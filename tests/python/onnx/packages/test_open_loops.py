"""Recurrent layers and loops of open length: one package serves all lengths, as onnxruntime."""

import numpy as np
import pytest
from nightly import most_at_night
from one_package import STORAGES, checked, numbers, parsed

import texloom
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


# Loops whose condition is data: the state starts at 0, and elements of x are added to it.
WHILE = {
    "sums until a limit": """(int64 i, bool c, float h) => (bool d, float g, float q) {
        r = Gather(x, i) g = Add(h, r) q = Neg(g) d = Less(g, limit) }""",
    "rows of two states": """(int64 i, bool c, float h) => (bool[1] d, float g, float[2] q) {
        r = Gather(x, i) g = Sub(r, h) gs = Unsqueeze(g, zero) rs = Unsqueeze(r, zero)
        q = Concat<axis = 0>(gs, rs) d = Less(gs, limit) }""",
}
LIMITS = [-100.0, 0.0, 3.0, 9.0, 1000.0]


def steps_until(limit, x):
    return {"x": np.asarray(x, "float32"), "limit": np.array(limit, "float32")}


@STORAGES
@pytest.mark.parametrize("count", ["six", "steps"])
@pytest.mark.parametrize("name", WHILE)
def test_loops_that_data_end(tmp_path, name, count, storage):
    """The bound is a number or a size; the outputs have as many rows as steps are taken."""
    text = f"""(float[t] x, float limit) => (s, y)
        <int64[1] zero = {{0}}, float start = {{0}}, int64 six = {{6}}> {{
        length = Shape(x) steps = Squeeze(length) begins = Less(start, limit)
        s, y = Loop<body = one {WHILE[name]}>({count}, begins, start) }}"""
    feeds = [steps_until(limit, range(1, n + 1)) for n in (6, 9) for limit in LIMITS]
    checked(tmp_path, text, feeds, storage=storage)


def test_a_search_for_a_limit_of_a_fixed_size(tmp_path):
    """The loop is not compiled again for each new limit."""
    text = """(float[6] x, float limit) => (s) <float start = {0}, int64 most = {1000}> {
        s = Loop<body = one (int64 i, bool c, float h) => (bool d, float g) {
            r = Gather(x, i) g = Add(h, r) d = Less(g, limit) }>(most, , start) }"""
    checked(tmp_path, text, [steps_until(limit, [1, 2, 3, 4, 5, 6]) for limit in (2, 9, 20)])


SHORT = {
    "elements in order": """v, j = TopK(s, two) f = ReduceMax<keepdims = 0>(v) t = Sub(s, f)
        q = Identity(v)""",
    "another such loop": """t = Loop<body = inner (int64 k, bool b, float[w] o)
        => (bool e, float[w] p) { m = ReduceMin<keepdims = 0>(o) p = Sub(o, m)
        n = ReduceMax<keepdims = 0>(p) e = Less(n, limit) }>(steps, , s) q = Neg(t)""",
}


@pytest.mark.parametrize("begins", ["", "begins"])
@pytest.mark.parametrize("name", SHORT)
def test_short_loops_of_what_a_recurrence_cannot_have(tmp_path, name, begins):
    """All steps are unrolled, and those after the end change nothing."""
    text = f"""(float[w] x, float limit) => (s, y) <int64 steps = {{4}}, int64[1] two = {{2}}> {{
        first = ReduceMax<keepdims = 0>(x) begins = Less(first, limit)
        s, y = Loop<body = one (int64 i, bool c, float[w] s) => (bool d, float[w] t, float[w] q) {{
            {SHORT[name]} l = ReduceMax<keepdims = 0>(t) d = Less(l, limit) }}
        >(steps, {begins}, x) }}"""
    feeds = [steps_until(limit, numbers(w)) for w in (3, 9) for limit in (-20, -3, 3, 20)]
    checked(tmp_path, text.replace("float[w] q)", "float[v] q)"), feeds)


def test_a_state_that_grows_until_data_say_stop(tmp_path):
    compiled = texloom.compile(
        parsed("""(float[2] x, float limit) => (y) <int64 steps = {3}, float[1] first = {0}> {
        y = Loop<body = one (int64 i, bool c, s) => (bool d, t) { t = Concat<axis = 0>(s, x)
            m = ReduceSum<keepdims = 0>(t) d = Less(m, limit) }>(steps, , first) }""")
    )
    with pytest.raises(TVMError, match="(?s)the state 0 after a step is .*values={'limit'"):
        compiled.save(tmp_path / "loop.tlp")
    for limit, wanted in ((2, [0, 1, 2]), (4, [0, 1, 2, 1, 2])):
        got = compiled.run(steps_until(limit, [1, 2]))["y"]
        np.testing.assert_array_equal(got, wanted)


BOUNDLESS = {
    "condition": ("", "its condition is data, and it has no trip count that bounds its steps"),
    "count": ("many", "its trip count is data, so that its steps have no bound"),
}


@pytest.mark.parametrize("name", BOUNDLESS)
def test_loops_without_a_bound(tmp_path, name):
    """A package is refused; `run` compiles for the values that decide how many steps there are."""
    count, reason = BOUNDLESS[name]
    compiled = texloom.compile(
        parsed(f"""(float limit, int64 many) => (s, y) <float start = {{0}}, float two = {{2}}> {{
        s, y = Loop<body = one (int64 i, bool c, float h) => (bool d, float g, float q) {{
            g = Add(h, two) q = Neg(g) d = Less(g, limit) }}>({count}, , start) }}""")
    )
    with pytest.raises(TVMError, match=f"(?s){reason}.*values="):
        compiled.save(tmp_path / "loop.tlp")
    for limit in (3, 5):
        got = compiled.run({"limit": np.array(limit, "float32"), "many": np.array(9)})
        wanted = [2 * (i + 1) for i in range((limit + 1) // 2)]
        assert got["s"] == wanted[-1]
        np.testing.assert_array_equal(got["y"], np.negative(wanted))


@pytest.mark.parametrize("op", ["Loop", "Scan"])
def test_more_steps_than_are_unrolled(tmp_path, op):
    nodes = {
        "Loop": """s, y = Loop<body = one (int64 i, bool c, float h) => (bool d, float g, float q) {
            d = Identity(c) r = Gather(x, i) g = Sub(r, h) q = Abs(g) }>(steps, , start)""",
        "Scan": """s, y = Scan<num_scan_inputs = 1, body = one (float h, float r)
            => (float g, float q) { g = Sub(r, h) q = Abs(g) }>(start, x)""",
    }
    text = f"""(float[1500] x) => (s, y) <float start = {{0}}, int64 steps = {{1500}}> {{
        {nodes[op]} }}"""
    checked(tmp_path, text, [{"x": numbers(1500)}])


@pytest.mark.parametrize(("count", "begins"), [(0, 1), (-1, 1), (3, 0)])
def test_no_step(count, begins):
    model = parsed(f"""(float[2] x) => (s, y)
        <int64 steps = {{{count}}}, bool begins = {{{begins}}}> {{
        s, y = Loop<body = one (int64 i, bool c, float[2] h) => (bool d, float[2] g, float[1, 2] q)
        {{ d = Identity(c) g = Add(h, h) z = Constant<value_ints = [0]>() q = Unsqueeze(g, z) }}
        >(steps, begins, x) }}""")
    x = numbers(2)
    got = texloom.compile(model).run({"x": x})
    np.testing.assert_array_equal(got["s"], x)
    assert got["y"].shape == (0, 1, 2) and got["y"].dtype == "float32"


def test_a_scan_of_nothing():
    model = parsed("""(float[2] x) => (s, y) <float[0, 2] none = {}> {
        s, y = Scan<num_scan_inputs = 1, scan_output_axes = [1], body = one (float[2] h, float[2] r)
        => (float[2] g, float[2] q) { g = Add(h, r) q = Identity(g) }>(x, none) }""")
    got = texloom.compile(model).run({"x": numbers(2)})
    np.testing.assert_array_equal(got["s"], numbers(2))
    assert got["y"].shape == (2, 0)


@pytest.mark.parametrize("is_backward", [0, 1])
def test_a_scan_of_a_batch(tmp_path, is_backward):
    """Before version 9, a scan goes along the second axis of several sequences."""
    text = f"""(float[3, 2] h, float[3, t, 2] x) => (s, y) {{
        s, y = Scan<num_scan_inputs = 1, directions = [{is_backward}],
                    body = one (float[2] h, float[2] r) => (float[2] g, float[2] q) {{
                        g = Sub(r, h) q = Neg(g) }}>(, h, x) }}"""
    feeds = [{"h": numbers(3, 2), "x": numbers(3, t, 2)} for t in (1, 4, 9)]
    checked(tmp_path, text, feeds, opset=8)
