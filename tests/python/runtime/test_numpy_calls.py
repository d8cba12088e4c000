"""Calls with NumPy arrays, and calls that leave the outputs out."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te

SHAPE = (6, 10, 4)
VALUES = np.random.default_rng(3).standard_normal(SHAPE).astype("float32")


def bound(s, *tensors):
    for t in tensors:
        s[t].bind(t.op.axis[0], te.thread_axis("blockIdx.x"))
    return s


def doubled(scope=None, **options):
    """Build Y = 2 X, with X declared in the scope."""
    x = te.placeholder(SHAPE, name="X")
    y = te.compute(SHAPE, lambda *i: x[i] * 2, name="Y")
    binds = {x: tvm.decl_buffer(SHAPE, scope=scope, **options)} if scope else None
    return tvm.build(bound(te.create_schedule(y.op), y), [x, y], name="f", binds=binds)


def sum_and_product():
    """Build two outputs, with an input between them: (A, B, C) with A = B + C and D = B * C."""
    b, c = (te.placeholder((8,), name=name) for name in "BC")
    a = te.compute((8,), lambda i: b[i] + c[i], name="A")
    d = te.compute((8,), lambda i: b[i] * c[i], name="D")
    s = bound(te.create_schedule([a.op, d.op]), a, d)
    return tvm.build(s, [a, b, c, d], name="both")


def test_the_outputs_that_a_call_leaves_out_are_returned():
    result = doubled()(VALUES)
    assert isinstance(result, np.ndarray)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, VALUES * 2)


def test_several_outputs_are_a_tuple_in_the_order_of_the_arguments():
    b, c = np.arange(8, dtype="float32"), np.full(8, 3, "float32")
    total, product = sum_and_product()(b, c)
    np.testing.assert_array_equal(total, b + c)
    np.testing.assert_array_equal(product, b * c)


def test_arrays_of_a_device_give_arrays_of_that_device(dev):
    """One device array is enough: NumPy arguments are copied to its device."""
    b, c = np.arange(8, dtype="float32"), np.full(8, 3, "float32")
    total, product = sum_and_product()(b, tvm.nd.array(c, dev))
    assert isinstance(total, tvm.nd.NDArray)
    assert total.device == product.device == dev
    np.testing.assert_array_equal(total.numpy(), b + c)
    np.testing.assert_array_equal(product.numpy(), b * c)


def test_outputs_that_are_given_are_written(dev):
    f = doubled()
    out = np.zeros(SHAPE, "float32")
    assert f(VALUES, out) is None
    np.testing.assert_array_equal(out, VALUES * 2)
    on_device = tvm.nd.empty(SHAPE, device=dev)
    f(VALUES, on_device)
    np.testing.assert_array_equal(on_device.numpy(), VALUES * 2)
    f(tvm.nd.array(VALUES * 2, dev), out)
    np.testing.assert_array_equal(out, VALUES * 4)


def test_any_strides_and_byte_orders():
    """Inputs and outputs may be views, or in another byte order than the host's."""
    f = doubled()
    wide = np.zeros((4, 20, 6), "float32")
    out = wide.transpose(2, 1, 0)[::-1, ::2]
    f(VALUES[:, ::-1].astype(">f4"), out)
    np.testing.assert_array_equal(out, VALUES[:, ::-1] * 2)
    assert not wide[:, 1::2].any()


def test_an_input_may_be_the_output():
    """All inputs are read before an output is written."""
    values = VALUES.copy()
    doubled()(values, values)
    np.testing.assert_array_equal(values, VALUES * 2)
    shifted = np.concatenate([VALUES, VALUES[:1]])
    doubled()(shifted[:-1], shifted[1:])
    np.testing.assert_array_equal(shifted[1:], VALUES * 2)


@pytest.mark.parametrize("scope", ["texture", "texture:weight", "texture:nhwc"])
def test_arguments_in_textures(scope):
    np.testing.assert_array_equal(doubled(scope)(VALUES), VALUES * 2)
    np.testing.assert_array_equal(doubled(scope, origin=True)(VALUES), VALUES * 2)


