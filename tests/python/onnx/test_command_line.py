"""Commands for models: ``texloom compile``, ``run``, ``bench``, ``compare``, ``replay``, ``ops``.

All run in this process: ``main`` returns the exit code.
"""

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import texloom
import texloom.graph
from texloom.__main__ import main

SCALE = np.array([2, 3, 4], "float32").reshape(3, 1, 1)
SHAPE = ("--shape", "x=1x3x2x4")


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model_of(nodes, inputs, outputs, initializers=(), **imports):
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, list(initializers))
    domains = [helper.make_opsetid(domain, v) for domain, v in {"": 17, **imports}.items()]
    return helper.make_model(graph, opset_imports=domains, ir_version=9)


def scaled(shape=("N", 3, "H", "W")):
    """A model that computes ``x * SCALE + x``; its output's name is not a file name."""
    nodes = [
        helper.make_node("Mul", ["x", "w"], ["t"], name="scale"),
        helper.make_node("Add", ["t", "x"], ["out/y:0"], name="sum"),
    ]
    weights = onnx.numpy_helper.from_array(SCALE, "w")
    return model_of(nodes, [value("x", shape)], [value("out/y:0", shape)], [weights])


def expected(x):
    return x * SCALE + x  # small integers and halves: exact


def pixels(height, width):
    return np.random.default_rng(1).integers(0, 256, (height, width, 3), "uint8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with ``model.onnx``, of which extents are open, and ``x.npy``."""
    monkeypatch.chdir(tmp_path)
    onnx.save(scaled(), "model.onnx")
    np.save("x.npy", np.arange(24, dtype="float32").reshape(1, 3, 2, 4))
    return tmp_path


def succeeds(capsys, *arguments):
    code = main([str(each) for each in arguments])
    told = capsys.readouterr()
    assert code == 0, told.err
    return told.out


def fails(capsys, *arguments, code=1):
    """Run a command that must fail; return its one message, of which nothing is on stdout."""
    got = main([str(each) for each in arguments])
    told = capsys.readouterr()
    assert got == code
    assert "Traceback" not in told.err
    assert told.err.startswith(f"texloom {arguments[0]}: ")
    return told.err


def test_from_a_model_to_a_result(folder, capsys):
    told = succeeds(capsys, "compile", "model.onnx", "--shape", "x=1x3x2x4", "-o", "m.tlp")
    assert told.startswith("m.tlp: x: float32[1, 3, 2, 4] -> out/y:0\n1 launch of 1 kernel, ")
    told = succeeds(capsys, "run", "m.tlp", "--input", "x=x.npy", "--output-dir", "made/out")
    assert told.startswith("out/y:0: float32[1, 3, 2, 4], least 0, ")
    assert [each.name for each in (folder / "made/out").iterdir()] == ["out_y_0.npy"]
    np.testing.assert_array_equal(np.load("made/out/out_y_0.npy"), expected(np.load("x.npy")))


def test_a_model_runs_without_a_package(folder, capsys):
    succeeds(capsys, "run", "model.onnx", "--input", "x=x.npy", "--output-dir", "out")
    np.testing.assert_array_equal(np.load("out/out_y_0.npy"), expected(np.load("x.npy")))


def test_packages_get_metallibs(folder, capsys, monkeypatch):
    """Where Apple's tools are; said before the work where they are not."""
    arguments = ("compile", "model.onnx", *SHAPE, "--target", "metal", "--metallib")
    monkeypatch.setenv("PATH", str(folder))
    assert "there is no xcrun on this machine" in fails(capsys, *arguments)
    assert not (folder / "model.tlp").exists()
    (folder / "xcrun").write_text('#!/bin/sh\nfor file; do :; done\necho a metallib > "$file"\n')
    (folder / "xcrun").chmod(0o755)
    succeeds(capsys, *arguments)
    assert b"a metallib\n" in (folder / "model.tlp").read_bytes()


@pytest.mark.parametrize("target", [(), ("--target", "opencl -device=adreno")])
def test_metallibs_are_for_metal(target, folder, capsys):
    """Said before the model is read."""
    (folder / "model.onnx").write_bytes(b"no model")  # nobody gets as far
    told = fails(capsys, "compile", "model.onnx", *target, "--metallib")
    assert "[TL7001]" in told and "but the target is opencl" in told and "--target metal" in told
    assert not (folder / "model.tlp").exists()


@pytest.mark.filterwarnings("always::texloom.errors.TexloomWarning")
def test_a_warning_is_told_once_as_errors_are(folder, capsys):
    assert main(["compile", "model.onnx", *SHAPE, "--target", "metal -device=m99"]) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("texloom compile: warning[TL4003]: there is no preset")
    assert told[1].startswith("  help: use one of a13, m1, m2, m3, m4") and len(told) == 2


def test_no_package_is_left_without_its_metallibs(folder, capsys, monkeypatch):
    """Where the compiler fails, an earlier package stays."""
    arguments = ("compile", "model.onnx", *SHAPE, "--target", "metal", "--metallib")
    monkeypatch.setenv("PATH", str(folder))
    (folder / "xcrun").write_text("#!/bin/sh\necho 'no such sdk' >&2\nexit 1\n")
    (folder / "xcrun").chmod(0o755)
    before = sorted(folder.iterdir())
    assert "made no metallib: no such sdk" in fails(capsys, *arguments)
    assert sorted(folder.iterdir()) == before
    (folder / "model.tlp").write_bytes(b"an earlier one")
    fails(capsys, *arguments)
    assert (folder / "model.tlp").read_bytes() == b"an earlier one"


def test_a_package_has_the_names_of_the_model(folder):
    """Also outputs that are constants, or other outputs computed once more."""
    nodes = [
        helper.make_node("Add", ["x", "w"], ["y"]),
        helper.make_node("Sub", ["w", "w"], ["zero"]),
        helper.make_node("Add", ["w", "w"], ["x_1"]),
    ]
    inputs = [value("x", (3, 1, 1)), value("unused", (2,))]
    outputs = [value("zero", (3, 1, 1)), value("y", (3, 1, 1)), value("x_1", (3, 1, 1))]
    weights = onnx.numpy_helper.from_array(SCALE, "w")
    compiled = texloom.compile(model_of(nodes, inputs, outputs, [weights]))
    compiled.save("m.tlp")
    loaded = texloom.graph.load("m.tlp")
    assert [each.name for each in loaded.inputs] == ["x", "unused"]
    assert [each.name for each in loaded.outputs] == ["zero", "y", "x_1"]
    given = {"x": SCALE, "unused": np.zeros(2, "float32")}
    for made in (compiled.run(given), loaded.run(given)):
        assert list(made) == ["zero", "y", "x_1"]
        np.testing.assert_array_equal(made["zero"], 0 * SCALE)
        np.testing.assert_array_equal(made["y"], 2 * SCALE)
        np.testing.assert_array_equal(made["x_1"], 2 * SCALE)


def test_a_package_has_the_metadata_of_the_model(folder, capsys):
    """Such as the characters that a network reads; entries without a name are left out."""
    model = scaled()
    helper.set_model_props(model, {"character": "a\nb", "author": "somebody", "": "nothing"})
    onnx.save(model, "named.onnx")
    succeeds(capsys, "compile", "named.onnx", *SHAPE, "-o", "m.tlp")
    [view] = json.loads(succeeds(capsys, "inspect", "m.tlp", "--json"))
    view["metadata"].pop("scopes", None)
    assert view["metadata"] == {"character": "a\nb", "author": "somebody"}


def test_one_tensor_under_two_names(folder):
    nodes = [
        helper.make_node("Add", ["x", "x"], ["a"]),
        helper.make_node("Identity", ["a"], ["b"]),
        helper.make_node("Identity", ["x"], ["c"]),
    ]
    compiled = texloom.compile(model_of(nodes, [value("x", (2,))], [value(n, (2,)) for n in "abc"]))
    compiled.save("m.tlp")
    x = np.array([1, 2], "float32")
    for made in (compiled.run({"x": x}), texloom.graph.load("m.tlp").run({"x": x})):
        assert {name: array.tolist() for name, array in made.items()} == {
            "a": [2, 4],
            "b": [2, 4],
            "c": [1, 2],
        }


def test_an_output_that_is_an_input_is_in_no_package(folder):
    model = model_of([], [value("x", (2,))], [value("x", (2,))])
    compiled = texloom.compile(model)
    assert compiled.run({"x": np.ones(2, "float32")})["x"].tolist() == [1, 1]
    with pytest.raises(texloom.TVMError, match="the input 'x' is an output, too"):
        compiled.save("m.tlp")


def test_print_shows_what_is_compiled():
    model = texloom.compile(scaled())
    assert str(model).endswith("nothing is compiled before the shapes are known")
    model.run({"x": np.ones((1, 3, 1, 1), "float32")})
    assert "\noutput out/y:0: float32[1, 3, 1, 1]\n" in str(model) and "\ncost: " in str(model)


def test_progress_is_told(folder, capsys, monkeypatch):
    """Not within the first seconds; on a terminal in one line, which is removed."""
    from texloom.command_line import reports

    steps = []
    texloom.onnx.Model(scaled((1, 3, 2, 4)), progress=lambda *step: steps.append(step))
    assert steps[:2] == [("nodes are imported", 0, 2), ("nodes are imported", 1, 2)]
    assert steps[2][0] == "kernels are scheduled"
    succeeds(capsys, "compile", "model.onnx", *SHAPE)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(reports, "_QUIET_SECONDS", 0)
    assert main(["compile", "model.onnx", *SHAPE]) == 0
    assert capsys.readouterr().err == "texloom compile: nodes are imported: 0 of 2\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["compile", "model.onnx", *SHAPE]) == 0
    told = capsys.readouterr().err
    assert told.startswith("\rtexloom compile: nodes are imported: 0 of 2")
    assert told.endswith(" \r")


def test_values_of_inputs_become_constants(folder, capsys):
    """A Reshape's shape is an input: without its value no package can be compiled."""
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["r"]),
        helper.make_node("Add", ["r", "r"], ["y"]),
    ]
    inputs = [value("x", (2, 3)), value("shape", (2,), TensorProto.INT64)]
    onnx.save(model_of(nodes, inputs, [value("y", (None, None))]), "r.onnx")
    told = fails(capsys, "compile", "r.onnx")
    assert "depend on the values of the inputs 'shape'" in told
    assert "--value shape=FILE" in told
    np.save("shape.npy", np.array([3, 2]))
    succeeds(capsys, "compile", "r.onnx", "--value", "shape=shape.npy")
    made = texloom.graph.load("r.tlp").run({"x": np.arange(6, dtype="float32").reshape(2, 3)})
    np.testing.assert_array_equal(made["y"], [[0, 2], [4, 6], [8, 10]])


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_pictures(folder, capsys, layout):
    """Channels as the shape says, from 0 to 1, then mean and std, in the order of the tensor."""
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
    np.testing.assert_allclose(np.load("out/y.npy"), want, rtol=0, atol=2**-21)  # 4 roundings of <4


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
    """By name among several arrays; without NAME= all of them."""
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


