"""Each mistake gives one diagnostic: a stable code, the user's own line, and what to do."""

import bad_input_cases
import pytest

from texloom.errors import codes

# What Python programs cannot bring about (each says why).
UNREACHABLE = {
    "TL3012": "reductions in textures are refused before, and nothing else reads what it writes",
    "TL5009": "filling the memory of the machine that runs the tests",
    "TL5010": "a device compiler that refuses generated code",
    "TL6001": "a line of a text, not of a Python program: test_text_form.py",
    "TL6002": "the same",
    "TL6003": "the same",
}

WARNINGS = {"TL2003", "TL3021"}


@pytest.mark.parametrize("case", bad_input_cases.CASES, ids=lambda c: c.name)
def test_diagnostic(case):
    (diagnostic,) = case.diagnostics()
    assert diagnostic["code"] == case.code
    assert diagnostic["severity"] == ("warning" if case.code in WARNINGS else "error")
    assert diagnostic["file"] == case.file
    assert diagnostic["line"] == case.line
    # One sentence: a quotation or a lower-case word first, no full stop at the end.
    message = diagnostic["message"].removeprefix("OpenCL")
    assert message and not message[0].isupper() and not message.endswith(".")
    assert len(diagnostic["help"]) > 10
    assert f"  help: {diagnostic['help']}" in diagnostic["text"]
    assert "# wrong" in diagnostic["text"]  # the line itself is shown


def test_every_code_has_a_case():
    with_case = {case.code for case in bad_input_cases.CASES}
    without = {code for code, _, _ in codes() if code not in with_case}
    assert without == set(UNREACHABLE)
