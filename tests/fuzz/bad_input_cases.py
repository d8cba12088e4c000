"""Wrong programs, one function each, with the code of the diagnostic that they must give.

The line at fault ends with the comment ``# wrong``. Used by tests/python/test_bad_input.py and
by show_bad_input.py, which prints what users see.
"""

from __future__ import annotations

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

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def line(self) -> int:
        """The number of the line with the mistake."""
        lines, first = inspect.getsourcelines(self.run)
        (place,) = [i for i, text in enumerate(lines) if text.rstrip().endswith("# wrong")]
        return first + place

    def diagnostics(self) -> list[dict]:
        """What comes of it: severity, code, file, line, message, help and text of each."""
        return self._in_a_process() if self.environment else self._here()

    def _here(self) -> list[dict]:
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
                [sys.executable, str(Path(__file__)), self.name],
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


def compiled(scope: str = "") -> tvm.driver.Function:
    """f(X, Y) for float32 arrays of shape (8, 4)."""
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    binds = {x: tvm.decl_buffer((8, 4), scope=scope)} if scope else None
    return tvm.build(s, [x, y], "opencl", name="f", binds=binds)


def array(shape: tuple = (8, 4), dtype: str = "float32", scope: str = "") -> tvm.nd.NDArray:
    return tvm.nd.array(np.ones(shape, dtype), mem_scope=scope)


# -- Tensors and expressions.


@case("TL1001")
def extent_of_zero() -> None:
    te.placeholder((4, 0), name="X")  # wrong


@case("TL1001")
def negative_extent_of_a_compute() -> None:
    te.compute((-3,), lambda i: i, name="Y")  # wrong


@case("TL1001")
def extent_that_is_a_float() -> None:
    te.placeholder((4, 2.5), name="X")  # wrong


@case("TL1001")
def extent_beyond_32_bits() -> None:
    te.placeholder((2**40,), name="X")  # wrong


@case("TL1001")
def symbolic_shape() -> None:
    n = te.var("n")
    x = te.placeholder((n,), name="X")  # wrong
    y = te.compute((n,), lambda i: x[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y])


@case("TL1001")
def empty_reduction_axis() -> None:
    te.reduce_axis((3, 3), name="k")  # wrong


@case("TL1001")
def array_with_an_extent_of_zero() -> None:
    tvm.nd.empty((4, 0))  # wrong


@case("TL1001")
def texture_of_seven_axes() -> None:
    x, y, s = copy_of((2, 2, 2, 2, 2, 2, 4))
    s.cache_read(x, "texture", [y])  # wrong
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y])


@case("TL1002")
def too_few_indices() -> None:
    x = te.placeholder((4, 4), name="X")
    te.compute((4,), lambda i: x[i] + 1, name="Y")  # wrong


@case("TL1002")
def too_many_indices() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4, 4), lambda i, j: x(i, j), name="Y")  # wrong


@case("TL1003")
def exp_of_an_integer() -> None:
    x = te.placeholder((4,), "int32", name="X")
    te.compute((4,), lambda i: te.exp(x[i]), name="Y")  # wrong


@case("TL1003")
def index_that_is_a_float() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: x[i * 0.5], name="Y")  # wrong


@case("TL1003")
def shift_of_a_float() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: x[i] << 2, name="Y")  # wrong


@case("TL1003")
def condition_that_is_a_number() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: te.if_then_else(x[i], 1.0, 2.0), name="Y")  # wrong


@case("TL1004")
def reduction_inside_an_expression() -> None:
    x = te.placeholder((4, 4), name="X")
    k = te.reduce_axis((0, 4), name="k")
    te.compute((4,), lambda i: te.sum(x[i, k], axis=k) + 1, name="Y")  # wrong


@case("TL1004")
def reduction_over_a_data_axis() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: te.sum(x[i], axis=i), name="Y")  # wrong


@case("TL1004")
def reduction_over_no_axis() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: te.sum(x[i], axis=[]), name="Y")  # wrong


@case("TL1005")
def unknown_dtype() -> None:
    te.placeholder((4,), "float31", name="X")  # wrong


