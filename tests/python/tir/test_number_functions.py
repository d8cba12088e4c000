"""Math functions for numbers refuse expressions: each error names the replacement."""

import math
import operator
import re

import numpy as np
import pytest

import texloom as tvm
from texloom import ops, te, tir
from texloom.tir import number_functions

X = te.placeholder((8,), name="X")
AXIS = te.reduce_axis((0, 8), name="k")
OPERANDS = {"variable": te.var("n"), "axis": AXIS, "element": X[AXIS], "tensor": X}
CALLS = {
    "x ** 2": lambda x: x**2,
    "2 ** x": lambda x: 2**x,
    "pow": lambda x: pow(x, 2, 3),
    "abs": abs,
    "round": round,
    "round to digits": lambda x: round(x, 2),
    "divmod": lambda x: divmod(x, 2),
    "divmod by": lambda x: divmod(2, x),
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "exp": math.exp,
    "int": int,
    "float": float,
    "complex": complex,
    "plus": operator.pos,
    "matmul": lambda x: x @ x,
}


@pytest.mark.parametrize("operand", OPERANDS.values(), ids=OPERANDS.keys())
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_functions_of_python_are_refused(call, operand):
    with pytest.raises(TypeError, match=r"TL2040.*number(.|\n)*help: (write|compute)") as error:
        call(operand)
    assert isinstance(error.value, tvm.TVMError)


@pytest.mark.parametrize("operand", OPERANDS.values(), ids=OPERANDS.keys())
@pytest.mark.parametrize("name", number_functions._NUMPY)
def test_functions_of_numpy_are_refused(name, operand):
    function = getattr(np, name)
    with pytest.raises(tvm.TVMError, match=f"TL2040.*np.{name}"):
        function(*[operand] * function.nin)


def test_what_is_named_exists():
    named = {text for _, text in number_functions._PYTHON.values()} | {
        *number_functions._NUMPY.values()
    }
    functions = {f for text in named for f in re.findall(r"\b(te|tir|ops)\.(\w+)\(", text)}
    assert len(functions) > 30
    for module, name in functions:
        assert callable(getattr(getattr(tvm, module), name)), name


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin", "cbrt", "expm1"])
def test_what_is_named_computes_what_numpy_does(name, run):
    """The named replacement treats NaN as NumPy does, and is precise near 0."""
    function = getattr(np, name)
    x = np.float32([1, np.nan, -np.inf, 2e-7, -8])
    y = np.float32([2, 1, np.nan, np.inf, -9])
    a, b = (te.placeholder(x.shape, name=name) for name in "AB")

    def body(i):
        expression, _, _ = number_functions._NUMPY[name].partition(", with ")
        return eval(expression, {"te": te, "tir": tir, "ops": ops, "x": a[i], "y": b[i]})

    out = te.compute(x.shape, body, name="Y")
    s = te.create_schedule(out.op)
    s[out].bind(out.op.axis[0], te.thread_axis("threadIdx.x"))
    expected = function(*(x, y)[: function.nin])
    np.testing.assert_allclose(run(s, [a, b, out], x, y), expected, rtol=3 * 2.0**-23)


def test_operators_work_with_numbers_and_arrays_of_numpy():
    x = X[AXIS]
    assert str(np.float32(2) * x) == str(2.0 * x)
    assert str(np.add(x, 1)) == str(x + 1)
    assert str(np.square(x)) == str(x * x)
    assert [str(e) for e in np.array([1.0, 2.0]) * x] == [str(1.0 * x), str(2.0 * x)]
    assert (np.float32(2) * X).shape[0] == 8


def test_constants_are_numbers():
    extent = X.shape[0]
    assert extent**2 == 64
    assert (2**extent, abs(extent), divmod(extent, 3)) == (256, 8, (2, 2))
    assert math.ceil(te.const(2.5)) == 3
    assert np.sqrt(te.const(4.0)) == 2
