"""Operators of ai.onnx.ml that prepare features."""

import numpy as np
import pytest
from ml_nodes import DOMAIN, both, own
from nightly import most_at_night
from node_peers import model_of
from onnx import numpy_helper

from texloom.onnx import Model, Unsupported

NAN = float("nan")
X = np.array([[1, -2, 0.5], [NAN, 0, 4]], "float32")


def drawn(seed, dtype):
    rng = np.random.default_rng(seed)
    return rng.integers(-4, 5, (int(rng.integers(1, 9)), int(rng.integers(1, 9)))).astype(dtype)


@pytest.mark.parametrize(
    ("seed", "dtype"),
    most_at_night([(s, d) for s in range(3) for d in ("float32", "float64", "int32", "int64")], 2),
)
def test_scaler_is_exact(seed, dtype):
    """A difference and a product are rounded as onnxruntime rounds them."""
    x = drawn(seed, dtype)
    count = x.shape[1] if seed else 1
    rng = np.random.default_rng(seed)
    parts = {name: rng.standard_normal(count).tolist() for name in ("offset", "scale")}
    got, expected = both("Scaler", [x], 1, **parts)
    np.testing.assert_array_equal(got[0], expected[0], strict=True)


@pytest.mark.parametrize(
    ("norm", "dtype"),
    most_at_night(
        [(n, d) for n in ("MAX", "L1", "L2") for d in ("float32", "float64", "int64")], 1
    ),
)
def test_normalizer(norm, dtype):
    """A row of zeros stays. Norms are sums of three terms, with 4 roundings of float32."""
    x = np.array([[1, -5, 2], [0, 0, 0], [-1, -2, -3]], dtype)
    got, expected = both("Normalizer", [x], 1, norm=norm)
    np.testing.assert_allclose(got[0], expected[0], rtol=4 * 2.0**-23, atol=0, strict=True)


@pytest.mark.parametrize(
    ("x", "attributes"),
    most_at_night(
        [
            (X, {"imputed_value_floats": [7.0, 8, 9], "replaced_value_float": NAN}),
            (X, {"imputed_value_floats": [7.0], "replaced_value_float": 0.5}),
            (np.array([[3, 4]]), {"imputed_value_int64s": [5, 6], "replaced_value_int64": 4}),
        ],
        1,
    ),
)
def test_imputer(x, attributes):
    """NaN is a value that can be replaced."""
    got, expected = both("Imputer", [x], 1, **attributes)
    np.testing.assert_array_equal(got[0], expected[0], strict=True)


def test_imputer_of_int32():
    """No element of int32 equals a number that int32 lacks."""
    x = np.array([[0, 1]], "int32")
    got = own("Imputer", [x], 1, imputed_value_int64s=[5], replaced_value_int64=1 << 32)
    np.testing.assert_array_equal(got[0], x, strict=True)


@pytest.mark.parametrize("dtype", most_at_night(["int32", "float32", "float64"], 1))
def test_binarizer(dtype):
    """The threshold of integers may be a fraction."""
    got = own("Binarizer", [np.array([-1, 0, 1], dtype)], 1, threshold=-0.5)
    np.testing.assert_array_equal(got[0], np.array([0, 1, 1], dtype), strict=True)


def test_label_encoder():
    """NaN equals NaN; the last of equal keys counts, and onnxruntime takes the first."""
    table = {"keys_floats": [1.0, NAN, 1.0], "values_int64s": [3, 4, 5]}
    got = own("LabelEncoder", [X], 4, **table, default_int64=-7)
    np.testing.assert_array_equal(got[0], [[5, -7, -7], [4, -7, -7]])


@pytest.mark.parametrize(
    ("keys", "values"),
    most_at_night([(k, v) for k in ("float32", "int64") for v in ("float32", "int64")], 1),
)
def test_label_encoder_of_each_type(keys, values):
    names = {"float32": "floats", "int64": "int64s"}
    table = {f"keys_{names[keys]}": [2, 0, 9], f"values_{names[values]}": [7, 6, 5]}
    table = {n: [float(e) for e in v] if "floats" in n else v for n, v in table.items()}
    got, expected = both("LabelEncoder", [drawn(4, keys)], 2, **table)
    np.testing.assert_array_equal(got[0], expected[0], strict=True)


