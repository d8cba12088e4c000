"""Each mistake gives one diagnostic: a stable code, the user's own line, and a fix."""

import inspect
import re

import bad_input
import bad_input_cases
import pytest
from conftest import has_pocl

from texloom.errors import codes
from texloom.te import Schedule, Stage, tracing
from texloom.te.directive_arguments import PARAMETERS

WARNINGS = {"TL2003", "TL2045", "TL3021", "TL3029", "TL4009", "TL5017", "TL5022"}
OF_DIRECTIVES = [case for case in bad_input_cases.CASES if case.directive]


@pytest.mark.parametrize("case", bad_input_cases.CASES, ids=lambda c: c.name)
def test_diagnostic(case):
    if case.needs_pocl() and not has_pocl():
        pytest.skip("PoCL alone shows one device as two")
    (diagnostic,) = case.diagnostics()
    assert diagnostic["code"] == case.code
    assert case.says in diagnostic["message"]
    assert diagnostic["severity"] == ("warning" if case.code in WARNINGS else "error")
    assert diagnostic["file"] == case.file
    assert diagnostic["line"] == case.line
    # The message is one sentence without a full stop, and begins with a quotation or in lower case.
    message = diagnostic["message"].removeprefix("OpenCL")
    assert message and not message.endswith(".")
    assert not message[0].isupper() or case.program  # a node of the program itself
    assert len(diagnostic["help"]) > 10
    assert f"  help: {diagnostic['help']}" in diagnostic["text"]
    # The text shows the line, or the part of a long line around the mistake.
    assert "wrong" in diagnostic["text"] or "(((" in diagnostic["text"]
    # A message about a directive names the directive or its effect.
    if case.directive:
        words = bad_input.DIRECTIVES[case.directive]
        assert any(word in message for word in words), message


def test_every_code_has_a_case():
    with_case = {case.code for case in bad_input_cases.CASES}
    without = {code for code, _, _ in codes() if code not in with_case}
    assert without == set(bad_input_cases.UNREACHABLE)


def test_names_of_cases_are_told_apart():
    names = [case.name for case in bad_input_cases.CASES]
    assert len(set(names)) == len(names)


def test_every_directive_has_cases():
    assert {case.directive for case in OF_DIRECTIVES} == set(bad_input.DIRECTIVES)
    assert len(OF_DIRECTIVES) >= 120


def test_every_directive_checks_its_arguments():
    assert set(PARAMETERS) == {*tracing.STAGE_DIRECTIVES, *tracing.SCHEDULE_DIRECTIVES}


@pytest.mark.parametrize("directive", PARAMETERS)
def test_parameters_are_named_as_directives_take_them(directive):
    """The names match the parameters of the call: a keyword is checked like a position."""
    method = getattr(Stage, directive, None) or getattr(Schedule, directive)
    compiled = re.match(rf"{directive}\((.*)\) ->", method.__doc__)
    if compiled:
        names = re.findall(r"\w+(?=: )|(?<=\*)args", compiled[1])
    else:
        names = list(inspect.signature(method).parameters)
    assert names[1:] == list(PARAMETERS[directive])
