"""Each mistake gives one diagnostic: a stable code, the user's own line, and what to do."""

import bad_input_cases
import pytest

from texloom.errors import codes

WARNINGS = {"TL2003", "TL3021", "TL3029"}


@pytest.mark.parametrize("case", bad_input_cases.CASES, ids=lambda c: c.name)
def test_diagnostic(case):
    (diagnostic,) = case.diagnostics()
    assert diagnostic["code"] == case.code
    assert diagnostic["severity"] == ("warning" if case.code in WARNINGS else "error")
    assert diagnostic["file"] == case.file
    assert diagnostic["line"] == case.line
    # One sentence: a quotation or a lower-case word first, no full stop at the end.
    message = diagnostic["message"].removeprefix("OpenCL")
    assert message and not message.endswith(".")
    assert not message[0].isupper() or case.program  # a node of the program itself
    assert len(diagnostic["help"]) > 10
    assert f"  help: {diagnostic['help']}" in diagnostic["text"]
    # The line itself is shown; of a long one what is around the mistake.
    assert "wrong" in diagnostic["text"] or "(((" in diagnostic["text"]


def test_every_code_has_a_case():
    with_case = {case.code for case in bad_input_cases.CASES}
    without = {code for code, _, _ in codes() if code not in with_case}
    assert without == set(bad_input_cases.UNREACHABLE)
