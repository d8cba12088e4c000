"""Attention in one kernel, and the forms of attention that are found in models."""

import numpy as np
import onnx
import onnx.reference
import pytest
from attention_peer import exact, run
from node_peers import model_of, named
from single_node import floats

from texloom import te
from texloom.errors import TVMError
from texloom.graph import Graph
from texloom.onnx.model import Model
from texloom.ops.attention import Tile
from texloom.ops.normalization import softmax
from texloom.ops.products import matmul
from texloom.ops.schedules.processor.attention import ATTENTION, Attention
from texloom.ops.schedules.processor.registers import Registers
from texloom.profiles import stated


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
    got = run(q, k, v, mask, scale=0.25)
    expected, bound = exact(q, k, v, mask.astype("float64"), 0.25)
    assert got.dtype == dtype and got.shape == expected.shape
    assert (np.abs(got - expected) <= bound).all()


@pytest.mark.parametrize("tile", [Tile(3, 3, 4), Tile(7, 2, 16), Tile(6, 4, 16)], ids=str)
@pytest.mark.parametrize("keys", [49, 530, 1025])
def test_tiles(tile, keys):
    """Rows, keys and values do not fill tiles; the last vector has keys of the one before."""
    q, k, v = floats(2, 10, 12), floats(2, 12, keys, seed=1), floats(2, keys, 40, seed=2)
    mask = np.where(floats(10, keys, seed=3) > 0, 0, -100).astype("float32")
    expected, bound = exact(q, k, v, mask.astype("float64"))
    assert (np.abs(run(q, k, v, mask, tile=tile) - expected) <= bound).all()


def test_tiles_fit_the_registers():
    """A tile leaves no vector of values empty if it can, and few rows."""

    def tile(*facts):
        return ATTENTION.best(Attention(1, *facts), stated("cpu"))

    assert tile(197, 197, 64, 4, Registers(64, 32, 32)) == Tile(6, 4, 16)
    assert tile(49, 49, 32, 4, Registers(64, 32, 32)) == Tile(7, 2, 16)
    assert tile(128, 128, 32, 4, Registers(32, 16, 16)) == Tile(6, 2, 8)
    assert tile(1, 77, 64, 4, Registers(32, 16, 16)).rows == 1


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


@pytest.mark.parametrize("is_flat", [False, True])
@pytest.mark.parametrize("causal", [0, 1])
def test_operator(causal, is_flat):
    """Two heads of queries share a head of keys; heads are an axis, or a part of the last axis."""
    shapes = {"q": (2, 4, 6, 8), "k": (2, 2, 6, 8), "v": (2, 2, 6, 8)}
    given = {name: floats(*shape, seed=i) for i, (name, shape) in enumerate(shapes.items())}
    k, v = (np.repeat(given[name], 2, 1) for name in "kv")
    hidden = np.triu(np.full((6, 6), -np.inf), 1) if causal else 0.0
    expected, bound = exact(given["q"], k.swapaxes(-1, -2), v, hidden, 8**-0.5)
    attributes = {"is_causal": causal}
    if is_flat:
        attributes |= {"q_num_heads": 4, "kv_num_heads": 2}
        given = {name: flat(each) for name, each in given.items()}
        expected, bound = flat(expected), flat(bound)
    compiled = Model(model_of("Attention", list(given.values()), opset=23, **attributes))
    got = compiled.run(named(given.values()))["y0"]
    assert got.shape == expected.shape and (np.abs(got - expected) <= 2 * bound).all()
    # One more kernel transposes the keys, and one computes the causal mask.
    assert compiled.summary["launches"] == 2 + causal


def flat(x):
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def test_query_without_keys_is_zero():
    """A query whose keys are all hidden gives zeros: in one kernel and, in float64, in several."""
    q, k, v = (floats(1, 1, 2, 4, seed=i) for i in range(3))
    mask = np.array([[False, False], [True, False]])
    for attributes in ({}, {"softmax_precision": onnx.TensorProto.DOUBLE}):
        model = Model(model_of("Attention", [q, k, v, mask], opset=23, **attributes))
        got = model.run(named([q, k, v, mask]))["y0"]
        np.testing.assert_array_equal(got[0, 0], [np.zeros(4), v[0, 0, 0]])


