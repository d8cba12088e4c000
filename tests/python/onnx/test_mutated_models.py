"""Randomly changed models are compiled or refused with a message, within limited memory.

Models in which extents are 0 also run, beside onnxruntime.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from nightly import most_at_night
from node_peers import model_of, ours

import texloom
from texloom.onnx.model import Model

ZERO, ONE = np.zeros((0, 0), "float32"), np.ones((1, 4, 1), "float32")
PAIR = np.array([2, 2])
SCRIPT = Path(__file__).parents[2] / "fuzz/mutate_models.py"


@pytest.mark.parametrize("kind", ["network", "nodes"])
@pytest.mark.parametrize(
    ("count", "seed"), most_at_night([(8, 1), (500, 1), (500, 2), (500, 3)], first=1)
)
def test_mutated_models_are_refused_in_words(count, seed, kind):
    outcomes = outcomes_of(count, seed, kind)
    assert "'compiled': " in outcomes and "'refused, TL3043': " in outcomes


@pytest.mark.parametrize(("count", "seed"), most_at_night([(12, 1), (200, 2)], first=1))
def test_models_with_empty_extents(count, seed):
    """Results are onnxruntime's, or differ as the documents say; other models are refused."""
    assert "'equal': " in outcomes_of(count, seed, "empties")


def test_slices_without_elements_are_counted():
    """No kernel counts the slices, so that the condition has to be known."""
    x, condition = np.zeros((3, 0), "float32"), np.array([True, False, True])
    (got,) = ours(model_of("Compress", [x, condition], axis=0), [x, condition])
    assert got.shape == (2, 0) and got.dtype == np.float32


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "why"),
    [
        ("AveragePool", [ZERO[None, None]], {"kernel_shape": [2, 2]}, "without elements"),
        ("Resize", [ZERO, None, None, np.array([0, 3])], {}, "without elements cannot be resized"),
        (
            "Col2Im",
            [ONE, PAIR, PAIR],
            {"strides": [0, 1]},
            r"strides=\[0, 1\] has a number below 1",
        ),
        ("Col2Im", [ONE, PAIR, 0 * PAIR], {}, r"its blocks of \[0, 0\] are not of positive"),
        (
            "NonMaxSuppression",
            [np.ones((1, 2, 4), "float32"), np.ones((1, 1, 2), "float32"), np.zeros(0, "int64")],
            {},
            "its max_output_boxes_per_class has 0 elements",
        ),
    ],
)
def test_words_of_refusals(op, inputs, attributes, why):
    known = {f"x{i}": x for i, x in enumerate(inputs) if x is not None and x.dtype == np.int64}
    with pytest.raises(texloom.TVMError, match=why) as refused:
        Model(model_of(op, inputs, **attributes), values=known)
    assert "Error:" not in str(refused.value).splitlines()[0]


def outcomes_of(count, seed, kind):
    """Return the printed counts; the exit status is 1 if an outcome is wrong."""
    done = subprocess.run(
        [sys.executable, SCRIPT, str(count), str(seed), kind],
        capture_output=True,
        text=True,
        timeout=250,
        env={**os.environ, "PYTHONPATH": str(Path(texloom.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
