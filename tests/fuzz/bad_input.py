"""What a bad-input case is: a function that makes one mistake, and the code it must give.

The line at fault ends with the comment ``# wrong``; in a text that is parsed, with ``// wrong``.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
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


@dataclass(frozen=True)
class Case:
    """A function that makes one mistake."""

    code: str
    run: Callable[[], object]
    # Set in a process of its own; "<empty>" stands for an empty folder.
    environment: dict[str, str] = field(default_factory=dict)
    # Of a program in the text form, which `run` parses.
    program: str = ""

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def file(self) -> str:
        return "<text>" if self.program else inspect.getfile(self.run)

    @property
    def line(self) -> int:
        """The number of the line with the mistake."""
        if self.program:
            lines, first, mark = self.program.splitlines(), 1, "// wrong"
        else:
            lines, first = inspect.getsourcelines(self.run)
            mark = "# wrong"
        (place,) = [i for i, text in enumerate(lines) if text.rstrip().endswith(mark)]
        return first + place

    def diagnostics(self) -> list[dict]:
        """What comes of it: severity, code, file, line, message, help and text of each."""
        return self._in_a_process() if self.environment else self.here()

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
                "text": text,
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


def case(code: str, **environment: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    def add(function: Callable[[], object]) -> Callable[[], object]:
        CASES.append(Case(code, function, environment))
        return function

    return add


def text_case(code: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """A function that returns a program in the text form with a mistake."""

    def add(function: Callable[[], str]) -> Callable[[], str]:
        @functools.wraps(function)
        def run() -> object:
            return tvm.parse(function())

        CASES.append(Case(code, run, program=function()))
        return function

    return add


# -- What the cases are made of.


def block() -> te.IterVar:
    return te.thread_axis("blockIdx.x")


def thread() -> te.IterVar:
    return te.thread_axis("threadIdx.x")


def copy_of(shape: tuple, dtype: str = "float32") -> tuple:
    """X, Y = X + 1, and a schedule with nothing bound."""
    x = te.placeholder(shape, dtype, name="X")
    y = te.compute(shape, lambda *i: x(*i) + 1, name="Y")
    return x, y, te.create_schedule(y.op)


def sums_of_rows() -> tuple:
    """X, init, update and scan of its running sums, and a schedule with nothing bound."""
    x = te.placeholder((4, 8), name="X")
    state = te.placeholder((4, 8), name="state")
    init = te.compute((1, 8), lambda t, i: x[0, i], name="init")
    update = te.compute((4, 8), lambda t, i: state[t - 1, i] + x[t, i], name="update")
    scan = te.scan(init, update, state)
    return x, init, update, scan, te.create_schedule(scan.op)


def chain_of(shape: tuple = (8, 4)) -> tuple:
    """X, P = X * 2, Y = P + 1, a schedule with Y's first axis bound to blocks."""
    x = te.placeholder(shape, name="X")
    p = te.compute(shape, lambda *i: x(*i) * 2, name="P")
    y = te.compute(shape, lambda *i: p(*i) + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    return x, p, y, s


def sum_of_rows() -> tuple:
    """X, R = row sums of X, the reduction axis, a schedule with nothing bound."""
    x = te.placeholder((8, 6), name="X")
    k = te.reduce_axis((0, 6), name="k")
    r = te.compute((8,), lambda i: te.sum(x[i, k], axis=k), name="R")
    return x, r, k, te.create_schedule(r.op)


def extern_of(x: te.Tensor) -> te.Tensor:
    """Of 8 elements, the first of which is stored on a thread."""

    def body(ins: list, outs: list) -> tvm.tir.Stmt:
        ib = tvm.tir.ir_builder.create()
        ib.scope_attr(te.thread_axis("threadIdx.x"), "thread_extent", 1)
        ib.emit(outs[0].vstore(0, ins[0].vload(0)))
        return ib.get()

    return te.extern((8,), [x], body, name="Y")


def compiled(scope: str = "") -> tvm.driver.Function:
    """f(X, Y) for float32 arrays of shape (8, 4)."""
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    binds = {x: tvm.decl_buffer((8, 4), scope=scope)} if scope else None
    return tvm.build(s, [x, y], "opencl", name="f", binds=binds)


def array(shape: tuple = (8, 4), dtype: str = "float32", scope: str = "") -> tvm.nd.NDArray:
    return tvm.nd.array(np.ones(shape, dtype), mem_scope=scope)
