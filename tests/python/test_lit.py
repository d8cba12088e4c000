"""What the tests in tests/lit leave out: each pass, step of legalize, and rule has a file."""

import re
from pathlib import Path

import pytest

from texloom import _core

ROOT = Path(__file__).parents[2]
LIT = ROOT / "tests/lit"

PASSES = [name for name, *_ in _core.passes()]
STEPS = [name for name, _ in _core.legalize_steps()]
RULE = re.compile(r"^  (\w+),", re.MULTILINE)


def rules():
    text = (ROOT / "src/ir/verify.h").read_text()
    enum = text[text.index("enum class Rule") : text.index("};")]
    return [name.lower() for name in RULE.findall(enum)]


def run_lines(file):
    return "".join(line for line in file.read_text().splitlines() if line.startswith("// RUN:"))


@pytest.mark.parametrize("name", PASSES)
def test_each_pass_has_a_file(name):
    assert re.search(rf"--pass=\S*\b{name}\b", run_lines(LIT / f"passes/{name}.tl"))


@pytest.mark.parametrize("name", STEPS)
def test_each_step_of_legalize_has_a_file(name):
    assert re.search(rf"--pass=\S*legalize\.{name}\b", run_lines(LIT / f"legalize/{name}.tl"))


def test_each_rule_of_the_verifier_has_a_file():
    assert len(rules()) == 13
    assert {file.stem for file in LIT.glob("verify/*.tl")} == set(rules())


FILES = sorted(LIT.rglob("*.tl"))


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_no_file_passes_whatever_happens(file):
    """Each file runs something, and says what it expects of it."""
    text = file.read_text()
    runs = run_lines(file)
    assert "texloom-opt %s" in runs
    assert ("FileCheck %s" in runs) == ("// CHECK" in text)
    assert "FileCheck %s" in runs or "--verify-diagnostics" in runs
    assert "expected-" not in text or "--verify-diagnostics" in runs
    for case in text.split("\n// -----\n"):
        assert re.search(r"^program \w+ stage=", case, re.MULTILINE)


def test_there_are_twenty_faults():
    """tests/lit/show_faults.py prints them."""
    assert len(list(LIT.glob("interpret/*.tl"))) >= 20
