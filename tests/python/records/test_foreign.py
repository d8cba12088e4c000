"""Logs of AutoTVM and files of Kernel Tuner: what they have is read and written."""

import json
from datetime import datetime, timezone

import pytest
from sample_trials import full_trial, random_trials, subject, trial

from texloom.errors import TVMError
from texloom.records import Failure, Verification
from texloom.records.autotvm import log_line, read_log, trial_of_log_line, write_log
from texloom.records.t4 import read_t4, write_t4

# As TVM 0.8 writes it.
LOG = {
    "input": [
        "opencl -keys=mali,opencl,gpu -device=mali",
        "dense.bifrost",
        [["TENSOR", [1, 64], "float32"], ["TENSOR", [10, 64], "float32"], None, "float32"],
        {},
    ],
    "config": {
        "index": 12,
        "code_hash": None,
        "entity": [["tile_y", "sp", [-1, 8]], ["unroll", "an", ["unroll", "vec"]], ["u", "ot", 4]],
    },
    "result": [[0.0012, 0.0014], 0, 2.5, 1560000002.5],
    "version": 0.2,
    "tvm_version": "0.8.0",
}


def log_with(**values):
    return json.dumps({**LOG, **values})


def test_a_log_of_autotvm_is_read():
    found = trial_of_log_line(json.dumps(LOG), "a Mali")
    assert found.knobs == {"tile_y": [-1, 8], "unroll": ["unroll", "vec"], "u": 4}
    assert found.times == (0.0012, 0.0014) and found.failure is None
    assert found.begun == datetime.fromtimestamp(1560000000, timezone.utc)
    assert found.phases == {"trial": 2.5}
    assert found.place.device.name == "a Mali"
    assert found.subject.target == LOG["input"][0]
    assert found.subject.family == "AutoTVM: dense.bifrost"
    same = trial_of_log_line(json.dumps(LOG, indent=None, sort_keys=True), "a Mali")
    assert same.id == found.id
    assert trial_of_log_line(json.dumps(LOG), "another").id != found.id
    other = log_with(config={**LOG["config"], "entity": []})
    assert trial_of_log_line(other, "a Mali").subject == found.subject


@pytest.mark.parametrize(
    ("number", "failure"),
    [(1, Failure.CONSTRAINT), (3, Failure.DEVICE_COMPILE), (7, Failure.RUN_TIMEOUT)],
)
def test_a_failure_of_autotvm_is_read(number, failure):
    found = trial_of_log_line(log_with(result=[[1e9], number, 1, 2]), "a")
    assert found.failure is failure and found.times == ()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (log_with(version=0.1), "version 0.2"),
        (log_with(result=[[0.1], 9, 1, 2]), "no error with the number 9"),
        (log_with(result=[[0.1], 0, 1]), "3 items instead of 4"),
        (log_with(result=[["x"], 0, 1, 2]), "'x' is no number"),
        (log_with(result=[[], 0, 1, 2]), "either times or a failure"),
        (log_with(result=[[0.1], 0, 1, 1e300]), "no trial of AutoTVM"),
        (log_with(input=["opencl", 7, [], {}]), "items of other types"),
        (log_with(config={}), "no 'entity'"),
        (log_with(config={"entity": [["a\0", "ot", 1]]}), "the code 0"),
        ("{", "no trial of AutoTVM"),
    ],
)
def test_wrong_lines_of_a_log_are_named(tmp_path, line, message):
    file = tmp_path / "tune.log"
    file.write_text(f"# a comment\n{json.dumps(LOG)}\n{line}\n")
    with pytest.raises(TVMError, match=f"TL5019.*line 3 of .*{message}"):
        list(read_log(file, "a"))


