"""Estimates of costs by the profiles of devices, and the storages that follow from them."""

import json
from math import isfinite

import numpy as np
import onnx
import pytest
from texloom._core import _KernelWork

import texloom
from texloom import te
from texloom.__main__ import main
from texloom.costs import EstimatedCosts
from texloom.costs.estimated import LEAST_GAIN, estimated
from texloom.graph import CostModel, Graph
from texloom.inspect.storage_table import storage_rows
from texloom.ops.convolution import convolution
from texloom.ops.products import matmul
from texloom.profiles import Bound, kernel_limits, stated, stated_names
from texloom.target import resolve

MOBILE = ["opencl -device=adreno", "opencl -device=mali"]
OTHERS = ["opencl -device=nvidia", "opencl -device=pocl", "opencl -device=intel_graphics", "opencl"]
MOBILE_PROFILES = ["adreno-6xx", "adreno-7xx", "adreno-8xx", "mali-valhall"]
FACTS = [
    "blocks",
    "operations",
    "fragment_products",
    "buffer_bytes",
    "texture_bytes",
    "shared_bytes",
    "distinct_bytes",
    "turns",
]


def work_of(**facts):
    """The work of a kernel of 1,000 blocks of 64 threads."""
    work = _KernelWork()
    work.blocks, work.block_threads = 1000, 64
    for name, value in facts.items():
        setattr(work, name, value)
    return work


def seconds(profile, launches=1, **facts):
    return estimated([work_of(**facts)], launches, 0.0, 0.0, profile).seconds


@pytest.mark.parametrize("name", stated_names())
@pytest.mark.parametrize("fact", FACTS)
def test_more_work_takes_longer(name, fact):
    profile = stated(name)
    times = [seconds(profile, **{"turns": 1, fact: 10.0**power}) for power in range(3, 13)]
    assert all(isfinite(each) and each >= profile.launch_seconds for each in times)
    assert times == sorted(times) and times[-1] > times[0]
    assert seconds(profile, launches=3, **{fact: 1e6}) > seconds(profile, **{fact: 1e6})


@pytest.mark.parametrize("name", stated_names())
def test_the_limit_that_takes_longest_is_named(name):
    profile = stated(name)
    for bound, fact in (
        (Bound.ARITHMETIC, "operations"),
        (Bound.BUFFERS, "buffer_bytes"),
        (Bound.TEXTURES, "texture_bytes"),
        (Bound.SHARED, "shared_bytes"),
        (Bound.MEMORY, "distinct_bytes"),
        (Bound.LATENCY, "turns"),
    ):
        spent = estimated([work_of(**{fact: 1e12})], 1, 0.0, 0.0, profile).spent
        assert list(spent) == [Bound.LAUNCH, bound] and spent[bound] > spent[Bound.LAUNCH]


def test_idle_processors_are_paid_for():
    """One block keeps one processor busy; one more block than processors needs a second round."""
    profile = stated("adreno-7xx")

    def arithmetic(blocks):
        return kernel_limits(work_of(blocks=blocks, operations=1e9 * blocks), profile)[
            Bound.ARITHMETIC
        ]

    one = arithmetic(1)
    assert arithmetic(profile.processors) == pytest.approx(one)
    assert arithmetic(profile.processors + 1) == pytest.approx(2 * one)


@pytest.mark.parametrize("name", stated_names())
def test_matrix_units_make_products_beside_threads(name):
    profile = stated(name)
    alone = {
        fact: kernel_limits(work_of(**{fact: 1e12}), profile)[Bound.ARITHMETIC]
        for fact in ("operations", "fragment_products")
    }
    assert alone["operations"] / alone["fragment_products"] == pytest.approx(profile.matrix_speed)
    both = work_of(operations=1e12, fragment_products=1e12)
    assert kernel_limits(both, profile)[Bound.ARITHMETIC] == pytest.approx(sum(alone.values()))


def test_products_by_fragments_are_counted(monkeypatch):
    """A tile has no empty rows or columns here, so that each product is made once."""
    found = []

    class Recorded(EstimatedCosts):
        def __call__(self, kind, signature, sources, size, operations, launches, textures, work):
            if kind == "contraction":
                found.extend(each.fragment_products for each in work)
            return super().__call__(
                kind, signature, sources, size, operations, launches, textures, work
            )

    monkeypatch.setattr("texloom.graph.compilation.EstimatedCosts", Recorded)
    g = Graph("product")
    x = g.op(
        "x", "Neg", lambda a: te.compute(a.shape, lambda *i: -a(*i)), [g.input("in", (256, 64))]
    )
    w = g.constant("w", np.ones((64, 512), "float32"))
    (y,) = g.op("y", "MatMul", matmul, [*x, w])
    g.output(y)
    g.compile("opencl -device=nvidia", precision="fp16", compare_storages=True)
    assert max(found) == 256 * 64 * 512


