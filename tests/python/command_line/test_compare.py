"""``texloom compare``."""

import sys

import pytest
from command_model import SHAPE, fails, succeeds

import texloom
from texloom.__main__ import main


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
    """Both errors exceed the bound of an addition; the product before the addition is right."""
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


def test_a_missing_package_is_named(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    told = fails(capsys, "compare", "model.onnx", *SHAPE)
    assert "needs the Python package 'onnxruntime'\n  help: pip install onnxruntime" in told
