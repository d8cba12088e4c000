"""Defines bad-input cases: functions that make one mistake, with the code that each must give.

The line with the mistake ends with the comment ``# wrong``, or with ``// wrong`` in parsed text.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import texloom as tvm
from texloom import te

# Every message about a function or directive contains at least one of the words listed here.
# `layout=` is an argument of several directives.
DIRECTIVES: dict[str, tuple[str, ...]] = {
    "create_schedule": ("create_schedule",),
    "split": ("split",),
    "tile": ("tile", "split"),
    "fuse": ("fuse",),
    "reorder": ("reorder",),
    "bind": ("bind", "bound", "extent", "virtual threads", "blocks of"),
    "tensorize": ("tensorize", "intrinsic"),
    "thread_axis": ("thread",),
    "vectorize": ("vectorize", "stays serial"),
    "unroll": ("unroll",),
    "parallel": ("parallel", "stays serial"),
    "pragma": ("pragma", "vectorize", "unroll"),
    "prefetch": ("prefetch", "pragma"),
    "env_threads": ("env_threads",),
    "compute_at": ("compute_at", "computed at", "computed inside"),
    "compute_inline": ("inline",),
    "compute_root": ("compute_root",),
    "create_group": ("create_group",),
    "layout": ("layout", "axis", "axes", "lanes", "kind", "padding"),
    "cache_read": ("cache_read", "texture", "memory", "buffers", "bound to no thread"),
    "cache_write": ("cache_write", "texture", "memory"),
    "set_scope": ("set_scope", "memory", "texture"),
    "storage_align": ("storage_align", "stride"),
    "double_buffer": ("double_buffer", "buffer"),
    "rolling_buffer": ("rolling_buffer",),
    "pipeline": ("pipeline", "fetched", "reads"),
    "rfactor": ("rfactor",),
    "set_store_predicate": ("set_store_predicate", "store predicate"),
    "transform_layout": ("transform_layout", "new axes", "columns"),
    "decl_buffer": ("buffer", "declared", "scope", "layout", "kind"),
    "lower": ("argument", "binds", "caller"),
    "build": ("argument", "target"),
}


@dataclass(frozen=True)
class Case:
    """A function that makes one mistake."""

    code: str
    run: Callable[[], object]
    # A part that the message must have, if the code is not specific enough.
    says: str = ""
    # Environment variables, for a separate process; "<empty>" stands for an empty folder.
    environment: dict[str, str] = field(default_factory=dict)
    # The program in the text form that `run` parses.
    program: str = ""
    # Whether modules that other tests import would change the result.
    in_own_process: bool = False

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def file(self) -> str:
        return "<text>" if self.program else inspect.getfile(self.run)

    @property
    def line(self) -> int:
        """The line number of the mistake."""
        if self.program:
            lines, first, mark = self.program.splitlines(), 1, "// wrong"
        else:
            lines, first = inspect.getsourcelines(self.run)
            mark = "# wrong"
        (place,) = [i for i, text in enumerate(lines) if text.rstrip().endswith(mark)]
        return first + place

    @property
    def directive(self) -> str:
        """The entry of DIRECTIVES that this line calls, or ""."""
        if self.program:
            return ""
        wrong = inspect.getsourcelines(self.run)[0][self.line - inspect.getsourcelines(self.run)[1]]
        if "layout=" in wrong:
            return "layout"
        called = re.findall(r"\b(\w+)\(", wrong)
        return next((name for name in called if name in DIRECTIVES), "")

    def needs_pocl(self) -> bool:
        """Whether the case needs two devices, which only PoCL can simulate on one machine."""
        return "POCL_DEVICES" in self.environment

    def diagnostics(self) -> list[dict]:
        """Return the diagnostics: severity, code, file, line, message, help and text of each."""
        return self._in_a_process() if self.environment or self.in_own_process else self.here()

    def here(self) -> list[dict]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                self.run()
            except tvm.TVMError as error:
                return [vars(d) for d in error.diagnostics]
        return [
            {
                "severity": "warning",
                "code": text[text.index("[") + 1 : text.index("]")],
                "file": w.filename,
                "line": w.lineno,
                "message": text.splitlines()[0].partition(": ")[2],
                "help": text.partition("  help: ")[2],
                "text": warnings.formatwarning(w.message, w.category, w.filename, w.lineno).rstrip(
                    "\n"
                ),
            }
            for w in caught
            for text in [str(w.message)]
        ]

    def _in_a_process(self) -> list[dict]:
        with tempfile.TemporaryDirectory() as folder:
            added = {k: v.replace("<empty>", folder) for k, v in self.environment.items()}
            done = subprocess.run(
                [sys.executable, str(Path(__file__).with_name("bad_input_cases.py")), self.name],
                env={**os.environ, **added},
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        if done.returncode != 0:
            raise AssertionError(f"{self.name} ended with {done.returncode}:\n{done.stderr}")
        return json.loads(done.stdout.splitlines()[-1])


CASES: list[Case] = []


def case(
    code: str, *, says: str = "", in_own_process: bool = False, **environment: str
) -> Callable[[Callable[[], object]], Callable[[], object]]:
    def add(function: Callable[[], object]) -> Callable[[], object]:
        CASES.append(Case(code, function, says, environment, in_own_process=in_own_process))
        return function

    return add


def text_case(code: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Register a function that returns a program in the text form with a mistake."""

    def add(function: Callable[[], str]) -> Callable[[], str]:
        @functools.wraps(function)
        def run() -> object:
            return tvm.parse(function())

        CASES.append(Case(code, run, program=function()))
        return function

    return add


