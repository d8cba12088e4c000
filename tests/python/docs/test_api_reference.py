"""The API reference: every public name is in it, with a docstring that can be read as numpy's."""

import inspect
import re
import sys
from pathlib import Path

import docstring_parser
import pytest

from texloom import _core

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

import api_names
import api_pages

NAMES = [
    (module, name, value)
    for module in api_names.MODULES
    for name, value in api_names.names_of(module).items()
]
MEMBERS = [
    (f"{module}.{name}", member, value)
    for module, name, cls in NAMES
    if inspect.isclass(cls)
    for member, value in api_names.members(cls).items()
]


def test_every_module_is_public_or_not():
    """A new module must be put into one of the lists."""
    listed = [*api_names.MODULES, *api_names.INTERNAL]
    assert sorted(listed) == sorted(set(listed)), "a module is listed twice"
    assert set(api_names.modules()) == set(listed)


def test_every_public_name_has_a_docstring():
    lacking = [f"{module}.{name}" for module, name, value in NAMES if not doc(value)]
    lacking += [module for module in api_names.MODULES if not doc(api_names.imported(module))]
    assert lacking == []


def test_every_public_member_has_a_docstring():
    described = [row for row in MEMBERS if not api_names.is_constant(row[2])]
    assert len(described) > 200
    assert [f"{owner}.{name}" for owner, name, value in described if not doc(value)] == []


def test_every_field_is_explained():
    for module, name, value in NAMES:
        if inspect.isclass(value):
            for field in api_names.fields(value):
                assert re.search(rf"\b{field}\b", doc(value)), f"{module}.{name}: {field}"


def test_every_class_of_the_binding_is_documented():
    documented = {id(value) for _, _, value in NAMES}
    missing = [
        name
        for name, value in vars(_core).items()
        if inspect.isclass(value) and id(value) not in documented
    ]
    assert sorted(missing) == sorted(api_names.INTERNAL_CLASSES)


def doc(value):
    return api_names.documentation(value)


def documented_parameters(docstring):
    parsed = docstring_parser.parse(docstring, style=docstring_parser.DocstringStyle.NUMPYDOC)
    rows = [each for each in parsed.params if each.args[0] == "param"]
    return [name.strip() for each in rows for name in each.arg_name.split(",")]


def calls():
    """Every function and method, and whether its first parameter is the object."""
    for module, name, value in NAMES:
        if not api_names.is_constant(value) and not inspect.ismodule(value):
            yield f"{module}.{name}", value, False
    for owner, name, value in MEMBERS:
        if not api_names.is_constant(value) and not isinstance(value, property):
            yield f"{owner}.{name}", value, True


def test_documented_parameters_exist():
    seen = 0
    for name, value, is_method in calls():
        given = documented_parameters(doc(value))
        signature = api_names.signature(value, is_method)
        if signature is None:
            assert given == [], name
            continue
        known = {re.match(r"\**(\w*)", part)[1] for part in signature[0]}
        unknown = [each for each in given if each.lstrip("*") not in known]
        assert unknown == [], f"{name} documents {unknown}, which it does not take"
        seen += len(given)
    assert seen > 200


def test_signatures_are_the_same_in_every_process():
    """No default shows the address of an object, and no type its name in C++."""
    for name, value, is_method in calls():
        parameters, result = api_names.signature(value, is_method) or ([], "")
        for part in (*parameters, result):
            assert not re.search(r"0x[0-9a-f]+|::|object at", part), f"{name}: {part}"


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("split(self: texloom.te.Stage, n: object = None) -> None\n\nSplits.", "Splits."),
        ("(arg0: texloom.te.Expr) -> str", ""),
        ("``a[:] = value``.", "``a[:] = value``."),
    ],
)
def test_signatures_of_compiled_functions_are_not_docstrings(docstring, expected):
    """The signature before a compiled function's docstring is not part of the docstring."""
    assert doc(property(lambda self: None, doc=docstring)) == expected


def test_a_compiled_signature_is_read():
    def compiled():
        """f(self: te.A, to: tuple[int, int], by: collections.abc.Sequence[te.B] = ()) -> te.B"""

    assert api_names.signature(compiled) == (
        ["to: tuple[int, int]", "by: Sequence[te.B] = ()"],
        "te.B",
    )


def test_docstrings_become_markdown():
    docstring = "See :func:`texloom.build`, :meth:`unknown`. TL1001 for ``[]``::\n\n    x"
    words = "See [`build`][texloom.build], `unknown`. [TL1001](../errors.md#tl1001) for ``[]``:"
    assert api_pages.markdown(docstring) == f"{words}\n\n    x"
    assert api_pages.summary(docstring) == "See `texloom.build`, `unknown`."
