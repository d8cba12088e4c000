"""Nodes of other domains, which call custom operators."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import texloom
import texloom.onnx
from texloom import custom
from texloom.graph import load

softshrink = custom.source_operator(
    "org.mine::softshrink",
    {"x": "read buffer", "y": "write buffer"},
    "float v = tl_get(x, tl_global_id(0)); tl_put(y, tl_global_id(0), v - clamp(v, -l, l));",
    attributes={"l": 0.5},
    threads=["x.places"],
)


@custom.host_operator(
    "org.mine::split", {"x": "read", "low": "write", "high": "write"}, like={"high": "x"}
)
def split(x, low, high):
    low[...] = np.minimum(x, 0)
    high[...] = np.maximum(x, 0)


X = np.linspace(-2, 2, 24, dtype="float32").reshape(2, 3, 4)


def model(shape=(2, 3, 4), version=1, **attributes):
    """Return a model that computes ``low`` and ``high`` from ``softshrink(x + x)``."""
    nodes = [
        helper.make_node("Add", ["x", "x"], ["twice"]),
        helper.make_node("softshrink", ["twice"], ["shrunk"], domain="org.mine", **attributes),
        helper.make_node("split", ["shrunk"], ["low", "high"], "cut", domain="org.mine"),
    ]
    types = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name in ("x", "low", "high")
    ]
    graph = helper.make_graph(nodes, "custom", types[:1], types[1:])
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("org.mine", version)]
    return helper.make_model(graph, opset_imports=domains, ir_version=9)


def expected(limit):
    shrunk = 2 * X - np.clip(2 * X, -np.float32(limit), np.float32(limit))
    return {"low": np.minimum(shrunk, 0), "high": np.maximum(shrunk, 0)}


@pytest.mark.parametrize("shape", [(2, 3, 4), ("n", 3, 4)])
def test_operators_of_a_model(dev, tmp_path, shape):
    """A kernel with an attribute and a host function with two outputs run, also for open shapes."""
    compiled = texloom.compile(model(shape, l=0.25), operators=[softshrink, split])
    got = compiled.run({"x": X}, dev)
    for name, values in expected(0.25).items():
        np.testing.assert_array_equal(got[name], values)


def test_packages_wait_on_request(dev, tmp_path):
    """`load` takes the package's operators; waits_around_operators makes runs wait around each."""
    path = tmp_path / "custom.tlp"
    texloom.compile(model(), operators=[softshrink, split]).save(path)
    for waits in (False, True):
        graph = load(path, [softshrink, split], waits_around_operators=waits)
        for _ in range(2):  # the second run submits what the first one recorded
            got = graph.run({"x": X}, dev)
            for name, values in expected(0.5).items():
                np.testing.assert_array_equal(got[name], values)


def test_missing_operators_are_listed():
    with pytest.raises(texloom.onnx.Unsupported, match="2 nodes") as raised:
        texloom.compile(model())
    assert {each.op for each in raised.value.refusals} == {
        "org.mine::softshrink",
        "org.mine::split",
    }
    assert "operators=" in str(raised.value)


@custom.host_operator("com.microsoft::Gelu", {"x": "read", "y": "write"}, attributes={"step": 1.0})
def own_gelu(x, y, step):
    y[...] = x + np.float32(step)


def test_a_given_operator_replaces_a_converter(dev):
    """It is also called with attributes that onnxruntime's operator of that name does not have."""
    changed = model()
    changed.graph.node[1].op_type, changed.graph.node[1].domain = "Gelu", "com.microsoft"
    changed.graph.node[1].attribute.append(helper.make_attribute("step", 2.0))
    changed.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    got = texloom.compile(changed, operators=[own_gelu, split]).run({"x": X}, dev)
    np.testing.assert_array_equal(got["high"], np.maximum(2 * X + 2, 0))
    with pytest.raises(texloom.onnx.Unsupported, match="step"):
        texloom.compile(changed, operators=[split])


def test_nodes_after_a_refused_node_are_not_refused():
    """An operator that is given is known also where its input is missing."""
    changed = model()
    changed.graph.node[0].op_type = "NoSuch"
    changed.graph.node[0].domain = "org.mine"
    with pytest.raises(texloom.onnx.Unsupported) as raised:
        texloom.compile(changed, operators=[softshrink, split])
    assert [each.op for each in raised.value.refusals] == ["org.mine::NoSuch"]


def test_an_operator_is_given_once():
    with pytest.raises(
        texloom.TVMError,
        match=r"TL2044.*two of the operators are version 1 of 'org.mine::softshrink'",
    ):
        texloom.compile(model(), operators=[softshrink, split, softshrink])


def test_the_version_is_that_of_the_domain():
    """An operator of another version is not ignored, though a converter takes the node."""
    said = r"has version 2 of its domain.*has version 1 .*version=2"
    with pytest.raises(texloom.onnx.Unsupported, match=said):
        texloom.compile(model(version=2), operators=[softshrink])
    changed = model()
    changed.graph.node[1].op_type, changed.graph.node[1].domain = "Gelu", "com.microsoft"
    changed.opset_import.append(helper.make_opsetid("com.microsoft", 2))
    with pytest.raises(texloom.onnx.Unsupported, match=said):
        texloom.compile(changed, operators=[own_gelu, split])


@pytest.mark.parametrize(
    ("operators", "said"),
    [
        (own_gelu, "operators is a value of type Operator, not a list of custom operators"),
        (None, "operators is None"),
        ([len], "operators has a value of type builtin_function_or_method, not a custom operator"),
        (["a"], "operators has 'a'"),
    ],
)
def test_what_is_no_list_of_operators(tmp_path, operators, said):
    texloom.compile(model(), operators=[softshrink, split]).save(tmp_path / "one.tlp")
    for call in (
        lambda: texloom.compile(model(), operators=operators),
        lambda: load(tmp_path / "one.tlp", operators),
    ):
        with pytest.raises(texloom.TVMError, match=f"TL2040.*{said}"):
            call()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda nodes: nodes[1].attribute.append(helper.make_attribute("slope", 1.0)), "slope"),
        (lambda nodes: nodes[1].input.append(""), "leaves out an input"),
        (lambda nodes: nodes[2].output.pop(), "1 outputs"),
    ],
    ids=["attribute", "input", "outputs"],
)
def test_calls_that_do_not_fit(change, message):
    """A node that does not fit its operator is refused with the node's name and the reason."""
    changed = model()
    change(changed.graph.node)
    if len(changed.graph.node[2].output) == 1:
        del changed.graph.output[1]
    onnx.checker.check_model(changed)
    with pytest.raises(texloom.onnx.Unsupported, match=message):
        texloom.compile(changed, operators=[softshrink, split])
