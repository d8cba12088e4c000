"""Wrong declarations and calls of custom operators."""

from __future__ import annotations

from bad_input import array, case

from texloom import custom

BODY = "tl_put(y, tl_global_id(0), tl_get(x, tl_global_id(0)));"
BUFFERS = {"x": "read buffer", "y": "write buffer"}


def copy() -> custom.Operator:
    return custom.source_operator("mine::copy", BUFFERS, BODY, threads=["x.places"])


@case("TL2040", says='"copy" is no name of an operator')
def operator_without_a_domain() -> None:
    custom.source_operator("copy", BUFFERS, BODY, threads=["x.places"])  # wrong


@case("TL2040", says="arguments.x.access: is 'reads'")
def operator_with_an_unknown_access() -> None:
    custom.source_operator("mine::copy", {"x": "reads"}, BODY, threads=["x.places"])  # wrong


@case("TL2040", says='unknown name "x.length"')
def operator_with_an_unknown_size() -> None:
    custom.source_operator("mine::copy", BUFFERS, BODY, threads=["x.length"])  # wrong


@case("TL2040", says='argument "x": a source kernel needs its storage')
def kernel_without_storage() -> None:
    custom.source_operator("mine::copy", {"x": "read"}, BODY, threads=[1])  # wrong


@case("TL2040", says="cannot be called with the arguments and attributes")
def host_operator_with_another_signature() -> None:
    custom.host_operator("mine::copy", BUFFERS)(lambda x: None)  # wrong


@case("TL2040", says="none.json: file: cannot be read")
def operator_of_a_file_that_is_absent() -> None:
    custom.load_operator("none.json")  # wrong


@case("TL5001", says='operator "mine::copy" takes 2 arrays but is called with 1')
def operator_with_too_few_arrays() -> None:
    copy()(array())  # wrong


@case("TL5011", says="the arguments 'x' and 'y' overlap in memory")
def operator_that_writes_its_input() -> None:
    op, x = copy(), array()
    op(x, x)  # wrong


@case("TL2040", says='has no attribute "n"')
def operator_with_an_unknown_attribute() -> None:
    op, x, y = copy(), array(), array()
    op(x, y, n=1)  # wrong
