"""Targets of models: by default, the target of the device that runs or measures."""

import json
from argparse import ArgumentParser
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import texloom as tvm
from texloom.__main__ import main
from texloom.command_line.model_arguments import add_compile_arguments, compile_arguments
from texloom.onnx import Model
from texloom.onnx.backend import prepare
from texloom.onnx.importer import Importer
from texloom.target import Target

needs_metal = pytest.mark.skipif(not tvm.metal(0).exist, reason="no Metal device")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a model that doubles x."""
    monkeypatch.chdir(tmp_path)
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 4]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "double", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), "double.onnx")
    np.save("x.npy", np.ones((2, 4), "float32"))
    return Path(tmp_path)


def made_for(monkeypatch, call):
    """Return the targets of the models that a call makes."""
    targets = []
    make = Model.__init__

    def noted(self, proto, target=None, *arguments, **named):
        targets.append(target)
        make(self, proto, target, *arguments, **named)

    monkeypatch.setattr(Model, "__init__", noted)
    call()
    return targets


def chosen(*options, runs=True):
    """Return the target, the device that runs and the one that measures."""
    parser = ArgumentParser()
    parser.add_argument("model", type=Path)
    add_compile_arguments(parser, runs=runs)
    parsed = parser.parse_args(["double.onnx", *options])
    arguments = compile_arguments(parsed, None)
    return arguments["target"], parsed.device, arguments["measure"]


@needs_metal
def test_kernels_are_for_the_device_that_runs_or_measures(monkeypatch, folder):
    monkeypatch.setenv("TEXLOOM_CACHE_DIR", str(folder))
    cl, metal = tvm.opencl(0), tvm.metal(0)
    for_cl, for_metal = Target.from_device(cl), Target.from_device(metal)
    assert chosen() == (for_cl, "opencl:0", None)
    assert chosen("--device", "metal:0") == (for_metal, "metal:0", None)
    assert chosen("--measure") == (for_cl, "opencl:0", cl)
    assert chosen("--measure", "metal:0") == (for_metal, "metal:0", metal)
    assert chosen("--device", "metal:0", "--measure") == (for_metal, "metal:0", metal)
    assert chosen("--device", "metal", "--measure", "metal:0") == (for_metal, "metal", metal)
    given = chosen("--target", "metal -contract=0", "--device", "metal:0")
    assert str(given[0]) == "metal -contract=0"
    with pytest.raises(tvm.TVMError, match="and --device opencl:0 name different devices"):
        chosen("--device", "opencl:0", "--measure", "metal:0")
    assert chosen("--target", "metal -contract=0")[1:] == ("metal:0", None)
    assert chosen("--target", "metal -contract=0", "--measure")[1:] == ("metal:0", metal)
    assert chosen("--target", "metal:0 -max_buffers=1")[1:] == ("metal:0", None)
    assert chosen(runs=False) == ("opencl", None, None)
    assert chosen("--measure", "metal:0", runs=False) == (for_metal, "metal:0", metal)
    assert chosen("--target", "opencl:0", runs=False)[0] == "opencl:0"


@needs_metal
def test_kernels_run_on_a_device_of_their_kind(folder, capsys):
    """If no device is given, packages and models run on a device of their target, not on OpenCL."""
    model = ["double.onnx", "--target", "metal -device=m1"]
    assert main(["compile", *model, "-o", "double.tlp"]) == 0
    for each in (["double.tlp"], model):
        assert main(["run", *each, "--input", "x=x.npy", "--record", "run.tlz"]) == 0
        capsys.readouterr()
        assert main(["replay", "run.tlz", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["device"], told["differences"]["y"]["elements"]) == ("metal:0", 0)
        assert main(["bench", *each, "--rounds", "1"]) == 0
        assert tvm.metal(0).device_name in capsys.readouterr().out
    package = tvm.graph.load("double.tlp")
    assert package.default_device == tvm.metal(0)
    x = np.ones((2, 4), "float32")
    np.testing.assert_array_equal(package.run({"x": x})["y"], 2.0)
    assert package.time(3) > 0
    loaded = tvm.onnx.load("double.onnx", target="metal")
    np.testing.assert_array_equal(loaded.run({"x": x})["y"], 2.0)


@needs_metal
def test_a_package_for_several_targets(folder, capsys, dev):
    """Each device runs its variant. Both variants share constants, which the file stores once."""
    weights = np.arange(8192, dtype="float32").reshape(2, 4096)
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 4096]) for n in "xy")
    add = helper.make_node("Add", ["x", "w"], ["y"])
    graph = helper.make_graph([add], "sum", [x], [y], [onnx.numpy_helper.from_array(weights, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), "sum.onnx")
    targets = [["--target", "opencl"], ["--target", "metal"]]
    for name, given in (("cl", targets[0]), ("metal", targets[1]), ("both", sum(targets, []))):
        assert main(["compile", "sum.onnx", *given, "-o", f"{name}.tlp"]) == 0
    sizes = {name: (folder / f"{name}.tlp").stat().st_size for name in ("cl", "metal", "both")}
    assert sizes["both"] <= sizes["cl"] + sizes["metal"] - weights.nbytes + 1024
    capsys.readouterr()
    assert main(["inspect", "both.tlp"]) == 0
    shown = capsys.readouterr().out
    assert "variant 0: opencl" in shown
    assert "variant 1: metal" in shown
    package = tvm.graph.load("both.tlp")
    values = np.ones((2, 4096), "float32")
    for device in (dev, tvm.metal(0), tvm.device("host")):
        np.testing.assert_array_equal(package.run({"x": values}, device)["y"], weights + 1)
    with pytest.raises(tvm.TVMError, match="has no variant that .* can run") as info:
        tvm.graph.load("metal.tlp").run({"x": values}, dev)
    assert str(info.value).count("help:") == 1


@needs_metal
def test_the_default_device_can_run_a_variant(folder, dev):
    """A first variant that no device can run, for example for half arithmetic, is skipped."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT16, [2, 4]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "double", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), "half.onnx")
    targets = ["--target", "opencl -float16_arithmetic=1", "--target", "metal"]
    assert main(["compile", "half.onnx", *targets, "-o", "half.tlp"]) == 0
    package = tvm.graph.load("half.tlp")
    has_half = any(info["float16_arithmetic"] for info in tvm.devices("opencl"))
    assert package.default_device.driver == ("opencl" if has_half else "metal")
    ones = np.ones((2, 4), "float16")
    np.testing.assert_array_equal(package.run({"x": ones})["y"], 2.0)


