"""Foreign functions without a C definition, and arguments that they cannot take."""

from __future__ import annotations

from bad_input import case, text_case, thread

import texloom as tvm
from texloom import te

TEXT = "int f(__global float* x) { return 0; }"


def f(*arguments: tvm.tir.Expr | int) -> tvm.tir.Expr:
    return tvm.tir.call_extern("int32", "f", *arguments)


@case("TL2042", says="kernels may not call 'f'")
def foreign_function_without_c_text() -> None:
    y = te.compute((4,), lambda i: tvm.tir.call_extern("int32", "f", i), name="Y")  # wrong
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], thread())
    tvm.lower(s, [y])


@case("TL3034", says="cannot take an argument of this type")
def half_value_for_a_foreign_function() -> None:
    tvm.tir.call_extern("int32", "f", te.const(1, "float16"))  # wrong


@case("TL3034", says="cannot take a pointer to this element type")
def pointer_to_bools() -> None:
    tvm.tir.decl_buffer((4,), "bool").access_ptr("r")  # wrong


@case("TL3034", says="the access 'x'")
def access_that_is_none() -> None:
    tvm.tir.decl_buffer((4,)).access_ptr("x")  # wrong


@case("TL3034", says="4 lanes")
def pointer_to_vectors() -> None:
    tvm.tir.decl_buffer((4,)).access_ptr("r", content_lanes=4)  # wrong


@case("TL3034", says="not a C identifier")
def foreign_function_of_no_name_of_c() -> None:
    tvm.tir.call_extern("int32", "f g")  # wrong


@case("TL2042", says=".data")
def pointer_that_does_not_say_for_what() -> None:
    _ = tvm.tir.decl_buffer((4,)).data  # wrong


@case("TL1007")
def pointer_in_a_compute() -> None:
    x = tvm.tir.decl_buffer((4,))
    te.compute((4,), lambda i: f(x.access_ptr("r")))  # wrong


@case("TL1020", says="which is an input")
def foreign_function_that_writes_an_input() -> None:
    x = te.placeholder((8,), name="X")
    te.extern((8,), [x], lambda ins, outs: f(ins[0].access_ptr("rw")))  # wrong


@case("TL3034", says="which is a texture")
def pointer_into_a_texture() -> None:
    x = te.placeholder((4, 4), name="X")
    copy = te.compute((4, 4), lambda i, j: x[i, j], name="copy")

    def body(ins: list, outs: list) -> tvm.tir.Stmt:
        ib = tvm.tir.ir_builder.create()
        ib.scope_attr(thread(), "thread_extent", 1)
        ib.emit(
            f(outs[0].access_ptr("w"), ins[0].access_ptr("r"))  # wrong
        )
        return ib.get()

    y = te.extern((4, 4), [copy], body, name="Y")
    s = te.create_schedule(y.op)
    s[copy].set_scope("texture")
    s[copy].bind(copy.op.axis[0], te.thread_axis("blockIdx.x"))
    s[copy].pragma(copy.op.axis[0], "import_c", TEXT)
    tvm.lower(s, [x, y])


@text_case("TL6002")
def pointer_outside_of_a_call() -> str:
    return """program main stage=loops
  param A: global float32[8]
  A[0] = access_ptr(read, A[0], extents=(8))  // wrong
"""


@text_case("TL6001")
def pointer_of_no_access() -> str:
    return """program main stage=loops
  param A: global float32[8]
  evaluate call_extern(f, access_ptr(peek, A[0], extents=(8)): int32)  // wrong
"""
