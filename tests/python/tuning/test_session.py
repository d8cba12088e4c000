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
from texloom.records.points import points_of
from texloom.records.trial import canonical
from texloom.tuning import Operator
from texloom.tuning.build_pool import BuildPool
from texloom.tuning.device_child import Child
from texloom.tuning.device_process import LIMITS, DeviceProcess, Request, failed_trial
from texloom.tuning.kernel_build import Phase
from texloom.tuning.measuring import Measuring
from texloom.tuning.reference import Reference
from texloom.tuning.search import SEARCHES
from texloom.tuning.session import Effort, Session, _revise
from texloom.tuning.working_time import WorkingTime

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
        kept = len(list(records.trials(Wanted(subject=subject))))
        assert kept in (3, 4)  # the next one may have been finished, too
        again = session(tasks, place, records, process, 6)
        (kernel,) = again.kernels
        assert kernel.known in (kept - 1, kept)  # the default may be the reference, too
        again.run(shown.append)
        trials = list(records.trials(Wanted(subject=subject)))
        assert len({json.dumps(each.knobs, sort_keys=True) for each in trials}) == 6
        assert shown[-1].trials == len(trials) - kept
        assert 0 < shown[-1].own_seconds < shown[-1].seconds
        best = kernel.searched.best_seconds
        assert best is not None and best <= kernel.searched.default_seconds
        repeated = len(kernel.searched.trials[kernel.searched.best])
        assert kernel.speedup == 1 or repeated >= 3 or shown[-1].repeated > 0
        finished = session(tasks, place, records, process, 6)
        assert finished.run(shown.append) == 0 or kernel.speedup > 1


def test_a_kernel_whose_default_fails_is_left(tasks, place, requests, tmp_path):
    with open_records(tmp_path / "r.sqlite", creates=True) as records:

        class Fails:
            def trial(self, request):
                seen.append(request.knobs)
                return failed_trial(request, place, Failure.RUN_TIMEOUT, "it hangs", {})

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
                return failed_trial(request, place, Failure.RUN_TIMEOUT, "it hangs", {})

        seen = []
        count = len(requests)
        session(tasks, place, records, FailsLater(), count, "grid").run(lambda _: None)
        others = [each for each in seen if each != seen[0]]  # the first is the reference, too
        assert len(others) == len(set(others)) == count - 1
        before = len(seen)
        session(tasks, place, records, FailsLater(), count, "grid").run(lambda _: None)
        assert len(seen) == before
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
        assert own._next(time.monotonic() + 60) is small


class Throttled(DeviceProcess):
    """A process whose clock runs fast while the device is said to be throttled."""

    rate = 1.0

    def trial(self, request):
        made = super().trial(request)
        return replace(made, times=tuple(each * self.rate for each in made.times))


def test_what_was_measured_during_a_disturbance_is_measured_again(tasks, place, tmp_path):
    """The reference tells: trials of the disturbed batch get children, which take their place."""
    with (
        open_records(tmp_path / "r.sqlite", creates=True) as records,
        Throttled(NAME, place) as process,
    ):
        made = []
        steady = Sampling(rounds=7, sample_seconds=0.002)
        measuring = Measuring(records, process, None, made.append)
        measuring._reference = Reference(20.0)  # a shared machine scatters
        (kernel,) = session(tasks, place, records, process, 1).kernels
        end = time.monotonic() + 600
        points = [kernel.request(each, steady) for each in kernel.searched.points]
        measuring.batch([kernel.request(kernel.searched.default, steady)], end)
        measuring.batch(points[1:3], end)
        assert len(made) == 3
        measuring.check(end)
        assert len(made) == 4 and measuring.repeated == 0  # with a reading of the reference
        process.rate = 1000.0
        disturbed = len(made)

        def recovers(trial):
            made.append(trial)
            process.rate = 1000.0 if len(made) < disturbed + 3 else 1.0

        measuring._learn = recovers
        measuring.batch(points[3:4], end)
        measuring.batch(points[4:5], end)
        measuring.check(end)
        first, second, reading, *again = made[disturbed:]
        assert [each.parent for each in again] == [first.id, second.id, reading.id]
        assert measuring.repeated == 2 and measuring.trials == len(made)
        known = {canonical(each.knobs): each.seconds for each in points_of(records.trials())}
        assert known[canonical(first.knobs)] == again[0].seconds < first.seconds
        assert known[canonical(second.knobs)] == again[1].seconds < second.seconds
        tuned = session(tasks, place, records, process, 1).kernels[0]
        assert tuned.searched.seconds_of(points[3].knobs) == again[0].seconds
        process.rate = 1000.0  # for good: a new level, after the batch was measured twice more
        measuring._learn = made.append
        measuring.batch(points[5:6], end)
        measuring.check(end)
        assert measuring.repeated == 4
        measuring.batch(points[5:13], end)  # as many as are between readings
        assert len(made) == measuring.trials and measuring._since == []
        assert measuring.repeated == 4


