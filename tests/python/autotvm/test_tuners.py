"""Tuners: which configurations they choose, how these are measured, and what failures do."""

import logging
import os
import signal
import time

import numpy as np
import pytest
from autotvm_templates import DummyRunner, blocks, matmul, product, sample_records, sample_task

import texloom as tvm
from texloom import autotvm, te
from texloom.autotvm import MeasureErrorNo
from texloom.autotvm.tuner import (
    GATuner,
    GridSearchTuner,
    RandomTuner,
    Tuner,
    XGBTuner,
    callback,
)
from texloom.errors import TVMError
from texloom.records import Failure, Verification, open_records
from texloom.target import has_llvm
from texloom.tuning import search as searches

TUNERS = [RandomTuner, GridSearchTuner, GATuner, XGBTuner]
N = 16


def options(runner, **builder):
    return autotvm.measure_option(autotvm.LocalBuilder(**builder), runner)


def quick(**given):
    return autotvm.LocalRunner(number=1, repeat=2, cooldown_interval=0.0, **given)


@pytest.mark.parametrize("kind", TUNERS)
def test_tuners_choose_each_configuration_once(kind):
    task, runner = sample_task(), DummyRunner()
    tuner = kind(task)
    tuner.tune(n_trial=20, measure_option=options(runner))
    assert len(runner.seen) == len(set(runner.seen)) == tuner.counter == 20
    assert tuner.visited == set(runner.seen) and tuner.best_flops > 1
    assert tuner.best_config.index == min(runner.seen)
    assert tuner.best_measure_pair[0].config is tuner.best_config
    assert runner.seen[tuner.best_iter] == tuner.best_config.index
    tuner.tune(n_trial=1000, measure_option=options(runner))
    assert sorted(runner.seen) == list(range(64)) and not tuner.has_next()


@pytest.mark.parametrize("kind", TUNERS)
def test_what_was_chosen_is_not_chosen_again(kind):
    """A script may choose all configurations without telling what came of them."""
    tuner, chosen = kind(sample_task()), []
    while tuner.has_next():
        chosen += [each.index for each in tuner.next_batch(10)]
    assert sorted(chosen) == list(range(64))


@pytest.mark.parametrize("kind", [GridSearchTuner, RandomTuner])
def test_tuners_keep_to_a_range(kind):
    task, runner = sample_task(), DummyRunner()
    tuner = kind(task)
    assert tuner.range_length == len(task.config_space) == 64 and tuner.index_offset == 0
    tuner = kind(task, range_idx=(8, 15))
    assert tuner.range_length == 8 and tuner.index_offset == 8
    tuner.tune(n_trial=8, measure_option=options(runner))
    assert sorted(runner.seen) == list(range(8, 16))
    assert tuner.counter == 8 and not tuner.has_next()
    assert kind is RandomTuner or runner.seen == list(range(8, 16))


@pytest.mark.parametrize("kind", [GATuner, XGBTuner])
def test_tuners_learn(kind):
    """One of 400 configurations takes 1 ms: 64 random ones have it in a sixth of all searches."""

    def seconds(config):
        rows, columns = (each.val for each in (config["a"], config["b"]))
        return 1e-3 * (1 + abs(rows - 13)) * (1 + abs(columns - 4))

    @autotvm.template("tests/learnt")
    def learnt():
        cfg = autotvm.get_config()
        cfg.define_knob("a", list(range(20)))
        cfg.define_knob("b", list(range(20)))
        a = te.placeholder((4,), name="A")
        b = te.compute((4,), lambda i: a[i] + 1.0, name="B")
        return te.create_schedule(b.op), [a, b]

    task = autotvm.task.create("tests/learnt", (), "llvm")
    found = []
    for seed in range(6):
        tuner = kind(task, pop_size=16, seed=seed) if kind is GATuner else kind(task, seed=seed)
        runner = DummyRunner(seconds)
        tuner.tune(64, {"builder": NoBuilder(), "runner": runner})
        found.append(seconds(tuner.best_config))
    assert np.median(found) < 2e-3


class NoBuilder(autotvm.measure.Builder):
    """Builds nothing: the runner does not look at it."""

    def build(self, measure_inputs):
        class Result:
            error = None

        return [Result()] * len(measure_inputs)


def test_filters_leave_configurations_out():
    task, runner = sample_task(), DummyRunner()
    task.config_space.multi_filter(
        lambda entity: 8 <= entity["tile_x"].size[1] * entity["tile_y"].size[1] < 1024
    )
    tuner = GATuner(task, pop_size=100)
    tuner.tune(n_trial=64, measure_option=options(runner))
    assert len(runner.seen) == len(task.config_space) == 43
    assert all(map(task.config_space.is_index_valid, tuner.visited))