@case("TL1005")
def cast_to_an_unknown_dtype() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: x[i].astype("int7"), name="Y")  # wrong


@case("TL1006")
def integer_division_that_does_not_say_how_it_rounds() -> None:
    x = te.placeholder((4,), "int32", name="X")
    te.compute((4,), lambda i: x[i] / 2, name="Y")  # wrong


@case("TL1007")
def compute_that_returns_nothing() -> None:
    te.compute((4,), lambda i: None, name="Y")  # wrong


@case("TL1007")
def compute_that_returns_text() -> None:
    te.compute((4,), lambda i: "i + 1", name="Y")  # wrong


# -- Directives.


@case("TL2001")
def unknown_scope() -> None:
    x, y, s = copy_of((8, 4))
    s.cache_read(x, "texture:wieght", [y])  # wrong


@case("TL2001")
def unknown_scope_of_a_stage() -> None:
    _, y, s = copy_of((8, 4))
    s[y].set_scope("registers")  # wrong


@case("TL2001")
def unknown_scope_of_an_array() -> None:
    tvm.nd.empty((8, 4), mem_scope="textur")  # wrong


@case("TL2001")
def array_in_shared_memory() -> None:
    tvm.nd.empty((8, 4), mem_scope="shared")  # wrong


@case("TL2001")
def unknown_scope_of_a_declaration() -> None:
    tvm.decl_buffer((8, 4), scope="image")  # wrong


@case("TL2002")
def cache_for_a_stage_that_does_not_read() -> None:
    x, _, y, s = chain_of()
    s.cache_read(x, "texture", [y])  # wrong


@case("TL2002")
def cache_for_no_stage() -> None:
    x, _, s = copy_of((8, 4))
    s.cache_read(x, "texture", [])  # wrong


@case("TL2003")
def axis_bound_twice() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].bind(s[y].op.axis[0], thread())  # wrong


@case("TL2004")
def split_by_zero() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=0)  # wrong


@case("TL2004")
def split_by_a_negative_factor() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=-4)  # wrong


@case("TL2004")
def split_into_no_parts() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], nparts=0)  # wrong


@case("TL2004")
def split_by_factor_and_nparts() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=2, nparts=4)  # wrong


@case("TL2004")
def split_by_nothing() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0])  # wrong


@case("TL2004")
def split_by_a_symbol() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=te.var("n"))  # wrong


@case("TL2004")
def tile_by_zero() -> None:
    _, y, s = copy_of((8, 4))
    s[y].tile(*s[y].op.axis, 0, 4)  # wrong


@case("TL2005")
def axis_of_another_stage() -> None:
    _, p, y, s = chain_of()
    s[y].split(s[p].op.axis[0], factor=2)  # wrong


@case("TL2005")
def axis_that_is_split_already() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=2)
    s[y].bind(s[y].op.axis[0], block())  # wrong


@case("TL2005")
def attached_at_an_axis_of_another_stage() -> None:
    _, p, y, s = chain_of()
    s[p].compute_at(s[y], s[p].op.axis[0])  # wrong


@case("TL2006")
def unknown_thread_tag() -> None:
    te.thread_axis("threadIdx.w")  # wrong


@case("TL2006")
def bound_to_an_axis_that_is_no_thread() -> None:
    _, y, s = copy_of((8, 4))
    i, j = s[y].op.axis
    s[y].bind(i, j)  # wrong


@case("TL2007")
def tensor_of_another_schedule() -> None:
    _, _, s = copy_of((8, 4))
    _, other, _ = copy_of((8, 4))
    s[other]  # wrong


@case("TL2007")
def attached_to_a_stage_of_another_schedule() -> None:
    _, p, _, s = chain_of()
    _, _, y, other = chain_of()
    s[p].compute_at(other[y], other[y].op.axis[0])  # wrong


@case("TL2007")
def cache_of_a_tensor_of_another_schedule() -> None:
    _, y, s = copy_of((8, 4))
    x, _, _ = copy_of((8, 4))
    s.cache_read(x, "texture", [y])  # wrong


