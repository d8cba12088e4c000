"""Wrong declarations and calls of custom operators."""

from __future__ import annotations

from bad_input import array, case

import texloom as tvm


def copying() -> object:
    """Make an operator that copies x to y."""
    body = "tl_put(y, tl_global_id(0), tl_get(x, tl_global_id(0)));"
    arguments = {"x": "read buffer", "y": "write buffer"}
    return tvm.custom.source_operator("mine::copy", arguments, body, threads=["x.places"])


@case("TL5021", says='"copy" is not a name of an operator')
def operator_without_a_domain() -> None:
    arguments = {"x": "read_write buffer"}
    tvm.custom.source_operator("copy", arguments, "tl_put(x, 0, 1);", threads=[1])  # wrong


@case("TL5021", says="arguments.x.access: is 'reads'")
def operator_with_an_unknown_access() -> None:
    arguments = {"x": "reads buffer"}
    tvm.custom.source_operator("mine::op", arguments, "tl_put(x, 0, 1);", threads=[1])  # wrong


@case("TL5021", says='unknown name "x.length"')
def operator_with_an_unknown_size() -> None:
    arguments, body = {"x": "read_write buffer"}, "tl_put(x, 0, 1);"
    tvm.custom.source_operator("mine::op", arguments, body, threads=["x.length"])  # wrong


@case("TL5021", says='argument "x": a source kernel needs its storage')
def kernel_without_storage() -> None:
    arguments = {"x": "read_write"}
    tvm.custom.source_operator("mine::op", arguments, "tl_put(x, 0, 1);", threads=[1])  # wrong


@case("TL5021", says="cannot be called with the declared arguments and attributes")
def host_operator_with_another_signature() -> None:
    arguments = {"x": "read", "y": "write"}
    tvm.custom.host_operator("mine::copy", arguments)(lambda x: None)  # wrong


@case("TL5021", says="has the parameter 'y' where the declaration has the argument 'x'")
def host_operator_with_swapped_parameters() -> None:
    arguments = {"x": "read", "y": "write"}
    tvm.custom.host_operator("mine::copy", arguments)(lambda y, x: None)  # wrong


@case("TL5021", says='"x" is a buffer: it has no width')
def kernel_with_the_width_of_a_buffer() -> None:
    arguments, body = {"x": "read_write buffer"}, "tl_put(x, 0, 1);"
    tvm.custom.source_operator("mine::op", arguments, body, threads=["x.width"])  # wrong


@case("TL5021", says='tl_store(x): "x" is a buffer, but the word is for textures')
def kernel_that_stores_to_a_buffer() -> None:
    arguments, body = {"x": "read_write buffer"}, "tl_store(x, 0, 0, 1);"
    tvm.custom.source_operator("mine::op", arguments, body, threads=["x.d0"])  # wrong


@case("TL5021", says='"half" is a reserved word of kernel languages')
def kernel_with_a_type_as_name() -> None:
    arguments = {"half": "read_write buffer"}
    tvm.custom.source_operator("mine::op", arguments, "tl_put(half, 0, 1);", threads=[1])  # wrong


@case("TL5021", says='threads[0] = "x.d3": the shape of "x" has')
def kernel_over_an_axis_that_is_absent() -> None:
    arguments, body, x = {"x": "read_write buffer"}, "tl_put(x, 0, 1);", array()
    op = tvm.custom.source_operator("mine::op", arguments, body, threads=["x.d3"])
    op(x)  # wrong


@case("TL5019", says="null: file: is not JSON")
def declaration_that_is_empty() -> None:
    tvm.custom.load_operator("/dev/null")  # wrong


@case("TL5001", says='operator "mine::copy" takes 2 arrays but is called with 1')
def operator_with_too_few_arrays() -> None:
    op = copying()
    op(array())  # wrong


@case("TL5011", says="the arguments 'x' and 'y' overlap in memory")
def operator_that_writes_its_input() -> None:
    op, x = copying(), array()
    op(x, x)  # wrong


@case("TL5021", says='has no attribute "n"')
def operator_with_an_unknown_attribute() -> None:
    op, x, y = copying(), array(), array()
    op(x, y, n=1)  # wrong