def test_history_is_learnt(monkeypatch):
    tuner = XGBTuner(sample_task())
    tuner.load_history(sample_records(64), min_seed_records=1)
    assert tuner.next_batch(1)[0].index < 8  # the fastest ones of history have small numbers
    other = XGBTuner(sample_task(64))
    other.load_history(sample_records(64))
    other.tune(16, options(runner := DummyRunner()))
    assert len(runner.seen) == 16
    monkeypatch.setattr(searches, "find_spec", lambda _: None)
    with pytest.raises(TVMError, match=r"TL5016.*lightgbm(.|\n)*texloom\[tune\]"):
        XGBTuner(sample_task())


def test_early_stopping():
    runner = DummyRunner(lambda config: 1.0 if config.index == 3 else 2.0)
    tuner = GridSearchTuner(sample_task())
    tuner.tune(64, options(runner, n_parallel=1), early_stopping=5)
    assert runner.seen == list(range(8)) and tuner.best_iter == 3


def test_own_tuners_and_callbacks(capsys, caplog):
    class Last(Tuner):
        def __init__(self, task):
            super().__init__(task)
            self.left = [task.config_space.get(each) for each in (63, 62, 61)]

        def has_next(self):
            return bool(self.left)

        def next_batch(self, batch_size):
            batch, self.left = self.left[:batch_size], self.left[batch_size:]
            return batch

    runner, monitor = DummyRunner(), callback.Monitor()
    with caplog.at_level(logging.INFO, "autotvm"):
        Last(sample_task()).tune(
            3, options(runner, n_parallel=2), callbacks=[callback.progress_bar(3, "T:"), monitor]
        )
    assert runner.seen == [63, 62, 61] and len(monitor.trial_timestamps()) == 3
    assert monitor.trial_scores()[0] == pytest.approx(2 * 128**3 / 1.063e-3)
    told = capsys.readouterr().out
    assert "\rT: Current/Best:    3.95/   3.95 GFLOPS | Progress: (3/3) |" in told
    with caplog.at_level(logging.DEBUG, "autotvm"):
        GridSearchTuner(sample_task()).tune(1, options(runner))
    assert "No: 1\tGFLOPS: 4.19/4.19\tresult: MeasureResult(" in caplog.text


@pytest.mark.slow
def test_configurations_are_measured_checked_or_refused(tmp_path):
    """A configuration that the template, or Texloom, refuses does not end the search."""
    task = autotvm.task.create("tests/blocks", (N, (1, 7, 2, 4096)), "opencl")
    results, log, database = {}, tmp_path / "a.log", tmp_path / "r.sqlite"

    def collect(tuner, inputs, outcomes):
        del tuner
        results.update({one.config.index: each for one, each in zip(inputs, outcomes, strict=True)})

    tuner = GridSearchTuner(task)
    tuner.tune(
        8,
        options(quick(records=database)),
        callbacks=[collect, callback.log_to_file(str(log))],
    )
    failed = {index for index, each in results.items() if each.error_no != 0}
    assert failed == {1, 3, 5, 7}
    assert {results[each].error_no for each in failed} == {MeasureErrorNo.INSTANTIATION_ERROR}
    assert "7 rows do not suit it" in str(results[1].costs[0])
    assert "TL4001" in str(results[3].costs[0])
    assert all(len(results[each].costs) == 2 for each in (0, 2, 4, 6))
    with open_records(database) as records:
        trials = list(records.trials())
    assert len(trials) == 8 and {each.subject.family for each in trials} == {
        "AutoTVM: tests/blocks"
    }
    good = [each for each in trials if each.failure is None]
    assert all(each.verification is Verification.PASSED for each in good) and len(good) == 4
    assert {each.failure for each in trials if each.failure} == {Failure.CONSTRAINT}
    with autotvm.apply_history_best(str(log)), tvm.target.Target("opencl"):
        f = tvm.build(*blocks(N, (1, 7, 2, 4096)))
    a, b, expected = product(N)
    np.testing.assert_allclose(f(a, b), expected, rtol=1e-5)


@pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")
def test_the_tutorial_for_processors(tmp_path):
    task = autotvm.task.create("tests/matmul", args=(N, N, N, "float32"), target="llvm")
    log = str(tmp_path / "matmul.log")
    tuner = RandomTuner(task)
    tuner.tune(
        n_trial=3,
        measure_option=autotvm.measure_option(builder="local", runner=quick()),
        callbacks=[callback.log_to_file(log)],
    )
    assert tuner.best_flops > 0
    with autotvm.apply_history_best(log) as history:
        assert str(history.query(task.target, task.workload)) == str(tuner.best_config)
        with tvm.target.Target("llvm"):
            f = tvm.build(*matmul(N, N, N, "float32"))
    a, b, expected = product(N)
    np.testing.assert_allclose(f(a, b), expected, rtol=1e-5)


