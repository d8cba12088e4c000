"""Ensembles of trees, compared with onnxruntime.

Weights are small multiples of 1/8, so that sums are exact, and one wrong leaf is found.
"""

import numpy as np
import pytest
from ml_nodes import DOMAIN, both, own
from nightly import most_at_night
from node_peers import model_of, onnxruntimes, references
from onnx import numpy_helper

import texloom.graph
from texloom.onnx import Model, Unsupported

NAN = float("nan")
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


class Trees:
    """Random trees as lists of attributes; all node ids count up in each tree."""

    def __init__(self, rng, count, features, modes):
        self.rng, self.features, self.modes = rng, features, modes
        self.nodes = {
            name: []
            for name in "treeids nodeids featureids modes truenodeids falsenodeids values".split()
        }
        self.leaves = []
        for tree in range(count):
            self.size = 0
            self._add(tree, int(rng.integers(0, 5)))

    def _add(self, tree, depth):
        number, self.size = self.size, self.size + 1
        row = len(self.nodes["treeids"])
        is_leaf = depth == 0
        mode = "LEAF" if is_leaf else str(self.rng.choice(self.modes))
        value = float(self.rng.integers(-2, 3))
        feature = int(self.rng.integers(self.features))
        own = [tree, number, feature, mode, 0, 0, value]
        for column, each in zip(self.nodes.values(), own, strict=True):
            column.append(each)
        if is_leaf:
            self.leaves.append((tree, number))
            return number
        for side in ("truenodeids", "falsenodeids"):
            self.nodes[side][row] = self._add(tree, int(self.rng.integers(0, depth)))
        return number

    def attributes(self, kind, targets, dense, missing):
        made = {f"nodes_{name}": column for name, column in self.nodes.items()}
        if missing:
            flags = self.rng.integers(0, 2, len(self.nodes["treeids"]))
            made["nodes_missing_value_tracks_true"] = flags.tolist()
        votes = [
            (*leaf, target)
            for leaf in self.leaves
            for target in (range(targets) if dense else [int(self.rng.integers(targets))])
        ]
        made[f"{kind}_treeids"], made[f"{kind}_nodeids"], made[f"{kind}_ids"] = (
            list(column) for column in zip(*votes, strict=True)
        )
        made[f"{kind}_weights"] = self._weights(len(votes))
        return made

    def _weights(self, count):
        return (self.rng.integers(-8, 9, count) / 8).tolist()


def rows(rng, count, features, dtype="float32", has_nan=True):
    x = rng.integers(-3, 4, (count, features)).astype(dtype)
    if has_nan and "float" in dtype:
        x[rng.random(x.shape) < 0.1] = NAN
    return x