def test_work_that_is_not_known_is_taken_from_the_arguments():
    profile = stated("adreno-7xx")
    few, many = (estimated([], 1, size, 0.0, profile).seconds for size in (1e6, 1e9))
    assert profile.launch_seconds < few < many
    seconds = profile.launch_seconds + 1e12 / profile.fma_rate
    assert estimated([], 1, 0.0, 2e12, profile).seconds == pytest.approx(seconds)


def test_equal_call_sites_are_estimated_once():
    costs = EstimatedCosts(stated("mali-valhall"))
    asked = [("elementwise", "a", [], 1.0, 1.0, 1, 0, [work_of(turns=turns)]) for turns in (1, 9)]
    assert costs(*asked[0]) == costs(*asked[1]) and len(costs.asked) == 1


def test_only_profiles_of_mobile_gpus_read_textures_faster():
    faster = {name for name in stated_names() if stated(name).has_faster_textures}
    assert faster == set(MOBILE_PROFILES)


def integers(*shape):
    return np.random.default_rng(shape).integers(-2, 3, shape).astype("float32")


def convolutions(channels, size, kernel=3, layers=3, extents=None):
    """Some convolutions of equally many channels, the mean of all pixels, and a product."""
    g = Graph("convolutions")
    x = tensor = g.input("x", extents or (1, channels, size, size))
    for i in range(layers):
        weight = g.constant(f"w{i}", integers(channels, channels, kernel, kernel))
        (tensor,) = g.op(
            f"conv{i}",
            "Conv",
            lambda a, w: convolution(a, w, pads=[kernel // 2] * 4),
            [tensor, weight],
        )
        (tensor,) = g.op(f"scaled{i}", "Mul", scaled, [tensor])
    (y,) = g.op("mean", "Mean", mean, [tensor])
    g.output(y)
    return g, x


def scaled(x):
    return te.compute(x.shape, lambda *i: x(*i) * 0.25)


def mean(x):
    axes = [te.reduce_axis((0, extent)) for extent in x.shape[2:]]
    return te.compute(x.shape[:2], lambda n, c: te.sum(x(n, c, *axes), axis=axes))


def scopes_of(compiled):
    return {scope.split(":")[0] for _, scope, _ in compiled.summary["stores"].values()}


NETWORKS = {
    "many channels": lambda: convolutions(64, 56, layers=2)[0],
    "pixels": lambda: convolutions(128, 48, kernel=1)[0],
}


@pytest.mark.parametrize("target", MOBILE)
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_come_out_mixed_on_mobile_gpus(target, name):
    """Their texture caches are the faster ones; results of one use stay in buffers."""
    compiled = NETWORKS[name]().compile(target)
    summary = compiled.summary
    assert scopes_of(compiled) == {"texture", "global"}
    rows = storage_rows(summary, 1)
    chosen = [row for row in rows if row.chosen == "textures"]
    assert any(row.name.startswith("conv") for row in chosen)
    assert {row.name: row.chosen for row in rows}["mean"] == "buffers"
    assert summary["scopes"]["device"].endswith("(estimated)")


@pytest.mark.slow
@pytest.mark.parametrize("target", MOBILE)
@pytest.mark.parametrize("name", NETWORKS)
def test_mixed_networks_compute_what_buffers_do(dev, target, name):
    """Sums of small integers and quarters of them are exact."""
    x = {"x": integers(*NETWORKS[name]().inputs[0].shape)}
    mixed, buffers = (NETWORKS[name]().compile(target, scopes=s) for s in ("auto", "global"))
    assert scopes_of(buffers) == {"global"}
    (got,), (wanted,) = (each.run(x, dev).values() for each in (mixed, buffers))
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("target", OTHERS)
def test_networks_stay_in_buffers_where_textures_are_no_faster(target):
    """No kernel over textures is scheduled or compiled, so that they compile as fast as before."""
    compiled = NETWORKS["many channels"]().compile(target)
    assert scopes_of(compiled) == {"global"} and compiled.summary["scopes"] is None
    compared = NETWORKS["many channels"]().compile(target, compare_storages=True)
    assert scopes_of(compared) == {"global"}
    rows = storage_rows(compared.summary, 1)
    assert all(row.faster != "textures" for row in rows if row.name.startswith("conv"))


def test_channels_that_do_not_fill_texels_stay_in_buffers():
    """A texel of one channel has three lanes that are padding."""
    compiled = convolutions(1, 64)[0].compile("opencl -device=adreno")
    assert scopes_of(compiled) == {"global"}


def test_targets_without_images_have_buffers():
    target = "opencl -device=adreno -images=0"
    assert not resolve(target).has_images
    assert scopes_of(NETWORKS["many channels"]().compile(target)) == {"global"}


def test_open_sizes_are_in_buffers(dev):
    """Their kernels have no estimates before a run."""
    g, _ = convolutions(16, 0, extents=(1, 16, "h", "w"))
    compiled = g.compile("opencl -device=adreno")
    assert scopes_of(compiled) == {"global"} and compiled.summary["scopes"] is None
    x = integers(1, 16, 9, 9)
    wanted = convolutions(16, 9)[0].compile("opencl").run({"x": x}, dev)
    np.testing.assert_array_equal(
        next(iter(compiled.run({"x": x}, dev).values())), next(iter(wanted.values()))
    )


def test_a_cost_model_of_the_user_takes_the_place_of_estimates():
    compiled = NETWORKS["many channels"]().compile("opencl -device=adreno", model=CostModel())
    assert scopes_of(compiled) == {"global"} and compiled.summary["scopes"] is None


def test_textures_must_save_a_share_of_the_whole():
    """Here most of the time is a sum's, which is as slow in either storage."""
    g, x = convolutions(16, 40, layers=1)
    large = g.input("large", (4096, 16384))
    k = te.reduce_axis((0, 16384), name="k")
    (sums,) = g.op(
        "sums",
        "Sum",
        lambda a: te.compute((4096,), lambda i: te.sum(a[i, k] * a[i, k], axis=k)),
        [large],
    )
    g.output(sums)
    assert x in g.inputs
    compiled = g.compile("opencl -device=adreno")
    assert scopes_of(compiled) == {"global"}
    assert 0 < compiled.summary["small_gain"] < LEAST_GAIN
    reasons = {row.name: row.reason for row in storage_rows(compiled.summary, 2)}
    assert any("too little" in each for each in reasons.values())


def test_spaces_lists_the_storages_of_operators(tmp_path, capsys):
    text = "(float[1, 32, 24, 24] x) => (float[?] y) { a = Conv(x, w) b = Relu(a) y = Conv(b, w) }"
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> net {text}')
    weight = onnx.numpy_helper.from_array(integers(32, 32, 3, 3), "w")
    model.graph.initializer.append(weight)
    onnx.save(model, tmp_path / "m.onnx")

    def listed(target, *more):
        given = [str(tmp_path / "m.onnx"), "--storages", "--target", target, *more]
        assert main(["spaces", *given]) == 0
        return capsys.readouterr().out

    for target in ("opencl -device=adreno", "opencl -device=nvidia"):
        rows = json.loads(listed(target, "--json"))
        assert sum(row["nodes"] for row in rows) == 2
        for row in rows:
            assert row["buffers"]["ns"] > 1000 and row["textures"]["ns"] > 1000
            assert sum(ns for _, ns in row["buffers"]["spent"]) == pytest.approx(
                row["buffers"]["ns"]
            )
        told = listed(target)
        assert "bound by" in told and "(estimated)" in told
    assert {row["chosen"] for row in rows} == {"buffers"}
    assert rows[0]["reason"].startswith("textures: ")
    assert main(["spaces", str(tmp_path / "m.onnx"), "--storages", "--storage", "buffer"]) == 1
    assert "leave out --storage" in capsys.readouterr().err


def test_spaces_tells_the_storages_that_are_used(tmp_path, capsys):
    """By estimates alone, this operator would be in textures; native code never has them."""
    text = "(float[1, 4, 8, 8] x) => (float[?] y) { y = Relu(x) }"
    onnx.save(
        onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> net {text}'),
        tmp_path / "m.onnx",
    )
    given = ["spaces", str(tmp_path / "m.onnx"), "--storages", "--target", "llvm", "--json"]
    assert main(given) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["chosen"] == "buffers" and row["textures"]["ns"] < row["buffers"]["ns"]


def test_spaces_tells_of_models_without_kernels(tmp_path, capsys):
    text = "(float[2, 3] x) => (float[2, 3] y) { y = Identity(x) }"
    onnx.save(
        onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> net {text}'),
        tmp_path / "m.onnx",
    )
    assert main(["spaces", str(tmp_path / "m.onnx"), "--storages"]) == 1
    assert "no operator with a kernel" in capsys.readouterr().err


def test_packages_tell_of_estimated_storages(tmp_path, capsys):
    compiled = NETWORKS["many channels"]().compile("opencl -device=adreno")
    compiled.save(tmp_path / "m.tlp")
    assert main(["inspect", str(tmp_path / "m.tlp"), "--scopes"]) == 0
    assert "on adreno-7xx (estimated)" in capsys.readouterr().out
    assert texloom.graph.load(tmp_path / "m.tlp") is not None