WRONG = {
    "a mean without a picture": (
        ["run", "model.onnx", "--input", "x=x.npy", "--mean", "0.5"],
        "error[TL7001]: --mean, --std, --scale and --bgr are for pictures, and no --input is one",
    ),
    "a device of no costs": (
        ["compile", "model.onnx", *SHAPE, "--costs-device", "abacus"],
        "the device 'abacus' is named, but there are no costs",
    ),
    "a shape that contradicts": (
        ["compile", "model.onnx", "--shape", "x=1x4x2x2"],
        "error[TL5003]: the model's input 'x' has the shape (N, 3, H, W), the given shape is "
        "(1, 4, 2, 2)",
    ),
    "another rank": (["compile", "model.onnx", "--shape", "x=3"], "error[TL5003]"),
    "two shapes": (
        ["compile", "model.onnx", *SHAPE, "--shape", "x=1x3x2x5"],
        "--shape gives 'x' two shapes",
    ),
    "a shape of no input": (["compile", "model.onnx", "--shape", "z=3"], "no input 'z'"),
    "no shape": (["compile", "model.onnx", "--shape", "x=1xN"], "is not NAME=AxBxC"),
    "half precision": (
        ["compare", "model.onnx", *SHAPE, "--precision", "fp16"],
        "the results of single nodes are not stored as float16",
    ),
    "an unknown target": (["compile", "model.onnx", *SHAPE, "--target", "abacus"], "TL4003"),
    "no file": (["compile", "none.onnx"], "none.onnx: No such file or directory"),
    "a folder": (["compile", "."], "Is a directory"),
    "no folder for the package": (
        ["compile", "model.onnx", *SHAPE, "-o", "no/m.tlp"],
        "there is no folder no",
    ),
    "a package to compile": (["compile", "m.tlp"], "is a package already"),
    "options for a package": (["run", "m.tlp", *SHAPE], "--shape is for ONNX models"),
    "no input": (["run", "m.tlp"], "no --input gives x: float32[1, 3, 2, 4]"),
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
        "a package has no ONNX model, and there is no m.onnx",
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
        (["bench", "m.onnx", "--threads", "-3"], "--threads is at least 1"),
    ],
)
def test_wrong_numbers_are_refused_in_words(capsys, arguments, message):
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err


