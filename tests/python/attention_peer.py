"""Graphs of attention alone, attention in float64, and how much a kernel may differ from it."""

from functools import partial

import numpy as np

from texloom.graph import Graph
from texloom.ops.attention import attention

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
    # A score has errors from its sum, scale and mask, and those of the subtracted greatest score.
    terms = np.abs(q) @ np.abs(k) * abs(scale) + np.abs(np.where(np.isinf(mask), 0, mask))
    of_scores = 2 * (query.shape[-1] + 3) * wide * terms.max(-1, keepdims=True)
    # Errors: 3 units in the last place of exponentials, one rescaling per 64 keys, and two sums.
    relative = of_scores + (2 * key.shape[-1] + 4 * (key.shape[-1] // 64 + 4)) * wide
    return weights @ v, 2 * relative * (weights @ np.abs(v)) + 2 * unit * np.abs(weights @ v)


def run(query, key, value, mask=None, target=None, **options):
    """Return what a graph of one operator computes, with these options of :func:`attention`."""
    graph = Graph("attention")
    given = {"q": query, "k": key, "v": value} | ({} if mask is None else {"m": mask})
    tensors = [graph.input(n, each.shape, each.dtype.name) for n, each in given.items()]
    (made,) = graph.op("made", "attention", partial(attention, **options), tensors)
    graph.output(made, "y")
    return (graph.compile() if target is None else graph.compile(target)).run(given)["y"]
