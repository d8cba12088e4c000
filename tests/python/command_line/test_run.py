"""``texloom run``: inputs, pictures and outputs."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from command_model import SCALE, SHAPE, expected, fails, model_of, pixels, succeeds, value
from onnx import TensorProto, helper

import texloom
from texloom.__main__ import main


def test_a_model_runs_without_a_package(folder, capsys):
    succeeds(capsys, "run", "model.onnx", "--input", "x=x.npy", "--output-dir", "out")
    np.testing.assert_array_equal(np.load("out/out_y_0.npy"), expected(np.load("x.npy")))


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_pictures(folder, capsys, layout):
    """Pixels are scaled to [0, 1], then by --mean and --std; the input's shape gives the layout."""
    from PIL import Image

    picture = pixels(5, 7)
    Image.fromarray(picture).save("photo.png")
    shape = (1, 3, 5, 7) if layout == "NCHW" else (1, 5, 7, 3)
    add = helper.make_node("Add", ["x", "x"], ["y"])
    onnx.save(model_of([add], [value("x", shape)], [value("y", shape)]), "p.onnx")
    means, std = [0.5, 0.25, 0.125], 0.5
    arguments = ["--bgr", "--mean", ",".join(map(str, means)), "--std", std]
    succeeds(capsys, "run", "p.onnx", "--input", "x=photo.png", "--output-dir", "out", *arguments)
    want = 2 * (picture[..., ::-1] / 255.0 - means) / std
    want = want.transpose(2, 0, 1)[None] if layout == "NCHW" else want[None]
    np.testing.assert_allclose(np.load("out/y.npy"), want, rtol=0, atol=2**-21)  # 4 roundings, <4


def test_pictures_are_resized_to_the_input(folder, capsys):
    from PIL import Image

    Image.fromarray(np.full((9, 9, 3), 51, "uint8")).save("photo.png")
    arguments = ["--input", "x=photo.png", "--shape", "x=1x3x4x6", "--json"]
    (facts,) = json.loads(succeeds(capsys, "run", "model.onnx", *arguments))
    assert facts["shape"] == [1, 3, 4, 6]
    assert facts["largest"] == pytest.approx(0.2 * 5)
    (facts,) = json.loads(succeeds(capsys, "run", "model.onnx", *arguments[:2], "--json"))
    assert facts["shape"] == [1, 3, 9, 9]  # the model leaves the size open


def test_outputs_that_are_sequences(folder, capsys):
    nodes = [helper.make_node("SequenceConstruct", ["x", "w"], ["s"])]
    output = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
    weights = onnx.numpy_helper.from_array(SCALE, "w")
    onnx.save(model_of(nodes, [value("x", (1, 3, 2, 4))], [output], [weights]), "s.onnx")
    succeeds(capsys, "run", "s.onnx", "--input", "x=x.npy", "--output-dir", "out")
    np.testing.assert_array_equal(np.load("out/s.0.npy"), np.load("x.npy"))
    np.testing.assert_array_equal(np.load("out/s.1.npy"), SCALE)
    assert "the output 's' is not a tensor" in fails(capsys, "compile", "s.onnx")


def test_npz_files(folder, capsys):
    """The input's name selects one of several arrays; without NAME=, each array is an input."""
    x = np.load("x.npy")
    np.savez("one.npz", anything=x)
    np.savez("two.npz", x=x, y=x + 1)
    np.savez("all.npz", x=x)
    for given in ("x=one.npz", "x=two.npz", "all.npz"):
        (facts,) = json.loads(succeeds(capsys, "run", "model.onnx", "--input", given, "--json"))
        assert facts["largest"] == expected(x).max()


def test_a_name_may_contain_an_equals_sign(folder, capsys):
    add = helper.make_node("Add", ["a=b", "a=b"], ["y"])
    onnx.save(model_of([add], [value("a=b", (1, 3, 2, 4))], [value("y", None)]), "e.onnx")
    succeeds(capsys, "run", "e.onnx", "--input", "a=b=x.npy")


def test_interrupted_commands_leave_nothing(folder, capsys, monkeypatch):
    """Ctrl-C while outputs are written keeps the earlier file and leaves no other file."""
    texloom.compile("model.onnx", shapes={"x": (1, 3, 2, 4)}).save("m.tlp")
    succeeds(capsys, "run", "m.tlp", "--input", "x=x.npy", "--output-dir", "out")
    before = (folder / "out/out_y_0.npy").read_bytes()
    np.save("x.npy", np.load("x.npy") + 1)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupt)
    assert main(["run", "m.tlp", "--input", "x=x.npy", "--output-dir", "out"]) == 130
    assert capsys.readouterr().err == "\ntexloom run: interrupted\n"
    assert (folder / "out/out_y_0.npy").read_bytes() == before
    assert [each.name for each in (folder / "out").iterdir()] == ["out_y_0.npy"]


def test_outputs_of_one_file_name_are_refused(folder, capsys):
    nodes = [helper.make_node("Add", ["x", "x"], [name]) for name in ("a/b", "a:b")]
    outputs = [value(name, None) for name in ("a/b", "a:b")]
    onnx.save(model_of(nodes, [value("x", (1, 3, 2, 4))], outputs), "two.onnx")
    told = fails(capsys, "run", "two.onnx", "--input", "x=x.npy", "--output-dir", "out")
    assert "'a/b' and 'a:b' would both be written to a_b.npy" in told


def test_outputs_that_cannot_be_written(folder, capsys, monkeypatch):
    """The message names the output file, not the temporary file beside it."""
    nodes = [helper.make_node("Add", ["x", "x"], [name]) for name in ("a", "b" * 300)]
    outputs = [value(name, None) for name in ("a", "b" * 300)]
    onnx.save(model_of(nodes, [value("x", (1, 3, 2, 4))], outputs), "long.onnx")
    told = fails(capsys, "run", "long.onnx", "--input", "x=x.npy", "--output-dir", "out")
    assert "is too long for a file" in told and not list((folder / "out").iterdir())

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fdopen", full)
    told = fails(capsys, "run", "model.onnx", "--input", "x=x.npy", "--output-dir", "out")
    assert "out/out_y_0.npy: No space left on device" in told
    assert not list((folder / "out").iterdir())


def test_without_onnx_packages_still_run(folder):
    """A fresh process without onnx refuses to compile with a message, and runs packages."""
    texloom.compile("model.onnx", shapes={"x": (1, 3, 2, 4)}).save("m.tlp")
    script = (
        "import sys; sys.modules['onnx'] = None\n"
        "from texloom.__main__ import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-c", script, *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "PYTHONPATH": str(Path(texloom.__file__).parents[1])},
        )

    refused = run("compile", "model.onnx", *SHAPE)
    assert refused.returncode == 1 and "'onnx' is missing" in refused.stderr
    assert run("run", "m.tlp", "--input", "x=x.npy").returncode == 0
