"""Tensors joined along the last axis, by processors with known registers."""

import numpy as np
import pytest
from llvm_plugin import has_llvm

import texloom
from texloom import te
from texloom.ops import movement
from texloom.ops.schedules.default import schedule_default

IS_NATIVE = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")
TARGET = "llvm"
TARGETS = [pytest.param(TARGET, marks=IS_NATIVE), "opencl -vector_registers=32x64"]


def joined(*extents: int, target: str = TARGET):
    """Return a schedule of tensors with these columns, and its arguments."""
    parts = [te.placeholder((6, n), name=f"x{i}") for i, n in enumerate(extents)]
    made = movement.concatenate(*parts, axis=1)
    scopes = ["global"] * (len(parts) + 1)
    schedule = schedule_default([made], parts, scopes, texloom.target.Target(target).value)
    return schedule, [*parts, made]


@IS_NATIVE
@pytest.mark.parametrize("extents", [(32, 64), (48, 16, 32), (3, 5), (16, 1600), (64, 64)])
def test_joined_columns(extents):
    schedule, arguments = joined(*extents)
    arrays = [np.random.default_rng(n).random((6, n), "float32") for n in extents]
    result = texloom.build(schedule, arguments, TARGET)(*arrays)
    np.testing.assert_array_equal(result, np.concatenate(arrays, axis=1))


@pytest.mark.parametrize("target", TARGETS)
def test_no_element_is_asked_whose_it_is(target):
    """Each loop copies elements of one tensor, if the extents have a large common divisor."""
    assert "select" not in str(texloom.lower(*joined(32, 64, target=target)))
    assert "select" in str(texloom.lower(*joined(3, 5, target=target)))