@case("TL2008")
def reorder_that_names_an_axis_twice() -> None:
    _, y, s = copy_of((8, 4))
    i, _ = s[y].op.axis
    s[y].reorder(i, i)  # wrong


@case("TL2009")
def fuse_of_axes_that_are_not_adjacent() -> None:
    _, y, s = copy_of((8, 4, 4))
    i, _, k = s[y].op.axis
    s[y].fuse(i, k)  # wrong


@case("TL2009")
def fuse_of_a_data_axis_with_a_reduction_axis() -> None:
    _, r, k, s = sum_of_rows()
    s[r].fuse(s[r].op.axis[0], k)  # wrong


@case("TL2010")
def vectorize_of_a_reduction_axis() -> None:
    _, r, k, s = sum_of_rows()
    s[r].vectorize(k)  # wrong


@case("TL2011")
def cache_write_after_a_split() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=2)
    s.cache_write(y, "local")  # wrong


@case("TL2012")
def inlined_reduction() -> None:
    x = te.placeholder((8, 6), name="X")
    k = te.reduce_axis((0, 6), name="k")
    r = te.compute((8,), lambda i: te.sum(x[i, k], axis=k), name="R")
    y = te.compute((8,), lambda i: r[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[r].compute_inline()  # wrong


@case("TL2013")
def attached_to_itself() -> None:
    _, p, _, s = chain_of()
    s[p].compute_at(s[p], s[p].op.axis[0])  # wrong


@case("TL2014")
def reduction_axis_bound_to_a_thread() -> None:
    _, r, k, s = sum_of_rows()
    s[r].bind(k, thread())  # wrong


@case("TL2015")
def directive_on_a_placeholder() -> None:
    x, _, s = copy_of((8, 4))
    s[x].compute_inline()  # wrong


@case("TL2016")
def unroll_of_a_bound_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].unroll(s[y].op.axis[0])  # wrong


@case("TL2016")
def split_of_a_bound_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].split(s[y].op.axis[0], factor=2)  # wrong


# -- Whole schedules.


@case("TL3001")
def one_thread_tag_with_two_extents() -> None:
    x, p, y, s = chain_of((8, 6))
    s[y].bind(s[y].op.axis[1], thread())  # wrong
    s[p].compute_at(s[y], s[y].op.axis[0])
    s[p].set_scope("shared")
    outer, _ = s[p].split(s[p].op.axis[1], nparts=3)
    s[p].bind(outer, thread())
    tvm.lower(s, [x, y])


@case("TL3002")
def vectorize_of_a_symbolic_extent() -> None:
    n = te.var("n")
    x = te.placeholder((8, n), name="X")
    y = te.compute((8, n), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[y].vectorize(s[y].op.axis[1])  # wrong
    tvm.lower(s, [x, y])


@case("TL3003")
def root_stage_bound_to_no_thread() -> None:
    x = te.placeholder((8, 4), name="X")
    y = te.compute((8, 4), lambda i, j: x[i, j] + 1, name="Y")  # wrong
    s = te.create_schedule(y.op)
    tvm.lower(s, [x, y])


@case("TL3003")
def texture_bound_to_no_thread() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "texture", [y])  # wrong
    tvm.lower(s, [x, y])


@case("TL3004")
def texture_computed_inside_its_reader() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    cache = s.cache_read(x, "texture", [y])
    s[cache].compute_at(s[y], s[y].op.axis[0])  # wrong
    tvm.lower(s, [x, y])


@case("TL3005")
def attached_where_a_reader_does_not_run() -> None:
    x = te.placeholder((8,), name="X")
    p = te.compute((8,), lambda i: x[i] * 2, name="P")
    y = te.compute((8,), lambda i: p[i] + 1, name="Y")
    z = te.compute((8,), lambda i: p[i] - 1, name="Z")
    s = te.create_schedule([y.op, z.op])
    for t in (y, z):
        s[t].bind(s[t].op.axis[0], block())
    s[p].compute_at(s[y], s[y].op.axis[0])  # wrong
    tvm.lower(s, [x, y, z])


