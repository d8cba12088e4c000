"""One package of a model, run for several sizes or values, as onnxruntime runs the model."""

import numpy as np
import onnx
import onnxruntime
import pytest
from nightly import most_at_night

import texloom

STORAGES = pytest.mark.parametrize("storage", most_at_night(["buffer", "texture"], 1))


def parsed(text, opset=18):
    """Return the model of a graph in ONNX's text format, which starts with the inputs."""
    return onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : {opset}]> one {text}')


def checked(tmp_path, model, feeds, *, opset=18, storage="buffer", error=0.0):
    """Compile a model once, and compare its results for all feeds with onnxruntime's.

    `model` may be a text for :func:`parsed`.
    """
    if isinstance(model, str):
        model = parsed(model, opset)
    texloom.compile(model, storage=storage).save(tmp_path / "one.tlp")
    graph = texloom.graph.load(tmp_path / "one.tlp")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # no warnings of constants that a case does not use
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    for feed in feeds:
        got = graph.run(feed)
        for each, want in zip(session.get_outputs(), session.run(None, feed), strict=True):
            mine = got[each.name]
            if f"{each.name}.count" in got:
                assert int(got[f"{each.name}.count"]) in want.shape
                mine = mine[tuple(map(slice, want.shape))]
            assert mine.shape == want.shape and mine.dtype == want.dtype
            np.testing.assert_allclose(mine, want, rtol=0, atol=error)


def numbers(*shape, seed=0):
    """Return small whole numbers, whose sums are exact."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype("float32")


def indices(extent, *shape, seed=0):
    return np.random.default_rng(seed).integers(-extent, extent, shape)
