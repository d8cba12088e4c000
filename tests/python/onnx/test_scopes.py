"""The storages of a real network, chosen by a file of costs."""

import json

import numpy as np
import onnx
import pytest
from sample_trials import record_costs

from texloom.__main__ import main
from texloom.costs import MeasuredCost, MeasuredDevice
from texloom.onnx.model import Model
from texloom_demo.ocr import models

SHAPE = (1, 3, 48, 192)
DEVICE = MeasuredDevice("a device with fast textures", "made up", "1", "1")


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def costs(tmp_path_factory):
    """Return a cost file: convolutions are faster on textures, all other operators on buffers."""
    file = tmp_path_factory.mktemp("costs") / "records.sqlite"
    rows = []
    for kind in ("contraction", "reduction", "injective", "broadcast", "elementwise"):
        for storage in ("buffer", "texture"):
            is_fast = (kind == "contraction") == (storage == "texture")
            for i in range(8):
                size, operations = 1e4 * (i + 1), 1e5 * (i % 3 + 1)
                ns = (1000 + 0.1 * size + 0.01 * operations) * (1 if is_fast else 20)
                key = f"{kind}, {storage}, {i}"
                rows.append(MeasuredCost(key, kind, storage, size, operations, 1, ns, 0.0, 9))
    for i in range(8):
        key = f"convert, texture, {i}"
        ns = 1000 + 100.0 * i
        rows.append(MeasuredCost(key, "convert", "texture", 1e3 * i, 0.0, 1, ns, 0.0, 9))
    record_costs(file, DEVICE, rows)
    return file


@pytest.mark.nightly
def test_where_textures_win_for_convolutions_the_plan_is_mixed(costs, tmp_path, capsys):
    path = str(models.find()["direction"])
    package = tmp_path / "direction.tlp"
    arguments = ["--shape", "x=1x3x48x192", "--costs", str(costs), "-o", str(package)]
    assert main(["compile", path, *arguments, "--json"]) == 0
    choice = json.loads(capsys.readouterr().out)["choice"]
    assert choice["device"] == str(DEVICE)
    assert choice["nanoseconds"] == choice["least"]
    assert choice["in_textures"] > 10 and choice["conversions"] > 3

    assert main(["inspect", str(package), "--scopes", "--json"]) == 0
    (scopes,) = json.loads(capsys.readouterr().out)
    written = [edge["written"][0].split(" ")[0] for edge in scopes["edges"]]
    assert {"global", "texture"} == set(written)
    added = [each for edge in scopes["edges"] for each in edge["others"].values()]
    assert min(each for each in added if each is not None) >= 0
    assert max(each for each in added if each is not None) > 1000
    assert main(["inspect", str(package), "--scopes"]) == 0
    assert "the least of all choices" in capsys.readouterr().out
    picture = tmp_path / "direction.svg"
    assert main(["inspect", str(package), "--svg", str(picture)]) == 0
    text = picture.read_text()
    assert text.count("stroke-dasharray") >= choice["conversions"]
    assert "global, converted" in text

    x = np.random.default_rng(0).random(SHAPE, "float32")
    inputs = tmp_path / "x.npy"
    np.save(inputs, x)
    out = tmp_path / "out"
    assert main(["run", str(package), "--input", f"x={inputs}", "--output-dir", str(out)]) == 0
    (expected,) = (
        Model(onnx.load(path), storage="buffer", shapes={"x": SHAPE}).run({"x": x}).values()
    )
    (file,) = out.iterdir()
    # Both implementations round the sums of about 100 layers; the results are probabilities.
    np.testing.assert_allclose(np.load(file), expected, atol=2e-5)


@pytest.mark.nightly
def test_without_costs_all_tensors_are_in_buffers(monkeypatch):
    monkeypatch.delenv("TEXLOOM_CACHE_DIR", raising=False)
    model = Model(onnx.load(str(models.find()["direction"])), shapes={"x": SHAPE})
    assert {scope for _, scope, _ in model.summary["stores"].values()} == {"global"}
    assert model.summary["scopes"] is None