@case("TL3005")
def attached_to_an_inlined_stage() -> None:
    x = te.placeholder((8,), name="X")
    p = te.compute((8,), lambda i: x[i] * 2, name="P")
    q = te.compute((8,), lambda i: p[i] + 1, name="Q")
    y = te.compute((8,), lambda i: q[i] - 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[p].compute_at(s[q], s[q].op.axis[0])  # wrong
    s[q].compute_inline()
    tvm.lower(s, [x, y])


@case("TL3006")
def texture_of_float64() -> None:
    x, y, s = copy_of((8, 4), "float64")
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "texture", [y])  # wrong
    tvm.lower(s, [x, y])


@case("TL3006")
def texture_of_int64() -> None:
    x, y, s = copy_of((8, 4), "int64")
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "texture:weight", [y])  # wrong
    tvm.lower(s, [x, y])


@case("TL3006")
def texture_of_bool() -> None:
    x = te.placeholder((8, 4), "bool", name="X")
    y = te.compute((8, 4), lambda i, j: te.if_then_else(x[i, j], 1.0, 0.0), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "texture:nhwc", [y])  # wrong
    tvm.lower(s, [x, y])


@case("TL3006")
def array_of_float64_in_a_texture() -> None:
    tvm.nd.empty((8, 4), "float64", mem_scope="texture")  # wrong


@case("TL3007")
def lanes_of_a_texel_bound_to_threads() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    cache = s.cache_read(x, "texture", [y])
    s[cache].bind(s[cache].op.axis[1], thread())  # wrong
    tvm.lower(s, [x, y])


@case("TL3008")
def reduction_in_a_texture() -> None:
    x, r, _, s = sum_of_rows()
    s[r].bind(s[r].op.axis[0], block())
    s[r].set_scope("texture")  # wrong
    tvm.lower(s, [x, r])


@case("TL3009")
def local_stage_at_the_root() -> None:
    x, p, y, s = chain_of()
    s[p].bind(s[p].op.axis[0], block())
    s[p].set_scope("local")  # wrong
    tvm.lower(s, [x, y])


@case("TL3009")
def shared_cache_at_the_root() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "shared", [y])  # wrong
    tvm.lower(s, [x, y])


@case("TL3010")
def input_missing_among_the_arguments() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [y])  # wrong


@case("TL3010")
def argument_named_twice() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y, x])  # wrong


@case("TL3011")
def declaration_of_another_shape() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    declared = tvm.decl_buffer((4, 8), scope="texture")  # wrong
    tvm.lower(s, [x, y], binds={x: declared})


@case("TL3011")
def declaration_of_another_dtype() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    declared = tvm.decl_buffer((8, 4), "float16", scope="texture")  # wrong
    tvm.lower(s, [x, y], binds={x: declared})


@case("TL3011")
def argument_declared_in_shared_memory() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    declared = tvm.decl_buffer((8, 4), scope="shared")  # wrong
    tvm.lower(s, [x, y], binds={x: declared})


@case("TL3013")
def global_stage_attached_to_a_loop() -> None:
    x, p, y, s = chain_of()
    s[p].set_scope("global")
    s[p].compute_at(s[y], s[y].op.axis[0])  # wrong
    tvm.lower(s, [x, y])