def test_all_that_is_unsupported_is_listed_at_once(folder, capsys):
    """Also nodes after others that are not supported, and nodes that are wrong otherwise."""
    nodes = [
        helper.make_node("Foo", ["x"], ["a"], name="first", domain="my"),
        helper.make_node("Foo", ["a"], ["b"], name="second", domain="my"),
        helper.make_node("Nonsense", ["b"], ["c"], name="third"),
        helper.make_node("Add", ["x", "z"], ["d"], name="mismatch"),
        helper.make_node("Mul", ["c", "d"], ["y"], name="fine"),
    ]
    inputs = [value("x", (2,)), value("z", (3,))]
    onnx.save(model_of(nodes, inputs, [value("y", None)], my=1), "u.onnx")
    told = fails(capsys, "compile", "u.onnx").splitlines()
    assert told[0].endswith("4 nodes cannot be converted: 2 my::Foo, 1 Nonsense, 1 Add")
    assert told[1] == "  note: my::Foo: the operator is not supported: 2 x ('first', 'second')"
    assert told[2] == "  note: Nonsense: the operator is not supported: 1 x ('third')"
    assert "(2,), (3,) do not broadcast" in told[3] and told[3].endswith("1 x ('mismatch')")
    with pytest.raises(texloom.onnx.Unsupported) as caught:
        texloom.compile("u.onnx")
    assert [each.node for each in caught.value.refusals] == ["first", "second", "third", "mismatch"]


