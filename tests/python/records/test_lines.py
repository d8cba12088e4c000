"""Lines of JSON: every trial is one, equal databases have equal files, wrong lines are named."""

import json
import random

import pytest
from sample_trials import full_trial, random_trials, trial

from texloom.errors import TVMError
from texloom.records import Failure, open_records
from texloom.records.lines import line_of, read_lines, trial_of_line, write_lines


def test_a_line_has_everything_of_a_trial():
    for each in (full_trial(), trial(), trial(failure=Failure.LAUNCH, message="refused")):
        line = line_of(each)
        assert "\n" not in line and trial_of_line(line) == each


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_lines_is_that_of_the_trials(tmp_path, seed):
    """It does not depend on the order in which trials were added, or from where."""
    trials = random_trials(60, seed)
    with open_records(tmp_path / "one.sqlite", creates=True) as one:
        one.add_all(trials)
        assert write_lines(one.trials(), tmp_path / "one.jsonl") == 60
    random.Random(seed).shuffle(trials)
    with open_records(tmp_path / "other.sqlite", creates=True) as other:
        other.add_all(trials[:20])
        other.add_all(read_lines(tmp_path / "one.jsonl"))
        write_lines(other.trials(), tmp_path / "other.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "other.jsonl").read_bytes()


def _without(name):
    return lambda facts: facts.pop(name)


def _with(**values):
    return lambda facts: facts.update(values)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_without("times"), "it has no 'times'"),
        (_with(format=2), "it is not an object with the format 1"),
        (_with(times=[1, "2"]), "'times' is no float"),
        (_with(times=[]), "either times or a failure"),
        (_with(times=[-1.0]), "positive numbers"),
        (_with(runs=1.5), "'runs' is no int"),
        (_with(runs=True), "'runs' is no int"),
        (_with(failure="tired"), "'tired' is not a valid Failure"),
        (_with(device=None), "'device' is no dict"),
        (_with(device={"name": "a"}), "it has no 'platform'"),
        (_with(id="7"), "UUID"),
        (_with(begun="yesterday"), "isoformat"),
        (_with(begun="2026-01-01T00:00:00"), "time zone"),
        (_with(versions={"texloom": 1}), "'versions' is no str"),
        (_with(knobs={"rows": float("nan")}), "NaN is no number"),
        (_with(version=2**31), "at most 2147483647"),
        (_with(text="a\0b"), "the code 0"),
        (_with(host="\ud800"), "surrogates not allowed"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, spoil, message):
    facts = json.loads(line_of(trial()))
    spoil(facts)
    file = tmp_path / "trials.jsonl"
    file.write_text(f"{line_of(trial())}\n{json.dumps(facts)}\n")
    with pytest.raises(TVMError, match=rf"TL5019.*line 2 of .*is no trial: .*{message}"):
        list(read_lines(file))


@pytest.mark.parametrize("line", [b"{", b"[]", b"\xff", b"7", b"[" * 100000, b"NaN"])
def test_what_is_no_line_is_refused(tmp_path, line):
    file = tmp_path / "trials.jsonl"
    file.write_bytes(line)
    with pytest.raises(TVMError, match=r"TL5019.*line 1 of"):
        list(read_lines(file))


def test_a_failed_export_leaves_the_earlier_file(tmp_path):
    file = tmp_path / "trials.jsonl"
    write_lines([trial()], file)
    before = file.read_bytes()

    def interrupted():
        yield trial()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_lines(interrupted(), file)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]
