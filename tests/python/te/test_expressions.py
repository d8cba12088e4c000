"""Behavior of expressions, shapes and comparisons that scripts rely on, line by line."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te, tir


def block(s, t):
    s[t].bind(s[t].op.axis[0], te.thread_axis("blockIdx.x"))


def elementwise(run, function, *values):
    """Return the values of an elementwise function of vectors, computed on the device."""
    inputs = [te.placeholder(v.shape, str(v.dtype), name=f"X{i}") for i, v in enumerate(values)]
    y = te.compute(values[0].shape, lambda i: function(*(x[i] for x in inputs)), name="Y")
    s = te.create_schedule(y.op)
    block(s, y)
    return run(s, [*inputs, y], *values)


# -- Shapes.


def test_shape_entries_have_a_value():
    """Shape entries are expressions: `.value`, `int(x)`; constants fold at once."""
    x = te.placeholder((8, 5), name="X")
    h, k, p, s = x.shape[0], 3, 1, 2
    assert h.value == 8 and int(x.shape[1]) == 5
    assert isinstance(h, tir.IntImm)
    assert ((h - k + 2 * p) // s + 1).value == 4
    with pytest.raises(TypeError):
        range(h)


def test_shape_of_a_numpy_scalar():
    assert te.placeholder(np.array(3.0).shape, name="X").shape == ()


def test_shape_forms():
    """A shape may be a tuple, a list, one number or one expression."""
    n = te.placeholder((4,), name="X").shape[0]
    for shape in ((4,), [4], 4, n, [n], np.int64(4), te.const(4)):
        assert te.placeholder(shape, name="A").shape[0].value == 4
        assert te.compute(shape, lambda i: i, name="B").shape[0].value == 4
    assert te.placeholder(n + 2, name="A").shape[0].value == 6


def test_float_extents_of_a_compute_are_cut():
    assert te.compute((9 / 2, 4), lambda i, j: i, name="B").shape[0].value == 4


# -- Comparisons.


def test_equality_is_lazy():
    """As a bool, `==` compares the objects' identity; as a value, it is a comparison."""
    n, m = te.var("n"), te.var("m")
    assert n == n and not (n == m) and n != m and not (n != n)
    assert isinstance(n == m, tir.EQ) and isinstance(n != m, tir.NE)
    assert (n == m).dtype == "bool"
    assert n in [m, n]


def test_shape_is_compared_with_a_tuple():
    x = te.placeholder((4, 6), name="X")
    n = te.placeholder((6, 2), name="Y").shape[0]
    assert tuple(x.shape) == (4, 6) and x.shape[1] == 6 and x.shape[1] == n
    assert tuple(x.shape) != (4, 7)


def test_constants_compare_as_bools():
    assert te.const(3) == 3 and te.const(3) != 4
    assert bool(te.const(3).equal(3)) and not bool(te.const(3).equal(4))
    n = te.var("n")
    assert isinstance(n.equal(0), tir.EQ)


def test_equality_with_what_is_no_value():
    n = te.var("n")
    assert n != "n" and n is not None and n not in [None, "n"]


def test_an_expression_has_no_truth_value():
    n = te.var("n")
    for use in (
        lambda: n > 0 and n < 4,
        lambda: n > 0 or n < 4,
        lambda: not n > 0,
        lambda: 0 <= n < 4,
        lambda: bool(n),
    ):
        with pytest.raises(ValueError, match=r"te\.all"):
            use()


# -- Arithmetic.


