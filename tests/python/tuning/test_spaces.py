"""Spaces that users declare: their points, and schedules that are searched as families are."""

import itertools
import math
import warnings

import pytest

import texloom
from texloom import te, tune
from texloom.errors import TVMError
from texloom.graph.tuned_knobs import TunedKnobs
from texloom.measure.loop import Sampling
from texloom.ops.schedules.family import MOST_POINTS
from texloom.records import Failure, Place, Verification, measured_device, open_records
from texloom.records.best_file import read_best
from texloom.tuning.choices import Choices, Drawing, Point
from texloom.tuning.declared import collected_kernels
from texloom.tuning.device_process import LIMITS, DeviceProcess
from texloom.tuning.kernel_build import Phase
from texloom.tuning.search import SEARCHES
from texloom.tuning.splits import inner_parts, powers_of_two

QUICK = Sampling(rounds=3, sample_seconds=0.0)
NAME = "opencl:0"
N = 32

LARGE = Choices(
    {name: tuple(range(1, 33)) for name in "abcdefghijklmnop"},  # 2^80 points
    {"a is at most b": lambda point: point["a"] <= point["b"]},
)


def bound(s, tensor, rows, columns):
    """Give each thread an element, and each block a tile."""
    axes = zip(tensor.op.axis, (rows, columns), "yx", strict=True)
    for axis, factor, letter in axes:
        outer, inner = s[tensor].split(axis, factor)
        s[tensor].bind(outer, te.thread_axis(f"blockIdx.{letter}"))
        s[tensor].bind(inner, te.thread_axis(f"threadIdx.{letter}"))
    return s


def arguments(n):
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    return a, b, te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")


@tune.space(
    rows=tune.factors,
    columns=[1, 2, 4, 4096],
    rules={"a block has at most 64 threads": lambda rows, columns: rows * columns <= 64},
)
def product(n, rows, columns):
    a, b, c = arguments(n)
    if rows == 16:
        raise ValueError("16 rows do not suit it")
    return bound(te.create_schedule(c.op), c, rows, columns), [a, b, c]


@pytest.fixture(scope="module")
def process():
    place = Place.here(measured_device(texloom.device(NAME)))
    with DeviceProcess(NAME, place) as made:
        yield made


def text(s, args):
    return str(texloom.program(s, args))


def test_points_have_numbers():
    choices = Choices({"a": [1, 2, 3], "b": [[1, 2], [2, 1]], "c": ["x"]})
    points = [choices.point(index) for index in range(choices.size)]
    assert choices.size == len(set(points)) == 6
    assert [each["a"] for each in points] == [1, 2, 3, 1, 2, 3]
    assert points[5] == {"a": 3, "b": (2, 1), "c": "x"}
    assert [choices.index(each) for each in points] == list(range(6))
    assert choices.index({"a": 3, "b": [2, 1], "c": "x"}) == 5  # as JSON has it
    assert choices.index({"a": 4, "b": [2, 1], "c": "x"}) is None
    assert choices.index({"a": 3}) is None
    with pytest.raises(IndexError, match="there is no point 6"):
        choices.point(6)
    near = {choices.point(each) for each in choices.neighbors(points[0])}
    assert near == {points[1], points[2], points[3]}


def test_rules_leave_points_out():
    choices = Choices({"a": [1, 2, 3], "b": [1, 2, 3]}, {"a < b": lambda p: p["a"] < p["b"]})
    drawn = Drawing(choices).all_in_order()
    assert [tuple(each.values()) for each in drawn] == [(1, 2), (1, 3), (2, 3)]
    assert drawn.cut == {"a < b": 6}
    assert list(drawn.neighbors(drawn.points[0])) == [drawn.points[1], drawn.points[2]]
    assert set(Drawing(choices, seed=1).at_random([])) == set(drawn)


def test_a_large_space_is_not_listed():
    assert LARGE.size == 2**80
    drawing = Drawing(LARGE, seed=3)
    drawn = drawing.at_random([])
    assert 500 < len(drawn) < MOST_POINTS and sum(drawn.cut.values()) > 500
    assert all(each["a"] <= each["b"] for each in drawn)
    best = drawn.points[0]
    again = drawing.at_random([best])
    assert drawn.points[1] not in again  # other points
    assert again.points[0] in [LARGE.point(each) for each in LARGE.neighbors(best)]
    first, second = Drawing(LARGE).all_in_order(), Drawing(LARGE, seed=3).at_random([])
    assert LARGE.index(first.points[-1]) < 4096 and second.points == drawn.points
    few = Drawing(LARGE, first=8, last=15).all_in_order()
    assert {LARGE.index(each) for each in few} <= set(range(8, 16))


