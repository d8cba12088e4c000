"""The benchmark of kernels on planned textures: its layers, and its check of results."""

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[3] / "benchmarks/planning/folded_kernels.py"


@pytest.fixture(scope="module")
def bench():
    """Return the script as a module."""
    spec = importlib.util.spec_from_file_location("folded_kernels", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_networks_have_folded_layers(bench):
    """Each network's plan folds tensors of at least three distinct layers."""
    for file in sorted((FILE.parent / "networks").glob("*.json")):
        layers = bench.layers_of(file.stem)
        assert len(layers) >= 3 and len(set(layers)) == len(layers), file.stem
        assert all(max(layer.source.fold, layer.result.fold) > 1 for layer in layers)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "kernel, stride, depthwise", [(3, 1, True), (3, 2, True), (3, 1, False), (1, 2, False)]
)
def test_folded_and_placed_kernels_compute_the_same(
    bench, dev, monkeypatch, kernel, stride, depthwise
):
    """Folds need not divide the slices, nor tensors start at the origin; wrong results fail."""
    if not dev.info["images"]:
        pytest.skip("no textures")
    source = bench.Planned(8, 6, 3, 2, (5, 3), (20, 22))
    size = (-(-8 // stride), -(-6 // stride))
    result = bench.Planned(*size, 3, 3, (1, 2), (24, 19))
    layer = bench.Layer(source, result, kernel, stride, depthwise)
    times, right = bench.measure(layer, dev, rounds=1)
    assert right and len(times) == 3 and min(times) > 0
    with monkeypatch.context() as patch:
        real = bench.expected_at
        patch.setattr(bench, "expected_at", lambda _, *rest: real(layer, *rest) + 1)
        assert not bench.measure(layer, dev, rounds=1)[1]
