"""Custom operators from bodies of kernels, and the declarative files that hold them."""

import json

import numpy as np
import pytest
from softshrink import VALUES, pair, shrunk

import texloom
from texloom import custom, nd

SOFTSHRINK = """
int c = tl_global_id(0), r = tl_global_id(1);
tl_texel(x) v = tl_load(x, c, r);
tl_store(y, c, r, v - clamp(v, -l, l));
"""


DECLARATION = {
    "name": "test::softshrink",
    "arguments": {"x": "read texture", "y": "write texture"},
    "attributes": {"l": 0.5},
    "threads": ["x.width", "x.height"],
    "workgroup": [4, 2],
    "body": SOFTSHRINK.strip().split("\n"),
}


def test_a_source_kernel_over_textures(dev):
    op = custom.source_operator(**{**DECLARATION, "body": SOFTSHRINK})
    x, y = pair(dev, "texture")
    op(x, y)
    assert np.array_equal(y.numpy(), shrunk(VALUES, 0.5))
    op.checked(x, y, l=1)
    assert np.array_equal(y.numpy(), shrunk(VALUES, 1))
    assert op.shapes(("float16", (2, 5))) == [("float16", (2, 5))]


# A write outside of y is found even if it is inside the larger image that holds y.
def test_writes_outside_of_a_tensor_are_found(dev):
    x = nd.array(VALUES, dev, "texture")
    y = nd.empty((3, 3, 4), "float32", dev, "texture", origin=(1, 1), image=(6, 6))
    custom.source_operator(**{**DECLARATION, "body": SOFTSHRINK}).checked(x, y)
    assert np.array_equal(y.numpy(), shrunk(VALUES, 0.5))
    stray = custom.source_operator(
        **{**DECLARATION, "body": SOFTSHRINK.replace("(y, c", "(y, c + 1")}
    )
    with pytest.raises(texloom.TVMError, match="writes byte .* outside of the operator's"):
        stray.checked(x, y)


def test_a_body_that_does_not_compile(dev):
    op = custom.source_operator(**{**DECLARATION, "body": "unknown_word();"})
    with pytest.raises(texloom.TVMError, match="unknown_word") as raised:
        op(*pair(dev, "texture"))
    assert 'operator "test::softshrink"' in str(raised.value)
    assert "correct the body" in raised.value.diagnostics[0].help
    assert "code generation" not in str(raised.value)


@pytest.mark.parametrize("expression", ["x.height / 4", "x.d5"])
def test_a_source_kernel_has_threads(dev, expression):
    op = custom.source_operator(**{**DECLARATION, "threads": ["x.width", expression]})
    with pytest.raises(texloom.TVMError) as raised:
        op(*pair(dev, "texture"))
    (diagnostic,) = raised.value.diagnostics
    assert f'operator "test::softshrink": threads[1] = "{expression}"' in diagnostic.message
    assert diagnostic.help.startswith("use ")


def test_a_source_kernel_needs_its_language():
    op = custom.source_operator(**{**DECLARATION, "body": SOFTSHRINK})
    with pytest.raises(texloom.TVMError, match="OpenCL C") as raised:
        op(*pair(texloom.device("host", 0), "texture"))
    assert "register a host operator" in raised.value.diagnostics[0].help


def written(tmp_path, text):
    path = tmp_path / "op.json"
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return path


def test_a_file_declares_an_operator(dev, tmp_path):
    op = custom.load_operator(written(tmp_path, DECLARATION))
    assert repr(op) == "Operator('test::softshrink', version=1)"
    x, y = pair(dev, "texture")
    op(x, y)
    assert np.array_equal(y.numpy(), shrunk(VALUES, 0.5))