def test_nodes_after_an_unsupported_one_are_converted(folder):
    """ONNX infers the shape of what the first one gives, so that the second is checked."""
    nodes = [
        helper.make_node("Bernoulli", ["x"], ["a"], name="random"),
        helper.make_node("Add", ["a", "z"], ["y"], name="mismatch"),
    ]
    model = model_of(nodes, [value("x", (2,)), value("z", (3,))], [value("y", None)])
    with pytest.raises(texloom.onnx.Unsupported) as caught:
        texloom.compile(model)
    assert [each.node for each in caught.value.refusals][-1] == "mismatch"


def test_shapes_follow_from_names_of_extents():
    """The shape of z is known from x's, since both have the extent N."""
    add = helper.make_node("Add", ["x", "z"], ["y"])
    model = model_of([add], [value("x", ("N", 2)), value("z", ("N", 1))], [value("y", None)])
    compiled = texloom.compile(model, shapes={"x": (3, 2)})
    assert compiled.shapes == {"x": (3, 2), "z": (3, 1)}
    assert "output y: float32[3, 2]" in str(compiled)


@pytest.mark.parametrize("extents", [(3, 4), (3, 1)])
def test_extents_of_one_name_are_equal(extents, tmp_path):
    add = helper.make_node("Add", ["x", "z"], ["y"])
    model = model_of([add], [value("x", ("N",)), value("z", ("N",))], [value("y", None)])
    x, z = (np.ones(extent, "float32") for extent in extents)
    told = f"the extent 'N' is 3 in the input 'x' and {extents[1]} in 'z'"
    with pytest.raises(texloom.TVMError, match=told):
        texloom.compile(model).run({"x": x, "z": z})
    with pytest.raises(texloom.TVMError, match=told):
        texloom.compile(model, shapes={"x": x.shape, "z": z.shape})
    texloom.compile(model).save(tmp_path / "open.tlp")
    with pytest.raises(texloom.TVMError, match="TL5003"):
        texloom.graph.load(tmp_path / "open.tlp").run({"x": x, "z": z})


