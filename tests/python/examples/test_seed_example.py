"""The project's main example: its unchanged schedule, its text, kernels and result."""

# ruff: noqa: N806  the names of the example

import re

import numpy as np
import pytest

import texloom as tvm
from texloom_demo.texture_cache import computation


@pytest.fixture
def example():
    """The schedule that the demonstration shows."""
    s, (X, Y) = computation()
    return s, X, Y


def test_program_text(example):
    """The printed program shows two kernels, the texture's lifetime and the launch plan."""
    s, X, Y = example
    text = str(tvm.lower(s, [X, Y]))
    assert re.findall(r"^kernel (\S+) grid=(\(.*?\)) block=(\(.*?\))", text, re.M) == [
        ("main_kernel0", "(32, 1, 1)", "(32, 1, 1)"),
        ("main_kernel1", "(8, 1, 1)", "(8, 1, 1)"),
    ]
    # Allocated, written, read and freed, in this order.
    steps = re.findall(r"texture2d\.alloca|texture2d\.free|launch \S+?\(.*?\)", text)
    assert steps == [
        "texture2d.alloca",
        "launch main_kernel0(X, X.texture)",
        "launch main_kernel1(X.texture, Y)",
        "texture2d.free",
    ]
    assert "texture2d<float32>[32, 32, 4] 32 x 32 texels" in text
    assert re.search(r"texture2d\.store\(X\.texture, x=.*: float32x4\)", text)
    assert re.search(r"texture2d\.load\(X\.texture, x=.*: float32x4\)", text)


def test_kernels(example):
    """`build` needs no device; the sources write an image, then read each texel once."""
    s, X, Y = example
    first, second = tvm.build(s, [X, Y], target="opencl").kernels
    assert (first.name, second.name) == ("default_function_kernel0", "default_function_kernel1")
    assert (first.grid, first.block) == ((32, 1, 1), (32, 1, 1))
    assert (second.grid, second.block) == ((8, 1, 1), (8, 1, 1))
    assert [(a["name"], a["kind"], a["access"]) for a in first.args] == [
        ("X", "buffer", "read"),
        ("X.texture", "texture", "write"),
    ]
    assert [(a["name"], a["kind"], a["access"]) for a in second.args] == [
        ("X.texture", "texture", "read"),
        ("Y", "buffer", "write"),
    ]
    assert "__write_only image2d_t" in first.source
    assert first.source.count("write_imagef(") == 1
    assert "__read_only" not in first.source
    assert "__read_only image2d_t" in second.source
    assert second.source.count("read_imagef(") == 1
    assert "write_image" not in second.source


def test_contraction_by_the_device_compiler_is_forbidden(example):
    """Only Texloom places `fma`; the device's compiler must not contract."""
    s, X, Y = example
    for kernel in tvm.build(s, [X, Y], target="opencl").kernels:
        assert kernel.source.startswith("#pragma OPENCL FP_CONTRACT OFF")


def test_runs(example, dev):
    s, X, Y = example
    f = tvm.build(s, [X, Y], target="opencl")
    host = np.random.default_rng(0).standard_normal((32, 32, 4)).astype("float32")
    x = tvm.nd.array(host, dev)
    y = tvm.nd.array(np.zeros_like(host), dev)
    f(x, y)
    np.testing.assert_array_equal(y.numpy(), host + 1)


def test_lowering_leaves_the_schedule_alone(example):
    """A schedule can be lowered and built repeatedly, always to the same text."""
    s, X, Y = example
    before = str(s)
    texts = {str(tvm.lower(s, [X, Y])) for _ in range(3)}
    tvm.build(s, [X, Y])
    assert len(texts) == 1
    assert str(s) == before


def test_printed_schedule(example):
    """The printed schedule shows each stage's computation and the effect of directives."""
    s, _, _ = example
    assert str(s).splitlines() == [
        "placeholder X: float32[32, 32, 4]",
        "",
        "compute X.texture(ax0 < 32, ax1 < 32, ax2 < 4): float32 = X[ax0, ax1, ax2]",
        "  scope texture",
        "  bind ax0 blockIdx.x",
        "  bind ax1 threadIdx.x",
        "  vectorize ax2",
        "",
        "compute Y(i < 32, j < 32, k < 4): float32 = X.texture[i, j, k] + 1.0",
        "  origin = X[i, j, k] + 1.0",
        "  output",
        "  split i factor=4 -> i.outer, i.inner",
        "  split j factor=4 -> j.outer, j.inner",
        "  reorder i.outer, j.outer, i.inner, j.inner, k",
        "  bind i.outer blockIdx.x",
        "  bind j.outer threadIdx.x",
        "  vectorize k",
    ]
