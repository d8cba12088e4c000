"""A reduction that is split over threads, or by rfactor, needs a reducer that is associative."""

import warnings

import pytest

from texloom import te
from texloom.errors import TexloomWarning

argmax = te.comm_reducer(
    lambda a, b: (te.if_then_else(a[1] >= b[1], a[0], b[0]), te.max(a[1], b[1])),
    lambda t0, t1: (te.const(-1, t0), te.min_value(t1)),
    name="argmax",
)


def of(combine):
    return te.comm_reducer(combine, lambda t: te.const(0, t), name="reducer")


REDUCERS = {
    "difference": (of(lambda a, b: a - b), True),
    "mean": (of(lambda a, b: (a + b) / te.const(2, a.dtype)), True),
    "sum": (te.sum, False),
    "max": (te.max, False),
    "product": (te.prod, False),
    "argmax": (lambda value, axis: argmax((axis.var, value), axis=axis), False),
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "uint8"])
@pytest.mark.parametrize("directive", ["bind", "rfactor"])
@pytest.mark.parametrize("name", list(REDUCERS))
def test_only_other_reducers_warn(name, directive, dtype):
    reducer, warned = REDUCERS[name]
    if name == "mean" and not dtype.startswith("float"):
        pytest.skip("the mean is of floats")
    x = te.placeholder((8, 16), dtype, name="X")
    k = te.reduce_axis((0, 16), name="k")
    r = te.compute((8,), lambda i: reducer(x[i, k], axis=k), name="R")
    r = r[0] if isinstance(r, (list, tuple)) else r
    s = te.create_schedule(r.op)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always", TexloomWarning)
        if directive == "bind":
            s[r].bind(k, te.thread_axis("threadIdx.x"))
        else:
            s.rfactor(r, k)
    codes = ["TL2045" in str(each.message) for each in shown]
    assert codes == ([True] if warned else [])
    assert all(each.filename == __file__ for each in shown)