def test_slash_of_integers():
    n = te.var("n")
    with pytest.raises(RuntimeError, match=r"te\.floordiv.*te\.truncdiv"):
        n / 2
    assert isinstance(n // 2, tir.FloorDiv) and isinstance(n % 2, tir.FloorMod)
    assert (te.const(-7) // 2).value == -4 and (te.const(-7) % 2).value == 1
    assert te.truncdiv(te.const(-7), 2).value == -3 and te.div(te.const(-7), 2).value == -3


def test_operators_on_bits():
    n = te.const(12)
    assert [(n >> 1).value, (n << 1).value, (n & 4).value, (n | 3).value, (n ^ 5).value] == [
        6,
        24,
        4,
        15,
        9,
    ]
    assert (~n).value == -13
    with pytest.raises(RuntimeError):
        ~te.var("x", "float32")


def test_types_of_literals():
    """Python literals are int32 and float32; an operation uses the wider type."""
    assert (te.var("a", "int8") + 1).dtype == "int32"
    assert (te.var("a", "float16") * 2.0).dtype == "float32"
    assert (te.var("a", "float16") * tir.const(2, "float16")).dtype == "float16"
    assert (te.var("a", "int32") + te.var("b", "uint32")).dtype == "uint32"
    assert (te.var("a", "int64") + te.var("b", "float16")).dtype == "float16"


def test_const_infers_its_type():
    assert [te.const(v).dtype for v in (1, 1.5, True, 2**40)] == [
        "int32",
        "float32",
        "bool",
        "int64",
    ]
    assert tir.const(np.float16(2)).dtype == "float16" and te.const(np.uint8(3)).dtype == "uint8"


def test_functions_of_integers():
    """Rounding and abs of unsigned integers return the operand; isnan is false."""
    n, u = te.var("n"), te.var("u", "uint32")
    assert all(f(n).same_as(n) for f in (te.floor, te.ceil, te.round, te.trunc, te.nearbyint))
    assert te.isnan(n).value == 0 and te.isinf(n).value == 0 and te.isfinite(n).value == 1
    assert te.abs(u).same_as(u)
    with pytest.raises(tvm.TVMError, match="TL1003"):
        te.power(n, 2)
    with pytest.raises(tvm.TVMError, match="TL1003.*int32, not bool"):
        te.if_then_else(n, 1, 2)


VALUES = np.array([0.25, 0.5, 1.0, 1.5, 2.5, 7.0], "float32")
SPECIAL = np.array([0.0, 1.0, -np.inf, np.inf, np.nan, 3e38], "float32")


@pytest.mark.parametrize(
    ("name", "reference", "values"),
    [
        ("exp10", lambda x: 10.0**x, VALUES),
        ("log1p", np.log1p, VALUES),
        ("asinh", np.arcsinh, VALUES),
        ("acosh", np.arccosh, VALUES + 1),
        ("atanh", np.arctanh, VALUES / 8),
        ("isnan", np.isnan, SPECIAL),
        ("isinf", np.isinf, SPECIAL),
        ("isfinite", np.isfinite, SPECIAL),
    ],
)
def test_element_functions(run, name, reference, values):
    function = getattr(tir, name)
    result = elementwise(run, lambda x: function(x).astype("float32"), values)
    np.testing.assert_allclose(result, reference(values.astype("float64")), rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("atan2", np.arctan2),
        ("hypot", np.hypot),
        ("copysign", np.copysign),
        ("nextafter", np.nextafter),
        ("pow", np.power),
    ],
)
def test_element_functions_of_two(run, name, reference):
    other = np.array([1, -2, 0.5, -1, 2, 3], "float32")
    result = elementwise(run, getattr(tir, name), VALUES, other)
    np.testing.assert_allclose(result, reference(VALUES, other), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_bits(run, dtype):
    info = np.iinfo(dtype)
    values = np.array([info.min, info.max, 0, 1, 7, 100], dtype)
    unsigned = [int(v) % 2**info.bits for v in values]
    ones = elementwise(run, te.popcount, values)
    assert ones.dtype == dtype
    np.testing.assert_array_equal(ones, [v.bit_count() for v in unsigned])
    zeros = elementwise(run, tir.clz, values)
    assert zeros.dtype == "int32"
    np.testing.assert_array_equal(zeros, [info.bits - v.bit_length() for v in unsigned])


def test_bits_of_a_float():
    with pytest.raises(tvm.TVMError, match="TL1003"):
        te.popcount(te.var("x", "float32"))
    with pytest.raises(tvm.TVMError, match="TL1003"):
        tir.nextafter(te.var("x", "float16"), te.var("y", "float16"))


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("native_exp", np.exp),
        ("fabs", np.abs),
        ("sqrtf", np.sqrt),
        ("native_sqrt", np.sqrt),
        ("native_recip", np.reciprocal),
    ],
)
def test_call_pure_extern(run, name, reference):
    """OpenCL C functions are called by name; the precision of native functions is the device's."""
    result = elementwise(run, lambda x: tir.call_pure_extern("float32", name, x), VALUES)
    np.testing.assert_allclose(result, reference(VALUES), rtol=1e-3)
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: tir.call_pure_extern("float32", name, x[i]), name="Y")
    s = te.create_schedule(y.op)
    block(s, y)
    assert f"{name.removesuffix('f')}(" in tvm.build(s, [x, y]).get_source()


