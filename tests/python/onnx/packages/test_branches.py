"""`If` whose condition only a run knows: both branches are computed, and one result is selected."""

import numpy as np
import pytest
from one_package import STORAGES, checked, numbers, parsed

import texloom
from texloom.onnx.nodes import Unsupported

SIGNS = [{"x": numbers(2, 3, seed=s) + np.float32(9 * (-1) ** s)} for s in range(3)]
MEAN = "m = ReduceMean<keepdims = 0>(x) c = Greater(m, zero)"


def branches(then, other, outputs="y"):
    """Return an `If` with these nodes in its branches, whose outputs are p and q."""
    return f"""{outputs} = If<then_branch = one () => (p) {{ {then} }},
        else_branch = two () => (q) {{ {other} }}>(c)"""


CASES = {
    "float32": f"{MEAN} {branches('p = Relu(x)', 'q = Neg(x)')}",
    "of one element": f"d = ReduceMean<keepdims = 1>(x) e = Greater(d, zero) "
    f"c = Reshape(e, one) {branches('p = Relu(x)', 'q = Neg(x)')}",
    "int64": f"{MEAN} i = Cast<to = 7>(x) {branches('p = Neg(i)', 'q = Add(i, i)')}",
    "bool": f"{MEAN} {branches('p = Less(x, m)', 'q = Greater(x, m)')}",
    "float64": f"{MEAN} i = Cast<to = 11>(x) {branches('p = Neg(i)', 'q = Add(i, i)')}",
    "constants": f"{MEAN} "
    + branches("p = Constant<value_float = 2.0>()", "q = Constant<value_float = -1.0>()"),
    "a value around it": f"{MEAN} n = Neg(x) {branches('p = Identity(n)', 'q = Identity(x)')}",
    "nested": f"{MEAN} b = Less(m, zero) "
    + branches(
        """p = If<then_branch = three () => (r) { r = Relu(x) },
               else_branch = four () => (s) { s = Neg(x) }>(b)""",
        "q = If<then_branch = five () => (t) { n = Abs(x) t = Sqrt(n) },"
        " else_branch = six () => (u) { u = Identity(x) }>(b)",
    ),
    "in a loop": """d = ReduceMean<axes = [1], keepdims = 0>(x) y = Scan<num_scan_inputs = 1,
        body = step (float[w] r) => (float[w] z) {
            k = ReduceMax<keepdims = 0>(r) e = Greater(k, zero)
            z = If<then_branch = one () => (p) { p = Neg(r) },
                   else_branch = two () => (q) { q = Mul(r, r) }>(e) }>(x)""",
}


@pytest.mark.parametrize("name", CASES)
def test_results_are_selected(tmp_path, name):
    """Sizes are open, so the same package runs both branches and several sizes."""
    text = (
        f"""(float[h, w] x) => (y) <float zero = {{0}}, int64[1] one = {{1}}> {{ {CASES[name]} }}"""
    )
    opset = 17 if "axes = [1]" in text else 18
    wide = [{"x": numbers(3, 5, seed=4) + np.float32(9)}, {"x": -np.abs(numbers(1, 7, seed=5))}]
    checked(tmp_path, text, [*SIGNS, *wide], opset=opset, error=17 * 2.0**-23)


@STORAGES
def test_both_outputs_of_a_fixed_size(tmp_path, storage):
    text = """(float[2, 3] x) => (y, z) <float zero = {0}> {
        m = ReduceMean<keepdims = 0>(x) c = Greater(m, zero)
        y, z = If<then_branch = one () => (p, q) { p = Relu(x) q = Neg(p) },
                  else_branch = two () => (r, s) { r = Neg(x) s = Identity(x) }>(c) }"""
    checked(tmp_path, text, SIGNS, storage=storage)


def test_the_other_branch_may_read_outside_and_divide_by_zero(tmp_path):
    """The branch that is not taken is computed all the same; its errors are none of the run's."""
    text = f"""(int64[n] x, int64[1] i) => (y) <int64 zero = {{0}}, int64[1] far = {{1000000}}> {{
        size = Shape(x) fits = Less(i, size) c = Squeeze(fits)
        {branches("one = Gather(x, i) d = Sub(size, i) p = Div(one, d)", "q = Sub(i, far)")} }}"""
    feeds = [
        {"x": np.arange(9, 9 + n), "i": np.array([i])}
        for n, i in ((3, 2), (3, 10**6), (5, 5), (5, 2**40))
    ]
    checked(tmp_path, text, feeds)


