"""Reductions factored and results stored in ways that lose values."""

from __future__ import annotations

from bad_input import block, case, copy_of, sum_of_rows, thread

import texloom as tvm
from texloom import te


@case("TL2030")
def rfactor_of_no_reduction() -> None:
    _, y, s = copy_of((8, 4))
    s.rfactor(y, s[y].op.axis[0])  # wrong


@case("TL2030")
def rfactor_along_a_data_axis() -> None:
    _, r, _, s = sum_of_rows()
    s.rfactor(r, s[r].op.axis[0])  # wrong


@case("TL2030")
def rfactor_to_a_place_that_is_none() -> None:
    _, r, k, s = sum_of_rows()
    s.rfactor(r, k, 2)  # wrong


@case("TL2030")
def rfactor_of_what_is_fused_with_a_data_axis() -> None:
    _, r, k, s = sum_of_rows()
    outer, inner = s[r].split(k, 2)
    s[r].fuse(s[r].op.axis[0], outer)
    s.rfactor(r, inner)  # wrong


@case("TL2005", says="rfactor on the stage of 'R': the axis 'q' is not an axis of this stage")
def rfactor_along_an_axis_of_another_reduction() -> None:
    _, r, _, s = sum_of_rows()
    s.rfactor(r, te.reduce_axis((0, 6), name="q"))  # wrong


@case("TL2005", says="the axis 'k' has already been split into 'k.outer' and 'k.inner'")
def rfactor_along_an_axis_that_is_split() -> None:
    _, r, k, s = sum_of_rows()
    s[r].split(k, factor=2)
    s.rfactor(r, k)  # wrong


@case("TL2005", says="'k' is not an axis of this stage")
def rfactor_twice_along_one_axis() -> None:
    _, r, k, s = sum_of_rows()
    s.rfactor(r, k)
    s.rfactor(r, k)  # wrong


@case("TL2030", says="rfactor of 'R' puts the new axis at -3")
def rfactor_to_a_place_before_the_first() -> None:
    _, r, k, s = sum_of_rows()
    s.rfactor(r, k, -3)  # wrong


@case("TL2015", says="cannot apply rfactor to 'X': it is a placeholder")
def rfactor_of_a_placeholder() -> None:
    x, _, k, s = sum_of_rows()
    s.rfactor(x, k)  # wrong


@case("TL2007", says="cannot apply rfactor to 'R': it is not part of this schedule")
def rfactor_of_a_tensor_of_another_schedule() -> None:
    _, _, s = copy_of((8, 4))
    _, r, k, _ = sum_of_rows()
    s.rfactor(r, k)  # wrong


@case("TL2030", says="cannot rfactor 'R': it is not a reduction")
def rfactor_of_what_cache_write_left() -> None:
    _, r, k, s = sum_of_rows()
    s.cache_write(r, "local")
    s.rfactor(r, k)  # wrong


@case("TL2040", says="rfactor: axis is 0, not an axis")
def rfactor_along_a_number() -> None:
    _, r, _, s = sum_of_rows()
    s.rfactor(r, 0)  # wrong


@case("TL2040", says="rfactor: factor_axis is 1.5, not an integer")
def rfactor_to_a_fraction() -> None:
    _, r, k, s = sum_of_rows()
    s.rfactor(r, k, 1.5)  # wrong


@case("TL2031")
def store_predicate_that_is_a_number() -> None:
    _, r, _, s = sum_of_rows()
    s[r].set_store_predicate(thread().var + 1)  # wrong


@case("TL2031")
def store_predicate_on_blocks() -> None:
    x, r, _, s = sum_of_rows()
    s[r].bind(s[r].op.axis[0], block())
    s[r].set_store_predicate(block().var < 1)  # wrong
    tvm.lower(s, [x, r])


@case("TL2031")
def store_predicate_that_leaves_elements_out() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], thread())
    s[y].set_store_predicate(thread().var < 4)  # wrong
    tvm.lower(s, [x, y])


@case("TL2031")
def store_predicate_that_holds_for_no_thread() -> None:
    x, r, k, s = sum_of_rows()
    s[r].bind(s[r].op.axis[0], block())
    s[r].bind(k, thread())
    s[r].set_store_predicate(thread().var > 5)  # wrong
    tvm.lower(s, [x, r])


@case("TL2031")
def store_predicate_on_other_threads() -> None:
    x, r, k, s = sum_of_rows()
    s[r].bind(s[r].op.axis[0], te.thread_axis("threadIdx.y"))
    s[r].bind(k, thread())
    s[r].set_store_predicate(te.thread_axis("threadIdx.y").var < 1)  # wrong
    tvm.lower(s, [x, r])


@case("TL2031")
def store_predicate_in_local_memory() -> None:
    x, r, _, s = sum_of_rows()
    cache = s.cache_write(r, "local")
    s[r].bind(s[r].op.axis[0], block())
    s[cache].compute_at(s[r], s[r].op.axis[0])
    s[cache].set_store_predicate(thread().var < 1)  # wrong
    tvm.lower(s, [x, r])


@case("TL2031", says="the store predicate of 'R' uses 'i', which is not a thread")
def store_predicate_on_a_data_axis() -> None:
    _, r, _, s = sum_of_rows()
    s[r].set_store_predicate(s[r].op.axis[0] < 1)  # wrong


@case("TL2031", says="the store predicate of 'R' reads 'X'")
def store_predicate_on_an_element() -> None:
    x, r, _, s = sum_of_rows()
    s[r].set_store_predicate(x[0, 0] < 1.0)  # wrong


@case("TL2040", says="set_store_predicate of 'R': predicate is None, not a condition")
def store_predicate_of_nothing() -> None:
    _, r, _, s = sum_of_rows()
    s[r].set_store_predicate(None)  # wrong


@case("TL2015", says="cannot apply set_store_predicate to 'X': it is a placeholder")
def store_predicate_of_a_placeholder() -> None:
    x, _, _, s = sum_of_rows()
    s[x].set_store_predicate(thread().var < 1)  # wrong