@pytest.mark.parametrize("seed", most_at_night(range(30), 3))
def test_regressor(seed):
    """All modes, missing values, aggregates, numbers of targets, types of floats."""
    rng = np.random.default_rng(seed)
    modes = MODES[:5] if seed % 2 else [MODES[seed % 5]]  # NaN != x: see below
    features, targets = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    trees = Trees(rng, int(rng.integers(1, 8)), features, modes)
    given = trees.attributes("target", targets, dense=bool(seed % 3), missing=bool(seed % 2))
    if seed % 3:
        given["base_values"] = [0.5] * targets
    given["aggregate_function"] = ["SUM", "AVERAGE", "MIN", "MAX"][seed % 4]
    dtype = ["float32", "float64"][(seed // 2) % 2]  # onnxruntime has no kernels for integers
    x = rows(rng, int(rng.integers(1, 20)), features, dtype)
    got, expected = both("TreeEnsembleRegressor", [x], n_targets=targets, **given)
    np.testing.assert_array_equal(got[0], expected[0], strict=True)


@pytest.mark.parametrize(
    ("transform", "seed"),
    most_at_night(
        [(t, s) for s in range(3) for t in ("SOFTMAX", "NONE", "LOGISTIC", "SOFTMAX_ZERO")], 1
    ),
)
def test_classifier(transform, seed):
    """Of equal scores, the first wins. Transformed scores have 8 roundings of float32."""
    rng = np.random.default_rng((seed, 7))
    trees = Trees(rng, 5, 3, MODES[:5])
    given = trees.attributes("class", 3, dense=True, missing=True)
    given |= {"classlabels_int64s": [7, -1, 4], "post_transform": transform}
    x = rows(rng, 11, 3)
    got, expected = both("TreeEnsembleClassifier", [x], outputs=2, **given)
    np.testing.assert_array_equal(got[0], expected[0], strict=True)
    np.testing.assert_allclose(got[1], expected[1], rtol=8 * 2.0**-23, atol=2.0**-24, strict=True)


@pytest.mark.parametrize(
    ("weights", "transform", "base"),
    most_at_night([("mixed", "LOGISTIC", 1), ("positive", "NONE", 0), ("mixed", "NONE", 0)], 2),
)
def test_classifier_whose_votes_are_for_one_of_two_classes(weights, transform, base):
    """Positive weights make a probability, as in forests; others a number with a sign."""
    rng = np.random.default_rng(3)
    trees = Trees(rng, 4, 3, MODES[:5])
    given = trees.attributes("class", 1, dense=True, missing=False)
    if weights == "positive":
        given["class_weights"] = [abs(each) / 4 for each in given["class_weights"]]
    given |= {"base_values": [0.25]} if base else {}
    given |= {"classlabels_int64s": [7, -1], "post_transform": transform}
    got, expected = both("TreeEnsembleClassifier", [rows(rng, 20, 3)], outputs=2, **given)
    np.testing.assert_array_equal(got[0], expected[0], strict=True)
    np.testing.assert_allclose(got[1], expected[1], rtol=8 * 2.0**-23, atol=2.0**-23, strict=True)


STUMP = {
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [0, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
    "nodes_values": [1.0, 0, 0],
}
VOTES = {
    "target_treeids": [0, 0],
    "target_nodeids": [1, 2],
    "target_ids": [0, 0],
    "target_weights": [1.0, 2.0],
    "n_targets": 1,
}


def test_two_classes_with_votes_for_both():
    """The greatest score wins, as the standard says; onnxruntime returns 1 or 0, by the second."""
    votes = {"class_treeids": [0] * 4, "class_nodeids": [1, 1, 2, 2], "class_ids": [0, 1, 0, 1]}
    given = STUMP | votes | {"class_weights": [0.75, 0.25, 0.5, 0.5], "classlabels_int64s": [5, 6]}
    x = np.array([[0], [2]], "float32")
    model = model_of("TreeEnsembleClassifier", [x], 2, domain_version=3, domain=DOMAIN, **given)
    got = own("TreeEnsembleClassifier", [x], outputs=2, **given)
    for mine, theirs in zip(got, references(model, [x]), strict=True):
        np.testing.assert_array_equal(mine, theirs, strict=True)


def test_missing_feature_takes_the_false_branch_of_any_mode():
    """As the standard says; onnxruntime takes the true branch, because NaN is not equal."""
    given = STUMP | VOTES | {"nodes_modes": ["BRANCH_NEQ", "LEAF", "LEAF"]}
    got = own("TreeEnsembleRegressor", [np.array([[NAN], [1], [3]], "float32")], **given)
    np.testing.assert_array_equal(got[0], [[2], [2], [1]])


def test_features_of_integers():
    got = own("TreeEnsembleRegressor", [np.array([[1], [2]])], **(STUMP | VOTES))
    np.testing.assert_array_equal(got[0], np.array([[1], [2]], "float32"), strict=True)


def test_features_of_float64_are_compared_in_float64():
    split = {"nodes_values_as_tensor": numpy_helper.from_array(np.array([1.0, 0, 0]))}
    given = {name: each for name, each in (STUMP | VOTES | split).items() if name != "nodes_values"}
    got = own("TreeEnsembleRegressor", [np.array([[1.0], [1 + 2.0**-40]])], **given)
    np.testing.assert_array_equal(got[0], np.array([[1], [2]], "float32"), strict=True)


def tensor(values, dtype):
    return numpy_helper.from_array(np.array(values, dtype))


def ensemble(dtype, **changes):
    """Two trees: one with sets of members, one of a single leaf."""
    return {
        "n_targets": 2,
        "membership_values": tensor([1, 3, 8, NAN, 2, NAN, 4, NAN], dtype),
        "nodes_modes": tensor([0, 6, 6, 1, 6], "uint8"),
        "nodes_splits": tensor([2, 5, NAN, 1, 5], dtype),
        "nodes_featureids": [0, 0, 1, 1, 0],
        "nodes_truenodeids": [1, 0, 1, 2, 3],
        "nodes_trueleafs": [0, 1, 1, 1, 1],
        "nodes_falsenodeids": [2, 2, 4, 0, 3],
        "nodes_falseleafs": [0, 1, 0, 1, 1],
        "leaf_targetids": [0, 1, 0, 1],
        "leaf_weights": tensor([5, 12, -7, 0.5], dtype),
        "tree_roots": [0, 4],
        **changes,
    }


@pytest.mark.parametrize(
    ("dtype", "aggregate"),
    most_at_night([(d, a) for d in ("float32", "float64") for a in (1, 0, 2, 3)], 1),
)
def test_tree_ensemble(dtype, aggregate):
    """Some nodes test for members of a set, and a tree may be one leaf."""
    x = rows(np.random.default_rng(1), 12, 2, dtype) + 2
    given = ensemble(dtype, aggregate_function=aggregate)
    given["nodes_missing_value_tracks_true"] = [0, 1, 0, 1, 0]
    got, expected = both("TreeEnsemble", [x], 5, **given)
    np.testing.assert_array_equal(got[0], expected[0], strict=True)


@pytest.mark.nightly
def test_tree_ensemble_of_float16():
    """onnxruntime has no kernel for it; float32 holds the same numbers."""
    x = rows(np.random.default_rng(1), 12, 2, "float16") + 2
    got = own("TreeEnsemble", [x], 5, **ensemble("float16"))
    _, expected = both("TreeEnsemble", [x.astype("float32")], 5, **ensemble("float32"))
    np.testing.assert_array_equal(got[0], expected[0].astype("float16"), strict=True)


def test_package_serves_all_numbers_of_rows(tmp_path):
    """As converters of scikit-learn and LightGBM write models, with an open number of rows."""
    rng = np.random.default_rng(5)
    given = Trees(rng, 6, 3, MODES[:1]).attributes("target", 2, dense=False, missing=False)
    x = rows(rng, 70, 3)
    model = model_of(
        "TreeEnsembleRegressor", [x], domain_version=3, domain=DOMAIN, n_targets=2, **given
    )
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "N"
    Model(model).save(tmp_path / "trees.tlp")
    package = texloom.graph.load(tmp_path / "trees.tlp")
    for count in (1, 70):
        (expected,) = onnxruntimes(model, [x[:count]])
        np.testing.assert_array_equal(package.run({"x0": x[:count]})["y0"], expected)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes_modes": ["BRANCH", "LEAF", "LEAF"]}, "'nodes_modes' has 'BRANCH'"),
        ({"nodes_truenodeids": [7, 0, 0]}, "'nodes_truenodeids' names node 7 of tree 0"),
        ({"nodes_values": [NAN, 0, 0]}, "'nodes_values' has NaN"),
        ({"nodes_featureids": [2, 0, 0]}, "'nodes_featureids' has 2, but the input has 1"),
        ({"nodes_nodeids": [0, 1, 1]}, "name a node twice"),
        (
            {
                "nodes_modes": ["BRANCH_LT", "BRANCH_LT", "LEAF"],
                "nodes_truenodeids": [1, 0, 0],
                "nodes_falsenodeids": [2, 2, 0],
            },
            "its trees have a cycle",
        ),
        ({"nodes_falsenodeids": [2]}, "'nodes_falsenodeids' has 1 numbers, not 3"),
        ({"target_ids": [0, 1]}, "'target_ids' has 1, which is not from 0 to 0"),
        ({"n_targets": 0}, "'n_targets' is 0"),
        ({"base_values": [1.0, 2]}, "'base_values' has 2 numbers for 1 targets"),
        ({"aggregate_function": "MEAN"}, "'aggregate_function' is 'MEAN'"),
        ({"post_transform": "LOGISTIC"}, "'post_transform' is LOGISTIC for a single target"),
        ({"post_transform": "TANH"}, "'post_transform' is 'TANH'"),
    ],
)
def test_refused_attributes(changes, message):
    with pytest.raises(Unsupported, match=message):
        own("TreeEnsembleRegressor", [np.zeros((1, 1), "float32")], **(STUMP | VOTES | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classlabels_strings": ["a", "b"]}, "'classlabels_strings' has strings.*look up the str"),
        ({"classlabels_int64s": [3, 4], "post_transform": "SOFTMAX"}, "'post_transform' is SOFTM"),
        ({"classlabels_int64s": [3, 4], "class_ids": [1, 1]}, "'class_ids' is 1 for all votes"),
        ({"classlabels_int64s": [3]}, "'classlabels_int64s' has one label"),
    ],
)
def test_refused_classifiers(changes, message):
    votes = {name.replace("target", "class"): each for name, each in VOTES.items()}
    del votes["n_classs"]
    x = np.zeros((1, 1), "float32")
    with pytest.raises(Unsupported, match=message):
        own("TreeEnsembleClassifier", [x], outputs=2, **(STUMP | votes | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes_truenodeids": [1, 9, 1, 2, 3]}, "'nodes_truenodeids' has 9, but there are 5"),
        ({"membership_values": tensor([1, NAN], "float32")}, "'membership_values' has 1 lists"),
        ({"membership_values": tensor([NAN, 1, NAN, 1, NAN], "float32")}, "has an empty list"),
        ({"nodes_falsenodeids": [0, 2, 4, 0, 3]}, "its trees have a cycle"),
        ({"tree_roots": [5]}, "'tree_roots' has a number that is not from 0 to 4"),
    ],
)
def test_refused_ensembles(changes, message):
    with pytest.raises(Unsupported, match=message):
        own("TreeEnsemble", [np.zeros((1, 2), "float32")], 5, **ensemble("float32", **changes))
