"""``texloom compile``: packages of models."""

import json
import sys

import numpy as np
import onnx
import pytest
from command_model import SCALE, SHAPE, expected, fails, model_of, scaled, succeeds, value
from onnx import TensorProto, helper

import texloom
import texloom.graph
from texloom.__main__ import main


def test_from_a_model_to_a_result(folder, capsys):
    told = succeeds(capsys, "compile", "model.onnx", "--shape", "x=1x3x2x4", "-o", "m.tlp")
    assert told.startswith("m.tlp: x: float32[1, 3, 2, 4] -> out/y:0\n1 launch of 1 kernel, ")
    told = succeeds(capsys, "run", "m.tlp", "--input", "x=x.npy", "--output-dir", "made/out")
    assert told.startswith("out/y:0: float32[1, 3, 2, 4], least 0, ")
    assert [each.name for each in (folder / "made/out").iterdir()] == ["out_y_0.npy"]
    np.testing.assert_array_equal(np.load("made/out/out_y_0.npy"), expected(np.load("x.npy")))


def test_packages_get_metallibs(folder, capsys, monkeypatch):
    """Apple's tools make the metallibs; without the tools, the command fails at once."""
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
    """The command fails before it reads the model."""
    (folder / "model.onnx").write_bytes(b"no model")  # not read
    told = fails(capsys, "compile", "model.onnx", *target, "--metallib")
    assert "[TL7001]" in told and "but the target is opencl" in told and "--target metal" in told
    assert not (folder / "model.tlp").exists()


def test_packages_get_binaries(folder, capsys, dev):
    """The target names the device whose driver compiles the kernels."""
    name = f"{dev.driver}:{dev.device_id}"
    arguments = ("compile", "model.onnx", *SHAPE, "--target", name, "-o", "m.tlp")
    succeeds(capsys, *arguments)
    plain = succeeds(capsys, "inspect", "m.tlp")
    succeeds(capsys, *arguments, "--binaries")
    assert "  binaries\n" in succeeds(capsys, "inspect", "m.tlp") and "binaries" not in plain
    succeeds(capsys, "run", "m.tlp", "--input", "x=x.npy", "--device", name, "--output-dir", "made")
    np.testing.assert_array_equal(np.load("made/out_y_0.npy"), expected(np.load("x.npy")))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ((), "but --target names none"),
        (("--target", "opencl -device=adreno"), "but --target names none"),
        (("--target", "metal"), "but the target is metal"),
        (("--target", "haswell"), "but the target is llvm: no driver returns binaries"),
        (("--emit=object", "-o", "m.o"), "but --emit asks for an object file"),
    ],
)
def test_binaries_are_for_opencl_devices(given, problem, folder, capsys):
    """The command fails before it reads the model, and says what to do."""
    (folder / "model.onnx").write_bytes(b"no model")  # not read
    before = sorted(folder.iterdir())
    told = fails(capsys, "compile", "model.onnx", *given, "--binaries")
    assert "[TL7001]" in told and problem in told
    assert "--target opencl:0" in told or "leave one of the two out" in told
    assert sorted(folder.iterdir()) == before


@pytest.mark.filterwarnings("always::texloom.errors.TexloomWarning")
def test_a_warning_is_told_once_as_errors_are(folder, capsys):
    assert main(["compile", "model.onnx", *SHAPE, "--target", "metal -device=m99"]) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("texloom compile: warning[TL4003]: there is no preset")
    assert told[1].startswith("  help: use one of a13, m1, m2, m3, m4") and len(told) == 2


def test_no_package_is_left_without_its_metallibs(folder, capsys, monkeypatch):
    """If Apple's compiler fails, an earlier package stays unchanged."""
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
    """Constant outputs and inputs that no node reads keep their names, too."""
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
    """The package keeps the model's metadata entries, except entries without a name."""
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
    with pytest.raises(texloom.TVMError, match="'x' is both an input and an output"):
        compiled.save("m.tlp")


def test_print_shows_what_is_compiled():
    model = texloom.compile(scaled())
    assert str(model).endswith("nothing is compiled before the shapes are known")
    model.run({"x": np.ones((1, 3, 1, 1), "float32")})
    assert "\noutput out/y:0: float32[1, 3, 1, 1]\n" in str(model) and "\ncost: " in str(model)


def test_progress_is_told(folder, capsys, monkeypatch):
    """Progress appears after a few seconds; on a terminal it is one line, removed at the end."""
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


def test_all_that_is_unsupported_is_listed_at_once(folder, capsys):
    """The list includes nodes after unsupported nodes, and nodes with errors of other kinds."""
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
    """ONNX infers the shape of the unsupported node's output, so the next node is checked, too."""
    nodes = [
        helper.make_node("Bernoulli", ["x"], ["a"], name="random"),
        helper.make_node("Add", ["a", "z"], ["y"], name="mismatch"),
    ]
    model = model_of(nodes, [value("x", (2,)), value("z", (3,))], [value("y", None)])
    with pytest.raises(texloom.onnx.Unsupported) as caught:
        texloom.compile(model)
    assert [each.node for each in caught.value.refusals][-1] == "mismatch"


def test_shapes_follow_from_names_of_extents():
    """The shape of z follows from the shape of x: both have the extent N."""
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
