"""TVM's names that Texloom omits: each error names the replacement."""

import importlib

import pytest

import texloom as tvm
from texloom.tvm.out_of_scope import OMITTED


@pytest.mark.parametrize("name", OMITTED)
def test_name_is_refused(name):
    """Attributes, modules and prefixes are refused; `hasattr` and `try` see them as missing."""
    home, _, last = f"texloom.{name}".rpartition(".")
    module = importlib.import_module(home)
    with pytest.raises(AttributeError, match="TL2042") as caught:
        getattr(module, last)
    assert isinstance(caught.value, tvm.TVMError) and not hasattr(module, last)
    (diagnostic,) = caught.value.diagnostics
    assert f"there is no {name} in Texloom" in diagnostic.message and diagnostic.file == __file__
    with pytest.raises(ImportError, match="TL2042") as caught:
        importlib.import_module(f"texloom.{name}.part")
    assert isinstance(caught.value, tvm.TVMError)
    assert caught.value.diagnostics[0].file == __file__


def test_from_import_is_refused():
    """`from` imports are refused too, where Python looks for a module of the name."""
    with pytest.raises(ImportError, match="TL2042.*contrib.graph_executor") as caught:
        from texloom.contrib import graph_executor  # noqa: F401
    assert isinstance(caught.value, tvm.TVMError)


def test_other_names_are_as_python_has_them():
    for module in (tvm, tvm.te, tvm.tir, tvm.contrib, tvm.autotvm, tvm.autotvm.task):
        with pytest.raises(
            AttributeError, match=f"module '{module.__name__}' has no attribute 'x'"
        ):
            _ = module.x
    with pytest.raises(ModuleNotFoundError, match="texloom.x"):
        importlib.import_module("texloom.x")
