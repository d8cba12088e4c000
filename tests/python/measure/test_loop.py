"""The loop that times anything, and measurements in processes of their own."""

import importlib
import time
from pathlib import Path

import pytest

from texloom.measure import ErrorClass, Measurement, loop
from texloom.measure.processes import measured_in_process


@pytest.fixture
def clock(monkeypatch):
    """A clock that only the arms of a test advance."""
    seconds = [0.0]
    monkeypatch.setattr(loop.time, "perf_counter", lambda: seconds[0])
    monkeypatch.setattr(loop.time, "monotonic", lambda: seconds[0])
    return seconds


def arms_of(clock, durations):
    """Return arms with these durations, and the list of their names in the order of runs."""
    order = []

    def arm(name, seconds):
        def run():
            order.append(name)
            clock[0] += seconds

        return loop.Arm(run)

    return [arm(name, seconds) for name, seconds in durations.items()], order


def test_arms_take_turns(clock):
    """Each arm runs once unmeasured, then in samples that are long enough: two runs of `a`."""
    arms, order = arms_of(clock, {"a": 0.01, "b": 0.04})
    assert loop.medians(arms, rounds=2, sample_seconds=0.02) == pytest.approx([0.01, 0.04])
    assert "".join(order) == "a" + "a" + "aa" + "bb" + "aab" + "baa"


def test_warm_up_lasts(clock):
    arms, order = arms_of(clock, {"a": 0.25})
    sampling = loop.Sampling(rounds=2, sample_seconds=0, warm_up_seconds=1)
    (measured,) = loop.measure(arms, sampling)
    assert measured == Measurement((0.25, 0.25), 1)
    assert len(order) == 4 + 2


def test_hopeless_arms_get_one_sample(clock):
    arms, _ = arms_of(clock, {"a": 0.25, "b": 0.5})
    sampling = loop.Sampling(rounds=3, sample_seconds=0)
    measured = loop.measure(arms, sampling, hopeless_seconds=0.4)
    assert [len(each.results) for each in measured] == [3, 1]


def test_runs_of_a_sample_have_limits(clock):
    (arm,), _ = arms_of(clock, {"a": 0.001})
    assert loop.runs_of_sample(arm, loop.Sampling(sample_seconds=1, most_runs=7)) == 7
    assert loop.runs_of_sample(arm, loop.Sampling(sample_seconds=0, least_runs=5)) == 5


def test_statistics():
    measured = Measurement((4.0, 1.0, 2.0, 3.0, 5.0), 1)
    assert (measured.min, measured.max, measured.mean, measured.median) == (1, 5, 3, 3)
    assert measured.quartiles == (2, 3, 4)
    assert measured.std == pytest.approx(2**0.5)


FUNCTIONS = """
import os
import subprocess
import time

from texloom.measure import ErrorClass, Measurement
from texloom.measure.measurement import failing_as


def right(seconds):
    return Measurement((seconds,), 1)


def fails():
    with failing_as(ErrorClass.COMPILE):
        raise ValueError("the reason")


def raises():
    raise KeyError("x")


def ends():
    os._exit(3)


def hangs():
    time.sleep(60)


def waits_for_another(file):
    with subprocess.Popen(["sleep", "60"]) as process:
        file.write_text(str(process.pid))
"""


@pytest.fixture
def functions(tmp_path, monkeypatch):
    """A module that other processes import by its name, as they import those of the package."""
    (tmp_path / "timed_functions.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module("timed_functions")


def test_process(functions):
    assert measured_in_process(functions.right, 0.5) == Measurement((0.5,), 1)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("fails", ErrorClass.COMPILE, "the reason"),
        ("raises", ErrorClass.RUN, "KeyError: 'x'"),
        ("ends", ErrorClass.RUN, "the process ended with code 3: it wrote nothing to stderr"),
    ],
)
def test_failures_in_processes_have_a_class(functions, name, error, message):
    record = measured_in_process(getattr(functions, name))
    assert record == Measurement((), 0, error, message)


def test_process_that_hangs_is_ended(functions):
    record = measured_in_process(functions.hangs, seconds=2)
    assert record == Measurement((), 0, ErrorClass.TIMEOUT, "it took more than 2 s")


def test_what_a_process_started_ends_with_it(functions, tmp_path):
    pid = tmp_path / "pid"
    record = measured_in_process(functions.waits_for_another, pid, seconds=3)
    assert record == Measurement((), 0, ErrorClass.TIMEOUT, "it took more than 3 s")
    state = Path(f"/proc/{pid.read_text()}/stat")
    for _ in range(50):  # a killed process may be a zombie until init has read its end
        if not state.exists() or state.read_text().split()[2] == "Z":
            return
        time.sleep(0.1)
    pytest.fail("it lives on")


def test_function_that_no_other_process_can_import_is_refused(functions, monkeypatch):
    with pytest.raises(ValueError, match="cannot import .*lambda.*: define it at the top"):
        measured_in_process(lambda: Measurement((1.0,), 1))
    monkeypatch.setattr(functions.right, "__module__", "__main__")
    with pytest.raises(ValueError, match="cannot import right of __main__"):
        measured_in_process(functions.right)
