"""Files of costs, the model that is fitted to them, and the measurement of graphs."""

import json
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from texloom import te
from texloom.costs import (
    CostDatabase,
    CostTable,
    MeasuredCost,
    MeasuredDevice,
    MeasuredNetwork,
    fitted,
    open_costs,
)
from texloom.costs.measuring import _launch_times
from texloom.custom import host_operator
from texloom.errors import TVMError
from texloom.graph import CostModel, Graph
from texloom.inspect.scopes import ScopeChoice

DEVICE = MeasuredDevice("a device", "a platform", "1.0", "OpenCL C 1.2")


def cost(key, ns=1000.0, kind="contraction", storage="buffer", size=100.0, operations=10.0):
    return MeasuredCost(key, kind, storage, size, operations, 1, ns, 5.0, 20)


def test_costs_are_kept_by_key_and_device(tmp_path):
    file = tmp_path / "folder" / "costs.sqlite"
    database = CostDatabase(file)
    assert database.devices() == [] and database.costs(DEVICE) == {} and not file.exists()
    database.add(DEVICE, [cost("a"), cost("b", 7.0)])
    other = MeasuredDevice("a device", "a platform", "2.0", "OpenCL C 1.2")
    database.add(other, [cost("a", 3.0)])
    database.add(DEVICE, [cost("a", 9.0)])
    again = CostDatabase(file)
    assert again.devices() == [DEVICE, other]
    assert again.costs(DEVICE) == {"a": cost("a", 9.0), "b": cost("b", 7.0)}
    assert again.costs(other) == {"a": cost("a", 3.0)}
    again.add_network(other, MeasuredNetwork("n", 3, 30.0, 33.0))
    assert again.networks(other) == [MeasuredNetwork("n", 3, 30.0, 33.0)]
    assert again.networks(DEVICE) == []


_ADDS = """
import sys
from test_costs import DEVICE, cost
from texloom.costs import CostDatabase
for i in range(100):
    CostDatabase(sys.argv[1]).add(DEVICE, [cost(f"{sys.argv[2]}{i}")])
"""


def test_processes_share_a_file(tmp_path):
    file = tmp_path / "costs.sqlite"
    folder = str(__file__).rpartition("/")[0]
    processes = [
        subprocess.Popen([sys.executable, "-c", _ADDS, str(file), name], cwd=folder)
        for name in ("a", "b")
    ]
    assert [each.wait() for each in processes] == [0, 0]
    assert len(CostDatabase(file).costs(DEVICE)) == 200


def _text(path):
    path.write_text("no database")


def _foreign(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE devices (id INTEGER)")


def _future(path):
    CostDatabase(path).add(DEVICE, [cost("a")])
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")


def _cut(path):
    CostDatabase(path).add(DEVICE, [cost(f"key{i}") for i in range(1000)])
    path.write_bytes(path.read_bytes()[:9000])


@pytest.mark.parametrize("spoil", [_text, _foreign, _future, _cut])
def test_other_files_are_refused_in_words(tmp_path, spoil):
    file = tmp_path / "costs.sqlite"
    spoil(file)
    before = file.read_bytes()
    with pytest.raises(TVMError, match=r"TL5019.*is not a file of costs"):
        CostDatabase(file).costs(DEVICE)
    with pytest.raises(TVMError, match="TL5019"):
        open_costs(file).table()
    assert file.read_bytes() == before


def test_a_file_without_costs(tmp_path):
    """A measurement that fails at once may leave an empty file."""
    file = tmp_path / "costs.sqlite"
    file.touch()
    assert CostDatabase(file).devices() == []
    with pytest.raises(TVMError, match=r"TL5019.*has no costs"):
        open_costs(file)
    CostDatabase(file).add(DEVICE, [cost("a")])
    assert open_costs(file).device == DEVICE


def test_a_device_of_several_must_be_named(tmp_path):
    file = tmp_path / "costs.sqlite"
    with pytest.raises(TVMError, match="there is no file of costs"):
        open_costs(file)
    CostDatabase(file).add(DEVICE, [cost("a")])
    assert open_costs(file).device == DEVICE
    other = MeasuredDevice("another", "a platform", "1.0", "OpenCL C 1.2")
    CostDatabase(file).add(other, [cost("a")])
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
    CostDatabase(tmp_path / "costs.sqlite").add(DEVICE, [cost("a")])
    assert open_costs().device == DEVICE


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
    assert type(model).read(model.text()) == model
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
    assert stamped == pytest.approx(62.5)
    # The total is less than the sum of the launches: each launch is shortened by the same time.
    stamped, times = _launch_times(begins, ends, 35.0, 0.0)
    assert stamped == 50
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
    costs = open_costs(tmp_path / "costs.sqlite", measure=dev)
    assert costs.table() is None
    seen = []
    graph = graph_of(16)
    compiled = graph.compile(
        passes=(), costs=costs, measure=dev, progress=lambda *step: seen.append(step)
    )
    known = costs.database.costs(costs.device)
    kinds = {(each.kind, each.storage) for each in known.values()}
    assert {("reduction", "buffer"), ("reduction", "texture"), ("convert", "texture")} <= kinds
    assert all(each.ns > 0 and each.count >= 5 for each in known.values())
    assert ("networks are measured", 0, 4) in seen
    short = max(costs.database.networks(costs.device), key=lambda network: network.launches)
    assert short.launches == 256
    assert all(each.ns >= short.total_ns / 256 * each.launches * 0.999 for each in known.values())
    x = np.random.default_rng(0).random((1, 8, 16, 16), "float32")
    expected = graph.compile(passes=(), scopes="global").run({"x": x}, dev)
    np.testing.assert_array_equal(compiled.run({"x": x}, dev)["b"], expected["b"])
    graph.compile(passes=(), costs=costs, measure=dev)
    assert costs.database.costs(costs.device) == known
    graph_of(32).compile(passes=(), costs=costs, measure=dev)
    assert len(costs.database.costs(costs.device)) > len(known)


@pytest.mark.nightly
def test_what_was_measured_before_an_interruption_is_kept(dev, tmp_path):
    costs = open_costs(tmp_path / "costs.sqlite", measure=dev)

    def interrupt(what, done, count):
        if what == "networks are measured" and done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        graph_of(16).compile(passes=(), costs=costs, measure=dev, progress=interrupt)
    assert {each.storage for each in costs.database.costs(costs.device).values()} == {"buffer"}


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
        g.compile(costs=open_costs(tmp_path / "costs.json", measure=dev), measure=dev)


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
    database = CostDatabase(tmp_path / "costs.sqlite")
    rows = [
        cost(f"{storage} {i}", ns * i, "contraction", storage, 100.0 * i, 0.0)
        for storage, ns in (("buffer", 50.5), ("texture", 49.5))
        for i in range(1, 13)
    ]
    database.add(DEVICE, rows)
    return open_costs(database.path)


def test_a_file_of_costs_is_read_once(measured, monkeypatch):
    reads = []
    costs = CostDatabase.costs

    def counted(self, device):
        reads.append(device)
        return costs(self, device)

    monkeypatch.setattr(CostDatabase, "costs", counted)
    graph_of(16).compile("opencl", passes=(), costs=measured)
    assert reads == [DEVICE]


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
