"""Templates and tasks: which configuration a template gets, and what identifies a task."""

import logging
import pickle

import numpy as np
import pytest
from autotvm_templates import blocks, matmul, sample_task

import texloom as tvm
from texloom import autotvm, te
from texloom.autotvm.task import (
    ApplyConfig,
    DispatchContext,
    FallbackContext,
    args_to_workload,
    deserialize_args,
)
from texloom.autotvm.task.space import InstantiationError
from texloom.autotvm.task.task import compute_flop
from texloom.errors import TVMError


def factors(s, args, target="llvm"):
    text = str(tvm.program(s, args, target=target))
    return [line.split("factor=")[1].split()[0] for line in text.splitlines() if "factor=" in line]


def test_a_task_has_the_space_of_its_template():
    task = sample_task()
    assert len(task.config_space) == 64 and len(task.config_space.space_map["tile_y"]) == 8
    assert task.name == "tests/matmul" and task.args == (128, 128, 128, "float32")
    assert task.workload == ("tests/matmul", 128, 128, 128, "float32")
    assert task.flop == 2 * 128**3 and str(task.target) == "llvm"
    assert repr(task) == (
        "Task(func_name=tests/matmul, args=(128, 128, 128, 'float32'), kwargs={}, "
        "workload=('tests/matmul', 128, 128, 128, 'float32'))"
    )
    assert len(autotvm.task.create(matmul, (8, 8, 8, "float32"), "llvm").config_space) == 16
    s, args = task.instantiate(task.config_space.get(11))
    assert factors(s, args) == ["8", "2"]


def test_a_task_goes_to_another_process():
    task = sample_task()
    assert task.measured is task.measured  # which stays behind
    with task.target:
        other = pickle.loads(pickle.dumps(task))
    assert other.workload == task.workload and other.target == task.target
    assert str(other.config_space.get(11)) == str(task.config_space.get(11))
    assert factors(*other.instantiate(other.config_space.get(11))) == ["8", "2"]


def test_the_target_is_current_in_a_template():
    @autotvm.template("tests/target")
    def by_target(n):
        seen.append(str(tvm.target.Target.current()))
        a = te.placeholder((n,), name="A")
        b = te.compute((n,), lambda i: a[i] + 1.0, name="B")
        if seen[-1] == "llvm":
            autotvm.get_config().define_knob("x", [1, 2, 3])
        return te.create_schedule(b.op), [a, b]

    seen = []
    one = autotvm.task.create("tests/target", (8,), "llvm")
    other = autotvm.task.create("tests/target", (8,), "opencl -device=mali")
    assert len(one.config_space) == 3 and len(other.config_space) == 1
    assert seen == ["llvm", str(tvm.target.Target("opencl -device=mali"))]


def test_a_default_call_has_a_fallback_configuration(caplog):
    @autotvm.template("tests/fallback")
    def simple(a, b):
        cfg = autotvm.get_config()
        assert cfg.is_fallback
        return a, b

    with caplog.at_level(logging.WARNING, "autotvm"):
        assert simple(2, 3) == (2, 3)
        simple(2, 3)
        (message,) = caplog.messages  # once for equal calls
        assert "Cannot find config for target=None, workload=('tests/fallback', 2, 3)" in message
        autotvm.GLOBAL_SCOPE.silent = True
        try:
            simple(4, 3)
        finally:
            autotvm.GLOBAL_SCOPE.silent = False
        assert len(caplog.messages) == 1
    assert not sample_task().config_space.is_fallback


def test_contexts_are_nested():
    outer, inner = FallbackContext(), ApplyConfig(sample_task().config_space.get(3))
    root = DispatchContext.current
    with outer:
        assert DispatchContext.current is outer
        with inner:
            assert autotvm.get_config().index == 3
            assert factors(*matmul(128, 128, 128, "float32")) == ["8", "1"]
            assert inner.workload[0] == "tests/matmul"
        outer.update("llvm", ("x", 1), sample_task().config_space.get(5))
        assert outer.query("llvm", ("x", 1)).index == 5
        outer.clear_cache("llvm", ("x", 1))
        assert outer.query("llvm", ("x", 1)).is_fallback
    assert DispatchContext.current is root


