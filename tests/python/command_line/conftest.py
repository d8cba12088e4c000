"""The folder in which commands run."""

import numpy as np
import onnx
import pytest
from command_model import scaled


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with ``model.onnx``, whose extents are open, and ``x.npy``."""
    monkeypatch.chdir(tmp_path)
    onnx.save(scaled(), "model.onnx")
    np.save("x.npy", np.arange(24, dtype="float32").reshape(1, 3, 2, 4))
    return tmp_path