@case("TL3014")
def stages_attached_to_one_another() -> None:
    x = te.placeholder((8,), name="X")
    p = te.compute((8,), lambda i: x[i] * 2, name="P")
    q = te.compute((8,), lambda i: p[i] + 1, name="Q")
    y = te.compute((8,), lambda i: q[i] - p[i], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[p].compute_at(s[q], s[q].op.axis[0])
    s[q].compute_at(s[p], s[p].op.axis[0])  # wrong
    tvm.lower(s, [x, y])


@case("TL3015")
def one_thread_tag_twice_in_one_stage() -> None:
    x, y, s = copy_of((8, 8))
    i, j = s[y].op.axis
    s[y].bind(i, thread())
    s[y].bind(j, thread())  # wrong
    tvm.lower(s, [x, y])


@case("TL3016")
def local_stage_shared_out_among_threads() -> None:
    x = te.placeholder((4, 8), name="X")
    p = te.compute((4, 8), lambda i, j: x[i, j] * 2, name="P")
    y = te.compute((4, 8), lambda i, j: p[i, 7 - j] + 1, name="Y")
    s = te.create_schedule(y.op)
    i, j = s[y].op.axis
    s[y].bind(i, block())
    s[y].bind(j, thread())
    s[p].compute_at(s[y], i)
    s[p].set_scope("local")
    s[p].bind(s[p].op.axis[1], thread())  # wrong
    tvm.lower(s, [x, y])


@case("TL3017")
def output_attached_to_a_loop() -> None:
    _, p, y, s = chain_of()
    s[y].compute_at(s[p], s[p].op.axis[0])  # wrong


@case("TL3017")
def output_inlined() -> None:
    _, y, s = copy_of((8, 4))
    s[y].compute_inline()  # wrong


@case("TL3019")
def expression_nested_too_deeply() -> None:
    x = te.placeholder((4,), name="X")
    value = x[0]
    for _ in range(100_000):
        value = te.sqrt(value)  # wrong
    te.compute((4,), lambda i: value, name="Y")


@case("TL3020")
def read_outside_the_shape() -> None:
    x = te.placeholder((8,), name="X")
    y = te.compute((8,), lambda i: x[i + 1], name="Y")  # wrong
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y])


@case("TL3020")
def read_below_zero() -> None:
    x = te.placeholder((8,), name="X")
    y = te.compute((8,), lambda i: x[i] - x[i - 1], name="Y")  # wrong
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y])


# -- Targets.


@case("TL4001")
def block_larger_than_the_target_allows() -> None:
    x, y, s = copy_of((8, 2048))
    s[y].bind(s[y].op.axis[0], block())
    s[y].bind(s[y].op.axis[1], thread())  # wrong
    tvm.lower(s, [x, y])


@case("TL4001")
def block_too_large_in_two_dimensions() -> None:
    x, y, s = copy_of((64, 64))
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.y"))  # wrong
    s[y].bind(s[y].op.axis[1], thread())
    tvm.lower(s, [x, y])


@case("TL4002")
def texture_that_no_fold_brings_under_the_limit() -> None:
    x, y, s = copy_of((100, 100, 4))
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "texture", [y])  # wrong
    tvm.lower(s, [x, y], target="opencl -texture_spatial_limit=64")


@case("TL4002")
def array_that_no_fold_brings_under_the_limit() -> None:
    limited = tvm.target.Target("opencl -texture_spatial_limit=16")
    tvm.nd.empty((100, 100, 4), mem_scope="texture", target=limited)  # wrong


@case("TL4003")
def unknown_target() -> None:
    tvm.target.Target("vulkan")  # wrong


@case("TL4003")
def unknown_target_of_a_build() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    tvm.build(s, [x, y], "cuda")  # wrong


@case("TL4003")
def unknown_target_attribute() -> None:
    tvm.target.Target("opencl -texture_limit=16")  # wrong


@case("TL4003")
def target_limit_of_zero() -> None:
    tvm.target.Target("opencl -max_num_threads=0")  # wrong


@case("TL4004")
def shared_memory_beyond_the_limit() -> None:
    x, y, s = copy_of((8, 64, 256))
    cache = s.cache_read(x, "shared", [y])  # wrong
    s[y].bind(s[y].op.axis[0], block())
    s[cache].compute_at(s[y], s[y].op.axis[0])
    tvm.lower(s, [x, y])


@case("TL4005")
def element_type_that_opencl_does_not_have() -> None:
    x = te.placeholder((8, 4), "bfloat16", name="X")  # wrong
    y = te.compute((8, 4), lambda i, j: x[i, j].astype("float32"), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.build(s, [x, y], "opencl")


@case("TL4006")
def too_many_textures_in_one_kernel() -> None:
    xs = [te.placeholder((8, 4), name=f"X{n}") for n in range(3)]
    y = te.compute((8, 4), lambda i, j: xs[0][i, j] + xs[1][i, j] + xs[2][i, j], name="Y")  # wrong
    s = te.create_schedule(y.op)
    for x in xs:
        cache = s.cache_read(x, "texture", [y])
        s[cache].bind(s[cache].op.axis[0], block())
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [*xs, y], target="opencl -max_image_reads=2")


