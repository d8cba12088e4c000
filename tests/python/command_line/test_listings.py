"""``texloom ops``, ``devices`` and ``doctor``."""

import json
import re

import numpy as np
import onnx
from command_model import succeeds
from llvm_plugin import has_llvm

import texloom


def test_ops_lists_the_converters(capsys):
    from texloom.onnx.converters import supported

    every = {
        (each["domain"], each["name"]): each
        for each in json.loads(succeeds(capsys, "ops", "--json"))
    }
    for key in supported():
        assert every[key]["by"] == "converter"
    assert every["", "Add"]["versions"] == [7, 13, 14]
    assert every["", "Constant"]["by"] == "converter"
    assert every["", "StringConcat"]["by"] == ""
    assert re.search("^Add +7, 13, 14$", succeeds(capsys, "ops"), re.MULTILINE)
    missing = succeeds(capsys, "ops", "--missing")
    assert "\nStringConcat " in missing and " operators of ONNX's own domain are" in missing


def test_devices(capsys):
    found = json.loads(succeeds(capsys, "devices", "--json"))
    assert [each["name"] for each in found] == [each["name"] for each in texloom.devices()]
    assert found[0]["device"] in succeeds(capsys, "devices")


def test_doctor(capsys):
    facts = json.loads(succeeds(capsys, "doctor", "--json"))
    assert facts["packages"]["numpy"] == np.__version__
    assert any(each["check"] == "works" for each in facts["devices"])
    told = succeeds(capsys, "doctor")
    assert "works" in told and len(told.splitlines()) <= 40
    shown = "/.*texloom_llvm.so  works" if has_llvm() else "none  .*; in a clone, ./dev build .*"
    assert re.search(f"^  plug-in  {shown}$", told, re.MULTILINE)
    assert has_llvm() == told.endswith(", host:0 (native code)\n")


def test_doctor_skips_a_kernel_that_another_process_evicts(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TEXLOOM_CACHE_DIR", str(tmp_path))
    (tmp_path / "evicted.tlbin").symlink_to(tmp_path / "gone")  # listed, but stat() finds no file
    assert f"  cache  {tmp_path}, 0 MiB of at most 256\n" in succeeds(capsys, "doctor")


def test_doctor_shows_the_folder_of_compiled_kernels(tmp_path, monkeypatch, capsys):
    """The default folder is in the user's caches; an empty TEXLOOM_CACHE_DIR turns caching off."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("TEXLOOM_CACHE_DIR", raising=False)
    assert f"  cache  {tmp_path}/texloom, 0 MiB of at most 256\n" in succeeds(capsys, "doctor")
    monkeypatch.setenv("TEXLOOM_CACHE_DIR", "")
    assert "  cache  off: " in succeeds(capsys, "doctor")
    monkeypatch.setenv("TEXLOOM_CACHE_DIR", "/dev/null/kernels")
    told = "  cache  /dev/null/kernels, cannot be used: /dev/null is not a folder\n"
    assert told in succeeds(capsys, "doctor")


def test_spaces_lists_kernels_with_knobs(tmp_path, capsys):
    text = "(float[24, 64] x) => (float[?] y) { a = MatMul(x, w) y = Softmax(a) }"
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> net {text}')
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((64, 48), "float32"), "w"))
    onnx.save(model, tmp_path / "m.onnx")
    given = ["spaces", str(tmp_path / "m.onnx"), "--target", "opencl -device=nvidia"]
    product, rows = json.loads(succeeds(capsys, *given, "--json"))
    assert (product["family"], rows["family"]) == (
        "products in shared memory",
        "reductions of rows",
    )
    assert product["points"] > 10 and product["writes"] == ["24", "48"]
    assert product["default"]["knobs"] == "ProductTile" and 1e-6 < product["seconds"] < 1e-4
    assert rows["seconds"] is None and rows["default"]["threads"] >= 32
    told = succeeds(capsys, *given)
    assert re.search(
        r"^products in shared memory +24x48 +1 +\d+ +\d+\.\d +rows=", told, re.MULTILINE
    )
    assert "2 kernels of 2 operators have a family" in told
