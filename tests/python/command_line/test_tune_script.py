"""``texloom tune SCRIPT.py``: what a script calls is tuned, and its best knobs are used."""

import json

import pytest
from command_model import fails, run_command, succeeds

from texloom.records import open_records

SCRIPT = """
import sys

import texloom as tvm
from texloom import autotvm, te, tune


def halves(n, width):
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] * 0.5, name="B")
    s = te.create_schedule(b.op)
    block, thread = s[b].split(b.op.axis[0], width)
    s[b].bind(block, te.thread_axis("blockIdx.x"))
    s[b].bind(thread, te.thread_axis("threadIdx.x"))
    return s, [a, b]


@tune.space(width=[4096, 2, 4])
def space(n, width):
    return halves(n, width)


@autotvm.template("script/template")
def template(n):
    cfg = autotvm.get_config()
    cfg.define_split("tile", n, policy="candidate", num_outputs=2, candidate=[[-1, 4096], [-1, 8]])
    return halves(n, cfg["tile"].size[1])


if __name__ == "__main__":
    print(sys.argv)
    tvm.program(*space(8192))
    task = autotvm.task.create("script/template", (8192,), "opencl")
    tuner = autotvm.tuner.RandomTuner(task)
    tuner.tune(2, autotvm.measure_option("local", "local"))
    assert tuner.counter == 0
"""
USE = """
from script import autotvm, space, template, tune, tvm

with tune.best("best.json"), tvm.target.Target("opencl"):
    texts = [str(tvm.program(*each(8192))) for each in (space, template)]
with autotvm.apply_history_best("best.log"), tvm.target.Target("opencl"):
    texts.append(str(tvm.program(*template(8192))))
assert ["factor=4096" in each for each in texts] == [False] * 3
assert all("factor=8 " in each for each in texts[1:]), texts
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(SCRIPT)
    return ["tune", "script.py", "--db", "r.sqlite", "--trials", 3, "--search", "grid"]


@pytest.mark.slow
def test_a_script_is_tuned(script, capsys, tmp_path, monkeypatch):
    """The first points have too many threads: the others are the best ones."""
    told = succeeds(capsys, *script, "--target", "opencl", "--json", "-o", "best.json")
    *trials, last = [json.loads(line) for line in told.splitlines()]
    assert last["summary"]["trials"] == len(trials)
    families = {each["family"] for each in trials}
    assert families == {"space: space", "AutoTVM: script/template"}
    assert {each["failure"] for each in trials} == {None, "constraint"}
    with open_records("r.sqlite") as records:
        assert sum(1 for _ in records.trials()) == len(trials)
    told = succeeds(capsys, *script, "--target", "opencl", "-o", "best.json")
    assert "2 of 2" in told or "0 of 2 kernels measured" in told
    assert 'with texloom.tune.best("best.json"):' in told
    succeeds(capsys, "db", "export", "--db", "r.sqlite", "--format", "autotvm", "best.log")
    monkeypatch.syspath_prepend(tmp_path)
    exec(USE, {})


def test_scripts_that_cannot_be_tuned_are_refused(script, capsys, tmp_path):
    assert "there is no file none.py" in fails(capsys, "tune", "none.py", "--db", "r.sqlite")
    (tmp_path / "script.py").write_text(SCRIPT.replace("print(", "str("))
    told = fails(capsys, *script, "--device", "host:0", "--target", "opencl")
    assert "script.py has no target for host:0, but for opencl" in told
    for text, message in (
        ("x = 1", "calls no schedule with knobs"),
        ("raise SystemExit", "calls no schedule with knobs"),
        ("raise SystemExit(3)", "failed: exited with 3"),
        (
            "x = 1\n1 / 0",
            "script.py failed: ZeroDivisionError: division by zero (script.py, line 2)",
        ),
        ("def (", "failed: SyntaxError"),
        ("from texloom import te; te.const(300, 'int8')", "TL1009"),
    ):
        (tmp_path / "script.py").write_text(text)
        assert message in fails(capsys, *script)


def test_a_script_that_needs_the_results_of_tuners(script, capsys, tmp_path):
    """Tuners do nothing, so there are no logs: what was asked for before the end is tuned."""
    (tmp_path / "script.py").write_text(
        SCRIPT.replace("print(", "str(")
        + """
    with autotvm.apply_history_best("none.log"), tvm.target.Target("opencl"):
        tvm.program(*template(8192))
    autotvm.record.pick_best("none.log", "best.log")
    tuner.best_config.to_json_dict()
    tvm.program(*space(4096))
"""
    )
    (tmp_path / "best.log").write_text("kept")
    assert run_command([*script, "--effort", "none"]) == 0
    told = capsys.readouterr()
    assert "script.py failed: AttributeError: 'NoneType' object has no attribute" in told.err
    assert told.err.rstrip().endswith("what it asked for before is tuned")
    assert "0 of 2 kernels measured" in told.out
    assert (tmp_path / "best.log").read_text() == "kept"


def test_several_kinds_of_devices(script, capsys, tmp_path):
    more = "\nautotvm.task.create('script/template', (8192,), 'metal')\n"
    (tmp_path / "script.py").write_text(SCRIPT.replace("print(", "str(") + more)
    told = fails(capsys, *script, "--target", "opencl")
    assert "has targets for devices of several kinds: " in told and "--device" in told