@case("TL4007")
def tensor_beyond_32_bit_indices() -> None:
    x = te.placeholder((65536, 65536), name="X")  # wrong
    y = te.compute((8, 4), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y])


# -- Calls.


@case("TL5001")
def call_with_too_few_arguments() -> None:
    f = compiled()
    f(array())  # wrong


@case("TL5001")
def call_with_too_many_arguments() -> None:
    f = compiled()
    f(array(), array(), array())  # wrong


@case("TL5002")
def call_with_another_dtype() -> None:
    f = compiled()
    f(array(dtype="float64"), array())  # wrong


@case("TL5002")
def copy_from_another_dtype() -> None:
    a = array()
    a.copyfrom(np.ones((8, 4)))  # wrong


@case("TL5003")
def call_with_another_shape() -> None:
    f = compiled()
    f(array((8, 5)), array())  # wrong


@case("TL5003")
def call_with_another_rank() -> None:
    f = compiled()
    f(array(), array((8, 4, 1)))  # wrong


@case("TL5003")
def copy_from_another_shape() -> None:
    a = array()
    a.copyfrom(np.ones((4, 8), "float32"))  # wrong


@case("TL5003")
def texture_beyond_its_image() -> None:
    tvm.nd.empty((8, 4), mem_scope="texture", origin=(4, 4), image=(6, 6))  # wrong


@case("TL5004")
def call_with_a_texture_for_a_buffer() -> None:
    f = compiled()
    f(array(scope="texture"), array())  # wrong


@case("TL5004")
def call_with_a_buffer_for_a_texture() -> None:
    f = compiled("texture")
    f(array(), array())  # wrong


@case("TL5004")
def call_with_another_texture_layout() -> None:
    f = compiled("texture")
    f(array(scope="texture:weight"), array())  # wrong


@case("TL5004")
def call_with_an_origin_that_was_not_declared() -> None:
    f = compiled("texture")
    inside = tvm.nd.empty((8, 4), mem_scope="texture", origin=(1, 0))
    f(inside, array())  # wrong


@case("TL5011")
def one_array_for_input_and_output() -> None:
    f = compiled()
    x = array()
    f(x, x)  # wrong


@case("TL5005", POCL_DEVICES="pthread pthread")
def call_with_arrays_of_two_devices() -> None:
    f = compiled()
    x = tvm.nd.empty((8, 4), device=tvm.opencl(0))
    y = tvm.nd.empty((8, 4), device=tvm.opencl(1))
    f(x, y)  # wrong


@case("TL5006")
def device_number_that_does_not_exist() -> None:
    tvm.nd.empty((8, 4), device=tvm.opencl(99))  # wrong


@case("TL5006", OCL_ICD_VENDORS="<empty>")
def no_opencl_device_at_all() -> None:
    tvm.nd.empty((8, 4))  # wrong


@case("TL5006", OCL_ICD_VENDORS="<empty>")
def list_of_devices_without_a_device() -> None:
    tvm.devices()  # wrong


@case("TL5006", OCL_ICD_VENDORS="<empty>")
def sync_without_a_device() -> None:
    tvm.opencl(0).sync()  # wrong


@case("TL5008")
def call_with_a_numpy_array() -> None:
    f = compiled()
    f(np.ones((8, 4), "float32"), array())  # wrong


@case("TL5008")
def call_with_none() -> None:
    f = compiled()
    f(array(), None)  # wrong


@case("TL5007")
def array_larger_than_the_device_allows() -> None:
    tvm.nd.empty((2**31 - 1, 2**16), "float64")  # wrong


if __name__ == "__main__":
    (chosen,) = [c for c in CASES if c.name == sys.argv[1]]
    print(json.dumps(chosen._here()))
