"""The target attribute ``-fast_math=1``: what it changes in code, packages and results."""

import re

import numpy as np
import pytest
from llvm_plugin import has_llvm

import texloom
from texloom import te

needs_llvm = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")

ROWS, COLUMNS = 4, 1024
LLVM = "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell"
FLAGS = "reassoc nsz arcp contract"


def sums_of_products(target):
    x, w = (te.placeholder((ROWS, COLUMNS), name=name) for name in "XW")
    k = te.reduce_axis((0, COLUMNS), name="k")
    y = te.compute((ROWS,), lambda i: te.sum(x[i, k] * w[i, k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    return texloom.build(s, [x, w, y], target)


@needs_llvm
def test_native_code_adds_in_any_order():
    """By default, no instruction may be changed, and a sum is serial."""
    exact = sums_of_products(LLVM).kernels[0].source
    fast = sums_of_products(LLVM + " -fast_math=1").kernels[0].source
    words = re.compile(r"\b(?:reassoc|nsz|arcp|contract|fast)\b")
    assert not words.search(exact) and "fadd <8 x float>" not in exact
    assert f"fadd {FLAGS} <8 x float>" in fast
    assert not re.search(r"\b(?:nnan|ninf|fast)\b", fast)


@pytest.mark.parametrize(
    "target",
    [pytest.param("llvm -mcpu=native -fast_math=1", marks=needs_llvm), "opencl -fast_math=1"],
)
def test_results_are_within_the_bound_of_any_order(target):
    """Each product and each of the sums is rounded at most once, whatever the order."""
    random = np.random.default_rng(0)
    x, w = random.standard_normal((2, ROWS, COLUMNS)).astype("float32")
    products = x.astype("float64") * w
    bound = COLUMNS * 2.0**-24 * 1.001 * np.abs(products).sum(1)
    result = np.asarray(sums_of_products(target)(x, w))
    assert (np.abs(result - products.sum(1)) <= bound).all()


@needs_llvm
def test_infinities_and_nan_stay_in_native_code():
    x = te.placeholder((1, 64), name="X")
    y = te.compute((1, 64), lambda i, j: te.if_then_else(te.isnan(x[i, j]), 7.0, te.exp(x[i, j])))
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    values = np.resize(np.array([np.nan, -np.inf, np.inf, 0], "float32"), (1, 64))
    result = texloom.build(s, [x, y], "llvm -mcpu=native -fast_math=1")(values)
    assert (np.asarray(result) == np.resize([7, 0, np.inf, 1], (1, 64))).all()


def test_sources_state_no_rounding_in_fast_math():
    assert "FP_CONTRACT OFF" in sums_of_products("opencl").kernels[0].source
    assert "FP_CONTRACT" not in sums_of_products("opencl -fast_math=1").kernels[0].source


@pytest.mark.parametrize("value", ["2", "yes", ""])
def test_other_values_are_refused(value):
    with pytest.raises(texloom.TVMError, match="'fast_math' is 0 or 1"):
        texloom.target.Target(f"llvm -fast_math={value}")