def test_interrupted_commands_leave_nothing(folder, capsys, monkeypatch):
    """Ctrl-C while outputs are written: the earlier file stays, and no other one is there."""
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
    """The file is named, not the one that is beside it until it is whole."""
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


def test_bench_beside_onnxruntime(folder, capsys):
    arguments = ["--compare", "onnxruntime", "--rounds", 1]
    succeeds(capsys, "compile", "model.onnx", *SHAPE)
    told = succeeds(capsys, "bench", "model.tlp", *arguments)
    assert "x as fast" in told and "differ from onnxruntime's by up to 0 of" in told
    facts = json.loads(succeeds(capsys, "bench", "model.onnx", *SHAPE, *arguments, "--json"))
    assert set(facts["seconds"]) == {"run", "device", "onnxruntime"}
    assert all(0 < seconds < 10 for seconds in facts["seconds"].values())
    assert facts["largest_difference"] <= 2**-22  # two roundings each


def test_bench_shows_the_kernels(folder, capsys):
    succeeds(capsys, "compile", "model.onnx", *SHAPE)
    texloom.nd.empty((1,), "float32", texloom.opencl())  # opens a device
    assert "in a process of its own" in fails(capsys, "bench", "model.tlp", "--kernels")
    bench = [sys.executable, "-m", "texloom", "bench", "model.tlp", "--kernels", "--rounds", "3"]
    told = subprocess.run([*bench, "--json"], capture_output=True, text=True, check=True).stdout
    copies = {"update", "readback"}
    rows = json.loads(told)["kernels"]
    kernels = [each for each in rows if each["name"] not in copies]
    assert [each["executions"] for each in kernels] == [1]
    assert 0 < kernels[0]["seconds"] < 10
    told = subprocess.run(bench, capture_output=True, text=True, check=True).stdout
    assert kernels[0]["name"] in told


@pytest.mark.parametrize("against", ["onnxruntime", "reference"])
def test_compare_finds_no_difference(folder, capsys, against):
    told = succeeds(capsys, "compare", "model.onnx", *SHAPE, "--against", against, "--all")
    assert (
        "Mul 'scale'" in told and f"2 outputs of nodes within the bounds, against {against}" in told
    )


def test_compare_says_that_the_other_one_does_not_run_the_model(folder, capsys, monkeypatch):
    from texloom.command_line import compare

    monkeypatch.setattr(compare, "_outputs_of", lambda *_: None)
    told = succeeds(capsys, "compare", "model.onnx", *SHAPE)
    assert "from these, and onnxruntime does not run the whole model" in told


