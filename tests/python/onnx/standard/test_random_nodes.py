"""Nodes that draw random numbers, and their seeds."""

import numpy as np
import onnx
import pytest
from single_node import floats, run_node

import texloom
from texloom.errors import TVMError
from texloom.graph import load
from texloom.onnx.nodes import Unsupported

X = np.full((4, 3), 0.5, "float32")


def model(nodes, inputs="float[N, 3] x", outputs="float[N, 3] y, float[N, 3] z"):
    return onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 22]> g ({inputs}) => ({outputs}) {{ {nodes} }}'
    )


TWO = model("y = RandomNormalLike(x) z = RandomNormalLike(x)")


def drawn(source=TWO, inputs=None, **options):
    return texloom.compile(source, **options).run(inputs or {"x": X})


def test_runs_of_a_seed_are_equal():
    """Nodes draw different numbers, runs and compilations the same ones, seeds others."""
    compiled = texloom.compile(TWO)
    first, second = compiled.run({"x": X}), compiled.run({"x": X})
    np.testing.assert_equal(first, second)
    np.testing.assert_equal(drawn(seed=0), first)
    assert not np.isin(first["y"], first["z"]).any()
    for seed in (1, -1, 2**63):
        assert not np.isin(drawn(seed=seed)["y"], first["y"]).any()


def test_numbers_do_not_depend_on_how_shapes_are_known():
    fixed, opened = drawn(), drawn(shapes={"x": ("n", 3)})
    np.testing.assert_equal(fixed, opened)


def test_seed_of_a_run(tmp_path):
    """A package takes the seed as an input; a value makes it a constant."""
    compiled = texloom.compile(TWO, shapes={"x": ("n", 3)}, seed="noise")
    assert compiled.inputs == ["x", "noise"] and len(TWO.graph.input) == 1
    compiled.save(tmp_path / "two.tlp")
    package = load(tmp_path / "two.tlp")
    for seed in (0, 7, -(2**40)):
        got = package.run({"x": X, "noise": np.array(seed)})
        np.testing.assert_equal(got, drawn(seed=seed))
        np.testing.assert_equal(got, drawn(seed="noise", values={"noise": np.array(seed)}))


@pytest.mark.parametrize("name", ["x", "y"])
def test_name_of_the_seed_is_new(name):
    with pytest.raises(TVMError, match="TL3043.*the seed cannot be the input"):
        texloom.compile(TWO, seed=name)


def test_seeds_may_be_numpys():
    for seed in (np.int64(-3), np.uint64(2**64 - 1)):
        np.testing.assert_equal(drawn(seed=seed), drawn(seed=int(seed)))


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        (1.5, "TL2040.*seed is 1.5, not an integer or a name"),
        (None, "TL2040.*seed is None"),
        ([1], "TL2040.*seed is a value of type list"),
        (True, "TL2040.*seed is True"),
        ("", "TL2044.*seed is an empty name"),
        (2**64, "TL2044.*seed=18446744073709551616 has more than 64 bits"),
        (-(2**63) - 1, "TL2044.*more than 64 bits"),
    ],
)
def test_what_is_no_seed(seed, said):
    with pytest.raises(TVMError, match=said):
        texloom.compile(TWO, seed=seed)


def test_seeds_of_nodes():
    """Nodes with equal seeds draw equal numbers, whatever the run's seed is."""
    source = model("y = RandomUniformLike<seed = 3.0>(x) z = RandomUniformLike<seed = 3.0>(x)")
    got = drawn(source)
    np.testing.assert_array_equal(got["y"], got["z"])
    np.testing.assert_equal(drawn(source, seed=5), got)
    other = model("y = RandomUniformLike<seed = 4.0>(x) z = RandomUniformLike(x)")
    assert not np.isin(got["y"], list(drawn(other).values())).any()


def test_steps_of_a_loop_draw_other_numbers():
    body = "body = b (int64 i, bool c) => (bool d, float[2] u) {{ d = Identity(c) {} }}"
    drawing = body.format("u = RandomUniform<shape = [2], seed = 1.0>()")
    source = model(
        "n = Constant<value_int = 5>() t = Constant<value = bool {1}>() "
        f"y = Loop<{drawing}>(n, t)",
        inputs="",
        outputs="float[5, 2] y",
    )
    y = texloom.compile(source).run({})["y"]
    assert len(np.unique(y)) == 10
    source = model(
        f"s = Shape<end = 1>(x) n = Squeeze(s) t = Constant<value = bool {{1}}>() "
        f"y = Loop<{drawing}>(n, t)",
        outputs="float[N, 2] y",
    )
    why = texloom.compile(source, shapes={"x": ("n", 3)}).why_fixed
    assert "in a loop that is not unrolled" in str(why)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "dtype"),
    [
        ("RandomNormal", [], {"shape": [2, 3]}, "float32"),
        ("RandomUniform", [], {"shape": [2, 3], "dtype": 10}, "float16"),
        ("RandomUniform", [], {"shape": [2, 0]}, "float32"),
        ("RandomUniformLike", [np.array(0.5, "float32")], {}, "float32"),
        ("RandomNormalLike", [floats(2, 3, dtype="float64")], {}, "float64"),
        ("RandomUniformLike", [np.ones((2, 3), "int32")], {"dtype": 1}, "float32"),
        ("Bernoulli", [X], {}, "float32"),
        ("Bernoulli", [X.astype("float64")], {"dtype": 9}, "bool"),
        ("Multinomial", [X], {"sample_size": 5}, "int32"),
        ("Multinomial", [X.astype("float16")], {"dtype": 7}, "int64"),
    ],
)
@pytest.mark.parametrize("is_known", [False, True])
def test_shapes_and_types(op, inputs, attributes, dtype, is_known):
    """A constant input changes nothing."""
    got = run_node(op, inputs, 22, known=range(len(inputs)) if is_known else (), **attributes)
    shape = tuple(attributes["shape"]) if "shape" in attributes else inputs[0].shape
    if op == "Multinomial":
        shape = (inputs[0].shape[0], attributes.get("sample_size", 1))
    assert got.dtype == dtype and got.shape == shape
    np.testing.assert_array_equal(got, run_node(op, inputs, 22, **attributes))


@pytest.mark.parametrize("ratio", [None, 0.25])
def test_dropout_in_training(ratio):
    """Elements are kept with the probability 1 - ratio, and divided by it."""
    x = floats(100, 64)
    given = None if ratio is None else np.array(ratio, "float32")
    known = [2] if ratio is None else [1, 2]
    y, mask = run_node("Dropout", [x, given, np.array(True)], 13, 2, known=known, seed=5)
    kept = 0.5 if ratio is None else 1 - ratio
    assert mask.dtype == bool
    assert abs(mask.mean() - kept) < 5 * np.sqrt(kept * (1 - kept) / x.size)
    np.testing.assert_allclose(y, np.where(mask, x / kept, 0), rtol=2.0**-23)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "why"),
    [
        ("RandomUniformLike", [np.ones(2, "int32")], {}, "it makes elements of type int32, not"),
        ("RandomNormal", [], {"shape": [2], "dtype": 7}, "it makes elements of type int64, not"),
        ("Multinomial", [floats(4)], {}, "its input has 1 axes, not 2"),
        ("Multinomial", [X], {"sample_size": 0}, "its sample_size is 0"),
    ],
)
def test_refused(op, inputs, attributes, why):
    with pytest.raises(Unsupported, match=why):
        run_node(op, inputs, 22, **attributes)