# -- Building blocks of the cases.


def block() -> te.IterVar:
    return te.thread_axis("blockIdx.x")


def thread() -> te.IterVar:
    return te.thread_axis("threadIdx.x")


def copy_of(shape: tuple, dtype: str = "float32") -> tuple:
    """Return X, Y = X + 1, and a schedule without bindings."""
    x = te.placeholder(shape, dtype, name="X")
    y = te.compute(shape, lambda *i: x(*i) + 1, name="Y")
    return x, y, te.create_schedule(y.op)


def sums_of_rows() -> tuple:
    """Return X, the init, update and scan of its running sums, and a schedule without bindings."""
    x = te.placeholder((4, 8), name="X")
    state = te.placeholder((4, 8), name="state")
    init = te.compute((1, 8), lambda t, i: x[0, i], name="init")
    update = te.compute((4, 8), lambda t, i: state[t - 1, i] + x[t, i], name="update")
    scan = te.scan(init, update, state)
    return x, init, update, scan, te.create_schedule(scan.op)


def chain_of(shape: tuple = (8, 4)) -> tuple:
    """Return X, P = X * 2, Y = P + 1, and a schedule with Y's first axis bound to blocks."""
    x = te.placeholder(shape, name="X")
    p = te.compute(shape, lambda *i: x(*i) * 2, name="P")
    y = te.compute(shape, lambda *i: p(*i) + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    return x, p, y, s


def sum_of_rows() -> tuple:
    """Return X, R = row sums of X, the reduction axis, and a schedule without bindings."""
    x = te.placeholder((8, 6), name="X")
    k = te.reduce_axis((0, 6), name="k")
    r = te.compute((8,), lambda i: te.sum(x[i, k], axis=k), name="R")
    return x, r, k, te.create_schedule(r.op)


def symbolic_copy() -> tuple:
    """Return X, Y = X + 1 of n columns, and a schedule without bindings."""
    n = te.var("n")
    x = te.placeholder((8, n), name="X")
    y = te.compute((8, n), lambda i, j: x[i, j] + 1, name="Y")
    return x, y, te.create_schedule(y.op)


def two_sources() -> tuple:
    """Return X, P and Q that read X, Y = Q - P, and a schedule with Y's axis bound to blocks."""
    x = te.placeholder((8,), name="X")
    p = te.compute((8,), lambda i: x[i] * 2, name="P")
    q = te.compute((8,), lambda i: x[i] + 1, name="Q")
    y = te.compute((8,), lambda i: q[i] - p[i], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    return x, p, q, y, s


def extern_of(x: te.Tensor) -> te.Tensor:
    """Return an extern of 8 elements that stores its first element on a thread."""

    def body(ins: list, outs: list) -> tvm.tir.Stmt:
        ib = tvm.tir.ir_builder.create()
        ib.scope_attr(te.thread_axis("threadIdx.x"), "thread_extent", 1)
        ib.emit(outs[0].vstore(0, ins[0].vload(0)))
        return ib.get()

    return te.extern((8,), [x], body, name="Y")


def compiled(scope: str = "") -> tvm.driver.Function:
    """Build f(X, Y) for float32 arrays of shape (8, 4)."""
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    binds = {x: tvm.decl_buffer((8, 4), scope=scope)} if scope else None
    return tvm.build(s, [x, y], "opencl", name="f", binds=binds)


def array(shape: tuple = (8, 4), dtype: str = "float32", scope: str = "") -> tvm.nd.NDArray:
    return tvm.nd.array(np.ones(shape, dtype), mem_scope=scope)
