"""Tasks: the facts by which an operator is scheduled, with a stable identity."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from texloom._core import _Task

from texloom import te
from texloom.errors import TVMError, refuse
from texloom.graph import Graph, scheduler
from texloom.graph.scheduler import alternatives_of
from texloom.ops.contraction import Contraction
from texloom.ops.convolution import convolution
from texloom.ops.stages import stages_of
from texloom.target import resolve


def relu(x):
    return te.compute(x.shape, lambda *i: te.max(x(*i), te.const(0, x.dtype)), name="relu")


def tasks(prefix="", shape=(1, 4, 8, 8), dtype="float32", target="opencl", textures=False):
    """The tasks of y = relu(conv(relu(x), w)); names of the network begin with `prefix`."""
    graph = Graph(f"{prefix}net")
    x = graph.input(f"{prefix}x", shape, dtype)
    w = graph.input(f"{prefix}w", (4, shape[1], 3, 3), dtype)
    (a,) = graph.op(f"{prefix}a", "Relu", relu, [x])
    (c,) = graph.op(f"{prefix}c", "Conv", partial(convolution, pads=(1, 1, 1, 1)), [a, w])
    graph.output(graph.op(f"{prefix}y", "Relu", relu, [c])[0])
    found = []

    def scheduler(task):
        found.append(task)
        return alternatives_of(task)

    counts = graph._for_target(resolve(target)).schedule_operators(scheduler, textures)
    assert counts == {str(task): 1 for task in found}
    return found


def identities(**options):
    return [task.identity for task in tasks(**options)]


def test_identity_has_no_names_of_the_network():
    assert identities(prefix="first/") == identities(prefix="second/")


@pytest.mark.parametrize(
    "options",
    [
        {"shape": (1, 4, 8, 6)},
        {"dtype": "float16"},
        {"target": "opencl -device=adreno"},
        {"textures": True},
    ],
)
def test_identity_depends_on(options):
    assert not set(identities(**options)) & set(identities())


def test_identity_depends_on_storages():
    """Equal operators differ in identity if one reads an input and another writes an output."""
    first, _, last = tasks()
    assert (first.operands, last.operands) == (["row_major", "any"], ["any", "row_major"])
    assert first.computation == last.computation and first.identity != last.identity


def test_identity_is_equal_in_other_processes():
    """The identity does not depend on the order of Python's sets."""
    code = "from test_tasks import identities; print(*identities())"
    root = Path(__file__).parent
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        printed = subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        assert printed.split() == identities()


def test_task_of_a_text_is_scheduled_equally():
    """The text has all facts that a schedule needs, so a tuner can run without the network."""
    for task in tasks(textures=True):
        read = _Task.parse(str(task))
        assert str(read) == str(task) and read.identity == task.identity
        kernels = [[str(each.program) for each in alternatives_of(one)] for one in (task, read)]
        assert kernels[0] == kernels[1]
        sums = [
            [Contraction.of(each) for each in stages_of(one.computation.outputs)]
            for one in (task, read)
        ]
        assert sums[0] == sums[1]


def test_only_schedules_that_are_refused_are_left_out(monkeypatch):
    """A schedule over textures that raises an exception other than a refusal is reported."""
    default = scheduler.schedule_default

    def failing_with(fail):
        def schedule(outputs, inputs, storages, target, choose):
            if "texture" in "".join(storages):
                fail()
            return default(outputs, inputs, storages, target)

        monkeypatch.setattr(scheduler, "schedule_default", schedule)

    failing_with(lambda: refuse("BadSplitFactor", "no kernel fits", "use another"))
    assert tasks(textures=True)
    failing_with(lambda: {}["wrong"])
    with pytest.raises(TVMError, match=r"TL3042.*raised KeyError: 'wrong'"):
        tasks(textures=True)


def test_function_without_a_hash():
    class Relu:
        __hash__ = None

        def __call__(self, x):
            return relu(x)

    graph = Graph()
    (y,) = graph.op("y", "Relu", Relu(), [graph.input("x", (4,))])
    assert y.shape == (4,)