WRONG = {
    "op.json: file: is not JSON": "{",
    "op.json: name: occurs twice": '{"name": "a::b", "name": "a::c"}',
    "op.json: threads: is missing": {k: v for k, v in DECLARATION.items() if k != "threads"},
    "op.json: bodies: is unknown": {**DECLARATION, "bodies": ""},
    "op.json: name: is 3, not a string": {**DECLARATION, "name": 3},
    'op.json: "softshrink" is not a name': {**DECLARATION, "name": "softshrink"},
    "op.json: version: is -1": {**DECLARATION, "version": -1},
    "op.json: arguments: is ": {**DECLARATION, "arguments": ["x"]},
    "op.json: arguments.x.access: is 'reads'": {**DECLARATION, "arguments": {"x": "reads"}},
    "op.json: arguments.x.storage: is 'image'": {**DECLARATION, "arguments": {"x": "read image"}},
    "op.json: arguments.x.kind: is unknown": {**DECLARATION, "arguments": {"x": {"kind": 1}}},
    r"op.json: arguments.x.layout.rows\[0\]: is -1": {
        **DECLARATION,
        "arguments": {"x": {"access": "read", "layout": {"rows": [-1]}}},
    },
    "op.json: .* needs its storage": {**DECLARATION, "arguments": {"x": "read"}},
    "op.json: attributes.l.type: is 'double'": {**DECLARATION, "attributes": {"l": "double"}},
    "op.json: attributes.l.default: is 'a', not": {
        **DECLARATION,
        "attributes": {"l": {"type": "float", "default": "a"}},
    },
    r"op.json: dtypes\[0\]: is 'float32', not a list": {**DECLARATION, "dtypes": ["float32"]},
    "'float31' is not a dtype": {**DECLARATION, "dtypes": [["float31", "float32"]]},
    "op.json: .* like: .z. is not an argument": {**DECLARATION, "like": {"y": "z"}},
    r"op.json: workgroup\[1\]: is 0": {**DECLARATION, "workgroup": [1, 0]},
    "op.json: workgroup: has 4 entries": {**DECLARATION, "workgroup": [1, 1, 1, 1]},
    r'op.json: .*: threads\[0\]: "x.wide": unknown name': {**DECLARATION, "threads": ["x.wide"]},
    r"op.json: body\[0\]: is 1, not a string": {**DECLARATION, "body": [1]},
    "op.json: .* the body is empty": {**DECLARATION, "body": ""},
    r"op.json: .* line 2 of the body: tl_get\(x\): .x. is a texture": {
        **DECLARATION,
        "body": ["int i = 0;", "tl_get(x, i);"],
    },
    r"op.json: .* threads\[0\] = .0.: is 0, so no thread would run": {
        **DECLARATION,
        "threads": [0],
    },
    "op.json: .* .float. is a reserved word of kernel": {**DECLARATION, "attributes": {"float": 1}},
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_wrong_in_a_file_is_named(tmp_path, message):
    with pytest.raises(texloom.TVMError, match=message.replace('"', ".")) as raised:
        custom.load_operator(written(tmp_path, WRONG[message]))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.file == __file__
    assert len(diagnostic.help) > 5


def test_a_file_that_is_absent(tmp_path):
    with pytest.raises(ValueError, match="none.json: file: cannot be read"):
        custom.load_operator(tmp_path / "none.json")


@pytest.mark.parametrize("call", ["__call__", "checked"])
def test_a_source_operator_writes_only_arrays_of_its_shapes(call):
    """A smaller array is refused, because the operator's body would write past its end."""
    op = custom.source_operator(
        "test::copied",
        {"x": "read buffer", "y": "write buffer"},
        "int i = tl_global_id(0); tl_put(y, i, tl_get(x, i));",
        threads=["x.places"],
    )
    x = nd.array(np.arange(64, dtype="float32"), texloom.opencl())
    with pytest.raises(texloom.TVMError, match=r"has the shape \(4\), but the operator"):
        getattr(op, call)(x, nd.empty((4,), "float32", texloom.opencl()))
    y = nd.empty((64,), "float32", texloom.opencl())
    getattr(op, call)(x, y)
    np.testing.assert_array_equal(y.numpy(), x.numpy())
