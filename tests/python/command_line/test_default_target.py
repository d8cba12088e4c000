"""What models are compiled for if neither the command line nor the call names a target."""

import json

import numpy as np
import pytest
from command_model import SHAPE, expected, fails, model_of, scaled, succeeds, value
from onnx import helper

import texloom
import texloom.graph
from texloom import custom
from texloom.command_line import compile, run
from texloom.command_line.model_arguments import target_of
from texloom.target import Target, for_models

INPUT = ("--input", "x=x.npy")


def target_in(capsys, package):
    [view] = json.loads(succeeds(capsys, "inspect", package, "--json"))
    return view["variants"][0]["target"]


def test_a_package_is_native_code(folder, capsys, default_target):
    """It runs where the user trusts it; the command says how, and how to choose other targets."""
    told = succeeds(capsys, "compile", "model.onnx", *SHAPE)
    assert "`texloom run` takes it with --native\n" in told and "--target haswell" in told
    assert target_in(capsys, "model.tlp") == default_target
    assert "--native" in fails(capsys, "run", "model.tlp", *INPUT)
    succeeds(capsys, "run", "model.tlp", "--native", *INPUT, "--output-dir", "out")
    np.testing.assert_array_equal(np.load("out/out_y_0.npy"), expected(np.load("x.npy")))


def test_commands_run_native_code(folder, capsys, default_target):
    (facts,) = json.loads(succeeds(capsys, "run", "model.onnx", *INPUT, "--json"))
    assert facts["largest"] == expected(np.load("x.npy")).max()
    succeeds(capsys, "run", "model.onnx", *INPUT, "--record", "r.tlz")
    assert "runs on host:0\n" in succeeds(capsys, "replay", "r.tlz", "--native")
    assert " of nodes within the bounds" in succeeds(capsys, "compare", "model.onnx", *INPUT)
    bench = ["bench", "model.onnx", *SHAPE, "--compare", "onnxruntime", "--rounds", 1, "--json"]
    facts = json.loads(succeeds(capsys, *bench))
    assert facts["device"] == texloom.device("host:0").info["name"]
    assert set(facts["seconds"]) == {"run", "device", "onnxruntime"}


def test_a_device_that_is_named_means_its_target(folder, capsys, default_target):
    """Measured costs choose between buffers and textures, so they are for OpenCL, too."""
    succeeds(capsys, "run", "model.onnx", *INPUT, "--device", "opencl:0", "--record", "r.tlz")
    assert json.loads(succeeds(capsys, "replay", "r.tlz", "--json"))["device"] == "opencl:0"
    for measured in (["--measure"], ["--measure", "opencl:0"]):
        for command in (run, compile):
            options = command.parse(["model.onnx", *measured])
            assert target_of(options) == Target("opencl:0") and options.device == "opencl:0"


def test_calls_without_a_target(default_target, monkeypatch):
    """A current target takes precedence; without LLVM, models are for OpenCL."""
    x = np.ones((1, 3, 1, 1), "float32")
    model = texloom.compile(scaled())
    np.testing.assert_array_equal(model.run({"x": x}, "host:0")["out/y:0"], expected(x))
    assert Target("host:0") == Target(default_target)
    assert for_models("metal") == "metal"
    with Target("opencl -device=mali") as mali:
        assert for_models(None) == mali
    monkeypatch.setattr(texloom.target, "has_llvm", lambda: False)
    assert for_models(None) == "opencl"
    assert Target("host:0").kind.name == "opencl"  # the interpreter's


def test_costs_are_not_of_native_code(folder, default_target, monkeypatch):
    """A file of costs is of devices with textures: named, it means OpenCL; else it is not read."""
    monkeypatch.setenv("TEXLOOM_CACHE_DIR", str(folder))
    (folder / "records.sqlite").write_bytes(b"no costs")
    model = texloom.compile(scaled((1, 3, 2, 4)), tuned=False)
    assert "global" in str(model)
    with pytest.raises(texloom.TVMError, match="TL5019"):  # knobs are those of the target
        texloom.compile(scaled((1, 3, 2, 4)))
    for target, costs in [("opencl", None), (None, "records.sqlite")]:
        with pytest.raises(texloom.TVMError, match="TL5019"):
            texloom.compile(scaled((1, 3, 2, 4)), target, costs=costs)
    assert target_of(compile.parse(["model.onnx", "--costs", "records.sqlite"])) is None
    assert target_of(compile.parse(["model.onnx"])) == default_target


def test_kernels_of_custom_operators_are_for_opencl(default_target):
    """Native code has no compiler for their text; functions of the host run beside it."""
    twice = custom.source_operator(
        "my::twice",
        {"x": "read buffer", "y": "write buffer"},
        "tl_put(y, tl_global_id(0), tl_get(x, tl_global_id(0)) * 2);",
        threads=["x.places"],
    )
    x = np.ones(3, "float32")

    @custom.host_operator("my::twice", {"x": "read", "y": "write"})
    def host(x, y):
        y[...] = 2 * x

    node = helper.make_node("twice", ["x"], ["y"], domain="my")
    model = model_of([node], [value("x", (3,))], [value("y", (3,))], my=1)
    for operator, device in ((twice, "opencl:0"), (host, "host:0")):
        got = texloom.compile(model, operators=[operator]).run({"x": x}, device)
        np.testing.assert_array_equal(got["y"], 2 * x)


def test_listings_say_what_the_default_is(capsys, default_target, monkeypatch):
    sentence = f"\nmodels without --target and --device are for {default_target}: native code, "
    assert sentence in succeeds(capsys, "devices") and sentence in succeeds(capsys, "doctor")
    assert json.loads(succeeds(capsys, "doctor", "--json"))["default_target"] == default_target
    monkeypatch.setattr(texloom.target, "has_llvm", lambda: False)
    assert succeeds(capsys, "devices").endswith(" are for opencl, which opencl:0 runs\n")


def test_a_processor_is_a_target(folder, capsys, default_target):
    succeeds(capsys, "compile", "model.onnx", *SHAPE, "--target", "cortex-a76")
    assert target_in(capsys, "model.tlp") == "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76"
    told = fails(capsys, "run", "model.onnx", *INPUT, "--target", "cortex-a76")
    assert '-mcpu=cortex-a76" needs aarch64, ' in told and "help: " in told
