"""Files of costs, the model that is fitted to them, and the measurement of graphs."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from sample_trials import DEVICE, record_costs, trial

from texloom import te
from texloom.costs import (
    Costs,
    CostTable,
    MeasuredCost,
    MeasuredDevice,
    choosing,
    fitted,
    open_costs,
)
from texloom.costs.measured import network_subject, site_subject
from texloom.costs.measuring import _launch_times
from texloom.custom import host_operator
from texloom.errors import TVMError
from texloom.graph import CostModel, Graph
from texloom.inspect.scopes import ScopeChoice
from texloom.records import Clock, Failure, Kind, Subject, Wanted, open_records
from texloom.records.database import Records


def cost(key, ns=1000.0, kind="contraction", storage="buffer", size=100.0, operations=10.0):
    return MeasuredCost(key, kind, storage, size, operations, 1, ns, 5.0, 20)


def site(key, times, **others):
    return trial(site_subject(cost(key), "opencl"), times=times, **others)


def test_a_cost_is_the_mean_of_the_trials_of_its_call_site(tmp_path):
    """Each place of a call site in a network is a trial; devices and failures stay apart."""
    newer = MeasuredDevice("a device", "a platform", "2.0", "OpenCL C 1.2")
    with open_records(tmp_path / "records.sqlite", creates=True) as records:
        assert records.devices(Kind.CALL_SITE) == []
        records.add_all(
            [
                site("a", (1e-6, 2e-6, 6e-6)),  # the quartiles are 1.5 and 4
                site("a", (4e-6,)),
                site("b", (7e-6, 7e-6)),
                site("a", (3e-6,), device=newer),
                site("c", (), failure=Failure.LAUNCH),
                trial(seconds=1e-6),  # of a kernel
            ]
        )
        costs = Costs(records, DEVICE)
        found = costs.measured()
        assert found.keys() == {"a", "b"}
        assert found["a"].ns == pytest.approx(3000) and found["a"].count == 4
        assert found["a"].spread == pytest.approx(1250)
        assert found["b"] == replace(cost("b"), ns=pytest.approx(7000), spread=0.0, count=2)
        assert Costs(records, newer).measured()["a"].ns == pytest.approx(3000)
        assert records.devices(Kind.CALL_SITE) == [DEVICE, newer]
        assert costs.table().model.rows == 2


def test_one_call_site_of_two_targets_has_one_cost(tmp_path):
    """The key has everything that counts: the sources of the kernels and the storages."""
    with open_records(tmp_path / "records.sqlite", creates=True) as records:
        for target, ns in (("opencl", 1000), ("opencl -device=mali", 3000)):
            records.add(trial(site_subject(cost("a"), target), ns * 1e-9, times=(ns * 1e-9,)))
        assert Costs(records, DEVICE).measured()["a"].ns == pytest.approx(2000)


def test_networks_have_times_by_both_clocks(tmp_path):
    subject = network_subject("n", 3, "opencl")
    with open_records(tmp_path / "records.sqlite", creates=True) as records:
        records.add(trial(subject, times=(33e-9, 33e-9, 40e-9)))
        records.add(trial(subject, times=(30e-9,), clock=Clock.DEVICE))
        (network,) = Costs(records, DEVICE).networks()
    assert (network.key, network.launches) == ("n", 3)
    assert (network.kernel_ns, network.total_ns) == pytest.approx((30, 33))


def test_a_damaged_call_site_is_named(tmp_path):
    with open_records(tmp_path / "records.sqlite", creates=True) as records:
        for text in ("{}", "[]", "nothing"):
            records.add(trial(Subject(Kind.CALL_SITE, text, text, "opencl"), times=(1e-6,)))
            with pytest.raises(TVMError, match=r"TL5019.*a damaged task"):
                Costs(records, DEVICE).measured()


def test_other_files_are_refused_in_words(tmp_path):
    """Also the files of costs that earlier versions of Texloom made."""
    file = tmp_path / "costs.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE costs (id INTEGER)")
        connection.execute("PRAGMA application_id = 0x54584C43")
    before = file.read_bytes()
    with pytest.raises(TVMError, match=r"TL5019.*it has other contents"):
        open_costs(file)
    assert file.read_bytes() == before


def test_a_file_without_costs(tmp_path):
    """A measurement that fails at once leaves a file without costs."""
    file = tmp_path / "records.sqlite"
    with open_records(file, creates=True) as records:
        records.add(trial())
    with pytest.raises(TVMError, match=r"TL5019.*has no costs"):
        open_costs(file)
    record_costs(file, DEVICE, [cost("a")])
    assert open_costs(file).device == DEVICE


def test_a_device_of_several_must_be_named(tmp_path):
    file = tmp_path / "records.sqlite"
    with pytest.raises(TVMError, match="there is no file of costs"):
        open_costs(file)
    record_costs(file, DEVICE, [cost("a")])
    assert open_costs(file).device == DEVICE
    other = MeasuredDevice("another", "a platform", "1.0", "OpenCL C 1.2")
    record_costs(file, other, [cost("a")])
    with pytest.raises(TVMError, match=r"TL5016.*a device \(driver 1\.0\), another"):
        open_costs(file)
    assert open_costs(file, "another").device == other
    with pytest.raises(TVMError, match="TL5016"):
        open_costs(file, "third")


def test_the_default_file_is_beside_the_kernels(tmp_path, monkeypatch):
    monkeypatch.delenv("TEXLOOM_CACHE_DIR", raising=False)
    assert open_costs() is None
    monkeypatch.setenv("TEXLOOM_CACHE_DIR", str(tmp_path))
    assert open_costs() is None
    record_costs(tmp_path / "records.sqlite", DEVICE, [cost("a")])
    assert open_costs().device == DEVICE
    # What nobody asked for needs no packages.
    monkeypatch.setattr(choosing, "are_supported", lambda: False)
    assert open_costs() is None


def test_the_model_finds_what_the_costs_were_made_of():
    rng = np.random.default_rng(0)
    rows = []
    for i in range(60):
        size, operations = rng.uniform(1e3, 1e6), rng.uniform(1e3, 1e8)
        storage = ("buffer", "texture")[i % 2]
        ns = 2000 + size * (0.01, 0.005)[i % 2] + operations * 0.001
        rows.append(cost(f"{i}", ns, "contraction", storage, size, operations))
    model = fitted(rows)
    assert model.groups["contraction", "buffer"] == pytest.approx((2000, 0.01, 0.001))
    assert model.groups["contraction", "texture"] == pytest.approx((2000, 0.005, 0.001))
    assert model.error < 1e-9 and model.rows == 60
    # An operator kind without measurements gets the coefficients of its storage.
    assert model.ns("reduction", "texture", 2, 1e3, 0) == pytest.approx(4005)


def test_a_model_has_no_negative_coefficients():
    # Larger kernels are faster in these rows, so the best fit has a negative slope.
    rows = [cost(f"{i}", 9000 - 1000 * i, size=1e3 * (i + 1), operations=0.0) for i in range(8)]
    start, per_byte, per_operation = fitted(rows).groups["contraction", "buffer"]
    assert start > 0 and per_byte >= 0 and per_operation >= 0


def test_costs_of_launches_add_up_to_the_time_of_the_network():
    # Two runs of three launches; gaps of 5 are between the launches.
    begins = np.array([[0.0, 15, 40], [65, 80, 105]])
    ends = np.array([[10.0, 35, 60], [75, 100, 125]])
    # The total is close to the sum of launches and gaps, as on a CPU: gaps count.
    stamped, times = _launch_times(begins, ends, 62.5, 0.0)
    np.testing.assert_allclose(times[1], [15, 25, 25] * np.array(62.5 / 62.5), rtol=0.2)
    assert np.median(times, axis=0).sum() == pytest.approx(62.5)
    np.testing.assert_allclose(stamped, [60, 65])
    # The total is less than the sum of the launches: each launch is shortened by the same time.
    stamped, times = _launch_times(begins, ends, 35.0, 0.0)
    np.testing.assert_allclose(stamped, [50, 50])
    np.testing.assert_allclose(times, [[5, 15, 15]] * 2)
    # A launch that ends before the previous launch ends also gets a positive time.
    _, times = _launch_times(begins, np.array([[50.0, 35, 60], [115, 100, 125]]), 60.0, 0.0)
    assert (times > 0).all() and np.median(times, axis=0).sum() == pytest.approx(60)
    # No launch takes less than the host needs to launch a kernel.
    _, times = _launch_times(begins, ends, 35.0, 8.0)
    np.testing.assert_allclose(times, [[8, 15, 15]] * 2)


def test_costs_have_keys_of_schedules_and_kernels():
    table = CostTable({})
    keys = {
        table("injective", signature, sources, 1.0, 1.0, 1, 0, [])[1]
        for signature, sources in (("a", ["b"]), ("a", ["c"]), ("ab", [""]), ("a", ["b", ""]))
    }
    assert len(keys) == len(table.asked) == 4


def graph_of(extent):
    """Return a graph of two operators in a row; textures can hold the results of both."""
    graph = Graph("small")
    x = graph.input("x", (1, 8, extent, extent))

    def halved(x):
        shape = [int(n) for n in x.shape[:2]] + [extent // 2, extent // 2]
        return te.compute(
            shape, lambda n, c, i, j: x[n, c, 2 * i, 2 * j] + x[n, c, 2 * i + 1, 2 * j + 1]
        )

    def summed(x):
        k = te.reduce_axis((0, 8), "k")
        return te.compute(x.shape, lambda n, c, i, j: te.sum(x[n, k, i, j] * (c + 1), axis=k))

    (a,) = graph.op("a", "halved", halved, [x])
    (b,) = graph.op("b", "summed", summed, [a])
    graph.output(b)
    return graph


@pytest.mark.nightly
def test_what_is_measured_is_not_measured_again(dev, tmp_path):
    costs = open_costs(tmp_path / "records.sqlite", measure=dev)
    assert costs.table() is None
    seen = []
    graph = graph_of(16)
    compiled = graph.compile(
        passes=(), costs=costs, measure=dev, progress=lambda *step: seen.append(step)
    )
    known = costs.measured()
    kinds = {(each.kind, each.storage) for each in known.values()}
    assert {("reduction", "buffer"), ("reduction", "texture"), ("convert", "texture")} <= kinds
    assert all(each.ns > 0 and each.count >= 5 for each in known.values())
    assert ("networks are measured", 0, 4) in seen
    short = max(costs.networks(), key=lambda network: network.launches)
    assert short.launches == 256
    assert all(each.ns >= short.total_ns / 256 * each.launches * 0.999 for each in known.values())
    x = np.random.default_rng(0).random((1, 8, 16, 16), "float32")
    expected = graph.compile(passes=(), scopes="global").run({"x": x}, dev)
    np.testing.assert_array_equal(compiled.run({"x": x}, dev)["b"], expected["b"])
    sites = list(costs.records.trials(Wanted(kind=Kind.CALL_SITE)))
    networks = {each.id: each for each in costs.records.trials(Wanted(kind=Kind.NETWORK))}
    assert all(len(each.times) >= 5 and each.kernels for each in sites)
    assert {networks[each.parent].clock for each in sites} == {Clock.HOST}
    graph.compile(passes=(), costs=costs, measure=dev)
    assert costs.measured() == known
    graph_of(32).compile(passes=(), costs=costs, measure=dev)
    assert len(costs.measured()) > len(known)


@pytest.mark.nightly
def test_what_was_measured_before_an_interruption_is_kept(dev, tmp_path):
    costs = open_costs(tmp_path / "records.sqlite", measure=dev)

    def interrupt(what, done, count):
        if what == "networks are measured" and done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        graph_of(16).compile(passes=(), costs=costs, measure=dev, progress=interrupt)
    assert {each.storage for each in costs.measured().values()} == {"buffer"}


def test_measuring_needs_a_file(dev, monkeypatch):
    monkeypatch.delenv("TEXLOOM_CACHE_DIR", raising=False)
    with pytest.raises(TVMError, match=r"TL7001.*no file to store the measured costs"):
        open_costs(measure=dev)
    with pytest.raises(TVMError, match=r"TL7001.*measure= needs costs="):
        graph_of(16).compile(measure=dev)


@pytest.mark.parametrize(
    ("shape", "dtype", "message"),
    [(("n", 4), "float32", "'x' has symbols in its shape"), ((4,), "bfloat16", "'x' is bfloat16")],
)
def test_inputs_without_values_cannot_be_measured(dev, tmp_path, shape, dtype, message):
    g = Graph()
    x = g.input("x", shape, dtype)
    g.output(g.op("y", "Copy", lambda x: te.compute(x.shape, lambda *i: x[i]), [x])[0])
    with pytest.raises(TVMError, match=rf"TL7001.*{message}"):
        g.compile(costs=open_costs(tmp_path / "records.sqlite", measure=dev), measure=dev)


def test_memory_is_a_limit_of_the_choice(dev):
    graph = graph_of(16)
    with pytest.raises(TVMError, match=r"TL3041.*1000 bytes are too few"):
        graph.compile(passes=(), max_live_bytes=1000)
    assert graph.compile(passes=(), max_live_bytes=100_000).summary["nodes"]
    with pytest.raises(TVMError, match="TL2044"):
        graph.compile(max_live_bytes=-1)


def test_memory_is_no_limit_where_each_run_says_the_sizes():
    graph = Graph("open")
    x = graph.input("x", ("n", 8))
    graph.output(*graph.op("y", "copy", lambda x: te.compute(x.shape, lambda *i: x(*i)), [x]))
    with pytest.raises(TVMError, match=r"TL3041.*the sizes of its tensors differ from run to run"):
        graph.compile("opencl", max_live_bytes=1 << 30)


@pytest.fixture
def measured(tmp_path):
    """Return costs of about half a nanosecond per byte; textures are slightly faster."""
    rows = [
        cost(f"{storage} {i}", ns * i, "contraction", storage, 100.0 * i, 0.0)
        for storage, ns in (("buffer", 50.5), ("texture", 49.5))
        for i in range(1, 13)
    ]
    record_costs(tmp_path / "records.sqlite", DEVICE, rows)
    return open_costs(tmp_path / "records.sqlite")


def test_a_file_of_costs_is_read_once(measured, monkeypatch):
    reads = []
    averages = Records.averages

    def counted(self, kind, device):
        reads.append((kind, device))
        return averages(self, kind, device)

    monkeypatch.setattr(Records, "averages", counted)
    graph_of(16).compile("opencl", passes=(), costs=measured)
    assert reads == [(Kind.CALL_SITE, DEVICE)]


def test_textures_that_gain_little_are_given_up(measured):
    """The gain is no larger than differences between measurements of equal kernels."""
    compiled = graph_of(64).compile("opencl", passes=(), costs=measured)
    summary = compiled.summary
    assert {scope for _, scope, _ in summary["stores"].values()} == {"global"}
    assert 0 < summary["small_gain"] < 0.03
    assert (
        summary["lower_bound"]
        < summary["cost"]
        == pytest.approx(summary["lower_bound"] / (1 - summary["small_gain"]))
    )
    # The summary lists the rejected choices, too.
    scopes = ScopeChoice(json.loads(json.dumps(summary["scopes"])))
    (edge,) = (e for e in scopes.edges() if e.name == "a")
    assert "texture" in [name.split(" ")[0] for name, added in edge.others if added < 1e9]


@pytest.mark.parametrize("model", [None, CostModel(start_ns=0.0, bytes_per_ns=0.25)])
def test_the_model_that_is_given_counts_before_the_fitted_one(measured, model):
    @host_operator("test::identity", {"x": "read", "y": "write"})
    def identity(x, y):
        y[...] = x

    graph = Graph("custom")
    graph.output(graph.custom("y", identity, [graph.input("x", (1024,))]))
    compiled = graph.compile("opencl", costs=measured, model=model)
    (ns,) = (ns for _, _, ns, *_ in compiled.summary["runs"])
    assert ns == pytest.approx(2000 + 8192 / 2 if model is None else 8192 / 0.25, rel=0.02)
