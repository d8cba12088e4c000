"""Packages with the binaries that a device's driver makes of their kernels."""

import os
import subprocess
import sys

import numpy as np
import pytest
from texloom._core import view_packages

import texloom as tvm
from texloom.__main__ import main
from texloom.graph import Graph, load
from texloom.ops.elementwise import add, relu

X = np.arange(-24, 24, dtype="float32").reshape(2, 6, 4)
# Runs the package of the first argument on the device of the second, as a process of its own does.
RUN = """
import sys, numpy as np, texloom.graph
x = np.arange(-24, 24, dtype="float32").reshape(2, 6, 4)
y = texloom.graph.load(sys.argv[1]).run({"x": x}, sys.argv[2])["y"]
np.testing.assert_array_equal(y, np.maximum(x, 0) + x)
"""


def compiled(target="opencl", shape=X.shape):
    """Compile a graph of two kernels."""
    g = Graph("kinks")
    x = g.input("x", shape)
    (positive,) = g.op("positive", "Relu", relu, [x])
    g.output(positive, "positive")
    g.output(g.op("sum", "Add", add, [positive, x])[0], "y")
    return g.compile(target)


def stored_by_a_run(package, folder, name):
    """Run a package in a process with empty caches; return how many kernels it compiled.

    A process that compiles a kernel of source stores it.
    """
    folder.mkdir()
    caches = {"TEXLOOM_CACHE_DIR": str(folder), "POCL_CACHE_DIR": str(folder / "pocl")}
    given = [sys.executable, "-c", RUN, str(package), name]
    subprocess.run(given, env=os.environ | caches, check=True)
    return len(list(folder.glob("*.tlbin")))


def modules_of(package):
    """Return the codes of each kernel's program."""
    (view,) = view_packages(os.fsencode(package))
    return view["variants"][0]["modules"]


def named(dev):
    return f"{dev.driver}:{dev.device_id}"


@pytest.mark.parametrize("shape", [X.shape, ("n", 6, 4)])
def test_a_first_run_compiles_nothing(dev, shape, tmp_path):
    name = named(dev)
    graph = compiled(shape=shape)
    graph.save(tmp_path / "source.tlp")
    graph.save(tmp_path / "binaries.tlp", binaries=name)
    kernels = len(modules_of(tmp_path / "source.tlp"))
    assert stored_by_a_run(tmp_path / "source.tlp", tmp_path / "a", name) == kernels
    assert stored_by_a_run(tmp_path / "binaries.tlp", tmp_path / "b", name) == 0


def test_a_package_says_for_which_drivers_it_has_binaries(dev, tmp_path, capsys):
    path = tmp_path / "kinks.tlp"
    compiled().save(path, binaries=[dev])
    *sources, binary = modules_of(path)[0]
    assert [each["made_by"] for each in sources] == [None] * len(sources)
    told = dev.info
    assert binary["format"] == "an OpenCL binary"
    assert binary["made_by"]["device"] == told["name"]
    assert binary["made_by"]["platform"] == told["platform"]
    assert binary["made_by"]["driver"] == "opencl"
    assert main(["inspect", str(path)]) == 0
    rows = capsys.readouterr().out.split("  binaries\n")[1].splitlines()
    assert rows[0].split() == "device vendor platform driver version programs size".split()
    assert rows[1].strip().startswith(f"{told['name']}  ")
    size = sum(codes[-1]["bytes"] for codes in modules_of(path))
    assert f"  2 of 2    {size:,} bytes" in rows[1]


def test_binaries_of_no_such_device(dev, tmp_path):
    graph = compiled()
    with pytest.raises(tvm.TVMError, match="TL5007.*driver host gives no binaries") as refused:
        graph.save(tmp_path / "a.tlp", binaries="host:0")
    assert "help: leave out the binaries, or give an OpenCL device" in str(refused.value)
    with pytest.raises(tvm.TVMError, match="TL5007.*no variant that .* can run") as refused:
        compiled("metal").save(tmp_path / "a.tlp", binaries=dev)
    assert "help: compile it for this device, too" in str(refused.value)
    with pytest.raises(tvm.TVMError, match="TL7001.*an object file has native code"):
        graph.save(tmp_path / "a.o", binaries=[dev])
    with pytest.raises(tvm.TVMError, match="TL2040.*3 is not a device"):
        graph.save(tmp_path / "a.tlp", binaries=3)
    assert not list(tmp_path.iterdir())
    graph.save(tmp_path / "a.tlp", binaries=[])
    made_by = [code["made_by"] for codes in modules_of(tmp_path / "a.tlp") for code in codes]
    assert set(made_by) == {None}
    made = load(tmp_path / "a.tlp").run({"x": X}, dev)
    np.testing.assert_array_equal(made["y"], np.maximum(X, 0) + X)
