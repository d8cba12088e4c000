"""tests/changes.py must choose what a change may break, and leave out what takes too long."""

import changes
import pytest


@pytest.mark.parametrize(
    ("file", "cxx", "lit", "python"),
    [
        ("src/lower/pass.cc", {"lower", "codegen", "validation", "compile", "opt"}, True, True),
        ("src/ir/expr.h", {"ir"}, True, True),
        ("src/runtime/hal/queue.h", {"runtime", "conformance", "hal_fuzz"}, False, True),
        ("src/runtime/drivers/host/driver.cc", {"runtime", "conformance"}, False, True),
        ("apps/command_line/command_line.cc", {"opt"}, True, False),
        ("tests/ir/accesses.h", {"ir", "schedule", "lower", "codegen"}, False, False),
        ("tests/lower/pipeline_test.cc", {"lower"}, False, False),
        ("tests/lit/passes/unroll_loops.tl", set(), True, False),
        ("python/texloom/nd.py", set(), False, True),
    ],
)
def test_plan(file, cxx, lit, python):
    plan = changes.plan_for([file])
    header = file.endswith(".h") and file.startswith("src/")
    assert cxx <= plan.cxx
    assert plan.cxx <= cxx if header else True
    assert (plan.lit, bool(plan.python)) == (lit, python)


def test_documents_run_their_own_test():
    assert changes.plan_for(["docs/guide.md"]).python == {"tests/python/test_docs.py"}


def test_the_build_itself_concerns_everything():
    plan = changes.plan_for(["CMakePresets.json"])
    assert plan.cxx == set(changes.concerning())
    assert plan.lit
