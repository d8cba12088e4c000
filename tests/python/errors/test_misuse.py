"""Wrong values in every argument give a Python error, never a crash or a hang."""

import signal
from contextlib import contextmanager

import numpy as np
import pytest

import texloom as tvm
from texloom import _core, te

# Wrong Python types give Python's errors, invalid values give a diagnostic.
EXPECTED = (
    TypeError,
    ValueError,
    OverflowError,
    IndexError,
    AttributeError,
    KeyError,
    tvm.TVMError,
)


class Objects:
    """One object of each kind that functions take."""

    def __init__(self):
        self.x = te.placeholder((8, 4), name="X")
        self.k = te.reduce_axis((0, 4), name="k")
        self.y = te.compute((8, 4), lambda i, j: self.x[i, j] + 1, name="Y")
        self.r = te.compute((8,), lambda i: te.sum(self.y[i, self.k], axis=self.k), name="R")
        self.s = te.create_schedule(self.r.op)
        self.stage = self.s[self.y]
        self.i, self.j = self.stage.op.axis
        self.t = te.thread_axis("threadIdx.x")
        self.a = tvm.nd.empty((8, 4))
        f_s = te.create_schedule(self.y.op)
        f_s[self.y].bind(f_s[self.y].op.axis[0], te.thread_axis("blockIdx.x"))
        self.f = tvm.build(f_s, [self.x, self.y])
        self.f_s = f_s


JUNK = {
    "none": lambda o: None,
    "int": lambda o: 3,
    "negative": lambda o: -1,
    "zero": lambda o: 0,
    "huge": lambda o: 2**70,
    "2**63": lambda o: 2**63,
    "float": lambda o: 0.5,
    "nan": lambda o: float("nan"),
    "complex": lambda o: 1j,
    "numpy int": lambda o: np.int8(3),
    "numpy float": lambda o: np.float64(0.5),
    "numpy array": lambda o: np.ones((2, 2)),
    "text": lambda o: "texture",
    "bytes": lambda o: b"texture",
    "nul": lambda o: "a\0b",
    "surrogate": lambda o: "\udc80",
    "empty": lambda o: "",
    "list": lambda o: [],
    "list of none": lambda o: [None],
    "nested": lambda o: [[1], [2]],
    "dict": lambda o: {},
    "set": lambda o: {1, 2},
    "function": lambda o: print,
    "type": lambda o: int,
    "object": lambda o: object(),
    "tensor": lambda o: o.x,
    "operation": lambda o: o.y.op,
    "slice": lambda o: o.x[0],
    "expression": lambda o: o.x[0, 0] + 1,
    "symbol": lambda o: te.var("n"),
    "axis": lambda o: o.i,
    "reduce axis": lambda o: o.k,
    "thread axis": lambda o: o.t,
    "schedule": lambda o: o.s,
    "stage": lambda o: o.stage,
    "array": lambda o: o.a,
    "device": lambda o: tvm.opencl(0),
    "target": lambda o: tvm.target.Target("opencl"),
    "compiled": lambda o: o.f,
    "buffer": lambda o: tvm.decl_buffer((8, 4)),
    "python slice": lambda o: slice(None),
    "ellipsis": lambda o: ...,
}