def test_the_reference_is_off_only_if_all_its_times_are():
    reference = Reference(0.1)
    assert reference.is_steady([1.0, 1.0, 1.0]) and reference.is_steady([1.05, 1.05, 3.0])
    assert not reference.is_steady([1.2, 1.3, 1.4]) and reference.drift > 1.1
    assert not reference.is_steady([0.8, 0.85])
    assert reference.is_steady([1.0, 1.5])  # what was off moved nothing
    reference.begin_again([1.3])
    assert reference.is_steady([1.3]) and not reference.is_steady([1.0])


def test_points_are_built_side_by_side_ahead_of_their_trials(tasks, place, tmp_path):
    working = WorkingTime()
    shown = []
    with (
        open_records(tmp_path / "r.sqlite", creates=True) as records,
        DeviceProcess(NAME, place, working=working) as process,
        BuildPool(NAME, place, 2, working) as builds,
    ):
        folder = builds._folder.name
        effort = Effort(6, 120.0, 0.0)
        own = Session(
            tasks,
            records,
            process,
            place.device,
            SEARCHES["grid"](0),
            effort,
            QUICK,
            builds,
            working,
        )
        own.run(shown.append)
        assert not list(os.scandir(folder))
        assert all(each.starts == 1 for each in builds._processes) and process.starts == 1
    assert not os.path.exists(folder)
    trials = [each.trial for each in shown]
    assert len({str(each.knobs) for each in trials}) == 6
    assert all(each.failure is None and each.kernels for each in trials)
    assert all(list(each.phases) == ["host compile", "first run", "run"] for each in trials)
    last = shown[-1]
    assert 0 < last.working_seconds < last.seconds and last.own_seconds < last.seconds / 2
    # Other processes make the same kernels as one that measures what it builds.
    with DeviceProcess(NAME, place) as process:
        alone = process.trial(Request(trials[1].subject, own.kernels[0].searched.points[0], QUICK))
    same = next(each for each in trials if each.knobs == alone.knobs)
    assert same.kernels == alone.kernels


def test_a_builder_that_is_killed_fails_one_trial(requests, place):
    with BuildPool(NAME, place, 1) as builds:
        first = builds.start(requests[0]).result()
        assert first.failure is None and first.package.exists()
        (builder,) = builds._processes
        os.kill(builder._process.pid, signal.SIGSTOP)
        begun = builds.start(requests[1])
        os.kill(builder._process.pid, signal.SIGKILL)
        lost = begun.result()
        assert lost.failure is Failure.INTERNAL and "SIGKILL" in lost.message
        with DeviceProcess(NAME, place) as process:
            trial = process.trial(replace(requests[1], build=lost))
            assert trial.failure is Failure.INTERNAL and trial.message == lost.message
            assert process.trial(replace(requests[0], build=first)).failure is None
        assert builds.start(requests[1]).result().failure is None


def test_the_union_of_intervals_is_worked():
    working = WorkingTime()
    for begin, end in ((0, 1), (3, 5), (0.5, 2), (4, 4.5), (10, 11)):
        working.add(begin, end)
    assert working.seconds == 2 + 2 + 1
    working.add(1, 10)
    assert working.seconds == 11


def test_a_best_point_that_was_luck_ends_no_search(tasks, place, tmp_path):
    """Measured again, the best point may be slower than before the batch: no negative gain."""
    with open_records(tmp_path / "r.sqlite", creates=True) as records:
        own = session(tasks, place, records, None, 6)
        (kernel,) = own.kernels
        kernel.searched.trials[kernel.searched.default] = [2.0]
        kernel.gain = 0.1
        _revise(kernel, 1.0)
        assert kernel.gain == 0.05 and own._next(time.monotonic() + 60) is kernel
        _revise(kernel, 4.0)
        assert kernel.gain == 0.025 + 0.5


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
        others = [json.loads(line) for line in rest.splitlines() if line.endswith("}")]
        told += [each["trial"] for each in others if "trial" in each]
        assert "Traceback" not in errors
        assert process.returncode == (-9 if how == signal.SIGKILL else 130)
    with open_records(tmp_path / "r.sqlite") as records:
        kept = [str(each.id) for each in records.trials(Wanted(kind=Kind.KERNEL))]
    assert set(told) <= set(kept) and len(kept) <= len(told) + 2