def test_call_of_an_unknown_intrinsic():
    with pytest.raises(tvm.TVMError, match=r"no intrinsic 'frobnicate'(.|\n)*native_exp"):
        tir.call_intrin("float32", "tir.frobnicate", te.var("x", "float32"))


def test_call_intrin(run):
    result = elementwise(run, lambda x: tir.call_intrin("float32", "tir.exp", x), VALUES)
    np.testing.assert_allclose(result, np.exp(VALUES), rtol=1e-6)
    n = te.var("n")
    assert isinstance(tir.call_intrin("bool", "tir.likely", n < 4), tir.LT)


# -- Classes.


def test_classes_of_nodes():
    n, x = te.var("n"), te.var("x", "float32")
    a = te.placeholder((4,), name="A")
    samples = {
        tir.Var: n,
        tir.IntImm: te.const(1),
        tir.FloatImm: te.const(1.5),
        tir.Add: n + 1,
        tir.Sub: n - 1,
        tir.Mul: n * 2,
        tir.FloorDiv: n // 2,
        tir.FloorMod: n % 2,
        tir.Min: te.min(n, 1),
        tir.Max: te.max(n, 1),
        tir.EQ: n.equal(1),
        tir.LT: n < 1,
        tir.GE: n >= 1,
        tir.And: te.all(n < 1, n > 0),
        tir.Or: te.any(n < 1, n > 0),
        tir.Cast: n.astype("float32"),
        tir.Select: te.if_then_else(n < 1, 1, 2),
        tir.Call: te.exp(x),
        tir.ProducerLoad: a(0),
    }
    for kind, e in samples.items():
        assert isinstance(e, tir.PrimExpr)
        assert [k for k in samples if isinstance(e, k)] == [kind]


def test_nodes_have_fields():
    n = te.var("n")
    assert (n + 1).a.same_as(n) and (n + 1).b.value == 1
    chosen = te.if_then_else(n < 1, n, 2)
    assert isinstance(chosen.condition, tir.LT) and chosen.true_value.same_as(n)
    assert chosen.false_value.value == 2
    call = te.exp(te.var("x", "float32"))
    assert call.op.name == "tir.exp" and call.args[0].name == "x"
    a = te.placeholder((4,), name="A")
    assert a(n).producer == a and a(n).indices[0].same_as(n)
    with pytest.raises(AttributeError, match="Add has no field condition"):
        _ = (n + 1).condition


def test_nodes_are_made_by_their_classes():
    n = tir.Var("n", "int32")
    assert n.name == "n" and tir.IntImm("int64", 5).dtype == "int64"
    assert tir.FloatImm("float16", 0.5).value == 0.5
    assert tir.Cast("float32", n).dtype == "float32"
    assert str(tir.Select(n < 1, n, 2)) == str(te.if_then_else(n < 1, n, 2))
    assert isinstance(tir.Add(n, 1), tir.Add) and isinstance(tir.Not(n < 1), tir.Not)
    with pytest.raises(TypeError, match="Reduce"):
        tir.Reduce()


# -- Tensors.


def test_tensors_are_keys():
    a = te.placeholder((4,), name="A")
    again, other = a.op.output(0), te.placeholder((4,), name="A")
    assert a == again and hash(a) == hash(again) and a != other
    assert {a: 1}[again] == 1 and a in [other, a]
    assert a.op == again.op and a.op in [other.op, a.op] and a.op != other.op


def test_equality_of_tensors_without_axes():
    a, b = te.placeholder((), name="A"), te.placeholder((), name="B")
    with pytest.raises(ValueError, match="without axes"):
        bool(a == b)


def test_tensor_without_axes_is_an_expression(run):
    """A tensor without axes can be used as an expression; `A()` reads it, too."""
    a, x = te.placeholder((), name="A"), te.placeholder((6,), name="X")
    y = te.compute((6,), lambda i: te.if_then_else(a > 1, x[i] * a, x[i] + a()), name="Y")
    s = te.create_schedule(y.op)
    block(s, y)
    np.testing.assert_array_equal(run(s, [a, x, y], 2.0, VALUES), VALUES * 2)