# Calls with one argument left open.
CALLS = {
    "placeholder shape": lambda o, v: te.placeholder(v),
    "placeholder extent": lambda o, v: te.placeholder((4, v)),
    "placeholder dtype": lambda o, v: te.placeholder((4,), v),
    "placeholder name": lambda o, v: te.placeholder((4,), name=v),
    "compute shape": lambda o, v: te.compute(v, lambda i: i),
    "compute function": lambda o, v: te.compute((4,), v),
    "compute body": lambda o, v: te.compute((4,), lambda i: v),
    "compute name": lambda o, v: te.compute((4,), lambda i: i, name=v),
    "compute tag": lambda o, v: te.compute((4,), lambda i: i, tag=v),
    "reduce_axis dom": lambda o, v: te.reduce_axis(v),
    "reduce_axis end": lambda o, v: te.reduce_axis((0, v)),
    "reduce_axis begin": lambda o, v: te.reduce_axis((v, 9)),
    "thread_axis": lambda o, v: te.thread_axis(v),
    "thread_axis tag": lambda o, v: te.thread_axis((0, 4), v),
    "create_schedule": lambda o, v: te.create_schedule(v),
    "create_schedule list": lambda o, v: te.create_schedule([v]),
    "index": lambda o, v: o.x[v],
    "second index": lambda o, v: o.x[0, v],
    "call index": lambda o, v: o.x(0, v),
    "plus": lambda o, v: o.x[0, 0] + v,
    "reflected plus": lambda o, v: v + o.x[0, 0],
    "times": lambda o, v: o.x[0, 0] * v,
    "divided": lambda o, v: o.i // v,
    "modulo": lambda o, v: o.i % v,
    "shifted": lambda o, v: o.i.var << v,
    "less": lambda o, v: o.i < v,
    "equal": lambda o, v: o.i == v,
    "tensor equal": lambda o, v: o.x == v,
    "stage equal": lambda o, v: o.stage == v,
    "device equal": lambda o, v: tvm.opencl(0) == v,
    "astype": lambda o, v: o.x[0, 0].astype(v),
    "exp": lambda o, v: te.exp(v),
    "power": lambda o, v: te.power(1.0, v),
    "max": lambda o, v: te.max(1.0, v),
    "max axis": lambda o, v: te.max(o.x[0, o.k], axis=v),
    "sum": lambda o, v: te.sum(v, axis=o.k),
    "sum axis": lambda o, v: te.sum(o.x[0, o.k], axis=v),
    "sum where": lambda o, v: te.sum(o.x[0, o.k], axis=o.k, where=v),
    "condition": lambda o, v: te.if_then_else(v, 1, 2),
    "chosen": lambda o, v: te.if_then_else(o.i < 3, v, 2),
    "all": lambda o, v: te.all(o.i < 3, v),
    "truncdiv": lambda o, v: te.truncdiv(7, v),
    "div": lambda o, v: te.div(7, v),
    "const": lambda o, v: te.const(v),
    "const dtype": lambda o, v: te.const(1, v),
    "const of int8": lambda o, v: te.const(v, "int8"),
    "const of float16": lambda o, v: te.const(v, "float16"),
    "var": lambda o, v: te.var(v),
    "var dtype": lambda o, v: te.var("n", v),
    "max_value": lambda o, v: te.max_value(v),
    "abs": lambda o, v: te.abs(v),
    "stage of": lambda o, v: o.s[v],
    "split axis": lambda o, v: o.stage.split(v, 2),
    "split factor": lambda o, v: o.stage.split(o.i, v),
    "split nparts": lambda o, v: o.stage.split(o.i, nparts=v),
    "tile axis": lambda o, v: o.stage.tile(o.i, v, 2, 2),
    "tile factor": lambda o, v: o.stage.tile(o.i, o.j, v, 2),
    "fuse": lambda o, v: o.stage.fuse(o.i, v),
    "fuse list": lambda o, v: o.stage.fuse([v]),
    "reorder": lambda o, v: o.stage.reorder(o.i, v),
    "bind axis": lambda o, v: o.stage.bind(v, o.t),
    "bind thread": lambda o, v: o.stage.bind(o.i, v),
    "vectorize": lambda o, v: o.stage.vectorize(v),
    "unroll": lambda o, v: o.stage.unroll(v),
    "compute_at stage": lambda o, v: o.stage.compute_at(v, o.i),
    "compute_at axis": lambda o, v: o.stage.compute_at(o.s[o.r], v),
    "set_scope": lambda o, v: o.stage.set_scope(v),
    "cache_read tensor": lambda o, v: o.s.cache_read(v, "local", [o.y]),
    "cache_read scope": lambda o, v: o.s.cache_read(o.x, v, [o.y]),
    "cache_read readers": lambda o, v: o.s.cache_read(o.x, "local", v),
    "cache_read reader": lambda o, v: o.s.cache_read(o.x, "local", [v]),
    "cache_write tensor": lambda o, v: o.s.cache_write(v, "local"),
    "cache_write scope": lambda o, v: o.s.cache_write(o.y, v),
    "lower schedule": lambda o, v: tvm.lower(v, [o.x, o.y]),
    "lower args": lambda o, v: tvm.lower(o.f_s, v),
    "lower arg": lambda o, v: tvm.lower(o.f_s, [o.x, v]),
    "lower name": lambda o, v: tvm.lower(o.f_s, [o.x, o.y], v),
    "lower binds": lambda o, v: tvm.lower(o.f_s, [o.x, o.y], binds=v),
    "lower bound": lambda o, v: tvm.lower(o.f_s, [o.x, o.y], binds={o.x: v}),
    "lower binds key": lambda o, v: tvm.lower(o.f_s, [o.x, o.y], binds=[(v, o.x)]),
    "lower target": lambda o, v: tvm.lower(o.f_s, [o.x, o.y], target=v),
    "build args": lambda o, v: tvm.build(o.f_s, v),
    "build target": lambda o, v: tvm.build(o.f_s, [o.x, o.y], v),
    "build name": lambda o, v: tvm.build(o.f_s, [o.x, o.y], name=v),
    "Target": lambda o, v: tvm.target.Target(v),
    "decl_buffer shape": lambda o, v: tvm.decl_buffer(v),
    "decl_buffer extent": lambda o, v: tvm.decl_buffer((4, v)),
    "decl_buffer dtype": lambda o, v: tvm.decl_buffer((4,), v),
    "decl_buffer name": lambda o, v: tvm.decl_buffer((4,), name=v),
    "decl_buffer scope": lambda o, v: tvm.decl_buffer((4,), scope=v),
    "decl_buffer origin": lambda o, v: tvm.decl_buffer((4,), origin=v),
    "nd.array": lambda o, v: tvm.nd.array(v),
    "nd.array device": lambda o, v: tvm.nd.array([1.0], v),
    "nd.array scope": lambda o, v: tvm.nd.array([1.0], mem_scope=v),
    "nd.empty shape": lambda o, v: tvm.nd.empty(v),
    "nd.empty extent": lambda o, v: tvm.nd.empty((2, v)),
    "nd.empty dtype": lambda o, v: tvm.nd.empty((4,), v),
    "nd.empty device": lambda o, v: tvm.nd.empty((4,), device=v),
    "nd.empty origin": lambda o, v: tvm.nd.empty((4,), mem_scope="texture", origin=v),
    "nd.empty origin x": lambda o, v: tvm.nd.empty((4,), mem_scope="texture", origin=(v, 0)),
    "nd.empty image": lambda o, v: tvm.nd.empty((4,), mem_scope="texture", image=v),
    "nd.empty image width": lambda o, v: tvm.nd.empty((4,), mem_scope="texture", image=(v, 4)),
    "copyfrom": lambda o, v: o.a.copyfrom(v),
    "device number": lambda o, v: tvm.opencl(v),
    "device kind": lambda o, v: tvm.device(v),
    "device kind number": lambda o, v: tvm.device("opencl", v),
    "call": lambda o, v: o.f(v),
    "call first": lambda o, v: o.f(v, tvm.nd.empty((8, 4))),
    "call second": lambda o, v: o.f(o.a, v),
    "time_evaluator number": lambda o, v: o.f.time_evaluator("f", tvm.opencl(0), number=v),
    "time_evaluator call": lambda o, v: o.f.time_evaluator("f", tvm.opencl(0), 1)(o.a, v),
    "time_evaluator device": lambda o, v: o.f.time_evaluator("f", v, 1)(o.a, tvm.nd.empty((8, 4))),
}


