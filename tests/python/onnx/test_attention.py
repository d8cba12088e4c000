"""Attention in one kernel, and where it is found in models."""

from functools import partial

import numpy as np
import onnx
import onnx.reference
import pytest
from single_node import floats

from texloom import te
from texloom.graph import Graph
from texloom.onnx.model import Model
from texloom.ops.attention import attention
from texloom.ops.normalization import softmax
from texloom.ops.products import matmul

UNIT = {"float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}


def exact(query, key, value, mask=0.0, scale=1.0):
    """Return the result in float64, and a bound of the error of a kernel in the query's dtype."""
    q, k, v = (each.astype("float64") for each in (query, key, value))
    scores = q @ k * scale + mask
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
    unit = max(UNIT[query.dtype.name], UNIT["float64"])
    wide = min(unit, UNIT["float32"])
    # A score has errors from its own sum, scale and mask, and also those of the greatest score.
    terms = np.abs(q) @ np.abs(k) * abs(scale) + np.abs(np.where(np.isinf(mask), 0, mask))
    of_scores = 2 * (query.shape[-1] + 3) * wide * terms.max(-1, keepdims=True)
    # Errors: 3 units in the last place of exponentials, one rescaling per 64 keys, and two sums.
    relative = of_scores + (2 * key.shape[-1] + 4 * (key.shape[-1] // 64 + 4)) * wide
    return weights @ v, 2 * relative * (weights @ np.abs(v)) + 2 * unit * np.abs(weights @ v)


def run(query, key, value, mask=None, scale=1.0):
    graph = Graph("attention")
    given = {"q": query, "k": key, "v": value} | ({} if mask is None else {"m": mask})
    tensors = [graph.input(n, each.shape, each.dtype.name) for n, each in given.items()]
    (made,) = graph.op("made", "attention", partial(attention, scale=scale), tensors)
    graph.output(made, "y")
    return graph.compile().run(given)["y"]


@pytest.mark.parametrize(
    ("batch", "rows", "depth", "keys", "width", "dtype"),
    [
        ((2, 3), 9, 16, 197, 64, "float32"),
        ((), 1, 5, 3, 7, "float32"),
        ((2,), 4, 40, 64, 40, "float16"),
        ((1,), 6, 8, 130, 33, "float64"),
    ],
)
def test_kernel(batch, rows, depth, keys, width, dtype):
    """The keys fill blocks, or vectors, or neither; the mask is broadcast."""
    q = floats(*batch, rows, depth, dtype=dtype)
    k, v = (floats(*batch, *s, dtype=dtype, seed=1) for s in ((depth, keys), (keys, width)))
    mask = floats(rows, keys, dtype=dtype, seed=2)
    got = run(q, k, v, mask, 0.25)
    expected, bound = exact(q, k, v, mask.astype("float64"), 0.25)
    assert got.dtype == dtype and got.shape == expected.shape
    assert (np.abs(got - expected) <= bound).all()


def test_values_that_are_no_finite_numbers():
    """Hidden keys have no weight; a row without keys is NaN; great scores do not overflow."""
    q, k, v = floats(3, 4), floats(4, 70, seed=1), floats(70, 8, seed=2)
    q[0] *= 1e4
    mask = np.zeros((3, 70), "float32")
    mask[0, :65] = mask[1] = -np.inf
    mask[2, 66] = np.nan
    got = run(q, k, v, mask)
    assert np.isnan(got[1:]).all()
    expected, bound = exact(q[:1], k, v, mask[:1].astype("float64"))
    assert (np.abs(got[:1] - expected) <= bound).all()


def models(scaled, mask, version=17):
    """Models of attention as exporters write it."""
    sum_ = "masked = Add(scaled, mask)" if mask else "masked = Identity(scaled)"
    given = ", float[2, 1, 10, 70] mask" if mask else ""
    return onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : {version}]>
        one (float[2, 3, 10, 16] q, float[2, 3, 16, 70] k, float[2, 3, 70, 24] v{given}) => (y)
        <float four = {{4}}, float quarter = {{0.25}}>
        {{ scores = MatMul(q, k) {scaled} {sum_}
           weights = Softmax<axis = -1>(masked) y = MatMul(weights, v) }}"""
    )


@pytest.mark.parametrize(
    "scaled",
    [
        "scaled = Div(scores, four)",
        "scaled = Mul(quarter, scores)",
        "scaled = Mul(scores, quarter)",
    ],
)
@pytest.mark.parametrize("mask", [False, True])
def test_pattern_is_one_kernel(scaled, mask):
    given = {"q": floats(2, 3, 10, 16), "k": floats(2, 3, 16, 70), "v": floats(2, 3, 70, 24)}
    if mask:
        given["mask"] = np.where(floats(2, 1, 10, 70) < 0, -np.inf, 0).astype("float32")
    model = Model(models(scaled, mask))
    expected, bound = exact(*list(given.values())[:3], given.get("mask", 0.0), 0.25)
    assert (np.abs(model.run(given)["y"] - expected) <= bound).all()
    assert model.summary["launches"] == 1


def test_what_is_no_attention():
    """Attention needs one scale for all keys; otherwise each product has its own kernel."""
    model = models("scaled = Mul(scores, many)", mask=False)
    many = np.linspace(0, 1, 70, dtype="float32")
    model.graph.initializer.append(onnx.numpy_helper.from_array(many, "many"))
    given = {"q": floats(2, 3, 10, 16), "k": floats(2, 3, 16, 70), "v": floats(2, 3, 70, 24)}
    compiled = Model(model)
    got = compiled.run(given)["y"]
    expected, bound = exact(given["q"], given["k"] * many, given["v"])
    assert (np.abs(got - expected) <= 2 * bound).all()
    assert compiled.summary["launches"] > 1


@pytest.mark.parametrize(("causal", "batch"), [(0, 2), (1, 1)])
def test_operator(causal, batch):
    """ONNX's operator has a body of other operators, in which attention is found."""
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 23]>
        one (float[{batch}, 4, 6, 8] q, float[{batch}, 4, 6, 8] k, float[{batch}, 4, 6, 8] v) => (y)
        {{ y = Attention<is_causal = {causal}>(q, k, v) }}"""
    )
    given = {name: floats(batch, 4, 6, 8, seed=i) for i, name in enumerate("qkv")}
    compiled = Model(model)
    k = given["k"].swapaxes(-1, -2)
    hidden = np.triu(np.full((6, 6), -np.inf), 1) if causal else 0.0
    expected, bound = exact(given["q"], k, given["v"], hidden, 8**-0.5)
    got = compiled.run(given)["y"]
    assert got.shape == expected.shape and (np.abs(got - expected) <= 2 * bound).all()
    # The body scales queries and keys, copies keys and values with a new axis, and removes that
    # axis in place. The causal mask becomes a tensor of floats when the model is compiled.
    assert compiled.summary["launches"] == 5


def attention_in_nodes(given, mask_shape, wide):
    """Return a graph whose scores are masked, and normalized, in another dtype."""
    graph = Graph("nodes")
    q, k, v, m = (
        graph.input(name, shape, dtype)
        for name, shape, dtype in (
            *((name, given[name].shape, "float32") for name in "qkv"),
            ("m", mask_shape, wide),
        )
    )

    def add(name, function, *inputs):
        (made,) = graph.op(name, name, function, list(inputs))
        return made

    def cast(dtype):
        return lambda x: te.compute(x.shape, lambda *i: x(*i).astype(dtype), name="cast")

    def plus(x, mask):
        at = len(x.shape) - len(mask.shape)
        return te.compute(x.shape, lambda *i: x(*i) + mask[i[at:]], name="plus")

    masked = add("masked", plus, add("wide", cast(wide), add("scores", matmul, q, k)), m)
    weights = add("narrow", cast("float32"), add("weights", softmax, masked))
    graph.output(add("y", matmul, weights, v))
    return graph


@pytest.mark.parametrize("wide", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (7,), (5, 7)])
def test_scores_in_another_dtype(wide, shape):
    """Scores in float64 stay in float64: the mask has numbers that float32 cannot hold."""
    given = {"q": floats(5, 4), "k": floats(4, 7), "v": floats(7, 6)}
    mask = floats(*shape, dtype=wide) + (2.0**24 if wide == "float64" else 0)
    graph = attention_in_nodes(given, shape, wide)
    got = graph.compile().run(given | {"m": mask})["y"]
    expected, bound = exact(*given.values(), mask % 2.0**24)  # softmax ignores a common addend
    assert (np.abs(got - expected) <= bound).all()