@pytest.mark.filterwarnings("default")
def test_several_targets_share_an_import(folder, monkeypatch, capsys):
    """Importing needs no target, so all variants of a package are made from one graph."""
    imports = []
    run = Importer.run
    monkeypatch.setattr(Importer, "run", lambda own: (imports.append(own), run(own))[1])
    targets = ["--target", "opencl", "--target", "opencl -device=adreno", "--target", "metal"]
    assert main(["compile", "double.onnx", *targets, "-o", "double.tlp"]) == 0
    assert len(imports) == 1
    assert 'no device gets the variant for "opencl -device=adreno"' in capsys.readouterr().err
    assert main(["inspect", "double.tlp"]) == 0


def test_several_targets_need_the_tools_of_one(folder, capsys):
    given = ["--target", "opencl", "--target", "metal", "--metallib"]
    assert main(["compile", "double.onnx", *given, "-o", "double.tlp"]) == 1
    assert "--metallib needs Metal as the only target" in capsys.readouterr().err


@needs_metal
def test_the_backend_compiles_for_its_device(folder):
    prepared = prepare(onnx.load("double.onnx"), device="metal:0")
    np.testing.assert_array_equal(prepared.run([np.ones((2, 4), "float32")])[0], 2.0)


@pytest.mark.nightly
def test_measuring_names_the_target(folder, dev, monkeypatch, tmp_path):
    costs = tmp_path / "records.sqlite"
    targets = made_for(monkeypatch, lambda: tvm.compile("double.onnx", costs=costs, measure=dev))
    assert targets[0] == Target.from_device(dev)


def test_a_package_is_for_every_device_unless_one_is_named(folder, capsys, monkeypatch):
    def compiled(*options):
        return made_for(
            monkeypatch, lambda: main(["compile", "double.onnx", "-o", "made.tlp", *options])
        )[0]

    assert compiled() == "opencl"
    assert "but suits processors: --target opencl:0" in capsys.readouterr().out
    assert compiled("--target", "opencl:0") == "opencl:0"
    assert "--target" not in capsys.readouterr().out
    assert main(["run", "made.tlp", "--input", "x=x.npy", "--output-dir", "out"]) == 0
    np.testing.assert_array_equal(np.load("out/y.npy"), 2.0)


def test_an_empty_target_is_refused(folder, capsys):
    assert main(["run", "double.onnx", "--target", "", "--input", "x=x.npy"]) == 1
    assert "TL4003" in capsys.readouterr().err


def test_nothing_runs_on_the_device_that_computes_nothing(folder, capsys):
    given = ["double.onnx", "--device", "null", "--input", "x=x.npy"]
    assert main(["run", *given]) == 1
    assert "the device null computes nothing" in capsys.readouterr().err


def test_an_absent_device_is_no_target(folder, capsys):
    assert main(["compile", "double.onnx", "--target", "opencl:99", "-o", "own.tlp"]) == 1
    assert "TL5006" in capsys.readouterr().err
    assert not (folder / "own.tlp").exists()
