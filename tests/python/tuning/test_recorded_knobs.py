"""Graphs compiled with the best knobs of a database: which trials, of which device, are used."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import texloom
from texloom.errors import TexloomWarning, TVMError
from texloom.graph import Graph, TunedKnobs
from texloom.graph.recorded_knobs import RecordedKnobs, knobs_for
from texloom.graph.scheduler import collected_tasks
from texloom.ops.products import matmul
from texloom.ops.schedules.family import knob_values
from texloom.records import Failure, MeasuredDevice, Place, Trial, Verification, open_records
from texloom.records.best_file import best_knobs, write_best
from texloom.records.points import points_of
from texloom.records.trial import canonical
from texloom.tuning import Operator

DEVICE = MeasuredDevice("a device", "a platform", "1.0", "OpenCL C 1.2")
NEWER = replace(DEVICE, driver="2.0")
OTHER = replace(DEVICE, name="another")


def product(offset=None):
    graph = Graph("product")
    a, b = graph.input("a", (32, 48)), graph.input("b", (48, 64))

    def computed(a, b):
        made = matmul(a, b)
        if offset is None:
            return made
        return texloom.te.compute(made.shape, lambda i, j: made[i, j] + offset, name="shifted")

    graph.output(*graph.op("c", "product", computed, [a, b]))
    return graph


@pytest.fixture(scope="module")
def kernel():
    """The subject of the product, with three points of its space."""
    with collected_tasks() as tasks:
        product().compile("opencl", scopes="global")
    (task,) = tasks.values()
    operator = Operator(str(task), None)
    own = operator.tunable()[0]
    points = own[0].space(operator.kernels[own]).points
    return operator.subject(own), [knob_values(each) for each in points[:3]]


@pytest.fixture
def records(tmp_path):
    with open_records(tmp_path / "r.sqlite", creates=True) as made:
        yield made


def made(kernel, number, seconds, device=DEVICE, **others):
    subject, points = kernel
    facts = {"times": (seconds,), "verification": Verification.PASSED, **others}
    return Trial(subject, Place(device, "a host", {}), points[number], **facts)


def used(knobs, graph=None):
    (graph or product()).compile("opencl", scopes="global", tuned=knobs)
    return knobs.used


def test_the_median_of_verified_trials_counts(kernel, records):
    lucky, steady = ((0, s) for s in (1e-4, 3e-3, 3e-3)), ((1, s) for s in (2e-3, 2e-3))
    records.add_all(made(kernel, *each) for each in (*lucky, *steady))
    records.add(made(kernel, 2, 1e-6, verification=Verification.NONE))
    (entry,) = used(RecordedKnobs(records)).tuned.values()
    assert entry.knobs == kernel[1][1] and entry.microseconds == 2000
    failed = {"times": (), "failure": Failure.WRONG_RESULT, "verification": Verification.FAILED}
    records.add(made(kernel, 1, 0, **failed))
    (entry,) = used(RecordedKnobs(records)).tuned.values()
    assert entry.knobs == kernel[1][0]


def test_a_trial_takes_the_place_of_the_one_it_repeats(kernel, records):
    doubtful = made(kernel, 0, 1e-4)
    records.add_all([doubtful, made(kernel, 1, 2e-3)])
    records.add(made(kernel, 0, 3e-3, parent=doubtful.id))
    (entry,) = used(RecordedKnobs(records)).tuned.values()
    assert entry.knobs == kernel[1][1]
    child = made(kernel, 2, 1e-3, parent=doubtful.id)  # other knobs: a point made from another
    assert len(points_of([doubtful, child])) == 2


def test_the_device_of_the_target_counts(kernel, records):
    records.add_all([made(kernel, 0, 2e-3), made(kernel, 1, 1e-3, NEWER)])
    assert next(iter(used(RecordedKnobs(records, [DEVICE])).tuned.values())).knobs == kernel[1][0]
    assert next(iter(used(RecordedKnobs(records, [NEWER])).tuned.values())).knobs == kernel[1][1]
    later = replace(DEVICE, driver="3.0")
    assert used(RecordedKnobs(records, [later])).tuned
    absent = used(RecordedKnobs(records, [OTHER]))
    assert not absent.tuned and len(absent.estimated) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert used(RecordedKnobs(records)).tuned
    records.add(made(kernel, 2, 1e-3, OTHER))
    with pytest.warns(TexloomWarning, match=r"TL7001.*several devices.*a device, another"):
        assert not used(RecordedKnobs(records)).tuned
    assert used(RecordedKnobs(records, [OTHER])).tuned


def test_kernels_of_equal_facts_share_knobs(kernel, records, tmp_path, dev):
    """An operator with another epilogue has another task, but the same kernel to tune."""
    records.add(made(kernel, 2, 1e-3))
    write_best(best_knobs(points_of(records.trials())), tmp_path / "best.json")
    for knobs in (RecordedKnobs(records), TunedKnobs.read(tmp_path / "best.json")):
        found = used(knobs, product(offset=1.0))
        assert not found.tuned and not found.estimated
        (entry,) = found.transferred.values()
        assert entry.key == kernel[0].identity and entry.knobs == kernel[1][2]
        facts = found.facts()
        assert [facts[n] for n in ("tuned", "transferred", "estimated")] == [0, 1, 0]
    own = product(offset=1.0).compile("opencl", scopes="global", tuned=knobs)
    inputs = {name: np.ones(shape, "float32") for name, shape in (("a", (32, 48)), ("b", (48, 64)))}
    assert (own.run(inputs, dev)["c"] == 49).all()


def test_packages_say_which_knobs_they_have(kernel, records, tmp_path):
    records.add(made(kernel, 2, 1e-3))
    for tuned, is_said in ((RecordedKnobs(records), True), (None, False)):
        product().compile("opencl", scopes="global", tuned=tuned).save(tmp_path / "p.tlp")
        content = (tmp_path / "p.tlp").read_bytes()
        assert (canonical(kernel[1][2]).encode() in content) == is_said
        assert str(tmp_path).encode() not in content


def test_places_of_knobs(records, tmp_path, monkeypatch):
    file = tmp_path / "r.sqlite"
    monkeypatch.setattr("texloom.graph.recorded_knobs.default_file", lambda: None)
    assert knobs_for(None) is None and knobs_for(False) is None
    monkeypatch.setattr("texloom.graph.recorded_knobs.default_file", lambda: file)
    assert isinstance(knobs_for(None), RecordedKnobs) and knobs_for(False) is None
    assert isinstance(knobs_for(file), RecordedKnobs)
    assert isinstance(knobs_for(f"sqlite:///{file}"), RecordedKnobs)
    write_best([], tmp_path / "best.json")
    assert not isinstance(knobs_for(tmp_path / "best.json"), RecordedKnobs)
    with pytest.raises(TVMError, match="TL5018"):
        knobs_for(tmp_path / "none.sqlite")
    monkeypatch.setattr("texloom.graph.recorded_knobs.default_file", lambda: tmp_path / "none")
    assert knobs_for(None) is None