@pytest.mark.parametrize("search", SEARCHES)
def test_searches_take_points_of_large_spaces(search):
    kernel = tune.space("large", **LARGE.knobs)(lambda a, **_: scheduled(a)).kernel()
    searched = kernel.searched
    for _ in range(3):
        searched.draw(SEARCHES[search].is_ordered)
        found = SEARCHES[search](0).next(searched, 8, [searched])
        assert len(set(found)) == 8 and not set(found) & set(searched.trials)
        searched.trials |= {each: [float(sum(each.values()))] for each in found}
    assert len(searched.trials) == 24


def scheduled(rows):
    a, b, c = arguments(N)
    return bound(te.create_schedule(c.op), c, rows, 1), [a, b, c]


def test_splits():
    assert tune.factors(12) == [1, 2, 3, 4, 6, 12] and tune.factors(49) == [1, 7, 49]
    for extent, parts in ((12, 3), (1, 2), (30, 2), (13, 4)):
        expected = {
            each
            for each in itertools.product(tune.factors(extent), repeat=parts)
            if math.prod(each) == extent
        }
        found = tune.splits(extent, parts)
        assert len(found) == len(expected) and set(found) == expected
    assert tune.splits(8, 2, most=2) == [(8, 1), (4, 2)]
    assert powers_of_two(9) == [1, 2, 4, 8]
    found = set(inner_parts(12, 2, [1, 2, 4, 8], divides=False))
    assert found == {p for p in itertools.product([1, 2, 4, 8], repeat=2) if math.prod(p) <= 12}


def test_a_function_has_its_knobs():
    def splits_of(*args, **knobs):
        text = str(texloom.program(*product(*args, **knobs), target="opencl"))
        return [line.split("factor=")[1][0] for line in text.splitlines() if "factor=" in line]

    assert splits_of(N) == ["1", "1"] and splits_of(N, columns=2) == ["1", "2"]
    assert splits_of(N, rows=8, columns=4) == ["8", "4"]
    with pytest.raises(TVMError, match="TL2040.*product has no knob 'row'"):
        product(N, row=1)


@pytest.mark.parametrize(
    ("knobs", "rules", "message"),
    [
        ({}, {}, "has no knobs"),
        ({"rows": 4}, {}, "the values of the knob 'rows' are an int"),
        ({"rows": "abc"}, {}, "the values of the knob 'rows' are a str"),
        ({"rows": []}, {}, "a knob has no values"),
        (
            {"rows": [1, 2]},
            {"rows are even": lambda rows: rows % 2 == 0, "rows are odd": lambda rows: rows % 2},
            "no point of the 2 is legal: 'rows are even' leaves out 1",
        ),
    ],
)
def test_spaces_without_points_are_refused(knobs, rules, message):
    with pytest.raises(TVMError, match=f"TL2040.*{message}"):
        tune.space("x", rules=rules, **knobs)(scheduled)()


def test_points_are_checked_timed_or_refused(process):
    kernel = product.kernel(N, target="opencl")
    assert kernel.subject.family == "space: product" and kernel.subject.facts == f"[{N}]"
    trial = process.trial(kernel.request(Point({"rows": 2, "columns": 4}), QUICK))
    assert trial.failure is None and len(trial.times) == 3 and trial.message == ""
    assert trial.verification is Verification.PASSED and trial.knobs == {"rows": 2, "columns": 4}
    trial = process.trial(kernel.request(Point({"rows": 16, "columns": 4}), QUICK))
    assert trial.failure is Failure.CONSTRAINT
    assert trial.message == "ValueError: 16 rows do not suit it"
    trial = process.trial(kernel.request(Point({"rows": 32, "columns": 4096}), QUICK))
    assert trial.failure is Failure.CONSTRAINT and "TL4001" in trial.message
    assert process.starts == 1