@pytest.mark.parametrize("share", [1 / 1000, 2**-17])
def test_compare_finds_a_wrong_node(folder, capsys, monkeypatch, share):
    """Both are above the bound of an addition; the product before it is right."""
    from texloom.onnx.converters import converter_of
    from texloom.onnx.converters.registry import _CONVERTERS
    from texloom.ops import elementwise

    def wrong(node):
        def add(a, b):
            return elementwise.multiply(elementwise.add(a, b), texloom_constant(a.dtype))

        def texloom_constant(dtype):
            return texloom.te.compute((), lambda: texloom.tir.const(1 + share, dtype))

        return node.emit("add", add, [node.input(0), node.input(1)])

    assert converter_of("", "Add") is not None
    monkeypatch.setitem(_CONVERTERS, ("", "Add"), wrong)
    assert main(["compare", "model.onnx", *SHAPE]) == 1
    told = capsys.readouterr().out
    assert "Add 'sum' differs from onnxruntime, the first after 1 output" in told
    assert "kernels      " in told and "in float64   " in told


def test_records_are_replayed(folder, capsys):
    from texloom.command_line.recording import load_record

    succeeds(capsys, "run", "model.onnx", "--input", "x=x.npy", "--record", "bug.tlz")
    told = succeeds(capsys, "replay", "bug.tlz")
    assert "out/y:0: 0 of 24 elements differ" in told
    record = load_record(folder / "bug.tlz")
    assert record.device == "opencl:0" and record.facts["error"] is None
    np.testing.assert_array_equal(record.inputs["x"], np.load("x.npy"))


def test_a_record_has_the_values_that_shapes_depend_on(folder, capsys):
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["y"])]
    inputs = [value("x", ("N", 3)), value("shape", (2,), TensorProto.INT64)]
    onnx.save(model_of(nodes, inputs, [value("y", (None, None))]), "r.onnx")
    np.save("shape.npy", np.array([3, 2]))
    np.save("x.npy", np.arange(6, dtype="float32").reshape(2, 3))
    given = ["--input", "x=x.npy", "--input", "shape=shape.npy"]
    succeeds(capsys, "run", "r.onnx", *given, "--record", "r.tlz")
    assert "y: 0 of 6 elements differ" in succeeds(capsys, "replay", "r.tlz")


def test_a_replay_tells_differences(folder, capsys, monkeypatch):
    from texloom.graph import RunnableGraph

    succeeds(capsys, "run", "model.onnx", "--input", "x=x.npy", "--record", "bug.tlz")
    run = RunnableGraph.run
    monkeypatch.setattr(
        RunnableGraph,
        "run",
        lambda *given: {n: a + (a == 0) * np.float32(3) for n, a in run(*given).items()},
    )
    assert main(["replay", "bug.tlz"]) == 1
    assert "out/y:0: 1 of 24 elements differ, by up to 3\n" in capsys.readouterr().out


def test_a_failing_run_is_recorded(folder, capsys):
    from texloom.command_line.recording import load_record

    texloom.compile("model.onnx", shapes={"x": (1, 3, 2, 4)}).save("m.tlp")
    arguments = ["--input", "x=x.npy", "--device", "opencl:99", "--record", "bug.tlz"]
    fails(capsys, "run", "m.tlp", *arguments)
    record = load_record(folder / "bug.tlz")
    assert "TL5006" in record.facts["error"] and record.device == "opencl:99"
    assert "this one did not" in succeeds(capsys, "replay", "bug.tlz", "--device", "opencl:0")


def test_ops_lists_the_converters(capsys):
    from texloom.onnx.converters import supported

    every = {
        (each["domain"], each["name"]): each
        for each in json.loads(succeeds(capsys, "ops", "--json"))
    }
    for key in supported():
        assert every[key]["by"] == "converter"
    assert every["", "Add"]["versions"] == [7, 13, 14]
    assert every["", "Constant"]["by"] == "import"
    assert every["", "StringConcat"]["by"] == ""
    assert re.search("^Add +7, 13, 14$", succeeds(capsys, "ops"), re.MULTILINE)
    assert "\nStringConcat " in succeeds(capsys, "ops", "--missing")


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


def test_a_missing_package_is_named(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    told = fails(capsys, "compare", "model.onnx", *SHAPE)
    assert "needs the Python package 'onnxruntime'\n  help: pip install onnxruntime" in told


def test_without_onnx_packages_still_run(folder):
    """A fresh process without onnx compiles nothing, but says so, and runs packages."""
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
