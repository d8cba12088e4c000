"""``texloom db``: trials are found, measured again, moved and removed."""

import json
from unittest.mock import Mock

import numpy as np
import onnx
import pytest
from command_model import fails, model_of, run_command, succeeds, value
from sample_trials import DEVICE, OTHER, full_trial, random_trials, subject, trial

import texloom
from texloom.graph.scheduler import collected_tasks
from texloom.ops.schedules.family import knob_values
from texloom.records import (
    Failure,
    Place,
    Trial,
    Verification,
    measured_device,
    open_records,
)
from texloom.tuning import Operator, verification


def product_model():
    weights = np.random.default_rng(0).random((48, 64), "float32")
    nodes = [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])]
    initializers = [onnx.numpy_helper.from_array(weights, "w")]
    return model_of(nodes, [value("x", (32, 48))], [value("y", (32, 64))], initializers)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "records.sqlite"
    with open_records(path, creates=True) as records:
        records.add_all(random_trials(80))
    return path


def test_best_lists_the_fastest(file, capsys):
    found = json.loads(succeeds(capsys, "db", "best", "--db", file, "--json"))
    assert len(found) == 6
    told = succeeds(capsys, "db", "best", "--db", file, "--device", "another")
    assert told.count("another (driver 1.0)") == 3 and told.endswith("3 fastest trials\n")
    task = subject(2).task
    for conditions in (("--task", task), ("--family", "products", "--task", task)):
        told = succeeds(capsys, "db", "best", "--db", file, *conditions)
        assert told.endswith("2 fastest trials\n")
    assert "0 fastest" in succeeds(capsys, "db", "best", "--db", file, "--target", "metal")


def test_show_counts_and_tells(file, capsys):
    told = succeeds(capsys, "db", "show", "--db", file)
    assert told.endswith(f"80 trials in {file}\n") and "device lost" in told
    rows = json.loads(succeeds(capsys, "db", "show", "--db", file, "--json"))
    assert sum(row[-1] for row in rows) == 80
    with open_records(file) as records:
        added = full_trial()
        records.add(added)
    told = succeeds(capsys, "db", "show", added.id.hex[:9], "--db", file)
    assert "tile=[8,4]" in told and "passed, largest difference 1.5e-07" in told
    assert told.endswith("\n\ntask 0\n")
    assert json.loads(succeeds(capsys, "db", "show", added.id, "--db", file, "--json"))["runs"] == 7
    assert "no trial whose name begins with 'x'" in fails(capsys, "db", "show", "x", "--db", file)
    assert "several trials" in fails(capsys, "db", "show", "", "--db", file)


def test_trials_move_between_databases(file, tmp_path, capsys):
    other, lines, again = tmp_path / "other.sqlite", tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    assert "80 trials" in succeeds(capsys, "db", "export", "--db", file, lines)
    assert len(lines.read_text().splitlines()) == 80
    with open_records(other, creates=True) as records:
        records.add_all(random_trials(5, seed=9))
    assert "80 new trials" in succeeds(capsys, "db", "import", "--db", other, lines)
    assert "0 new trials" in succeeds(capsys, "db", "merge", "--db", other, file)
    assert "5 new trials" in succeeds(capsys, "db", "merge", "--db", file, other)
    for place, output in ((file, lines), (other, again)):
        succeeds(capsys, "db", "export", "--db", place, output)
    assert lines.read_bytes() == again.read_bytes()


def test_prune_removes_what_is_named(file, capsys):
    assert "TL7001" in fails(capsys, "db", "prune", "--db", file)
    assert "TL7001" in fails(capsys, "db", "prune", "--db", file, "--keep", 0)
    before = file.stat().st_size
    succeeds(capsys, "db", "prune", "--db", file, "--keep", 1, "--failures")
    assert json.loads(succeeds(capsys, "db", "best", "--db", file, "--json"))
    assert "6 trials in" in succeeds(capsys, "db", "show", "--db", file)
    assert file.stat().st_size < before
    with open_records(file) as records:
        records.add(trial(subject(9, family="space: products of a script")))
    # No family of Texloom is called "products"; what scripts have, it does not know.
    assert "6 trials removed" in succeeds(capsys, "db", "prune", "--db", file, "--outdated")
    assert "1 fastest trial" in succeeds(capsys, "db", "best", "--db", file)


def test_verify_measures_again(file, capsys, monkeypatch):
    """The trials of this device alone are measured; a slow or a wrong one is an error."""
    assert "no fastest trial of a kernel on" in fails(capsys, "db", "verify", "--db", file)
    place = Place.here(measured_device(texloom.opencl(0)))
    with open_records(file) as records:
        records.add(Trial(subject(7), place, times=(1e-3,)))

    for name in ("Operator", "knobs_of", "Expected"):
        monkeypatch.setattr(verification, name, lambda *_: Mock())
    outcomes = (
        (0, {"times": (1.2e-3,)}),
        (1, {"times": (9e-3,)}),
        (1, {"failure": Failure.WRONG_RESULT, "message": "an output differs"}),
    )
    for code, outcome in outcomes:

        def measured(_, __, ___, parent, outcome=outcome):
            return Trial(subject(7), place, parent=parent, **outcome)

        monkeypatch.setattr(verification, "measured_trial", measured)
        assert run_command(["db", "verify", "--db", file, "--json"]) == code
        (row,) = json.loads(capsys.readouterr().out)
        assert row["ratio"] == {0: "1.20", 1: "9.00"}[code] or "failure" in outcome
    with open_records(file) as records:
        assert len([each for each in records.trials() if each.parent is not None]) == 3


