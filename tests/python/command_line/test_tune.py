"""``texloom tune``."""

import json
from pathlib import Path

import onnx
import pytest
from command_model import fails, succeeds

import texloom
from texloom.inspect.describe import counted


@pytest.fixture
def product(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x, y = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [n, 32])
        for name, n in (("x", "n"), ("y", "n"))
    )
    w = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [32, 32], [0.5] * 1024)
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = onnx.helper.make_graph([node], "g", [x], [y], [w])
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)])
    onnx.save(made, "product.onnx")
    return ["tune", "product.onnx", "--shape", "x=16x32", "--target", "opencl:0"]


def test_a_model_is_tuned(product, capsys):
    arguments = [*product, "--db", "r.sqlite", "--trials", 4, "--search", "random"]
    lines = succeeds(capsys, *arguments, "--json").splitlines()
    *trials, summary = [json.loads(line) for line in lines]
    assert len({json.dumps(each["knobs"]) for each in trials}) == 4
    facts = summary["summary"]
    assert facts["trials"] == len(trials) and facts["best_seconds"] <= facts["default_seconds"]
    assert 0 < facts["working_seconds"] < facts["elapsed_seconds"]
    assert all(each["failure"] is None and 0 < each["seconds"] < 1 for each in trials)
    told = succeeds(capsys, *product, "--db", "r.sqlite", "--effort", "none")
    assert "products in panels" in told and "4 of " in told
    assert "1 of 1 kernel measured: " in told and "0 trials in r.sqlite" in told
    files = ["-o", "best.json", "--report", "r.html"]
    told = succeeds(capsys, *product, "--db", "r.sqlite", "--trials", 30, *files)
    assert "r.html: 1 kernel, " in told and "products in panels" in Path("r.html").read_text()
    kernels = json.loads(Path("best.json").read_bytes())["kernels"]
    compiled = ["compile", "product.onnx", "--shape", "x=16x32", "--target", "opencl:0"]
    told = succeeds(capsys, *compiled, "--tuned", "best.json", "-o", "product.tlp")
    assert f"{counted(len(kernels), 'kernel')} tuned, 0 transferred, " in told
    assert "1 fastest trial" in succeeds(capsys, "db", "best", "--db", "r.sqlite")


def test_models_are_compiled_with_records(product, capsys, monkeypatch, tmp_path):
    """Those of the default file by themselves, and none if they are switched off."""
    monkeypatch.setenv("TEXLOOM_CACHE_DIR", str(tmp_path / "own"))
    compiles = ["compile", *product[1:], "-o", "m.tlp", "--json"]
    knobs = json.loads(succeeds(capsys, *compiles))["knobs"]
    assert knobs == {"from": "", "tuned": 0, "transferred": 0, "estimated": 1, "kernels": []}
    succeeds(capsys, *product, "--trials", 3)
    knobs = json.loads(succeeds(capsys, *compiles))["knobs"]
    assert knobs["tuned"] == 1 and knobs["from"] == str(tmp_path / "own" / "records.sqlite")
    (kernel,) = knobs["kernels"]
    assert kernel["knobs"] and kernel["microseconds"] > 0 and kernel["device"]
    told = succeeds(capsys, *compiles[:-1])
    assert f"1 kernel tuned, 0 transferred, 0 estimated, by {knobs['from']}, of " in told
    assert json.loads(succeeds(capsys, *compiles, "--db", "none"))["knobs"]["tuned"] == 0
    assert "kernel tuned" not in succeeds(capsys, *compiles[:-1], "--db", "none")
    assert json.loads(succeeds(capsys, *compiles, "--db", knobs["from"]))["knobs"]["tuned"] == 1
    assert "both name the best knobs" in fails(
        capsys, *compiles, "--db", knobs["from"], "--tuned", "best.json"
    )
    assert "TL5018" in fails(capsys, *compiles, "--db", "missing.sqlite")


def test_what_cannot_be_tuned_is_refused(product, capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("TEXLOOM_CACHE_DIR", raising=False)
    monkeypatch.setattr("texloom.records.address.default_file", lambda: None)
    assert "no database of records is named" in fails(capsys, *product)
    open_sizes = [each for each in product if each not in ("--shape", "x=16x32")]
    told = fails(capsys, *open_sizes, "--db", "r.sqlite", "--trials", 1)
    assert "give the shape of each open input" in told
    texloom.compile("product.onnx", "opencl").save("product.tlp")
    told = fails(capsys, "tune", "product.tlp", "--db", "r.sqlite")
    assert "is a package, whose kernels are compiled already" in told
    monkeypatch.setattr("texloom.tuning.search.find_spec", lambda name: None)
    told = fails(capsys, *product, "--db", "r.sqlite")
    assert "needs the Python package lightgbm" in told and "texloom[tune]" in told
    told = fails(capsys, *product, "--search", "grid", "--db", "r.sqlite", "-o", "nowhere/b.json")
    assert "nowhere" in told
    assert "nowhere" in fails(
        capsys, *product, "--search", "grid", "--db", "r.sqlite", "--report", "nowhere/r.html"
    )
    for option in ("--trials", "--seconds"):
        with pytest.raises(SystemExit):
            succeeds(capsys, *product, option, "0")