def test_rows_that_are_counted_or_none(tmp_path):
    """As exporters write it: no row at all, or the rows that hold."""
    text = f"""(float[h] x) => (y)
        <float zero = {{0}}, int64[2] nothing = {{0, 1}}> {{
        m = ReduceMax<keepdims = 0>(x) c = Less(m, zero)
        {
        branches(
            "p = ConstantOfShape<value = int64[1] {0}>(nothing)",
            "i = NonZero(x) q = Transpose(i)",
        )
    } }}"""
    feeds = [{"x": numbers(h) - np.float32(9 * (h % 2))} for h in (4, 5, 6)]
    checked(tmp_path, text, feeds)


DIFFERENT = {
    "shapes": ("p = Neg(x)", "q = Unsqueeze(x, first)", "branches is float32.2. or float32.1, 2."),
    "types": ("p = Neg(x)", "q = Cast<to = 7>(x)", "float32.2. or int64.2."),
    "sequences": (
        "p = SequenceConstruct(x)",
        "q = SequenceConstruct(x, x)",
        "the output 'y' of its branches is a sequence",
    ),
    "nodes": ("p = Neg(x)", "q = Gather(x, far)", "If 'y': Gather 'y/q': its index 7 is outside"),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_cannot_be_selected_is_chosen_by_the_values_of_a_run(tmp_path, name):
    """A package is refused, with the reason and a way out; `run` compiles for the input's value."""
    then, other, reason = DIFFERENT[name]
    nodes = f"m = ReduceMean<keepdims = 0>(x) c = Greater(m, zero) {branches(then, other)}"
    text = f"""(float[2] x) => (y)
        <float zero = {{0}}, int64[1] first = {{0}}, int64[1] far = {{7}}> {{ {nodes} }}"""
    compiled = texloom.compile(parsed(text))
    with pytest.raises(Unsupported, match=f"(?s){reason}.*values={{'x'"):
        compiled.save(tmp_path / "if.tlp")
    x = np.array([2, 3], "float32")
    got = compiled.run({"x": x})["y"]
    np.testing.assert_array_equal(got[0] if name == "sequences" else -got, x)
    fixed = texloom.compile(parsed(text), values={"x": x})
    np.testing.assert_array_equal(fixed.run({})["y"], got)


@pytest.mark.parametrize(
    ("then", "other", "shapes"),
    [
        ("Neg(x)", "ReduceMax(x, first)", "float32.n, 4. or float32.1, 4."),
        ("Neg(x)", "Neg(w)", "float32.n, 4. or float32.m, 4."),
    ],
)
def test_branches_that_agree_for_some_sizes_only(tmp_path, then, other, shapes):
    """A package is refused, not narrowed to these sizes; `run` compiles for each size and value."""
    made = branches(f"p = {then}", f"q = {other}")
    text = f"""(float[n, 4] x, float[m, 4] w) => (y)
        <float zero = {{0}}, int64[1] first = {{0}}> {{
        m = ReduceMax<keepdims = 0>(x) c = Greater(m, zero) {made} }}"""
    compiled = texloom.compile(parsed(text))
    with pytest.raises(
        Unsupported, match=f"(?s)If 'y': the output 'y' of its branches is {shapes}"
    ):
        compiled.save(tmp_path / "if.tlp")
    w = np.full((2, 4), 5, "float32")
    for x in (np.full((n, 4), sign, "float32") for n in (1, 2, 3) for sign in (-1, 1)):
        low = x.max(0, keepdims=True) if "Max" in other else -w
        got = compiled.run({"x": x, "w": w})["y"]
        np.testing.assert_array_equal(got, -x if x[0, 0] > 0 else low)


def test_a_flag_that_is_an_input(tmp_path):
    """`run` computes only the branch that the flag chooses; a package computes both."""
    nodes = branches("r = MatMul(x, x) p = MatMul(r, x)", "q = Neg(x)")
    text = f"(bool[1] c, float[2, 2] x) => (y) {{ {nodes} }}"
    x = numbers(2, 2)
    compiled = texloom.compile(parsed(text))
    for flag, want in ((False, -x), (True, x @ x @ x)):
        got = compiled.run({"c": np.array([flag]), "x": x})["y"]
        np.testing.assert_array_equal(got, want)
        assert "kernels: 1 call site" in str(compiled)
    checked(tmp_path, text, [{"c": np.array([flag]), "x": x} for flag in (True, False)])