def test_outputs_in_textures(dev):
    x = te.placeholder(SHAPE, name="X")
    y = te.compute(SHAPE, lambda *i: x[i] * 2, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    s[y].vectorize(y.op.axis[2])
    binds = {y: tvm.decl_buffer(SHAPE, scope="texture:nhwc")}
    f = tvm.build(s, [x, y], binds=binds)
    np.testing.assert_array_equal(f(VALUES), VALUES * 2)
    assert f(tvm.nd.array(VALUES, dev)).scope == "texture"


def test_arrays_whose_shape_transform_layout_changed():
    """Arrays have the new shape; so has an output that the call omits, and that is returned."""
    p = te.placeholder((6, 40), name="P")
    q = te.compute((6, 40), lambda i, j: p[i, j] + 1, name="Q")
    s = te.create_schedule(q.op)
    for t in (p, q):
        s[t].transform_layout(lambda i, j: [j // 4, i, j % 4])
    s[q].bind(s[q].leaf_iter_vars[0], te.thread_axis("blockIdx.x"))
    packed = np.random.default_rng(0).random((10, 6, 4), dtype="float32")
    np.testing.assert_array_equal(tvm.build(s, [p, q])(packed), packed + 1)


def test_a_reduction_in_its_output_is_an_output():
    """Kernels read the output of this reduction, but only elements that they wrote before."""
    x, k = te.placeholder((8, 5), name="X"), te.reduce_axis((0, 5), name="k")
    y = te.compute((8,), lambda i: te.sum(x[i, k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    ko, ki = s[y].split(s[y].op.reduce_axis[0], 5)
    s[y].reorder(ko, y.op.axis[0], ki)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    f = tvm.build(s, [x, y])
    assert [a["access"] for a in f.args] == ["read", "write"]
    values = np.arange(40, dtype="float32").reshape(8, 5)
    np.testing.assert_array_equal(f(values), values.sum(1))


def symbolic(*names):
    """Build Y[n + m] from X[n], with these arguments."""
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n,), name="X")
    y = te.compute((n + m,), lambda i: te.if_then_else(i < n, x[i], 0.0), name="Y")
    s = te.create_schedule(y.op)
    o, i = s[y].split(y.op.axis[0], 4)
    s[y].bind(o, te.thread_axis("blockIdx.x"))
    s[y].bind(i, te.thread_axis("threadIdx.x"))
    given = {"n": n, "m": m, "X": x, "Y": y}
    return tvm.build(s, [given[name] for name in names], name="f")


def test_symbols_of_inputs_and_numbers_give_the_shapes_of_outputs():
    x = np.arange(5, dtype="float32")
    result = symbolic("m", "X", "Y")(2, x)
    np.testing.assert_array_equal(result, [0, 1, 2, 3, 4, 0, 0])


def test_an_output_whose_shape_is_unknown_must_be_given():
    f = symbolic("X", "Y")
    x = np.arange(5, dtype="float32")
    with pytest.raises(tvm.TVMError, match=r'TL5003.*"m"(.|\n)*f\(X, Y\)'):
        f(x)
    out = np.empty(6, "float32")
    f(x, out)
    np.testing.assert_array_equal(out, [0, 1, 2, 3, 4, 0])


def test_an_input_that_is_written_too_must_be_given():
    """Only a program in the text form can write its input: it copies X to Y, and increases X."""
    f = tvm.build(
        tvm.parse(
            """program f stage=kernels
  param X: global float32[8]
  param Y: global float32[8]
  launch f_kernel0(X, Y) grid=(1, 1, 1) block=(8, 1, 1)

kernel f_kernel0 grid=(1, 1, 1) block=(8, 1, 1)
  param X: read_write global float32[8]
  param Y: write global float32[8]
  axis threadIdx.x = threadIdx.x < 8
  Y[threadIdx.x] = X[threadIdx.x]
  X[threadIdx.x] = X[threadIdx.x] + 1.0
"""
        )
    )
    values = np.arange(8, dtype="float32")
    np.testing.assert_array_equal(f(values), range(8))
    np.testing.assert_array_equal(values, range(1, 9))


def test_loaded_functions_know_their_outputs(tmp_path):
    sum_and_product().export_library(tmp_path / "f")
    f = tvm.runtime.load_module(tmp_path / "f")
    b, c = np.arange(8, dtype="float32"), np.full(8, 3, "float32")
    assert [a["access"] for a in f.args] == ["write", "read", "read", "write"]
    np.testing.assert_array_equal(f(b, c)[1], b * c)


def test_elements_that_are_not_computed_keep_their_values():
    """B is computed only where C reads it; its other elements keep the caller's values."""
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] * 2, name="B")
    c = te.compute((4,), lambda i: b[i] + 1, name="C")
    s = te.create_schedule(c.op)
    s[c].bind(c.op.axis[0], te.thread_axis("blockIdx.x"))
    s[b].compute_at(s[c], c.op.axis[0])
    f = tvm.build(s, [a, b, c])
    values, out = np.arange(8, dtype="float32"), np.full(8, -1, "float32")
    f(values, out, np.empty(4, "float32"))
    np.testing.assert_array_equal(out, [0, 2, 4, 6, -1, -1, -1, -1])


def test_checked_functions():
    x = te.placeholder((8,), name="X")
    y = te.compute((8,), lambda i: x[i] * 2, name="Y")
    f = tvm.build(bound(te.create_schedule(y.op), y), [x, y], checked=True)
    np.testing.assert_array_equal(f(np.ones(8, "float32")), 2)


def test_arguments_of_a_call():
    names = [(a["name"], a.get("access"), a["dtype"]) for a in symbolic("m", "X", "Y").args]
    assert names == [("m", None, "int32"), ("X", "read", "float32"), ("Y", "write", "float32")]
