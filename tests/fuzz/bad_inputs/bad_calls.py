"""Wrong calls of compiled functions, wrong arrays and devices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from bad_input import array, block, case, compiled

import texloom as tvm
from texloom import profiles, te


@case("TL5001", says="takes 2 arguments but is called with 0")
def call_with_too_few_arguments() -> None:
    f = compiled()
    f()  # wrong


@case("TL5001")
def call_with_too_many_arguments() -> None:
    f = compiled()
    f(array(), array(), array())  # wrong


@case("TL5001", says="is called with the keyword argument 'X'")
def call_with_an_argument_by_its_name() -> None:
    f = compiled()
    f(X=array())  # wrong


@case("TL5002")
def call_with_another_dtype() -> None:
    f = compiled()
    f(array(dtype="float64"), array())  # wrong


def scaled(dtype: str) -> tvm._core.Function:
    """Build Y = X times a number."""
    x, factor = te.placeholder((8,), dtype, name="X"), te.var("factor", dtype)
    y = te.compute((8,), lambda i: x[i] * factor, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    return tvm.build(s, [factor, x, y], "opencl")


@case("TL5002")
def call_with_an_integer_for_a_float() -> None:
    f = scaled("float32")
    f(2, array((8,)), array((8,)))  # wrong


@case("TL5002")
def call_with_a_number_out_of_range() -> None:
    f = scaled("int8")
    f(200, array((8,), "int8"), array((8,), "int8"))  # wrong


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


@case("TL5013")
def checked_index_outside() -> None:
    table = te.placeholder((8,), name="table")
    places = te.placeholder((4,), "int32", name="places")
    picked = te.compute((4,), lambda i: table[places[i]], name="picked")  # wrong
    s = te.create_schedule(picked.op)
    s[picked].bind(picked.op.axis[0], te.thread_axis("blockIdx.x"))
    f = tvm.build(s, [table, places, picked], checked=True)
    indices = tvm.nd.array(np.array([0, 7, 8, 1], np.int32), tvm.opencl())
    f(tvm.nd.array(np.ones(8, np.float32), tvm.opencl()), indices, tvm.nd.empty((4,)))


@case("TL5014")
def call_with_an_image_larger_than_declared() -> None:
    x = te.placeholder((8, 4), name="X")
    y = te.compute((8, 4), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    declared = tvm.decl_buffer((8, 4), scope="texture", exact_image=True)
    f = tvm.build(s, [x, y], binds={x: declared})
    f(tvm.nd.empty((8, 4), mem_scope="texture", image=(9, 8)), array())  # wrong


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
    tvm.devices("opencl")  # wrong


@case("TL5006", OCL_ICD_VENDORS="<empty>")
def sync_without_a_device() -> None:
    tvm.opencl(0).sync()  # wrong


@case("TL5002", says="but the array has float64")
def call_with_a_numpy_array_of_another_dtype() -> None:
    f = compiled()
    f(np.ones((8, 4)))  # wrong


@case("TL5003", says="but the array has (4, 8)")
def call_with_a_numpy_array_of_another_shape() -> None:
    f = compiled()
    f(np.ones((4, 8), "float32"))  # wrong


@case("TL5003", says='no argument\'s shape determines "n"')
def output_of_unknown_shape_that_is_left_out() -> None:
    n = te.var("n")
    y = te.compute((n,), lambda i: i * 2, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    f = tvm.build(s, [y])
    f()  # wrong


@case("TL5020", says="the argument 'Y' is written, but the array is read-only")
def read_only_numpy_array_for_an_output() -> None:
    f = compiled()
    read_only = np.broadcast_to(np.float32(0), (8, 4))
    f(array(), read_only)  # wrong


@case("TL5011", says="elements of the array for 'Y', which is written, share memory")
def numpy_array_with_one_element_for_all_as_output() -> None:
    f = compiled()
    one = np.lib.stride_tricks.as_strided(np.zeros(1, "float32"), (8, 4), (0, 0))
    f(array(), one)  # wrong


@case("TL5011", says="the arguments 'T.v0' and 'T.v1' share memory, and both are written")
def one_numpy_array_for_two_outputs() -> None:
    x = te.placeholder((8,), name="X")
    y, z = te.compute((8,), lambda i: (x[i] + 1, x[i] + 2), name="T")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    f = tvm.build(s, [x, y, z])
    out = np.empty(8, "float32")
    f(np.ones(8, "float32"), out, out)  # wrong


@case("TL5008")
def call_with_a_list() -> None:
    f = compiled()
    f([1.0, 2.0], array())  # wrong


@case("TL5008")
def call_with_none() -> None:
    f = compiled()
    f(array(), None)  # wrong


@case("TL5009")
def array_larger_than_the_device_allows() -> None:
    tvm.nd.empty((2**31 - 1, 2**16), "float64")  # wrong


@case("TL5017", TEXLOOM_CACHE_DIR="/dev/null")
def cache_that_is_no_folder() -> None:
    f = compiled()
    f(array(), array())  # wrong


@case("TL5022", TEXLOOM_CACHE_DIR="<empty>")
def profile_of_another_device() -> None:
    phone = profiles.DeviceIdentity("Adreno 740", "QUALCOMM", "QUALCOMM Snapdragon", "1.0")
    measured = replace(profiles.stated("adreno-7xx"), origin="measured", device=phone)
    name = profiles.keep(measured)
    tvm.target.Target(f"opencl:0 -profile={name}")  # wrong


@case("TL5015", says="more than 1000000 launches")
def loops_outside_of_the_threads_that_are_too_long() -> None:
    x = te.placeholder((2000, 2000, 2), name="X")
    y = te.compute(x.shape, lambda i, j, k: x[i, j, k] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[2], te.thread_axis("threadIdx.x"))
    function = tvm.build(s, [x, y])
    arrays = [tvm.nd.empty(x.shape) for _ in range(2)]
    function(*arrays)  # wrong


@case("TL5018", says="cannot be read: it is not a file")
def module_that_is_a_device() -> None:
    tvm.runtime.load_module("/dev/null")  # wrong


@case("TL5012", says="a checked function cannot be saved")
def checked_function_in_a_file() -> None:
    x = te.placeholder((4,), "int32", name="X")
    y = te.compute((4,), lambda i: x[x[i]], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], block())
    f = tvm.build(s, [x, y], checked=True)
    f.export_library("f.tlp")  # wrong


@case("TL5004")
def origin_of_a_buffer() -> None:
    tvm.nd.empty((8, 4), origin=(1, 0))  # wrong
