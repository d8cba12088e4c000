"""Operators that prepare features: scaling, imputation, categories, joining."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import floor, isnan
from typing import Any

import numpy as np

from ....extents import number_of
from ....ops.estimators import features as ops
from ...nodes import Node, Value
from ..registry import ML, converts
from .arguments import no_strings, numbers_of, one_of, rows

_INTEGERS_INSTEAD = (
    "map strings to integers before the run, and replace the strings in the model by these integers"
)


def _counts(x: Value) -> list[int]:
    """Return how many numbers an attribute may have: one, or one for each feature."""
    features = number_of(x.shape[-1]) if x.rank else 1
    return [] if features is None else [features, 1]


@converts("Scaler", domain=ML)
def scaler(node: Node) -> Value:
    """Subtract an offset of each feature, and multiply by a scale."""
    x = node.input(0)
    counts = _counts(x)
    offset, scale = (numbers_of(node, name, "float32", counts) for name in ("offset", "scale"))
    if offset.size != scale.size:
        node.refuse(
            f"its attributes 'offset' and 'scale' have different lengths: {offset.size}, "
            f"{scale.size}"
        )
    given = [x, node.constant(offset), node.constant(scale)]
    return node.emit("scaler", ops.rescale, given)


@converts("Normalizer", domain=ML)
def normalizer(node: Node) -> Value:
    """Divide each row by its norm."""
    norm = node.attributes.get("norm", "MAX")
    if norm not in ("MAX", "L1", "L2"):
        node.refuse(f"its attribute 'norm' is {norm!r}, not MAX, L1 or L2")
    x = node.input(0)
    if x.rank not in (1, 2):
        node.refuse(f"its input of shape {x.shape} is neither a row nor a batch of rows")
    return node.emit("normalizer", ops.normalize, [x], norm=norm)


@converts("Imputer", domain=ML)
def imputer(node: Node) -> Value:
    """Replace one value, such as NaN, by a value of each feature."""
    x = node.input(0)
    name = one_of(node, "imputed_value_floats", "imputed_value_int64s")
    is_float = "float" in x.dtype
    if is_float != (name == "imputed_value_floats"):
        node.refuse(f"its attribute {name!r} does not fit its input, which is {x.dtype}")
    wide = "float32" if is_float else "int64"
    values = numbers_of(node, name, wide, _counts(x))
    replaced = node.attributes.get(
        "replaced_value_float" if is_float else "replaced_value_int64", 0
    )
    if not is_float:
        limits = np.iinfo(x.dtype)
        if values.min() < limits.min or values.max() > limits.max:
            node.refuse(f"its attribute {name!r} has numbers that {x.dtype} cannot hold")
        if not limits.min <= replaced <= limits.max:  # no element equals it
            return x
    given = [x, node.constant(values, x.dtype)]
    return node.emit("imputer", ops.impute, given, replaced=replaced)


@converts("Binarizer", domain=ML)
def binarizer(node: Node) -> Value:
    """Return 1 for numbers above a threshold, else 0."""
    x = node.input(0)
    threshold = node.attributes.get("threshold", 0.0)
    if "float" in x.dtype:
        return node.emit("binarizer", ops.binarize, [x], threshold=threshold)
    limits = np.iinfo(x.dtype)
    if isnan(threshold) or threshold >= limits.max:
        return _filled(node, x, 0)
    if threshold < limits.min:
        return _filled(node, x, 1)
    return node.emit("binarizer", ops.binarize, [x], threshold=floor(threshold))


def _filled(node: Node, x: Value, number: int) -> Value:
    shape = node.convert("Shape", [x])
    return node.convert("Expand", [node.constant(number, x.dtype), shape])


@converts("LabelEncoder", domain=ML)
def label_encoder(node: Node) -> Value:
    """Replace numbers by other numbers, as a table says."""
    x = node.input(0)
    no_strings(node, "classes_strings", "keys_strings", "values_strings", instead=_INTEGERS_INSTEAD)
    keys = _column(node, "keys")
    values = _column(node, "values")
    if keys.dtype.name != x.dtype:
        node.refuse(f"its keys are {keys.dtype.name}, but its input is {x.dtype}")
    if keys.size != values.size:
        node.refuse(f"it has {keys.size} keys, but {values.size} values")
    default = _default(node, values.dtype)
    kept = _last_of_each(node, keys, values)
    given = [x, *(node.constant(each) for each in (keys[kept], values[kept], default))]
    return node.emit("label_encoder", ops.encode, given)


def _column(node: Node, side: str) -> np.ndarray:
    """Return the keys or the values of a table."""
    types = {f"{side}_floats": "float32", f"{side}_int64s": "int64", f"{side}_tensor": None}
    name = one_of(node, *types)
    column = np.asarray(node.attributes[name], types[name]).reshape(-1)
    if column.dtype.name not in ("float32", "float64", "int64", "int32", "int16"):
        node.refuse(
            f"its attribute {name!r} has elements of type {column.dtype.name}, which are not "
            f"supported: {_INTEGERS_INSTEAD}"
        )
    return column


def _default(node: Node, dtype: Any) -> np.ndarray:
    given = node.attributes.get("default_tensor")
    if given is not None:
        if given.size != 1 or given.dtype != dtype:
            node.refuse(
                f"its attribute 'default_tensor' is {given.dtype.name}{list(given.shape)}, not one "
                f"number of type {dtype.name}"
            )
        return np.asarray(given).reshape(1)
    is_float = dtype.kind == "f"
    name, otherwise = ("default_float", -0.0) if is_float else ("default_int64", -1)
    return np.array([node.attributes.get(name, otherwise)]).astype(dtype)


def _last_of_each(node: Node, keys: np.ndarray, values: np.ndarray) -> list[int]:
    """Return the places of different keys.

    From version 4 on, the last of equal keys counts. Before, the standard does not say which one.
    """
    last: dict[Any, int] = {}
    for place, key in enumerate(keys.tolist()):
        named = "nan" if key != key else key
        before = last.get(named)
        if before is not None and node.version < 4 and values[before] != values[place]:
            node.refuse(
                f"its key {key} has two values, {values[before]} and {values[place]}; which one "
                "counts is defined from version 4 of ai.onnx.ml on"
            )
        last[named] = place
    return sorted(last.values())


@converts("OneHotEncoder", domain=ML)
def one_hot_encoder(node: Node) -> Value:
    """Make one-hot vectors of categories; an unknown category is zeros, also with ``zeros=0``."""
    no_strings(node, "cats_strings", instead=_INTEGERS_INSTEAD)
    categories = numbers_of(node, "cats_int64s", "int64")
    if len(set(categories.tolist())) < categories.size:
        node.refuse("its attribute 'cats_int64s' has a category twice")
    given = [node.input(0), node.constant(categories)]
    return node.emit("one_hot_encoder", ops.one_hot_of_categories, given)


@converts("ArrayFeatureExtractor", domain=ML)
def array_feature_extractor(node: Node) -> Value:
    """Select elements along the last axis; the result has at least two axes."""
    x, indices = node.input(0), node.input(1)
    if x.dtype == "string":
        node.refuse(
            "it selects strings, which are not supported: remove this output from the model, with "
            "onnx.utils.extract_model, and select the strings after the run"
        )
    if x.rank == 0:
        node.refuse("its first input is a scalar")
    flat = node.convert("Reshape", [indices, node.constant([-1], "int64")])
    made = node.convert("Gather", [x, flat], axis=-1)
    return made if x.rank > 1 else node.convert("Unsqueeze", [made, node.constant([0], "int64")])


@converts("FeatureVectorizer", domain=ML)
def feature_vectorizer(node: Node) -> Value:
    """Join features of several inputs, each cut or filled with zeros to a number of features."""
    inputs = [node.cast(rows(node, i), "float32") for i in range(len(node.inputs))]
    widths: Sequence[Any] = node.attributes.get("inputdimensions", [])
    if widths and len(widths) != len(inputs):
        node.refuse(
            f"its attribute 'inputdimensions' has {len(widths)} numbers, but it has {len(inputs)} "
            "inputs"
        )
    made = [
        _as_wide(node, *pair) for pair in zip(inputs, widths or [None] * len(inputs), strict=True)
    ]
    return node.convert("Concat", made, axis=1)


def _as_wide(node: Node, x: Value, width: int | None) -> Value:
    """Return the first `width` features of each row, with zeros for missing ones."""
    if width is None or width == x.shape[1]:
        return x
    own = number_of(x.shape[1])
    if own is None:
        node.refuse("its attribute 'inputdimensions' needs to know how many features inputs have")
    if width < 1:
        node.refuse(f"its attribute 'inputdimensions' has {width}, which is less than 1")
    if width < own:
        limits = [node.constant([each], "int64") for each in (0, width, 1)]
        return node.convert("Slice", [x, *limits])
    return node.convert("Pad", [x, node.constant([0, 0, 0, width - own], "int64")])


@converts("ZipMap", domain=ML)
def zip_map(node: Node) -> Value:
    """Return the columns themselves, with a warning that names them: maps are not supported."""
    x = rows(node)
    name = one_of(node, "classlabels_int64s", "classlabels_strings")
    labels = node.attributes[name]
    if number_of(x.shape[1]) not in (None, len(labels)):
        node.refuse(f"its attribute {name!r} has {len(labels)} keys for {x.shape[1]} columns")
    shown = ", ".join(map(str, labels[:8])) + (", ..." if len(labels) > 8 else "")
    warnings.warn(
        f"ZipMap {node.name!r} is left out: its output is a tensor with a column for each of the "
        f"keys {shown}, not a sequence of maps",
        stacklevel=2,
    )
    return x


__all__ = [
    "array_feature_extractor",
    "binarizer",
    "feature_vectorizer",
    "imputer",
    "label_encoder",
    "normalizer",
    "one_hot_encoder",
    "scaler",
    "zip_map",
]
