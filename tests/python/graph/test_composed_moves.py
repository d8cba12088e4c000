"""Chains of moves in one kernel: their values, and how many kernels there are."""

import numpy as np
import onnx
import pytest
from single_node import floats

from texloom.onnx.model import Model

TARGETS = ["llvm", "opencl"]


def compiled(body, inputs, target, name="one"):
    """Return the model with one input and its number of launches; names of constants in `body`."""
    return Model(
        onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 18]> {name} {inputs} {body}'),
        target=target,
    )


ROLL = """<int64[1] zero = {0}, int64[1] two = {2}, int64[1] end = {9}, int64[1] axis = {1}>
{ e = Exp(x)
  a = Slice(e, zero, two, axis) b = Slice(e, two, end, axis)
  r = Concat<axis = 1>(b, a) y = Transpose<perm = [0, 2, 1]>(r) }"""


@pytest.mark.parametrize("target", TARGETS)
def test_roll(target):
    """Two parts, their concatenation and its transposition are one kernel."""
    model = compiled(ROLL, "(float[2, 9, 3] x) => (float[2, 3, 9] y)", target)
    x = floats(2, 9, 3)
    expected = np.roll(np.exp(x), -2, 1).swapaxes(1, 2)
    np.testing.assert_allclose(model.run({"x": x})["y"], expected, rtol=4 * 2.0**-23)
    assert model.summary["launches"] == 2


SHUFFLE = """<int64[5] groups = {1, 2, 3, 2, 2}, int64[4] image = {1, 6, 2, 2},
 int64[2] parts = {2, 4}>
{ a = Exp(x) b = Tanh(x)
  c = Concat<axis = 1>(a, b) g = Reshape(c, groups) t = Transpose<perm = [0, 2, 1, 3, 4]>(g)
  s = Reshape(t, image) p, q = Split<axis = 1>(s, parts) y = Neg(p) z = Sqrt(q) }"""


@pytest.mark.parametrize("target", TARGETS)
def test_shuffle(target):
    """The parts of shuffled channels read what is shuffled: a kernel for each of them."""
    shapes = "(float[1, 3, 2, 2] x) => (float[1, 2, 2, 2] y, float[1, 4, 2, 2] z)"
    model = compiled(SHUFFLE, shapes, target)
    x = np.abs(floats(1, 3, 2, 2))
    both = np.concatenate([np.exp(x), np.tanh(x)], 1)
    shuffled = both.reshape(1, 2, 3, 2, 2).swapaxes(1, 2).reshape(1, 6, 2, 2)
    got = model.run({"x": x})
    np.testing.assert_allclose(got["y"], -shuffled[:, :2], rtol=8 * 2.0**-23)
    np.testing.assert_allclose(got["z"], np.sqrt(shuffled[:, 2:]), rtol=8 * 2.0**-23)
    assert model.summary["launches"] == 4


def test_a_concatenation_of_many_parts_stays_a_kernel():
    """Its parts are in it, but what reads it would have too many moves."""
    constants = ", ".join(f"int64[1] n{i} = {{{i}}}" for i in range(13))
    parts = " ".join(f"p{i} = Slice(e, n{i}, n{i + 1})" for i in range(12))
    joined = ", ".join(f"p{11 - i}" for i in range(12))
    body = f"""<{constants}> {{ e = Exp(x) {parts} c = Concat<axis = 0>({joined})
        y = Transpose<perm = [1, 0]>(c) }}"""
    model = compiled(body, "(float[12, 3] x) => (float[3, 12] y)", "opencl")
    x = floats(12, 3)
    np.testing.assert_allclose(model.run({"x": x})["y"], np.exp(x)[::-1].T, rtol=4 * 2.0**-23)


def test_a_tensor_that_is_joined_with_itself():
    body = """<int64[1] one = {1}, int64[1] three = {3}>
    { e = Exp(x) s = Slice(e, one, three) c = Concat<axis = 0>(s, s)
      y = Transpose<perm = [1, 0]>(c) }"""
    model = compiled(body, "(float[4, 3] x) => (float[3, 4] y)", "opencl")
    x = floats(4, 3)
    part = np.exp(x)[1:3]
    expected = np.concatenate([part, part]).T
    np.testing.assert_allclose(model.run({"x": x})["y"], expected, rtol=4 * 2.0**-23)
    assert model.summary["launches"] == 2
