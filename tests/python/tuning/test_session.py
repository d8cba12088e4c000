"""Tuning runs: processes that hang or end, interruptions, and runs that go on."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import onnx
import pytest

import texloom
from texloom.command_line.tune_reports import total_line, totals
from texloom.errors import TVMError
from texloom.graph import Graph
from texloom.graph.scheduler import collected_tasks
from texloom.measure.loop import Sampling
from texloom.ops.products import matmul
from texloom.ops.schedules.family import knob_values
from texloom.records import Failure, Kind, Place, Wanted, measured_device, open_records
from texloom.tuning import Operator
from texloom.tuning.device_child import Child
from texloom.tuning.device_process import LIMITS, DeviceProcess, Request
from texloom.tuning.kernel_trial import Phase
from texloom.tuning.search import SEARCHES
from texloom.tuning.session import Effort, Session

QUICK = Sampling(rounds=3, sample_seconds=0.0)
NAME = "opencl:0"


@pytest.fixture(scope="module")
def tasks():
    graph = Graph("product")
    a, b = graph.input("a", (32, 48)), graph.input("b", (48, 64))
    graph.output(*graph.op("c", "product", lambda a, b: matmul(a, b), [a, b]))
    with collected_tasks() as made:
        graph.compile("opencl", scopes="global")
    return made


@pytest.fixture(scope="module")
def place():
    return Place.here(measured_device(texloom.device(NAME)))


@pytest.fixture(scope="module")
def requests(tasks):
    (task,) = tasks.values()
    operator = Operator(str(task), texloom.device(NAME))
    kernel = operator.tunable()[0]
    points = kernel[0].space(operator.kernels[kernel]).points
    return [Request(operator.subject(kernel), each, QUICK) for each in points]


def test_a_process_makes_trials_until_one_takes_too_long(requests, place):
    with DeviceProcess(NAME, place, {**LIMITS, Phase.RUN: 2.0}) as process:
        first = process.trial(requests[0])
        assert first.failure is None and len(first.times) == 3
        trial = process.trial(replace(requests[1], sampling=Sampling(sample_seconds=30.0)))
        assert trial.failure is Failure.RUN_TIMEOUT
        assert trial.message == "run took more than 2 s: the process was killed"
        assert trial.subject == requests[1].subject and trial.phases["run"] >= 2
        assert process.trial(requests[1]).failure is None and process.starts == 2


def test_a_process_that_does_not_begin_is_killed(requests, place):
    with DeviceProcess(NAME, place, start_seconds=30.0) as process:
        assert process.trial(requests[0]).failure is None
        process._start_seconds = 1.0
        os.kill(process._process.pid, signal.SIGSTOP)
        trial = process.trial(requests[0])
        assert trial.failure is Failure.BUILD_TIMEOUT
        process._start_seconds = 30.0
        assert process.trial(requests[0]).failure is None and process.starts == 2


def test_a_process_that_ends_fails_its_trial(requests, place):
    with DeviceProcess(NAME, place) as process:
        assert process.trial(requests[0]).failure is None
        child = process._process
        long = Request(requests[0].subject, requests[0].knobs, Sampling(sample_seconds=30.0))
        killer = threading.Timer(3.0, os.kill, (child.pid, signal.SIGKILL))
        killer.start()
        trial = process.trial(long)
        killer.join()
        assert trial.failure is Failure.DEVICE_LOST and "SIGKILL" in trial.message
        assert process.trial(requests[0]).failure is None and process.starts == 2


def test_an_unknown_kernel_is_an_error(requests, place):
    wrong = replace(requests[0].subject, version=7)
    with DeviceProcess(NAME, place) as process:
        with pytest.raises(LookupError, match="no family has the kernel"):
            process.trial(Request(wrong, requests[0].knobs, QUICK))
        assert process.trial(requests[0]).failure is None and process.starts == 1


def session(tasks, place, records, process, trials, search="model"):
    effort = Effort(trials, 120.0, 0.0)
    made = SEARCHES[search](0)
    return Session(tasks, records, process, place.device, made, effort, QUICK)


def test_a_run_that_was_interrupted_goes_on(tasks, place, tmp_path):
    shown = []

    def stops(progress):
        shown.append(progress)
        if len(shown) == 3:
            raise KeyboardInterrupt

    with (
        open_records(tmp_path / "r.sqlite", creates=True) as records,
        DeviceProcess(NAME, place) as process,
    ):
        with pytest.raises(KeyboardInterrupt):
            session(tasks, place, records, process, 6).run(stops)
        subject = shown[0].current.subject
        assert len(list(records.trials(Wanted(subject=subject)))) == 3
        again = session(tasks, place, records, process, 6)
        (kernel,) = again.kernels
        assert kernel.known == 3
        again.run(shown.append)
        trials = list(records.trials(Wanted(subject=subject)))
        assert len({json.dumps(each.knobs, sort_keys=True) for each in trials}) == 6
        assert shown[-1].trials == len(trials) - 3
        assert shown[-1].measuring_seconds <= shown[-1].seconds
        best = kernel.searched.best_seconds
        assert best is not None and best <= kernel.searched.default_seconds
        repeated = len(kernel.searched.trials[kernel.searched.best])
        assert kernel.speedup == 1 or repeated == 3
        finished = session(tasks, place, records, process, 6)
        assert finished.run(shown.append) == 0 or kernel.speedup > 1


def test_a_kernel_whose_default_fails_is_left(tasks, place, requests, tmp_path):
    with open_records(tmp_path / "r.sqlite", creates=True) as records:

        class Fails:
            def trial(self, request):
                seen.append(request.knobs)
                process = DeviceProcess(NAME, place)
                return process._failed(request, Failure.RUN_TIMEOUT, "it hangs", {})

        seen = []
        session(tasks, place, records, Fails(), len(requests), "grid").run(lambda _: None)
        assert len(seen) == 1  # without the default's outputs, nothing can be compared
        session(tasks, place, records, Fails(), len(requests), "grid").run(lambda _: None)
        assert len(seen) == 1
        assert records.best(requests[0].subject) is None


def test_a_default_that_fails_fails_its_trials(requests, place, monkeypatch):
    def fails(*_):
        raise TVMError("no such device memory")

    child = Child(None, NAME)
    monkeypatch.setattr(Operator, "first_run", fails)
    trial = child.trial(requests[0])
    assert trial.failure is Failure.LAUNCH and trial.subject == requests[0].subject
    assert trial.message.startswith("the default, whose outputs are expected: ")


def test_points_that_fail_are_not_tried_again(tasks, place, requests, tmp_path):
    with (
        open_records(tmp_path / "r.sqlite", creates=True) as records,
        DeviceProcess(NAME, place) as process,
    ):

        class FailsLater:
            def trial(self, request):
                seen.append(request.knobs)
                if len(seen) == 1:
                    return process.trial(request)
                return process._failed(request, Failure.RUN_TIMEOUT, "it hangs", {})

        seen = []
        count = len(requests)
        session(tasks, place, records, FailsLater(), count, "grid").run(lambda _: None)
        assert len(seen) == len(set(seen)) == count
        session(tasks, place, records, FailsLater(), count, "grid").run(lambda _: None)
        assert len(seen) == count
        assert records.best(requests[0].subject).knobs == knob_values(seen[0])


def test_kernels_weigh_as_often_as_they_run(place, tmp_path):
    """Three products of one kind, whose kernel is half as slow as that of the one large product."""
    graph = Graph("products")
    inputs = [graph.input(f"a{n}", (32, 48)) for n in range(3)] + [graph.input("a3", (64, 96))]
    weights = [graph.input(f"b{n}", (48, 64)) for n in range(3)] + [graph.input("b3", (96, 64))]
    for number, (a, b) in enumerate(zip(inputs, weights, strict=True)):
        graph.output(*graph.op(f"c{number}", "product", lambda a, b: matmul(a, b), [a, b]))
    with collected_tasks() as tasks:
        graph.compile("opencl", scopes="global")
    assert sorted(tasks.operators.values()) == [1, 3]
    with open_records(tmp_path / "r.sqlite", creates=True) as records:
        own = session(tasks, place, records, None, 4)
        small, large = own.kernels
        assert (small.count, large.count) == (3, 1)
        for kernel, default, best in ((small, 1.0, 0.5), (large, 2.0, 1.0)):
            kernel.searched.trials[kernel.searched.default] = [default]
            other = next(each for each in kernel.searched.points if each != kernel.searched.default)
            kernel.searched.trials[other] = [best]
        assert totals(own.kernels) == (5.0, 2.5)
        assert "5,000,000 us a run, now 2,500,000, which saves 2,500,000" in total_line(own.kernels)
        assert small.expected == pytest.approx(1.5 * large.expected)
        assert own._next(60.0) is small


def model(path):
    x, y = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [16, 32]) for name in "xy"
    )
    w = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [32, 32], [0.5] * 1024)
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = onnx.helper.make_graph([node], "g", [x], [y], [w])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)]), path)


def started(folder, *more):
    command = [sys.executable, "-m", "texloom", "tune", folder / "m.onnx", "--target", NAME]
    command += ["--db", folder / "r.sqlite", "--json", "--trials", "50", "--search", "random"]
    return subprocess.Popen(
        [*command, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_loses_no_finished_trial(tmp_path, how):
    model(tmp_path / "m.onnx")
    told = []
    generator = random.Random(how)
    for _ in range(2):
        process = started(tmp_path)
        lines = [process.stdout.readline() for _ in range(generator.randint(1, 4))]
        told += [json.loads(line)["trial"] for line in lines]
        time.sleep(generator.uniform(0, 0.2))
        process.send_signal(how)
        rest, errors = process.communicate()
        told += [json.loads(line)["trial"] for line in rest.splitlines() if line.endswith("}")]
        assert "Traceback" not in errors
        assert process.returncode == (-9 if how == signal.SIGKILL else 130)
    with open_records(tmp_path / "r.sqlite") as records:
        kept = [str(each.id) for each in records.trials(Wanted(kind=Kind.KERNEL))]
    assert set(told) <= set(kept) and len(kept) <= len(told) + 2
