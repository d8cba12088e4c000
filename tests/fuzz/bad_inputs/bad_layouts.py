"""Layouts that do not fit their tensor."""

from __future__ import annotations

from bad_input import block, case, copy_of

import texloom as tvm
from texloom import te


@case("TL2017")
def layout_without_an_axis() -> None:
    x, y, s = copy_of((8, 4))
    s.cache_read(x, "texture", [y], layout="texture[(h, c) -> lanes=c]")  # wrong


@case("TL2017")
def layout_of_an_unknown_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].set_scope("texture", layout="texture[(h, c) -> rows=w, lanes=c]")  # wrong


@case("TL2017")
def layout_with_a_digit_twice() -> None:
    _, y, s = copy_of((8, 8))
    s.cache_write(y, "texture", layout="texture[(h, c) -> rows=h, cols=c, lanes=c%4]")  # wrong


@case("TL2017")
def layout_of_eight_lanes() -> None:
    tvm.nd.empty((8, 8), layout="texture[(h, c) -> rows=h, lanes=c]")  # wrong


@case("TL2017")
def layout_of_another_rank() -> None:
    tvm.decl_buffer((8, 4), layout="texture[(h, w, c) -> rows=h, cols=w, lanes=c]")  # wrong


@case("TL2017")
def layout_of_an_object_that_the_scope_is_not() -> None:
    x, y, s = copy_of((8, 4))
    s.cache_read(x, "shared", [y], layout="texture[(h, c) -> rows=h, lanes=c]")  # wrong


@case("TL2017")
def layout_of_an_object_that_no_kernel_accesses() -> None:
    tvm.decl_buffer((8, 4), layout="image2d_array[(h, c) -> rows=h, lanes=c]")  # wrong


@case("TL2017")
def stage_written_into_lanes_of_two_axes() -> None:
    x, y, s = copy_of((8, 4))
    layout = "texture[(h, c) -> rows=h/2, cols=c/2, lanes=(h%2, c%2)]"
    s.cache_read(x, "texture", [y], layout=layout)  # wrong
    tvm.lower(s, [x, y])


@case("TL2017")
def padding_that_nothing_writes() -> None:
    x, y, s = copy_of((7, 4))
    layout = "texture[(h, c) -> rows=h%4, cols=h/4, lanes=c, padding=zero]"
    s.cache_read(x, "texture", [y], layout=layout)  # wrong
    tvm.lower(s, [x, y])


@case("TL2040", says="set_scope of 'Y': layout is None, not a string")
def layout_of_nothing() -> None:
    _, y, s = copy_of((8, 4))
    s[y].set_scope("texture", layout=None)  # wrong


@case("TL2017")
def transform_layout_by_no_digits() -> None:
    _, y, s = copy_of((8, 4))
    s[y].transform_layout(lambda h, c: [h + c])  # wrong


@case("TL2017")
def transform_layout_that_loses_elements() -> None:
    _, y, s = copy_of((8, 4))
    s[y].transform_layout(lambda h, c: [h // 2, c])  # wrong


@case("TL2017")
def transform_layout_of_too_many_axes() -> None:
    _, y, s = copy_of((8, 4))
    s[y].transform_layout(lambda n, h, c: [n, h, c])  # wrong


@case("TL2017")
def transform_layout_of_scheduled_loops() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], 2)
    s[y].transform_layout(lambda h, c: [c, h])  # wrong


@case("TL2017")
def separator_in_a_buffer() -> None:
    x, y, s = copy_of((8, 4))
    s[y].transform_layout(lambda h, c: [h, te.AXIS_SEPARATOR, c])  # wrong
    tvm.lower(s, [x, y])


@case("TL2017")
def layout_and_transform_layout() -> None:
    x, y, s = copy_of((8, 4))
    s[y].set_scope("texture", layout="texture[(h, c) -> rows=h, lanes=c]")
    s[y].transform_layout(lambda h, c: [h, te.AXIS_SEPARATOR, c])  # wrong
    tvm.lower(s, [x, y])


@case("TL2017")
def transform_layout_of_a_part() -> None:
    x, y, s = copy_of((8, 4))
    cache = s.cache_read(x, "local", [y])
    s[cache].transform_layout(lambda h, c: [c, h])  # wrong
    s[y].bind(s[y].op.axis[0], block())
    s[cache].compute_at(s[y], s[y].op.axis[0])
    tvm.lower(s, [x, y])


@case("TL2040", says="transform_layout of 'Y': mapping_function is None, not a function")
def transform_layout_by_nothing() -> None:
    _, y, s = copy_of((8, 4))
    s[y].transform_layout(None)  # wrong


@case("TL2040", says="transform_layout: the function returns a value of type Expr, not a list")
def transform_layout_without_a_list() -> None:
    _, y, s = copy_of((8, 4))
    s[y].transform_layout(lambda h, c: h * 4 + c)  # wrong


@case("TL2017", says="transform_layout: the parts of axis c leave out c")
def transform_layout_that_leaves_out_an_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].transform_layout(lambda h, c: [h])  # wrong


@case("TL2017", says="transform_layout cannot lay out an axis by the index h + n")
def transform_layout_by_a_symbol() -> None:
    _, y, s = copy_of((8, 4))
    n = te.var("n")
    s[y].transform_layout(lambda h, c: [h + n, c])  # wrong


@case("TL2017", says="cannot lay out an axis by the index X[h, c]")
def transform_layout_by_an_element() -> None:
    x, y, s = copy_of((8, 4))
    s[y].transform_layout(lambda h, c: [x[h, c], c])  # wrong


@case("TL2017", says="transform_layout of 'Y' cuts across the axes of an earlier")
def transform_layout_across_an_earlier_one() -> None:
    _, y, s = copy_of((8, 6))
    s[y].transform_layout(lambda h, c: [h * 6 + c])
    s[y].transform_layout(lambda hc: [hc // 4, hc % 4])  # wrong


@case("TL2017", says="cannot apply transform_layout to 'X': its loops")
def transform_layout_after_a_binding() -> None:
    x = te.placeholder((8, 4), name="A")
    y = te.compute((8, 4), lambda i, j: x[i, j] + 1, name="X")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[y].transform_layout(lambda h, c: [c, h])  # wrong


@case("TL2017", says="whose declared storages differ")
def outputs_of_one_computation_in_two_storages() -> None:
    x = te.placeholder((8, 4), name="X")
    y, z = te.compute((8, 4), lambda i, j: (x[i, j] + 1, x[i, j] * 2), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    in_texture = tvm.decl_buffer((8, 4), scope="texture")  # wrong
    tvm.lower(s, [x, y, z], binds={y: tvm.decl_buffer((8, 4)), z: in_texture})
