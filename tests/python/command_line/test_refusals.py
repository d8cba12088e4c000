"""Wrong calls of commands, and wrong files: each is refused with a message."""

import os

import numpy as np
import onnx
import pytest
from command_model import SHAPE, fails, scaled

import texloom
from texloom.__main__ import main

WRONG = {
    "a mean without a picture": (
        ["run", "model.onnx", "--input", "x=x.npy", "--mean", "0.5"],
        "error[TL7001]: --mean, --std, --scale and --bgr are for pictures, but no --input is a "
        "picture",
    ),
    "a device of no costs": (
        ["compile", "model.onnx", *SHAPE, "--costs-device", "abacus"],
        "the costs of the device 'abacus' are requested, but there is no file of costs",
    ),
    "a shape that contradicts": (
        ["compile", "model.onnx", "--shape", "x=1x4x2x2"],
        "error[TL5003]: the model's input 'x' has the shape (N, 3, H, W), but the given shape is "
        "(1, 4, 2, 2)",
    ),
    "another rank": (["compile", "model.onnx", "--shape", "x=3"], "error[TL5003]"),
    "two shapes": (
        ["compile", "model.onnx", *SHAPE, "--shape", "x=1x3x2x5"],
        "--shape gives 'x' two shapes",
    ),
    "a shape of no input": (["compile", "model.onnx", "--shape", "z=3"], "no input 'z'"),
    "no shape": (["compile", "model.onnx", "--shape", "x=1xN"], "is not NAME=AxBxC"),
    "an unknown target": (["compile", "model.onnx", *SHAPE, "--target", "abacus"], "TL4003"),
    "a target twice": (
        ["compile", "model.onnx", *SHAPE, "--target", "opencl", "--target", "opencl"],
        "--target gives 'opencl' twice",
    ),
    "no file": (["compile", "none.onnx"], "none.onnx: No such file or directory"),
    "a folder": (["compile", "."], "Is a directory"),
    "no folder for the package": (
        ["compile", "model.onnx", *SHAPE, "-o", "no/m.tlp"],
        "there is no folder no",
    ),
    "the model as its package": (
        ["compile", "model.onnx", *SHAPE, "-o", "./model.onnx"],
        "model.onnx is an input, and would be overwritten",
    ),
    "an input as the record": (
        ["run", "m.tlp", "--input", "x=x.npy", "--record", "x.npy"],
        "x.npy is an input, and would be overwritten",
    ),
    "a package to compile": (["compile", "m.tlp"], "is a package already"),
    "options for a package": (["run", "m.tlp", *SHAPE], "--shape is for ONNX models"),
    "no input": (["run", "m.tlp"], "these inputs are missing: x: float32[1, 3, 2, 4]"),
    "an unknown input": (["run", "m.tlp", "--input", "z=x.npy"], "no input 'z'"),
    "an input twice": (["run", "m.tlp", "--input", "x=x.npy", "--input", "x=x.npy"], "twice"),
    "no name": (["run", "m.tlp", "--input", "x.npy"], "--input x.npy is not NAME=FILE"),
    "a missing input file": (["run", "m.tlp", "--input", "x=none.npy"], "none.npy: No such file"),
    "no picture": (["run", "m.tlp", "--input", "x=m.tlp"], "neither a picture nor an array"),
    "no array": (["run", "m.tlp", "--input", "x=damaged.npy"], "is not a file of arrays"),
    "a wrong dtype": (["run", "m.tlp", "--input", "x=doubles.npy"], "error[TL5002]"),
    "a wrong shape": (["run", "m.tlp", "--input", "x=small.npy"], "error[TL5003]"),
    "a wrong shape for a model": (["run", "model.onnx", "--input", "x=small.npy"], "error[TL5003]"),
    "no device": (["run", "m.tlp", "--input", "x=x.npy", "--device", "opencl:99"], "TL5006"),
    "an output folder that is a file": (
        ["run", "m.tlp", "--input", "x=x.npy", "--output-dir", "x.npy"],
        "x.npy: File exists",
    ),
    "a truncated model": (["compile", "truncated.onnx"], "is not an ONNX file, or is incomplete"),
    "an empty model": (["compile", "empty.onnx"], "is not an ONNX model: it has no version"),
    "another file": (["run", "x.npy"], "is not an ONNX file, or is incomplete"),
    "external data that are cut": (
        ["compile", "apart.onnx"],
        "error[TL5019]: apart.bin has 5 bytes for the constant 'w', which needs 12",
    ),
    "a damaged package": (["run", "damaged.tlp"], "error[TL5012]"),
    "no package": (["run", "junk.tlp"], "junk.tlp is not a package, or is damaged"),
    "a package to compare": (["compare", "m.tlp"], "m.tlp is a package, which has no nodes"),
    "a comparison without a model": (
        ["bench", "m.tlp", "--compare", "onnxruntime"],
        "m.tlp is a package without its ONNX model, and there is no file m.onnx",
    ),
    "no record": (["replay", "x.npy"], "is not a complete record"),
}


@pytest.fixture
def wrong_files(folder):
    texloom.compile("model.onnx", shapes={"x": (1, 3, 2, 4)}).save("m.tlp")
    content = (folder / "model.onnx").read_bytes()
    (folder / "truncated.onnx").write_bytes(content[: len(content) // 2])
    (folder / "empty.onnx").write_bytes(b"")
    (folder / "damaged.tlp").write_bytes((folder / "m.tlp").read_bytes()[:100])
    apart = {"save_as_external_data": True, "location": "apart.bin", "size_threshold": 0}
    onnx.save(scaled(), "apart.onnx", **apart)
    os.truncate("apart.bin", 5)
    (folder / "junk.tlp").write_bytes(content)
    (folder / "damaged.npy").write_bytes((folder / "x.npy").read_bytes()[:140])
    np.save("doubles.npy", np.zeros((1, 3, 2, 4)))
    np.save("small.npy", np.zeros((1, 2, 2, 4), "float32"))


@pytest.mark.parametrize("what", WRONG)
def test_wrong_calls_are_refused_in_words(wrong_files, capsys, what):
    arguments, message = WRONG[what]
    assert message in fails(capsys, *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "m.onnx", "--scale", "nan"], "argument --scale: nan is not finite"),
        (["run", "m.onnx", "--mean", "1,x"], "argument --mean: 'x' is not a number"),
        (["bench", "m.onnx", "--threads", "-3"], "--threads is -3, but must be at least 1"),
    ],
)
def test_wrong_numbers_are_refused_in_words(capsys, arguments, message):
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err