@pytest.mark.nightly
@pytest.mark.parametrize("dtype", ["float64", "int16", "int32"])
def test_label_encoder_of_tensors(dtype):
    parts = {"keys": [2, 0], "values": [7, 6], "default": [1]}
    tensors = {
        f"{name}_tensor": numpy_helper.from_array(np.array(each, dtype))
        for name, each in parts.items()
    }
    got = own("LabelEncoder", [np.array([0, 1, 2], dtype)], 4, **tensors)
    np.testing.assert_array_equal(got[0], np.array([6, 1, 7], dtype), strict=True)


@pytest.mark.parametrize("zeros", most_at_night([1, 0], 1))
def test_one_hot_encoder(zeros):
    """Numbers are truncated; NaN and 7 have no category, which is no error with zeros=0."""
    x = np.array([[4.5, NAN], [-1, 7]], "float32")
    got = own("OneHotEncoder", [x], 1, cats_int64s=[4, -1], zeros=zeros)
    np.testing.assert_array_equal(got[0], [[[1, 0], [0, 0]], [[0, 1], [0, 0]]])


@pytest.mark.parametrize("rank", most_at_night([2, 1, 3], 1))
def test_array_feature_extractor(rank):
    x = np.arange(12.0).reshape([[12], [3, 4], [1, 3, 4]][rank - 1])
    got, expected = both("ArrayFeatureExtractor", [x, np.array([[2, 0, 3]])], 1)
    np.testing.assert_array_equal(got[0], expected[0], strict=True)


def test_feature_vectorizer():
    """Rows are cut, and filled with zeros."""
    inputs = [np.arange(6).reshape(2, 3), np.array([[1], [3]])]
    got, expected = both("FeatureVectorizer", inputs, 1, inputdimensions=[2, 3])
    np.testing.assert_array_equal(got[0], expected[0], strict=True)


def test_zip_map_returns_its_input():
    """A warning says which column is which key."""
    model = model_of(
        "ZipMap", [X], domain_version=1, domain=DOMAIN, classlabels_strings=["a", "b", "c"]
    )
    with pytest.warns(UserWarning, match="a column for each of the keys a, b, c"):
        compiled = Model(model)
    np.testing.assert_array_equal(compiled.run({"x0": X})["y0"], X)


@pytest.mark.parametrize(
    ("op", "attributes", "message"),
    [
        ("Scaler", {"scale": [1.0, 2], "offset": [0.0]}, "'scale' has 2 numbers, not 3 or 1"),
        ("Scaler", {"scale": [1.0]}, "lacks the attribute 'offset'"),
        ("Normalizer", {"norm": "L3"}, "'norm' is 'L3'"),
        ("Imputer", {}, "it has none, but needs one"),
        ("Imputer", {"imputed_value_int64s": [1]}, "'imputed_value_int64s' does not fit"),
        ("LabelEncoder", {"keys_strings": ["a"], "values_int64s": [1]}, "'keys_strings' has str"),
        ("LabelEncoder", {"keys_int64s": [1], "values_int64s": [1]}, "keys are int64"),
        (
            "LabelEncoder",
            {"keys_floats": [1.0, 1.0], "values_int64s": [1, 2]},
            "its key 1.0 has two values, 1 and 2",
        ),
        ("OneHotEncoder", {"cats_strings": ["a"]}, "'cats_strings' has strings"),
        ("OneHotEncoder", {"cats_int64s": [3, 3]}, "'cats_int64s' has a category twice"),
        ("FeatureVectorizer", {"inputdimensions": [1, 2]}, "'inputdimensions' has 2 numbers"),
        ("ZipMap", {"classlabels_int64s": [1]}, "'classlabels_int64s' has 1 keys for 3 columns"),
    ],
)
def test_refused_attributes(op, attributes, message):
    with pytest.raises(Unsupported, match=message):
        own(op, [X], 2 if op == "LabelEncoder" else 1, **attributes)
