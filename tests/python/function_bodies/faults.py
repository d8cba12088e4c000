"""What the references are known to compute otherwise than the text of the standard says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .drawing import Drawn


@dataclass(frozen=True)
class Fault:
    """Nodes for which a reference contradicts the text.

    Attributes
    ----------
    ops : tuple of str
    of : str
        The reference.
    why : str
        For the table.
    when : callable
        Whether a node is concerned.
    """

    ops: tuple[str, ...]
    of: str
    why: str
    when: Callable[[Drawn], bool]


REFERENCE, RUNTIME = "onnx.reference", "onnxruntime"


def _has_grid_of_one(drawn: Drawn) -> bool:
    return bool(drawn.attributes.get("align_corners") and 1 in drawn.inputs[1][2:])


def _quantizes_zeros(drawn: Drawn) -> bool:
    return not drawn.inputs[0].any()


def _is_of_integers(drawn: Drawn) -> bool:
    return drawn.inputs[0].dtype.kind in "iu"


def _is_of_doubles(drawn: Drawn) -> bool:
    return drawn.inputs[0].dtype == np.float64


def _has_infinity(drawn: Drawn) -> bool:
    return bool(np.isinf(drawn.inputs[0].astype("float64")).any())


def _has_infinity_and_nan(drawn: Drawn) -> bool:
    return _has_infinity(drawn) and bool(np.isnan(drawn.inputs[0].astype("float64")).any())


def _has_no_variance(drawn: Drawn) -> bool:
    """Whether the mean is of equal elements."""
    x = drawn.inputs[0].astype("float64")
    axes = tuple(drawn.attributes.get("axes", (0, 2, 3)))
    return bool((x.max(axis=axes) == x.min(axis=axes)).any())


def _scales_zero(drawn: Drawn) -> bool:
    x, slope = (each.astype("float64") for each in drawn.inputs)
    return bool((x == 0).any() and not np.isfinite(slope).all())


def _ignores_last_class(drawn: Drawn) -> bool:
    """A mean without weights over targets of which some are ignored as -1."""
    attributes = drawn.attributes
    return (
        drawn.inputs[2] is None
        and attributes.get("ignore_index") == -1
        and attributes.get("reduction", "mean") == "mean"
        and -1 in drawn.inputs[1]
    )


def _has_edge_alpha(drawn: Drawn) -> bool:
    return not np.isfinite(drawn.attributes.get("alpha", 0.0))


def _caps_raw_scores(drawn: Drawn) -> bool:
    attributes = drawn.attributes
    is_raw = attributes.get("qk_matmul_output_mode", 0) == 0
    return bool(drawn.outputs == 4 and is_raw and attributes.get("softcap"))


def _has_mask_of_one_query(drawn: Drawn) -> bool:
    """A causal node whose mask has one row for all queries."""
    mask, queries = drawn.inputs[3], drawn.inputs[0].shape[-2]
    return bool(
        drawn.attributes.get("is_causal")
        and mask is not None
        and (mask.ndim < 2 or mask.shape[-2] < queries)
        and max(drawn.attributes.get(f"{side}_window_size", -1) for side in ("left", "right")) < 0
    )


FAULTS: tuple[Fault, ...] = (
    Fault(
        ("AffineGrid",),
        RUNTIME,
        "with `align_corners`, the place of an axis of one element is NaN or random, not -1",
        _has_grid_of_one,
    ),
    Fault(
        ("Attention",),
        REFERENCE,
        "`qk_matmul_output_mode` 0, the scores without `softcap`, gives those with it",
        _caps_raw_scores,
    ),
    Fault(
        ("Attention",),
        REFERENCE,
        "`is_causal` takes the number of queries from a mask that has one row for all of them",
        _has_mask_of_one_query,
    ),
    Fault(
        ("Attention",),
        RUNTIME,
        "in `qk_matmul_output`, the score of a hidden key is the lowest number, not -infinity",
        lambda drawn: drawn.attributes.get("qk_matmul_output_mode") == 2,
    ),
    Fault(
        ("Bernoulli",),
        RUNTIME,
        "version 15 draws 1 with the probability 1 - p, by an early body of the standard",
        lambda drawn: drawn.version == 15,
    ),
    Fault(
        ("Clip",),
        RUNTIME,
        "a limit that is left out is the lowest or largest number, which infinities become",
        lambda drawn: _has_infinity(drawn) and any(each is None for each in drawn.inputs),
    ),
    Fault(
        ("DynamicQuantizeLinear",),
        REFERENCE,
        "the scale of zeros is 1/255, not 0 as the formula says",
        _quantizes_zeros,
    ),
    Fault(
        ("DynamicQuantizeLinear",),
        RUNTIME,
        "the scale of zeros is 1, not 0 as the formula says",
        _quantizes_zeros,
    ),
    Fault(
        ("LayerNormalization",),
        RUNTIME,
        "the mean of elements with an infinity is NaN, not infinity",
        _has_infinity,
    ),
    Fault(
        ("LeakyRelu",),
        REFERENCE,
        "positive elements are 0 times `alpha` more, which is NaN for infinity and NaN",
        _has_edge_alpha,
    ),
    Fault(
        ("MeanVarianceNormalization",),
        RUNTIME,
        "the variance of equal elements is a difference of sums, of which a negative one gives NaN",
        _has_no_variance,
    ),
    Fault(
        ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"),
        REFERENCE,
        "without weights, targets that are ignored as -1 count in the mean",
        _ignores_last_class,
    ),
    Fault(
        ("PRelu",),
        REFERENCE,
        "0 is multiplied by the slope, so that an infinite slope gives NaN, not 0",
        _scales_zero,
    ),
    Fault(
        ("ReduceLogSumExp",),
        REFERENCE,
        "the difference of two infinities gives NaN, where the logarithm of infinity is infinity",
        _has_infinity,
    ),
    Fault(
        ("ReduceLogSumExp",),
        RUNTIME,
        "exponentials of integers are truncated, where the standard's body computes in float64",
        _is_of_integers,
    ),
    Fault(
        ("ReduceLogSumExp",),
        RUNTIME,
        "infinity hides NaN",
        _has_infinity_and_nan,
    ),
    Fault(("Shrink",), RUNTIME, "float64 is computed in float32", _is_of_doubles),
)


def _of_probabilities(drawn: Drawn) -> list[np.ndarray]:
    """Probabilities are drawn as 0 and 1, which are then the results."""
    return [drawn.inputs[0]]


def _quantized_zeros(drawn: Drawn) -> list[np.ndarray]:
    """The scale is 0 / 255; a quotient of two zeros, which the text leaves open, is 0."""
    zeros = np.zeros(drawn.inputs[0].shape, "uint8")
    return [zeros, np.float32(0), np.uint8(0)]


def _log_sum_exp(drawn: Drawn) -> list[np.ndarray]:
    """The formula, in float64."""
    x, axes = drawn.inputs[0].astype("float64"), drawn.inputs[1]
    own = tuple(range(x.ndim)) if axes is None or not axes.size else tuple(axes.tolist())
    if drawn.attributes.get("noop_with_empty_axes") and own == tuple(range(x.ndim)):
        own = own if axes is not None and axes.size else ()
    keepdims = bool(drawn.attributes.get("keepdims", 1))
    with np.errstate(all="ignore"):
        total = np.log(np.sum(np.exp(x), axis=own, keepdims=keepdims))
    dtype = drawn.inputs[0].dtype
    return [np.trunc(total).astype(dtype) if dtype.kind in "iu" else total.astype(dtype)]


TEXTS: dict[str, Callable[[Drawn], list[np.ndarray]]] = {
    "Bernoulli": _of_probabilities,
    "DynamicQuantizeLinear": _quantized_zeros,
    "ReduceLogSumExp": _log_sum_exp,
}
"""What the text of the standard gives for nodes that no reference computes so."""

UNCOMPUTED: dict[str, Callable[[Drawn], bool]] = {
    "Bernoulli": lambda drawn: drawn.version >= 22,
    "GroupNormalization": lambda drawn: 0 in drawn.inputs[0].shape,
    "MeanVarianceNormalization": _is_of_doubles,
    "ReduceLogSum": _is_of_integers,
}
"""Nodes that neither reference computes, in any type."""


def fault_of(drawn: Drawn, peer: str) -> Fault | None:
    """The fault of a reference that explains why it computes this node otherwise."""
    found = (e for e in FAULTS if drawn.op in e.ops and e.of == peer and e.when(drawn))
    return next(found, None)