def test_a_log_of_autotvm_has_what_the_format_can_have(tmp_path):
    trials = [*random_trials(60), full_trial()]
    file = tmp_path / "tune.log"
    assert write_log(trials, file) == 61
    for found, own in zip(read_log(file, "a"), trials, strict=True):
        assert (found.knobs, found.times) == (own.knobs, own.times)
        lacking = {Failure.DEVICE_LOST, Failure.OUT_OF_MEMORY}
        assert found.failure is (Failure.LAUNCH if own.failure in lacking else own.failure)
        assert abs((found.begun - own.begun).total_seconds()) < 1e-3
    assert json.loads(log_line(trials[0]))["version"] == 0.2


# As Kernel Tuner 1.0 writes it.
T4 = {
    "schema_version": "1.0.0",
    "results": [
        {
            "timestamp": "2023-06-15 12:30:45.250000+00:00",
            "configuration": {"block_size_x": 64},
            "times": {
                "compilation": 440.9,
                "benchmark": 1.0,
                "framework": 1.2,
                "search_algorithm": 0,
                "validation": 0,
                "runtimes": [0.04, 0.05, 0.06],
            },
            "invalidity": "correct",
            "correctness": 1,
            "measurements": [{"name": "time", "value": 0.05, "unit": "ms"}],
            "objectives": ["time"],
        },
        {
            "timestamp": "2023-06-15 12:30:46.250000",
            "configuration": {"block_size_x": 2048},
            "times": {"compilation": 10.0, "runtimes": []},
            "invalidity": "runtime",
            "correctness": 1,
        },
    ],
}


def read(tmp_path, facts):
    file = tmp_path / "results.json"
    file.write_text(json.dumps(facts))
    return list(read_t4(file, "vector_add", "cuda", "a GPU"))


def test_a_file_of_kernel_tuner_is_read(tmp_path):
    good, bad = read(tmp_path, T4)
    assert good.knobs == {"block_size_x": 64} and good.seconds == pytest.approx(5e-5)
    assert len(good.times) == 3 and good.phases["compilation"] == pytest.approx(0.4409)
    assert good.begun == datetime(2023, 6, 15, 12, 30, 45, 250000, timezone.utc)
    assert bad.failure is Failure.LAUNCH and bad.begun.tzinfo is not None
    assert good.subject == bad.subject and good.subject.family == "Kernel Tuner: vector_add"
    assert [each.id for each in read(tmp_path, T4)] == [good.id, bad.id]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"invalidity": "tired"}, "result 1: there is no invalidity 'tired'"),
        ({"times": {}}, "result 1: it has no 'runtimes'"),
        ({"configuration": []}, "result 1: 'configuration' is no dict"),
        ({"timestamp": "noon"}, "result 1"),
    ],
)
def test_wrong_results_are_named(tmp_path, values, message):
    with pytest.raises(TVMError, match=f"TL5019.*not in the T4 format: {message}"):
        read(tmp_path, {**T4, "results": [{**T4["results"][0], **values}]})
    with pytest.raises(TVMError, match=r"TL5019.*schema_version 1.0.0"):
        read(tmp_path, {**T4, "schema_version": "2.0.0"})


def test_a_file_of_kernel_tuner_has_what_the_format_can_have(tmp_path):
    """Required by the schema: configuration, times, invalidity, correctness."""
    file = tmp_path / "results.json"
    trials = [trial(seconds=n * 1e-3, begun=full_trial().begun) for n in range(1, 4)]
    trials += [trial(failure=each, message="no") for each in Failure]
    assert write_t4(trials, file) == len(trials)
    facts = json.loads(file.read_text())
    words = {"timeout", "compile", "runtime", "correctness", "constraints", "correct"}
    assert {each["invalidity"] for each in facts["results"]} == words
    for found, own in zip(read_t4(file, "k", "opencl", "a"), trials, strict=True):
        assert found.times == pytest.approx(own.times) and found.knobs == own.knobs
        assert found.begun == own.begun
        is_wrong = own.failure is Failure.WRONG_RESULT
        assert (found.verification is Verification.FAILED) == is_wrong
    with pytest.raises(TVMError, match="TL7001.*of one kernel"):
        write_t4([trial(subject(1)), trial(subject(2))], file)