def test_arithmetic_of_tensors(run):
    """A result of two tensors has the tag broadcast; of a tensor and a number, elemwise."""
    v = np.arange(6, dtype="float32").reshape(2, 3)
    w = np.array([1, 2, 4], "float32")  # quotients by powers of two need no rounding
    x, z = te.placeholder((2, 3), name="X"), te.placeholder((3,), name="Z")
    both, number, reflected, quotient = x + z, x * 2.0, 1 - x, x / z
    assert [t.op.tag for t in (both, number, reflected)] == ["broadcast", "elemwise", "elemwise"]
    negative, whole = -x, x.astype("int32")
    assert whole.dtype == "int32" and whole.op.tag == "elemwise"
    outputs = [both, number, reflected, quotient, negative, whole]
    s = te.create_schedule([t.op for t in outputs])
    for t in outputs:
        block(s, t)
    expected = [v + w, v * 2, 1 - v, v / w, -v, v.astype("int32")]
    for result, e in zip(run(s, [x, z, *outputs], v, w), expected, strict=True):
        np.testing.assert_array_equal(result, e)


def test_tensors_that_do_not_broadcast():
    x, z = te.placeholder((2, 3), name="X"), te.placeholder((2,), name="Z")
    with pytest.raises(tvm.TVMError, match=r"TL1001.*\(2, 3\) of 'X' and \(2,\) of 'Z'"):
        x + z
    assert [e.value for e in (x + te.placeholder((2, 1), name="Z")).shape] == [2, 3]


def test_slices():
    """Arithmetic of a slice with a number is an expression, with a tensor it is a tensor."""
    b, x = te.placeholder((2, 3), name="B"), te.placeholder((4,), name="X")
    assert isinstance(b[0, 0], te.TensorSlice) and isinstance(b[0][0], te.TensorSlice)
    assert isinstance(b[0, 0] + 1, tir.Add)
    assert isinstance(b[0, 0] + x, te.Tensor) and isinstance(x * b[0, 0], te.Tensor)
    assert b[0, 0].dtype == "float32" and b[0, 0].astype("int32").dtype == "int32"
    assert b[0][1].tensor == b and [int(i) for i in b[0][1].indices] == [0, 1]


def test_number_of_indices():
    """Too few or too many indices are refused where the slice is used."""
    b = te.placeholder((2, 3), name="B")
    few, many = b[0], b[0, 1, 2]
    for piece, count in ((few, "1 index"), (many, "3 indices")):
        with pytest.raises(ValueError, match=f"'B' has 2 axes but is read with {count}"):
            piece + 1
        with pytest.raises(tvm.TVMError, match="TL1002"):
            piece + 1


def test_axis_as_a_number():
    """An axis can be an index, an operand and part of a condition."""
    k = te.reduce_axis((0, 8), name="k")
    assert isinstance(k + 1, tir.Add) and isinstance(te.floormod(k, 2) == 0, tir.EQ)
    assert isinstance(te.all(k < 3, k >= 1), tir.And)
    assert k == k and k in [k] and {k: 1}[k] == 1
    assert k.var.name == "k" and k.dom.min.value == 0 and k.dom.extent.value == 8
    assert k.iter_type == te.IterVar.CommReduce == 2
    assert te.thread_axis("threadIdx.x").iter_type == te.IterVar.ThreadIndex


def test_lists_of_the_api():
    """Lists of the API can be indexed from both ends, sliced, unpacked and iterated."""
    x = te.placeholder((2, 3, 4), name="X")
    y = te.compute(x.shape, lambda *i: x(*i), name="Y")
    assert y.op.axis[-1].dom.extent.value == 4 and x.shape[-1].value == 4
    n, _, c = x.shape
    assert (n.value, c.value) == (2, 4) and [int(e) for e in x.shape[1:]] == [3, 4]


def test_attributes_of_an_operation():
    y = te.compute((4,), lambda i: i, name="Y", attrs={"unit": 4, "kind": "pad", "sizes": [1, 2]})
    attrs = y.op.attrs
    assert (
        attrs["unit"].value == 4 and attrs["kind"].value == "pad" and attrs["sizes"][1].value == 2
    )
    assert "unit" in attrs and "other" not in attrs and len(attrs) == 3
    assert str(attrs) == '{"unit": 4, "kind": "pad", "sizes": [1, 2]}'
    assert len(te.placeholder((4,), name="X").op.attrs) == 0


def test_trace_is_refused():
    for trace in (te.trace, tvm.tir.trace):
        with pytest.raises(
            tvm.TVMError, match=r"TL2042.*kernels cannot call(.|\n)*help: compute the value"
        ):
            trace([te.var("x")])