@pytest.mark.parametrize("masked", [False, True])
def test_open_lengths(masked):
    """One package runs prompts and single steps of any length, with a cache; heads share keys.

    The mask is as long as the cache, so that it hides all keys after it.
    """
    mask = "float[S, P] mask" if masked else ""
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 23]>
        step (float[1, S, 16] q, float[1, S, 8] k, float[1, S, 8] v,
              float[1, 1, P, 8] pk, float[1, 1, P, 8] pv{mask and ", " + mask}) => (y, nk, nv)
        {{ y, nk, nv = Attention<is_causal = 1, q_num_heads = 2, kv_num_heads = 1>
            (q, k, v, {mask and "mask"}, pk, pv) }}"""
    )
    compiled = Model(model, shapes={"q": (1, "S", 16), "pk": (1, 1, "P", 8)})
    assert compiled.why_fixed is None
    for rows, past in ((3, 2), (1, 5)):
        shapes = [(1, rows, 16), (1, rows, 8), (1, rows, 8), (1, 1, past, 8), (1, 1, past, 8)]
        arrays = [floats(*shape, seed=i) for i, shape in enumerate(shapes)]
        given = dict(zip(("q", "k", "v", "pk", "pv"), arrays, strict=True))
        hidden = np.triu(np.full((rows, rows + past), -np.inf), past + 1)
        if masked:
            given["mask"] = floats(rows, past, seed=5)
            hidden = np.pad(given["mask"], ((0, 0), (0, rows)), constant_values=-np.inf)
        got = list(compiled.run(given).values())
        pairs = zip(arrays[3:], arrays[1:3], strict=True)
        whole = [np.concatenate((cache[0, 0], new[0])) for cache, new in pairs]
        query = arrays[0].reshape(rows, 2, 8).swapaxes(0, 1)
        expected, bound = exact(query, whole[0].T, whole[1], hidden, 8**-0.5)
        y = got[0].reshape(rows, 2, 8).swapaxes(0, 1)
        assert (np.abs(y - expected) <= bound).all()
        for own, made in zip(whole, got[1:], strict=True):
            np.testing.assert_array_equal(made[0, 0], own)


@pytest.mark.parametrize(
    ("changes", "attributes", "why"),
    [
        ({}, {"qk_matmul_output_mode": 4}, "its qk_matmul_output_mode is 4, not 0, 1, 2 or 3"),
        ({}, {"softcap": -1.0}, "its softcap is -1.0, which is negative"),
        ({}, {"softmax_precision": 7}, "its softmax_precision 7 is not the number of a"),
        ({}, {"q_num_heads": 3}, "its q_num_heads is 3, but an input has 4 heads"),
        ({0: (1, 3, 2, 4)}, {}, "3 heads of queries do not share 2 heads of keys"),
        ({0: (1, 4, 2, 6)}, {}, "the sizes of queries and keys differ: 6, 4"),
        ({0: (4, 2, 4)}, {}, "its queries, keys and values have 3, 4, 4 axes"),
        ({3: (1, 3, 2, 5)}, {}, "a mask of the shape .* does not fit"),
        ({3: (2, 6)}, {}, "a mask of the shape .* does not fit"),
        ({4: (1, 2, 3, 4)}, {}, "it has only one of past_key and past_value"),
        ({4: (1, 4, 3, 4), 5: (1, 2, 3, 4)}, {}, r"its past_key .*, not \(1, 2, length, 4\)"),
    ],
)
def test_refused_attention(changes, attributes, why):
    shapes = {0: (1, 4, 2, 4), 1: (1, 2, 5, 4), 2: (1, 2, 5, 4)} | changes
    inputs = [floats(*shapes[i]) if i in shapes else None for i in range(max(shapes) + 1)]
    with pytest.raises(TVMError, match=f"Attention 'y0': {why}"):
        Model(model_of("Attention", inputs, opset=23, **attributes))


def test_refused_inputs_of_three_axes():
    three = [floats(1, 2, 8)] * 3
    with pytest.raises(TVMError, match="Attention 'y0': .* need q_num_heads, which is missing"):
        Model(model_of("Attention", three, opset=23))
    with pytest.raises(TVMError, match="3 heads do not divide the last axis"):
        Model(model_of("Attention", three, opset=23, q_num_heads=3, kv_num_heads=1))


@pytest.mark.parametrize(
    ("x", "table", "attributes", "why"),
    [
        ((1, 2, 3, 8), (1, 3, 3), {}, "its cos_cache has the shape .*, not .1, 3, 4"),
        ((1, 2, 3, 8), (1, 3, 3), {"rotary_embedding_dim": 6, "num_heads": 0}, None),
        ((1, 2, 3, 8), (1, 3, 5), {"rotary_embedding_dim": 10}, "10 of 8 elements cannot be"),
        ((1, 3, 16), (1, 3, 4), {}, "its input has three axes, and num_heads is missing"),
        ((1, 3, 16), (1, 3, 4), {"num_heads": 3}, "3 heads do not divide the last axis"),
    ],
)
def test_refused_rotary_embedding(x, table, attributes, why):
    model = model_of("RotaryEmbedding", [floats(*x), *[floats(*table)] * 2], opset=23, **attributes)
    if why is None:
        Model(model)
        return
    with pytest.raises(TVMError, match=f"RotaryEmbedding 'y0': {why}"):
        Model(model)


def attention_in_nodes(given, mask_shape, wide):
    """Return a graph that adds the mask and computes the softmax in the dtype `wide`."""
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