def test_wrong_results_and_other_arguments_fail(process):
    @tune.space(kind=["right", "wrong", "other shape"])
    def moved(n, kind):
        a = te.placeholder((n,), name="A")
        size = n // 2 if kind == "other shape" else n
        b = te.compute((size,), lambda i: a[i] + (1.0 if kind == "wrong" else 2.0), name="B")
        s = te.create_schedule(b.op)
        s[b].bind(b.op.axis[0], te.thread_axis("threadIdx.x"))
        return s, [a, b]

    kernel = moved.kernel(N, target="opencl")
    right, wrong, other = (
        process.trial(kernel.request(Point({"kind": kind}), QUICK))
        for kind in ("right", "wrong", "other shape")
    )
    assert right.verification is Verification.PASSED
    assert wrong.failure is Failure.WRONG_RESULT and 0.1 < wrong.difference < 1
    assert other.failure is Failure.CONSTRAINT
    assert "arguments are float32[32], float32[16], instead of" in other.message


@pytest.mark.slow
def test_a_schedule_that_hangs_is_killed(process):
    @tune.space(rounds=[1, 1 << 40])
    def slow(rounds):
        a = te.placeholder((64,), name="A")

        def body(ins, outs):
            ib = texloom.tir.ir_builder.create()
            thread = te.thread_axis("threadIdx.x")
            ib.scope_attr(thread, "thread_extent", 64)
            x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
            y[thread] = x[thread]
            with ib.for_range(0, te.const(rounds, "int64"), name="r", dtype="int64"):
                y[thread] = y[thread] * 0.5 + x[thread]
            return ib.get()

        b = te.extern((64,), [a], body, name="B", dtype="float32")
        return te.create_schedule(b.op), [a, b]

    kernel = slow.kernel(target="opencl")
    limits = {**LIMITS, Phase.FIRST_RUN: 8.0}
    with DeviceProcess(NAME, process.place, limits) as own:
        hangs = own.trial(kernel.request(Point({"rounds": 1 << 40}), QUICK))
        assert hangs.failure is Failure.RUN_TIMEOUT, hangs.message
        assert own.trial(kernel.request(Point({"rounds": 1}), QUICK)).failure is None
        assert own.starts == 2


@pytest.mark.slow
def test_a_search_goes_on_and_its_best_is_used(tmp_path):
    """The first point has too many threads; others are compared, and the best one is used."""
    database = tmp_path / "r.sqlite"
    wide = tune.space("wide", columns=[4096, 1, 2, 4])(
        lambda n, columns: product(n, rows=1, columns=columns)
    )

    def searched():
        return wide.tune(N, target="opencl", records=database, trials=4, search="random", seed=2)

    found = searched()
    assert found.trials >= 4 and found.failures == {"constraint": 1}
    assert found.seconds > 0 and found.default_seconds is None and found.knobs["columns"] < 4096
    with open_records(database) as records:
        trials = list(records.trials())
        assert {each.subject.family for each in trials} == {"space: wide"}
    again = searched()
    assert again.failures == {"constraint": 1}  # the point that failed is not tried again
    again.save(tmp_path / "best.json")
    assert [each.knobs for each in read_best(tmp_path / "best.json")] == [again.knobs]
    with tune.best(tmp_path / "best.json"), texloom.target.Target("opencl"):
        assert text(*wide(N)) == text(*wide(N, **again.knobs))
        assert text(*wide(16)) == text(*wide(16, columns=4096))  # nothing is known
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TunedKnobs.read(tmp_path / "best.json").name  # a graph has no use for its knobs


def test_records_follow_the_computation_and_the_version():
    def kernel(n, version=1, target="opencl"):
        declared = tune.space("p", version=version, a=[1, 2])(lambda n, a: scheduled_of(n, a))
        return declared.kernel(n, target=target).subject.identity

    def scheduled_of(n, rows):
        a, b, c = arguments(n)
        return bound(te.create_schedule(c.op), c, rows, 1), [a, b, c]

    one = kernel(N)
    assert one == kernel(N)
    assert len({one, kernel(16), kernel(N, 2), kernel(N, target="opencl -device=mali")}) == 4


def test_calls_are_collected():
    with collected_kernels() as kernels, texloom.target.Target("opencl"):
        product(N)
        product(N)
        product(N, rows=2)
        product(16)
        product(N, rows=2, columns=2)  # nothing is left to be tuned
    assert [each.subject.facts for each in kernels.values()] == ["[32]", "[16]"]


def test_symbolic_arguments_are_refused():
    @tune.space(rows=[1, 2])
    def symbolic(rows):
        n = te.var("n")
        a = te.placeholder((n,), name="A")
        b = te.compute((n,), lambda i: a[i] + 1.0, name="B")
        return te.create_schedule(b.op), [n, a, b]

    with pytest.raises(TVMError, match="TL3010.*only tensors of known shapes are measured"):
        symbolic.kernel(target="opencl")
