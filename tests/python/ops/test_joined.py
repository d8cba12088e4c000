"""Tensors joined along the last axis, by native code."""

import numpy as np
import pytest
from llvm_plugin import has_llvm

import texloom
from texloom import te
from texloom.ops import movement
from texloom.ops.schedules.default import schedule_default

pytestmark = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")

TARGET = "llvm"


def joined(*extents: int):
    """Return a schedule of tensors with these columns, and its arguments."""
    parts = [te.placeholder((6, n), name=f"x{i}") for i, n in enumerate(extents)]
    made = movement.concatenate(*parts, axis=1)
    scopes = ["global"] * (len(parts) + 1)
    target = texloom.target.Target(TARGET).value
    return schedule_default([made], parts, scopes, target), [*parts, made]


@pytest.mark.parametrize("extents", [(32, 64), (48, 16, 32), (3, 5), (16, 1600), (64, 64)])
def test_joined_columns(extents):
    schedule, arguments = joined(*extents)
    arrays = [np.random.default_rng(n).random((6, n), "float32") for n in extents]
    result = texloom.build(schedule, arguments, TARGET)(*arrays)
    np.testing.assert_array_equal(result, np.concatenate(arrays, axis=1))


def test_no_element_is_asked_whose_it_is():
    """Each loop copies elements of one tensor, if the extents have a large common divisor."""
    assert "select" not in str(texloom.lower(*joined(32, 64)))
    assert "select" in str(texloom.lower(*joined(3, 5)))