def test_a_template_in_a_template_has_its_configuration():
    @autotvm.template("tests/outer")
    def outer(n):
        autotvm.get_config().define_knob("more", [0, 1])
        return matmul(n, n, n, "float32")

    task = autotvm.task.create("tests/outer", (8,), "llvm")
    assert list(task.config_space.space_map) == ["more", "tile_y", "tile_x"]
    assert len(task.config_space) == 32
    s, args = task.instantiate(task.config_space.get(2 * 3 + 1))
    assert factors(s, args) == ["8", "1"]


def test_arguments():
    a = te.placeholder((2, 3), dtype="float16")
    given = (a, 1, 2.5, "x", None, (1, [2, a]), np.int64(4), te.const(7))
    encoded = ("TENSOR", (2, 3), "float16")
    expected = (encoded, 1, 2.5, "x", None, (1, (2, encoded)), 4, 7)
    assert args_to_workload(given) == expected
    assert args_to_workload(given, "name") == ("name", *expected)
    made, one = deserialize_args(expected)[:2]
    assert [int(each) for each in made.shape] == [2, 3] and made.dtype == "float16" and one == 1
    with pytest.raises(TVMError, match="TL2040.*of the type object"):
        args_to_workload((object(),))


def test_tensors_as_arguments():
    @autotvm.template("tests/tensors")
    def double(a):
        autotvm.get_config().define_knob("x", [1, 2])
        b = te.compute(a.shape, lambda i: a[i] * 2.0, name="B")
        return te.create_schedule(b.op), [a, b]

    task = autotvm.task.create("tests/tensors", (te.placeholder((8,)),), "llvm")
    assert task.workload == ("tests/tensors", ("TENSOR", (8,), "float32"))
    assert task.flop == 8


def test_mistakes():
    with pytest.raises(TVMError, match="TL5016.*no template 'tests/none'"):
        autotvm.task.create("tests/none", (1,), "llvm")
    with pytest.raises(TVMError, match="TL4003"):
        autotvm.task.create("tests/matmul", (8, 8, 8, "float32"), "nonsense")
    task = autotvm.task.create("tests/blocks", (8, (1, 7)), "opencl")
    with pytest.raises(InstantiationError, match="7 rows do not suit it"):
        task.instantiate(task.config_space.get(1))

    @autotvm.template("tests/nothing")
    def nothing():
        return None

    with pytest.raises(InstantiationError, match="returns no schedule"):
        autotvm.task.create("tests/nothing", (), "llvm")


def test_the_first_configuration_may_be_refused():
    task = autotvm.task.create("tests/blocks", (8, (7, 2)), "opencl")
    assert task.config_space.valid() and task.flop == 2 * 8**3
    assert task.measured.searched.default == {"rows": 2, "columns": 1}
    none = autotvm.task.create("tests/blocks", (8, (7,)), "opencl")
    with pytest.raises(InstantiationError, match="7 rows do not suit it"):
        _ = none.measured


def test_functions_are_templates_under_their_own_names():
    def plain(n):
        return matmul(n, n, n, "float32")

    assert autotvm.task.create(plain, (8,), "llvm").name == "plain"
    assert autotvm.register_customized_task is autotvm.template
    assert autotvm.task.create(blocks, (8,), "opencl").name == "tests/blocks"


def test_operations_are_counted():
    a, b = te.placeholder((6, 5)), te.placeholder((5, 7))
    k = te.reduce_axis((0, 5))

    def flop(shape, body):
        return compute_flop(te.create_schedule(te.compute(shape, body).op))

    assert flop((6, 7), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k)) == 2 * 6 * 7 * 5
    assert flop((6, 7), lambda i, j: te.sum(a[i, k] * b[k, j] / 5, axis=k)) == 3 * 6 * 7 * 5
    assert flop((6,), lambda i: te.max(a[i, k], axis=k)) == 6 * 5
    assert flop((6, 5), lambda i, j: a[i, j].astype("float64") + 1.0) == 30
    assert flop((6, 5), lambda i, j: te.exp(a[i, j] - 1.0)) == 30
    moved = te.compute((5, 6), lambda i, j: a[j, i])
    assert flop((5, 6), lambda i, j: moved[i, j] + moved[i, j]) == 30
    with pytest.raises(RuntimeError, match="Cannot find float number operation"):
        compute_flop(te.create_schedule(moved.op))
    cfg = autotvm.ConfigSpace()
    cfg.add_flop(12)
    assert cfg.flop == 12


def test_omitted_names_say_what_to_use():
    with pytest.raises(TVMError, match="TL2042.*RPCRunner"):
        _ = autotvm.RPCRunner
    assert tvm.autotvm is autotvm and not hasattr(autotvm, "nonsense")
