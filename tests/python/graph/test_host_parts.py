"""Graphs of which some nodes run on the host, as native code, and the rest on a device."""

import numpy as np
import onnx
import pytest
from llvm_plugin import has_llvm

import texloom
from texloom import custom, te
from texloom.__main__ import main
from texloom.graph import Graph, load

pytestmark = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")

HOST = "llvm -mcpu=native"
X = np.random.default_rng(3).integers(-9, 10, (4, 6)).astype("float32")


def scaled(factor):
    return lambda x: te.compute(x.shape, lambda *i: x[i] * factor, name="out")


def added(x, y):
    return te.compute(x.shape, lambda *i: x[i] + y[i], name="out")


def chain(shape=(4, 6)):
    """Build (((x * 2) * 3) * 5 + x * 2) * 7."""
    g = Graph("chain")
    x = g.input("x", shape)
    (a,) = g.op("a", "Twice", scaled(2), [x])
    (b,) = g.op("b", "Thrice", scaled(3), [a])
    (c,) = g.op("c", "Five", scaled(5), [b])
    (d,) = g.op("d", "Add", added, [c, a])
    (e,) = g.op("e", "Seven", scaled(7), [d])
    g.output(e)
    return g


EXPECTED = (X * 30 + X * 2) * 7


def calls_of(compiled):
    return [name for name in compiled.summary["nodes"] if name.startswith("host part ")]


@pytest.mark.parametrize(
    ("placed", "parts"),
    [
        (["Thrice", "Five"], 1),
        (["b", "d"], 2),  # c, on the device, is between them
        (["a", "e"], 2),  # an input and an output of the graph
        (["a", "d"], 2),
        (["Twice", "Thrice", "Five", "Add"], 1),
    ],
)
def test_nodes_that_run_on_the_host(placed, parts):
    compiled = chain().compile("opencl", placed=dict.fromkeys(placed, HOST))
    assert len(calls_of(compiled)) == parts
    for _ in range(3):  # the second run is recorded, and submitted again
        assert (compiled.run({"x": X})["e"] == EXPECTED).all()


def test_tensors_are_copied_at_the_edges_alone(tmp_path, capsys):
    chain().compile("opencl", placed={"Thrice": HOST, "Five": HOST}).save(tmp_path / "chain.tlp")
    assert main(["inspect", str(tmp_path / "chain.tlp"), "--schedule"]) == 0
    listed = [line.split("  ") for line in capsys.readouterr().out.splitlines()[2:]]
    words = [" ".join(" ".join(line).split()) for line in listed]
    copies = [line for line in words if "copy " in line]
    assert len(copies) == 2 and "to the host" in copies[0] and "to the device" in copies[1]
    assert words.index(copies[0]) + 2 == words.index(copies[1])  # the part is between them
    assert "host wait runs on the host" in copies[0]


def test_a_part_with_several_inputs_outputs_and_a_constant():
    g = Graph("several")
    x = g.input("x", (4, 6))
    y = g.input("y", (4, 6))
    weights = g.constant("weights", np.full((4, 6), 4, "float32"))
    (a,) = g.op("a", "Device", scaled(2), [x])
    (b,) = g.op("b", "Host", added, [a, weights])
    (c,) = g.op("c", "Host", added, [b, y])
    (d,) = g.op("d", "Device", added, [b, c])
    g.output(d)
    g.output(c)
    compiled = g.compile("opencl", placed={"Host": HOST})
    assert len(calls_of(compiled)) == 1
    got = compiled.run({"x": X, "y": 3 * X})
    assert (got["c"] == 2 * X + 4 + 3 * X).all() and (got["d"] == 7 * X + 8).all()


def test_a_textured_neighbor_is_converted():
    compiled = chain((4, 6, 4)).compile("opencl", scopes="texture", placed={"b": HOST})
    x = np.repeat(X[..., None], 4, axis=2)
    assert (compiled.run({"x": x})["e"] == np.repeat(EXPECTED[..., None], 4, axis=2)).all()
    assert "texture" in compiled.summary["nodes"].values()


