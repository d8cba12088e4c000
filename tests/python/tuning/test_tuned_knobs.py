"""Graphs compiled with the best knobs of a file: what fits is used, what does not is said."""

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from texloom.errors import TexloomWarning, TVMError
from texloom.graph import Graph, TunedKnobs
from texloom.graph.scheduler import collected_tasks
from texloom.ops.products import matmul
from texloom.ops.schedules.family import knob_values
from texloom.records import Failure, Kind, MeasuredDevice, Place, Subject, Trial
from texloom.records.best_file import best_knobs, read_best, write_best
from texloom.records.points import points_of
from texloom.tuning import Operator, subject_of

DEVICE = MeasuredDevice("a device", "a platform", "1.0", "OpenCL C 1.2")


def product(columns=64):
    graph = Graph("product")
    a, b = graph.input("a", (32, 48)), graph.input("b", (48, columns))
    graph.output(*graph.op("c", "product", matmul, [a, b]))
    return graph


def tuned_trial(number=-1, target="opencl", seconds=1e-3, device=DEVICE, columns=64):
    """A trial of the product with a point of its space, without a measurement."""
    with collected_tasks() as tasks:
        product(columns).compile(target, scopes="global")
    (task,) = tasks.values()
    operator = Operator(str(task), None)
    kernel = operator.tunable()[0]
    points = kernel[0].space(operator.kernels[kernel]).points
    knobs = knob_values(points[number])
    return Trial(subject_of(task, kernel), Place(device, "a host", {}), knobs, times=(seconds,))


def _programs(compiled):
    """Return the bytes of the package: equal kernels have equal ones."""
    with tempfile.TemporaryDirectory() as folder:
        compiled.save(f"{folder}/package.tlp")
        return Path(folder, "package.tlp").read_bytes()


def best_of(trials):
    return best_knobs(point for each in trials for point in points_of([each]))


def knobs_of(*trials):
    return TunedKnobs(best_of(trials), "best.json")


def test_tuned_knobs_replace_defaults(dev):
    tuned = knobs_of(tuned_trial())
    default, own = (product().compile(scopes="global", tuned=each) for each in (None, tuned))
    assert set(tuned.used.tuned) == {tuned_trial().subject.identity}
    assert _programs(default) != _programs(own)
    rng = np.random.default_rng(0)
    inputs = {"a": rng.random((32, 48), "float32"), "b": rng.random((48, 64), "float32")}
    np.testing.assert_allclose(own.run(inputs, dev)["c"], default.run(inputs, dev)["c"], rtol=1e-5)


def test_the_file_is_small_and_sorted(tmp_path):
    trials = [tuned_trial(), tuned_trial(0, columns=96)]
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    write_best(best_of(trials), one)
    write_best(best_of(reversed(trials)), other)
    assert one.read_bytes() == other.read_bytes()
    assert len(one.read_text().splitlines()) == 4
    assert read_best(one) == best_of(trials)
    assert {each.key for each in read_best(one)} == {each.subject.identity for each in trials}


def test_the_fastest_trial_of_a_device_counts():
    newer = replace(DEVICE, driver="2.0")
    slow, fast = tuned_trial(0, seconds=2e-3), tuned_trial(1, seconds=1e-3, device=newer)
    site = Subject(Kind.CALL_SITE, "a", "{}", "opencl")
    others = [
        replace(slow, subject=site),
        replace(slow, times=(), failure=Failure.LAUNCH),
    ]
    (entry,) = best_of([slow, fast, *others])
    assert entry.knobs == fast.knobs and entry.microseconds == 1000
    assert entry.device == "a device (driver 2.0)"
    elsewhere = tuned_trial(device=replace(DEVICE, name="another"))
    with pytest.raises(TVMError, match=r"TL7001.*several devices: a device, another"):
        best_of([slow, elsewhere])


@pytest.mark.parametrize(
    "graph, target", [(product(96), "opencl"), (product(), "opencl -device=mali")]
)
def test_other_tasks_and_targets_have_defaults(graph, target):
    """A file may be for several models and targets, so that nothing is said."""
    tuned = knobs_of(tuned_trial())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own = graph.compile(target, scopes="global", tuned=tuned)
    assert not tuned.used.tuned and len(tuned.used.estimated) == 1
    assert _programs(own) == _programs(graph.compile(target, scopes="global"))


def test_outdated_entries_are_said_and_left_out():
    trial = tuned_trial()
    newer = replace(trial.subject, version=trial.subject.version + 1)
    unknown = replace(trial.subject, family="products by magic")
    trials = [replace(trial, subject=each) for each in (newer, unknown)]
    with pytest.warns(TexloomWarning, match=r"TL5019.*2 of the kernels of best.json are not used"):
        tuned = knobs_of(*trials, trial)
    product().compile("opencl", scopes="global", tuned=tuned)
    assert set(tuned.used.tuned) == {trial.subject.identity}


def test_knobs_that_are_not_in_the_space_are_said_and_left_out():
    tuned = knobs_of(replace(tuned_trial(), knobs={"rows": 7}))
    with pytest.warns(TexloomWarning, match=r"TL5019.*1 of the kernels .* not in the space of"):
        own = product().compile("opencl", scopes="global", tuned=tuned)
    assert not tuned.used.tuned and len(tuned.used.estimated) == 1
    assert _programs(own) == _programs(product().compile("opencl", scopes="global"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"nothing", "is no file of the best knobs"),
        (b"[]", "not an object with the format 1"),
        (b'{"format": 2, "kernels": []}', "not an object with the format 1"),
        (b'{"format": 1}', "it has no 'kernels'"),
        (b'{"format": 1, "kernels": [{"key": 7}]}', "'key' is no str"),
        (b"\xff", "is no file of the best knobs"),
        (b"[" * 100000, "is no file of the best knobs"),
    ],
)
def test_damaged_files_are_refused(tmp_path, content, message):
    file = tmp_path / "best.json"
    file.write_bytes(content)
    with pytest.raises(TVMError, match=f"TL5019.*{message}"):
        TunedKnobs.read(file)
    with pytest.raises(TVMError, match="TL5018"):
        TunedKnobs.read(tmp_path / "none.json")