def test_a_database_must_be_named(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("TEXLOOM_CACHE_DIR", raising=False)
    assert "TL7001" in fails(capsys, "db", "best")
    monkeypatch.setenv("TEXLOOM_CACHE_DIR", str(tmp_path))
    assert "there is no database" in fails(capsys, "db", "best")
    with open_records(tmp_path / "records.sqlite", creates=True) as records:
        records.add(trial(device=DEVICE))
    assert "1 fastest trial\n" in succeeds(capsys, "db", "best")


def test_lines_that_are_none_are_named(file, tmp_path, capsys):
    lines = tmp_path / "a.jsonl"
    lines.write_text("{}\n")
    assert "line 1 of" in fails(capsys, "db", "import", "--db", file, lines)
    assert "there is no file" in fails(capsys, "db", "import", "--db", file, tmp_path / "none")
    output = tmp_path / "none" / "out.jsonl"
    assert "TL5018" in fails(capsys, "db", "export", "--db", file, output)


def test_best_knobs_are_exported_and_compiled_with(tmp_path, capsys):
    """A small file takes the place of the database; a model for another target has defaults."""
    model = tmp_path / "model.onnx"
    onnx.save(product_model(), model)
    with collected_tasks() as tasks:
        texloom.compile(model, "opencl", storage="buffer")
    operator = Operator(str(next(iter(tasks.values()))), None)
    kernel = operator.tunable()[0]
    knobs = knob_values(kernel[0].space(operator.kernels[kernel]).points[-1])
    with open_records(tmp_path / "records.sqlite", creates=True) as records:
        passed = {"knobs": knobs, "verification": Verification.PASSED}
        records.add(trial(operator.subject(kernel), **passed))
        wrong = {"verification": Verification.NONE, "knobs": {"rows": 1}}
        records.add(trial(operator.subject(kernel), seconds=1e-9, **wrong))
        records.add(trial(operator.subject(kernel), device=OTHER, **passed))
    best, package = tmp_path / "best.json", tmp_path / "model.tlp"
    export = ("db", "export", "--best", best, "--db", tmp_path / "records.sqlite")
    assert "several devices" in fails(capsys, *export)
    assert "1 kernel\n" in succeeds(capsys, *export, "--device", DEVICE.name)
    build = ("compile", model, "-o", package, "--storage", "buffer", "--target")
    succeeds(capsys, *build, "opencl")
    default = package.read_bytes()
    told = succeeds(capsys, *build, "opencl", "--tuned", best)
    assert f"1 kernel tuned, 0 transferred, 0 estimated, by {best}, of {DEVICE}" in told
    assert package.read_bytes() != default
    told = succeeds(capsys, *build, "opencl -device=mali", "--tuned", best, "--json")
    assert [json.loads(told)["knobs"][n] for n in ("tuned", "estimated")] == [0, 1]
    assert "TL7001" in fails(capsys, "run", package, "--tuned", best)
    assert "TL5018" in fails(capsys, *build, "opencl", "--tuned", tmp_path / "none.json")


def test_formats_of_other_tuners(file, tmp_path, capsys):
    """What a format does not tell has to be named, and nothing else."""
    log, other = tmp_path / "tune.log", tmp_path / "other.sqlite"
    succeeds(capsys, "db", "export", "--db", file, "--format", "autotvm", log)
    imports = ("db", "import", "--db", other, "--format")
    assert "needs --device" in fails(capsys, *imports, "autotvm", log)
    named = ("--device", "a GPU")
    assert "80 new trials" in succeeds(capsys, *imports, "autotvm", *named, log)
    assert "0 new trials" in succeeds(capsys, *imports, "autotvm", *named, log)
    assert "AutoTVM: products" in succeeds(capsys, "db", "best", "--db", other)
    results = tmp_path / "results.json"
    export = ("db", "export", "--db", file, "--format", "t4", results)
    assert "TL7001" in fails(capsys, *export)
    succeeds(capsys, *export, "--task", subject(1).task, "--device", "another")
    assert "needs --target" in fails(capsys, *imports, "t4", *named, results)
    named += ("--target", "cuda", "--kernel", "matmul")
    succeeds(capsys, *imports, "t4", *named, results)
    assert "Kernel Tuner: matmul" in succeeds(capsys, "db", "best", "--db", other)
    assert "does not take --device" in fails(capsys, *imports, "lines", "--device", "a", log)