class Hang(BaseException):
    pass


@contextmanager
def at_most(seconds):
    """Raise Hang in the main thread after that many seconds."""

    def stop(*_):
        raise Hang(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_junk_in_every_argument(call):
    """Any value must work, or raise a Python error or a diagnostic."""
    wrong = []
    for name, make in JUNK.items():
        o = Objects()
        try:
            with at_most(2):
                call(o, make(o))
        except EXPECTED as error:
            if not str(error):
                wrong.append(f"{name}: an error without words")
        except (Hang, Exception) as error:
            wrong.append(f"{name}: {type(error).__name__}: {error}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_no_object_is_empty():
    """No class creates an object without the value that its methods read."""
    for kind in [value for value in vars(_core).values() if isinstance(value, type)]:
        if kind is not _core._Graph:  # a text makes a graph of that name
            # A target can be made from a text; a text that names no target gives a diagnostic.
            with pytest.raises(tvm.TVMError if kind is _core.TargetValue else TypeError):
                kind.__new__(kind, "junk")
        begin_empty = (tvm.arith.Analyzer, _core._CompiledSites, _core._KernelWork)
        if kind not in begin_empty:
            with pytest.raises(TypeError):
                kind.__new__(kind)
    assert repr(tvm.Device.__new__(tvm.Device, 1)) == "opencl(1)"
