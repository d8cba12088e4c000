"""Trials of kernels: points are checked and timed, failures are told, bests are measured again."""

import json
from dataclasses import replace

import numpy as np
import pytest
from llvm_plugin import has_llvm

import texloom
from texloom.errors import TVMError
from texloom.graph import Graph
from texloom.graph.scheduler import collected_tasks
from texloom.measure.loop import Sampling
from texloom.ops.products import matmul
from texloom.ops.schedules.families import FAMILIES
from texloom.ops.schedules.family import knob_values, point_with
from texloom.records import Failure, Verification
from texloom.records.trial import canonical
from texloom.tuning import Expected, Operator, kernel_trial, measured_trial, subject_of, verified
from texloom.tuning.kernel_build import built

QUICK = Sampling(rounds=3, sample_seconds=0.0)


def product_task(target="opencl"):
    graph = Graph("product")
    a, b = graph.input("a", (32, 48)), graph.input("b", (48, 64))
    graph.output(*graph.op("c", "product", lambda a, b: matmul(a, b), [a, b]))
    with collected_tasks() as tasks:
        graph.compile(target, scopes="global")
    (task,) = tasks.values()
    return task


@pytest.fixture
def expected(dev):
    operator = Operator(str(product_task()), dev)
    return Expected(operator, operator.tunable()[0])


def points_of(expected):
    family = expected.kernel[0]
    return family.space(expected.operator.kernels[expected.kernel]).points


def test_a_point_is_checked_and_timed(expected):
    first, second = points_of(expected)[:2]
    trial = measured_trial(expected, first, QUICK)
    assert len(trial.times) == 3 and trial.failure is None
    assert trial.verification is Verification.PASSED and trial.difference <= 1e-4
    assert trial.knobs == knob_values(first) and len(trial.kernels) >= 1
    assert list(trial.phases) == ["host compile", "first run", "run"]
    other = measured_trial(expected, second, QUICK, parent=trial.id)
    assert other.parent == trial.id and other.subject == trial.subject
    assert other.kernels != trial.kernels  # other knobs make another kernel
    again = measured_trial(expected, first, QUICK)
    assert again.kernels == trial.kernels


def test_a_hopeless_point_gets_one_sample(expected):
    trial = measured_trial(expected, points_of(expected)[0], QUICK, hopeless_seconds=1e-12)
    assert len(trial.times) == 1 and trial.failure is None


@pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")
def test_native_code_goes_from_the_process_that_builds(tmp_path):
    host = texloom.device("host:0")
    operator = Operator(str(product_task("llvm -mcpu=native")), host)
    expected = Expected(operator, operator.tunable()[0])
    knobs = points_of(expected)[0]
    build = built(expected, knobs, tmp_path / "kernel.tlp")
    assert list(build.phases) == ["host compile", "device compile"] and build.failure is None
    trial = measured_trial(expected, knobs, QUICK, build=build)
    assert list(trial.phases) == ["host compile", "device compile", "first run", "run"]
    assert trial.verification is Verification.PASSED and trial.kernels == build.kernels


def test_a_kernel_that_cannot_be_built_fails_its_trial(expected, tmp_path, monkeypatch):
    def fails(*_):
        raise TVMError("no such schedule")

    monkeypatch.setattr(Operator, "built", fails)
    build = built(expected, points_of(expected)[0], tmp_path / "kernel.tlp")
    assert build.failure is Failure.HOST_COMPILE and not build.package.exists()
    trial = measured_trial(expected, points_of(expected)[0], QUICK, build=build)
    assert trial.failure is Failure.HOST_COMPILE and trial.message == "no such schedule"


def test_wrong_outputs_fail_a_trial(expected, monkeypatch):
    expected.outputs[0][0, 0] += 1
    trial = measured_trial(expected, points_of(expected)[0], QUICK)
    assert trial.failure is Failure.WRONG_RESULT and trial.times == ()
    assert trial.verification is Verification.FAILED and 0.01 < trial.difference < 1
    expected.outputs[0][0, 0] = np.nan
    trial = measured_trial(expected, points_of(expected)[0], QUICK)
    assert trial.failure is Failure.WRONG_RESULT and trial.difference is None


@pytest.mark.parametrize(
    ("method", "error", "failure"),
    [
        ("built", TVMError("refused"), Failure.HOST_COMPILE),
        ("first_run", TVMError("refused"), Failure.LAUNCH),
        ("first_run", MemoryError(), Failure.OUT_OF_MEMORY),
    ],
)
def test_errors_are_of_the_phase_in_which_they_occur(expected, monkeypatch, method, error, failure):
    assert expected.outputs

    def fails(*_):
        raise error

    monkeypatch.setattr(Operator, method, fails)
    trial = measured_trial(expected, points_of(expected)[0], QUICK)
    assert trial.failure is failure and trial.message and trial.times == ()


def test_the_best_is_measured_again(expected):
    trial = measured_trial(expected, points_of(expected)[1], QUICK)
    again = verified(trial, expected.operator.device, QUICK)
    assert again.again.parent == trial.id and again.has_same_kernels and again.ratio > 0
    changed = verified(replace(trial, kernels=("0",)), expected.operator.device, QUICK)
    assert not changed.has_same_kernels
    newer = replace(trial.subject, version=trial.subject.version + 1)
    outdated = verified(replace(trial, subject=newer), expected.operator.device)
    assert outdated.again is None and "no family has this kernel" in outdated.reason
    other = verified(replace(trial, knobs={"rows": 0}), expected.operator.device)
    assert other.again is None and "not in the space" in other.reason
    users = replace(trial.subject, family="space: product")
    assert "is in a script" in verified(replace(trial, subject=users), None).reason
    damaged = replace(trial.subject, text="task")
    assert "TL60" in verified(replace(trial, subject=damaged), expected.operator.device).reason


def test_subjects_follow_the_target():
    def subject(target):
        task = product_task(target)
        operator = Operator(str(task), None)
        return subject_of(task, operator.tunable()[0])

    one, same, other = map(subject, ("opencl", "opencl", "opencl -device=mali"))
    assert one == same and one.identity == same.identity != other.identity


def test_knobs_of_every_family_are_values_of_json():
    """Records and files of knobs tell points of a space apart by them."""
    found = {each.name for own in FAMILIES.values() for each in own}
    assert len(found) >= 15 and all(found)
    for target in ("opencl", "opencl -device=nvidia"):
        operator = Operator(str(product_task(target)), None)
        for (family, _), task in operator.kernels.items():
            points = family.space(task).points
            values = [canonical(knob_values(each)) for each in points]
            assert len(set(values)) == len(points)
            for each, text in list(zip(points, values, strict=True))[:200]:
                assert point_with(points, json.loads(text)) == each


def test_a_difference_is_relative(expected):
    assert kernel_trial._difference(np.array([2.0, np.nan]), np.array([2.0, np.nan])) == 0
    assert kernel_trial._difference(np.array([1.0, 4.0]), np.array([2.0, 4.0])) == 0.25
    assert kernel_trial._difference(np.array([np.inf]), np.array([np.inf])) == 0
    assert kernel_trial._difference(np.array([np.inf]), np.array([1.0])) == np.inf