@autotvm.template("tests/kinds")
def kinds(n):
    """Compute B = A + 1, or something else: a wrong result, or nothing before a minute is over."""
    cfg = autotvm.get_config()
    cfg.define_knob("kind", ["right", "wrong", "slow"])
    kind = cfg["kind"].val
    a = te.placeholder((n,), name="A")

    def body(ins, outs):
        ib = tvm.tir.ir_builder.create()
        thread = te.thread_axis("threadIdx.x")
        ib.scope_attr(thread, "thread_extent", n)
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        y[thread] = x[thread] + (2.0 if kind == "wrong" else 1.0)
        with ib.for_range(0, te.const((1 << 40) if kind == "slow" else 1, "int64"), dtype="int64"):
            y[thread] = y[thread] * 0.5 + x[thread]
        return ib.get()

    b = te.extern((n,), [a], body, name="B", dtype="float32")
    cfg.add_flop(n)
    return te.create_schedule(b.op), [a, b]


def errors_of(task, runner, trials, **builder):
    seen = {}

    def collect(tuner, inputs, outcomes):
        del tuner
        for one, each in zip(inputs, outcomes, strict=True):
            seen[one.config["kind"].val] = each

    GridSearchTuner(task).tune(trials, options(runner, **builder), callbacks=[collect])
    return seen


@pytest.mark.slow
def test_wrong_and_hanging_configurations():
    """The script goes on: the process of a kernel that hangs is killed."""
    task = autotvm.task.create(kinds, (N,), "opencl")
    begin = time.monotonic()
    seen = errors_of(task, quick(timeout=3), 3, timeout=6)
    assert {kind: each.error_no for kind, each in seen.items()} == {
        "right": MeasureErrorNo.NO_ERROR,
        "wrong": MeasureErrorNo.WRONG_ANSWER,
        "slow": MeasureErrorNo.RUN_TIMEOUT,
    }
    assert "the process was killed" in str(seen["slow"].costs[0])
    assert time.monotonic() - begin < 40
    assert task.flop == N
    unchecked = errors_of(task, quick(check_correctness=False), 2)
    assert {each.error_no for each in unchecked.values()} == {0}


def test_given_inputs():
    """With zeros, B = A + 1 and B = A + 2 differ still; arrays of all arguments are given."""
    task = autotvm.task.create(kinds, (N,), "opencl")
    runner = quick()
    runner.ref_input = [np.zeros(N, "float32"), np.zeros(N, "float32")]
    seen = errors_of(task, runner, 2)
    assert seen["right"].error_no == 0 and seen["wrong"].error_no == MeasureErrorNo.WRONG_ANSWER
    runner.ref_input = [np.zeros(N, "float32")]
    (only,) = errors_of(task, runner, 1).values()
    assert only.error_no != 0 and "1 arrays are given for 2 arguments" in str(only.costs[0])


@pytest.mark.slow
def test_configurations_are_built_ahead_in_processes_of_their_own():
    task = autotvm.task.create("tests/blocks", (N,), "opencl")
    builder, runner, seen = autotvm.LocalBuilder(n_parallel=2), quick(), []

    def look(tuner, inputs, results):
        del tuner, inputs
        seen.extend(each.error_no for each in results)
        folder = builder._pool._folder.name
        assert os.path.isdir(folder) and not os.listdir(folder)  # packages are used up
        processes = builder._pool._processes
        assert len(processes) <= 2 and {each.starts for each in processes} <= {0, 1}
        assert any(each.starts for each in processes) and runner._process.starts == 1

    GridSearchTuner(task).tune(4, autotvm.measure_option(builder, runner), callbacks=[look])
    assert seen == [0] * 4 and builder._pool is None  # ended with the search


@pytest.mark.slow
def test_a_killed_process_fails_its_configuration_alone():
    task = autotvm.task.create("tests/blocks", (N,), "opencl")
    runner, outcomes = quick(), []

    def kill(tuner, inputs, results):
        del tuner, inputs
        outcomes.extend(each.error_no for each in results)
        if len(outcomes) == 1:
            os.kill(runner._process._process.pid, signal.SIGKILL)

    GridSearchTuner(task).tune(4, options(runner, n_parallel=1), callbacks=[kill])
    assert outcomes[0] == outcomes[2] == outcomes[3] == 0 and outcomes[1] != 0
    assert runner._process is None  # ended with the search


def test_wrong_options_are_refused():
    with pytest.raises(TVMError, match="there is no runner 'remote'"):
        autotvm.measure_option("local", "remote")
    with pytest.raises(KeyError):
        RandomTuner(sample_task()).tune(1, options(DummyRunner()), si_prefix="X")
