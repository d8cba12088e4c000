"""The text detector, classifier and recognizer of a PyPI package, against onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
import skimage.data

from texloom.onnx.model import Model
from texloom_demo.ocr import models

ROUNDOFF = 2.0**-24


def page(images, channels, height, width):
    """Return parts of a scanned page, with values from -1 to 1."""
    scan = skimage.data.page().astype("float32") / 127.5 - 1
    parts = [scan[8 * i : 8 * i + height, 20 : 20 + width] for i in range(images * channels)]
    return np.stack(parts).reshape(images, channels, height, width)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("direction", (1, 3, 48, 192)),
        ("detection", (1, 3, 96, 160)),
        ("recognition", (2, 3, 48, 117)),
    ],
)
def test_text_model(name, shape):
    """Results are as close to onnxruntime's as rounding explains.

    A roundoff of the inputs changes the result by a measured amount. Each node rounds its own
    results, in both implementations. So the difference is at most that amount times the number of
    nodes, if the network does not amplify roundoffs of later nodes more than those of its inputs.
    """
    path = str(models.find()[name])
    x = page(*shape)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"x": x})
    signs = np.random.default_rng(2).choice([-1, 1], (4, *shape)).astype("float32")
    change = max(
        np.abs(
            session.run(None, {"x": x * (1 + each * np.float32(2 * ROUNDOFF))})[0] - expected
        ).max()
        for each in signs
    )
    graph = onnx.load(path)
    nodes = sum(node.op_type != "Constant" for node in graph.graph.node)
    (got,) = Model(graph, shapes={"x": shape}).run({"x": x}).values()
    assert got.shape == expected.shape and got.dtype == expected.dtype
    bound = 2 * nodes * max(change, ROUNDOFF * np.abs(expected).max())
    difference = np.abs(got - expected).max()
    assert difference <= bound and bound < 0.01 * np.abs(expected).max()
