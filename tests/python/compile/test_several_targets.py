"""The program texloom-compile makes packages for several targets."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import texloom as tvm
from texloom.__main__ import main
from texloom.graph import load

PROGRAM = Path(__file__).parents[3] / "build/apps/texloom-compile"
# Two kernels; the first writes a temporary, in a texture.
CHAIN = """program chain stage=te target="opencl"
  param A
  param C

placeholder A: float32[10, 4]

compute B(i < 10, j < 4): float32 = A[i, j] + 1.0
  scope global.texture
  bind i threadIdx.x
  vectorize j

compute C(i < 10, j < 4): float32 = B[i, j] * 2.0
  output
  bind i blockIdx.x
"""
pytestmark = [
    pytest.mark.skipif(not PROGRAM.exists(), reason="texloom-compile is not built"),
    pytest.mark.skipif(not tvm.metal(0).exist, reason="no Metal device"),
]


@pytest.mark.parametrize("targets", [("opencl", "metal"), ("metal", "opencl")])
def test_each_device_runs_the_variant_for_it(tmp_path, capsys, targets):
    """If the call names no device, the graph runs on a device of the first variant."""
    (tmp_path / "chain.tl").write_text(CHAIN)
    file = tmp_path / "chain.tlp"
    given = [f"--target={target}" for target in targets]
    subprocess.run([PROGRAM, tmp_path / "chain.tl", *given, "-o", file], check=True)
    assert main(["inspect", str(file)]) == 0
    shown = capsys.readouterr().out
    assert [f"variant {i}: {target}" in shown for i, target in enumerate(targets)] == [True, True]
    graph = load(file)
    assert graph.default_device == tvm.device(f"{targets[0]}:0")
    values = np.arange(40, dtype="float32").reshape(10, 4)
    for device in ("opencl:0", "metal:0", "host", None):
        result = graph.run({"A": values}, device)["C"]
        np.testing.assert_array_equal(result, (values + 1) * 2)


@pytest.mark.parametrize("targets", [("opencl", "metal"), ("metal", "opencl")])
def test_a_function_is_the_variant_for_its_device(tmp_path, targets):
    """If the call names no device, the variant for the first device that can run one is loaded."""
    (tmp_path / "chain.tl").write_text(CHAIN)
    file = tmp_path / "chain.tlp"
    given = [f"--target={target}" for target in targets]
    subprocess.run([PROGRAM, tmp_path / "chain.tl", *given, "-o", file], check=True)
    values = np.arange(40, dtype="float32").reshape(10, 4)
    for device in ("opencl:0", "metal:0", None):
        dev = tvm.device(device or f"{targets[0]}:0")
        f = tvm.runtime.load_module(file, device=dev if device else None)
        a, c = tvm.nd.array(values, dev), tvm.nd.empty((10, 4), "float32", dev)
        f(a, c)
        np.testing.assert_array_equal(c.numpy(), (values + 1) * 2)
    with pytest.raises(tvm.TVMError, match="no device with that number|no device"):
        tvm.runtime.load_module(file, device=tvm.opencl(99))


def test_a_variant_that_no_device_gets_is_told(tmp_path):
    """If two variants are for the same devices, a warning says that no device gets the second."""
    (tmp_path / "chain.tl").write_text(CHAIN)
    given = ["--target=opencl", "--target=opencl -contract=0"]
    command = [PROGRAM, tmp_path / "chain.tl", *given, "-o", tmp_path / "chain.tlp"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0
    assert 'warning[TL7001]: no device gets the variant for "opencl -contract=0"' in done.stderr


def test_kernels_cannot_be_listed_for_several_targets(tmp_path):
    (tmp_path / "chain.tl").write_text(CHAIN)
    command = [PROGRAM, tmp_path / "chain.tl", "--target=opencl", "--target=metal"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "only a package is for several targets: -o FILE.tlp" in done.stderr