def test_functions_on_the_host_belong_to_a_part():
    @custom.host_operator("mine::doubled", {"x": "read", "y": "write"})
    def doubled(x, y):
        y[...] = x * 2

    g = Graph("functions")
    x = g.input("x", (4, 6))
    (a,) = g.op("a", "Twice", scaled(2), [x])
    b = g.custom("b", doubled, [a])
    (c,) = g.op("c", "Twice", scaled(2), [b])
    (d,) = g.op("d", "Device", scaled(3), [c])
    g.output(d)
    compiled = g.compile("opencl", placed={"Twice": HOST, "mine::doubled": HOST})
    assert len(calls_of(compiled)) == 1
    assert (compiled.run({"x": X})["d"] == X * 24).all()


def test_a_package_needs_leave_to_run_native_code(tmp_path):
    file = tmp_path / "chain.tlp"
    chain().compile("opencl", placed={"c": HOST}).save(file)
    with pytest.raises(texloom.TVMError, match="(?s)parts of it are only native code.*native=True"):
        load(file)
    assert (load(file, native=True).run({"x": X})["e"] == EXPECTED).all()
    main(["inspect", str(file)])
    content = bytearray(file.read_bytes())
    content[content.index(b"\x7fELF") + 200] ^= 1
    file.write_bytes(content)
    with pytest.raises(texloom.TVMError, match="checksum"):
        load(file, native=True)


def test_another_variant_does_not_bring_a_part_along(tmp_path):
    """Without leave, no device gets the variant with the part, but one after it."""
    file = tmp_path / "chain.tlp"
    whole = chain().compile("opencl")
    chain().compile("opencl", placed={"c": HOST}).save(file, others=[chain().compile("metal")])
    with pytest.raises(texloom.TVMError, match="has no variant"):
        load(file).run({"x": X}, "opencl")
    assert (whole.run({"x": X})["e"] == EXPECTED).all()


def test_a_processor_without_the_features():
    """No processor has both AMX and XOP."""
    target = "llvm -mtriple=x86_64-linux-gnu -mattr=+amx-tile,+xop"
    compiled = chain().compile("opencl", placed={"c": target})
    with pytest.raises(texloom.TVMError, match=r"(?s)part0.*has no variant.*(xop|amx-tile)"):
        compiled.run({"x": X})


@pytest.mark.parametrize(
    ("target", "placed", "message"),
    [
        ("opencl", {"Thrise": HOST}, "no node and no operation.*'Thrice'"),
        ("opencl", {}, "placed is {}"),
        ("opencl", ["b"], "placed is"),
        ("opencl", {"b": "metal"}, "one target of the kind 'llvm'"),
        ("opencl", {"b": HOST, "c": "llvm"}, "one target of the kind 'llvm'"),
        ("llvm", {"b": HOST}, "the whole graph is for 'llvm"),
        ("opencl", dict.fromkeys("abcde", HOST), "every node on the host"),
    ],
)
def test_what_cannot_be_placed(target, placed, message):
    with pytest.raises(texloom.TVMError, match=f"(?s){message}"):
        chain().compile(target, placed=placed)


def test_open_sizes_cannot_be_placed():
    with pytest.raises(texloom.TVMError, match=r"(?s)open sizes \(n\).*shapes of numbers"):
        chain(("n", 6)).compile("opencl", placed={"b": HOST})


def test_nodes_of_an_onnx_model():
    model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["" : 20]>
        sums (float[4, 6] x) => (float[4, 1] y) <int64[1] axis = {1}> {
          a = Abs(x)
          s = ReduceSum(a, axis)
          y = Neg(s)
        }""")
    compiled = texloom.compile(model, "opencl", placed={"ReduceSum": HOST})
    assert (compiled.run({"x": X})["y"] == -np.abs(X).sum(axis=1, keepdims=True)).all()
    assert "host part 0" in str(compiled)
