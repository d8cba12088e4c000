"""Each pass, each step of a pass, and each rule of the verifier has a file in tests/lit."""

import re
from pathlib import Path

import pytest

from texloom import _core

ROOT = Path(__file__).parents[3]
LIT = ROOT / "tests/lit"

KINDS = _core.target_kinds()
PASSES = list(dict.fromkeys(name for each in KINDS for name, *_ in _core.passes(each)))
RULE = re.compile(r"^  (\w+),", re.MULTILINE)


def rules():
    text = (ROOT / "src/ir/verify/verify.h").read_text()
    enum = text[text.index("enum class Rule") : text.index("};")]
    return [name.lower() for name in RULE.findall(enum)]


def run_lines(file):
    return "".join(line for line in file.read_text().splitlines() if line.startswith("// RUN:"))


def file_of(row):
    """Return the file of a pass; a step has its file in the folder of its group."""
    if row.startswith("legalize."):
        return LIT / f"{row.replace('.', '/')}.tl"
    return LIT / f"passes/{row.replace('.', '/')}.tl"


@pytest.mark.parametrize("row", [row for row in PASSES if row != "legalize"])
def test_each_pass_and_each_step_has_a_file(row):
    assert re.search(rf"--pass=\S*\b{re.escape(row)}\b", run_lines(file_of(row)))


@pytest.mark.parametrize("name", [name for name, *_ in _core.graph_passes()])
def test_each_pass_over_graphs_has_a_file(name):
    assert re.search(rf"--pass={name}\b", run_lines(LIT / f"graph/passes/{name}.tl"))


def test_each_rule_of_the_verifier_has_a_file():
    assert len(rules()) == 14
    assert {file.stem for file in LIT.glob("verify/*.tl")} == set(rules())


FILES = sorted(file for file in LIT.rglob("*.tl") if file.parent.name != "Inputs")


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_no_file_passes_whatever_happens(file):
    """Each file runs something and has expectations."""
    text = file.read_text()
    runs = run_lines(file)
    assert "texloom-opt %s" in runs or "texloom-compile %s" in runs
    assert ("FileCheck %s" in runs) == ("// CHECK" in text)
    assert "FileCheck %s" in runs or "--verify-diagnostics" in runs
    assert "expected-" not in text or "--verify-diagnostics" in runs
    for case in text.split("\n// -----\n"):
        assert re.search(r"^program \w+ stage=", case, re.MULTILINE)


def test_there_are_twenty_faults():
    """tests/lit/show_faults.py prints them."""
    assert len(list(LIT.glob("interpret/*.tl"))) >= 20
