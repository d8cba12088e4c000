"""Functions called with too few, too many, or wrong arguments."""

from __future__ import annotations

import math

import numpy as np
from bad_input import array, case, chain_of, compiled, copy_of, sum_of_rows, sums_of_rows

import texloom as tvm
from texloom import te


@case("TL2043", says="'shape'")
def placeholder_without_a_shape() -> None:
    te.placeholder()  # wrong


@case("TL2043", says="'fcompute'")
def compute_without_a_function() -> None:
    te.compute((4,))  # wrong


@case("TL2043", says="2 were given")
def exp_of_two_values() -> None:
    te.exp(1.0, 2.0)  # wrong


@case("TL2043", says="x_factor, y_factor")
def tile_without_factors() -> None:
    _, y, s = copy_of((8, 8))
    s[y].tile(*y.op.axis)  # wrong


@case("TL2043", says="without readers")
def cache_read_without_readers() -> None:
    x, _, s = copy_of((8, 8))
    s.cache_read(x, "local")  # wrong


@case("TL2043", says="parameter factr")
def split_by_a_misspelled_factor() -> None:
    _, y, s = copy_of((8, 8))
    s[y].split(y.op.axis[0], factr=4)  # wrong


@case("TL2043", says="3 arguments")
def vectorize_of_several_axes() -> None:
    _, y, s = copy_of((8, 8))
    s[y].vectorize(*y.op.axis, 4)  # wrong


@case("TL2043", says="unexpected keyword argument 'names'")
def lower_with_a_misspelled_name() -> None:
    x, y, s = copy_of((8, 8))
    tvm.lower(s, [x, y], names="f")  # wrong


@case("TL2043", says="without begin")
def vload_of_no_element() -> None:
    buffer = tvm.decl_buffer((4,))
    buffer.vload()  # wrong


@case("TL2043", says="one value and no axis")
def max_of_one_value() -> None:
    te.max(1.0)  # wrong


@case("TL2043", says="several values and an axis")
def sum_of_two_values_over_an_axis() -> None:
    x, _, k, _ = sum_of_rows()
    te.sum(x[0, k], x[1, k], axis=k)  # wrong


@case("TL2043", says="no condition")
def all_of_no_conditions() -> None:
    te.all()  # wrong


@case("TL2043", says="the class Reduce is only for isinstance")
def reduce_node_made_by_its_class() -> None:
    tvm.tir.Reduce()  # wrong


@case("TL2040", says="neither a pair nor a Range")
def reduce_axis_by_its_extent() -> None:
    te.reduce_axis(10)  # wrong


@case("TL2040", says="neither a pair nor a Range")
def thread_axis_by_its_extent() -> None:
    te.thread_axis(32, "threadIdx.x")  # wrong


@case("TL2040", says="'X', not a list of extents")
def placeholder_with_the_name_first() -> None:
    te.placeholder("X", (4,))  # wrong


@case("TL2040", says="name is 5")
def placeholder_named_by_a_number() -> None:
    te.placeholder((4,), name=5)  # wrong


@case("TL2040", says="fcompute is a value of type list")
def compute_of_a_list() -> None:
    te.compute((4,), [1, 2, 3, 4])  # wrong


@case("TL2040", says="not a str")
def sum_with_a_string() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: x[i] + "1", name="Y")  # wrong


@case("TL2040", says="ops is 1.5")
def schedule_of_a_number() -> None:
    te.create_schedule(1.5)  # wrong


@case("TL2040", says="is not a constant")
def number_of_a_variable() -> None:
    int(te.var("n") + 1)  # wrong


@case("TL2040", says="expected a number, but X[k] is an expression")
def function_of_math() -> None:
    x, k = te.placeholder((4,), name="X"), te.reduce_axis((0, 4), name="k")
    math.exp(x[k])  # wrong


@case("TL2040", says="np.exp(x) takes numbers, not expressions")
def function_of_numpy() -> None:
    x, k = te.placeholder((4,), name="X"), te.reduce_axis((0, 4), name="k")
    np.exp(x[k])  # wrong


@case("TL2040", says="np.round(x) takes numbers, not expressions")
def rounding_by_numpy() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: np.round(x[i] * 2))  # wrong


@case("TL2040", says="np.clip(x, low, high) takes numbers, not expressions")
def limits_by_numpy() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: np.clip(x[i], 0, 1))  # wrong


@case("TL2040", says="np.where(c, x, y) takes numbers, not expressions")
def choice_by_numpy() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: np.where(x[i] > 0, x[i], 0))  # wrong


@case("TL2040", says="np.max(x) takes numbers, not expressions")
def maximum_by_numpy() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: np.max(x[i]))  # wrong


@case("TL2040", says="expected an expression, not a NumPy array")
def sum_with_an_array_of_numpy() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: x[i] + np.arange(3))  # wrong


@case("TL2040", says="factor is True, not a number")
def split_by_a_truth_value() -> None:
    _, y, s = copy_of((8,))
    s[y].split(s[y].op.axis[0], True)  # wrong


@case("TL2040", says="stages is True, not an integer")
def pipeline_of_a_truth_value() -> None:
    _, y, s = copy_of((8,))
    s[y].pipeline(True)  # wrong


@case("TL2040", says="(True, 3), not a list of extents")
def array_of_a_truth_value() -> None:
    tvm.nd.empty((True, 3))  # wrong


@case("TL2040", says="x ** y takes numbers, not expressions")
def power_by_an_operator() -> None:
    te.var("i") ** 2  # wrong


@case("TL2040", says="abs(x) takes numbers, not expressions")
def magnitude_by_abs() -> None:
    abs(te.var("i"))  # wrong


@case("TL2040", says="time_evaluator: dev is 'opencl:0', not a device")
def time_on_a_text() -> None:
    f = compiled()
    f.time_evaluator("f", "opencl:0")  # wrong


@case("TL2044", says="time_evaluator: number is 0, not a positive number of runs")
def time_of_no_runs() -> None:
    f = compiled()
    f.time_evaluator("f", tvm.opencl(0), number=0)  # wrong


@case("TL2044", says="time_evaluator: min_repeat_ms is -1, not a time in milliseconds")
def time_of_negative_length() -> None:
    f = compiled()
    f.time_evaluator("f", tvm.opencl(0), min_repeat_ms=-1)  # wrong


@case("TL2044", says="enqueue: times=0 is not positive")
def queue_of_no_runs() -> None:
    f = compiled()
    f.enqueue(0, array(), array())  # wrong


@case("TL2040", says="origin is (-1, 3), not two positions in texels")
def array_before_the_corner_of_its_image() -> None:
    tvm.nd.empty((4, 4), mem_scope="texture", origin=(-1, 3))  # wrong


@case("TL2040", says="image is (0, 4), not two extents in texels")
def array_in_an_image_without_texels() -> None:
    tvm.nd.empty((4, 4), mem_scope="texture", image=(0, 4))  # wrong


@case("TL1001", says="axis 1 of an array of shape (3, -2) has the extent -2")
def array_with_a_negative_extent() -> None:
    tvm.nd.empty((3, -2))  # wrong


@case("TL2040", says="'float32', not a list of extents")
def array_with_the_dtype_first() -> None:
    tvm.nd.empty("float32", (4, 4))  # wrong


@case("TL2040", says="neither a device")
def array_on_a_number() -> None:
    tvm.nd.array(np.ones(4, "float32"), 0)  # wrong


@case("TL2040", says="takes numbers")
def array_of_words() -> None:
    tvm.nd.array(["one", "two"])  # wrong


@case("TL2040", says="copyto copies to")
def copy_to_a_list() -> None:
    tvm.nd.empty((4,)).copyto([0, 0, 0, 0])  # wrong


@case("TL5004", says="cannot be in 'texture'")
def copy_to_an_array_in_another_scope() -> None:
    tvm.nd.empty((4,)).copyto(tvm.nd.empty((4,)), "texture")  # wrong


@case("TL1005", says="the values are bfloat16, which NumPy lacks", in_own_process=True)
def bfloat16_for_numpy() -> None:
    tvm.nd.empty((4,), "bfloat16").numpy()  # wrong


@case("TL5020", says="read-only")
def copy_to_memory_that_is_read_only() -> None:
    values = np.ones(4)
    values.flags.writeable = False
    tvm.nd.from_dlpack(values).copyfrom([1, 2, 3, 4])  # wrong


@case("TL2040", says="the device number")
def device_before_the_first() -> None:
    tvm.nd.array([1.0, 2.0], tvm.cpu(-1))  # wrong


@case("TL2040", says="the target is 3")
def target_that_is_a_number() -> None:
    tvm.target.Target(3)  # wrong


@case("TL5003", says="as a whole")
def assignment_to_one_element() -> None:
    tvm.nd.empty((4,))[0] = 1  # wrong


@case("TL5003", says="an array of shape (3,)")
def assignment_of_another_shape() -> None:
    tvm.nd.empty((4,))[:] = np.ones(3)  # wrong


@case("TL1005", says="'object'")
def dtype_that_is_a_class() -> None:
    te.placeholder((4,), object, name="X")  # wrong


@case("TL1005", says="is a vector")
def elements_that_are_vectors() -> None:
    te.placeholder((4,), "float32x4", name="X")  # wrong


@case("TL1005", says="is not a dtype")
def data_type_of_no_name() -> None:
    tvm.DataType("float33x")  # wrong


@case("TL1009", says="does not fit in 64 bits")
def constant_of_70_bits() -> None:
    te.var("n") + 2**70  # wrong


@case("TL1010")
def condition_by_a_chain_of_comparisons() -> None:
    i = te.var("i")
    te.if_then_else(0 <= i < 4, 1, 2)  # wrong


@case("TL1010")
def comparison_of_tensors_without_axes() -> None:
    a, b = te.placeholder((), name="A"), te.placeholder((), name="B")
    assert a == b  # wrong


@case("TL1011")
def tag_scope_inside_another() -> None:
    with te.tag_scope("outer"):
        te.tag_scope("inner").__enter__()  # wrong


@case("TL1011")
def tag_inside_a_tag_scope() -> None:
    with te.tag_scope("outer"):
        te.compute((4,), lambda i: i, tag="own")  # wrong


@case("TL5016", says="registered as")
def name_that_is_taken() -> None:
    tvm.register_func("texloom.test.taken", print, override=True)
    tvm.register_func("texloom.test.taken", print)  # wrong


@case("TL5016", says="no function is registered")
def function_that_nobody_registered() -> None:
    tvm.get_global_func("texloom.test.nobody")  # wrong


@case("TL5016", says="no device kind")
def device_of_no_kind() -> None:
    tvm.device("abacus")  # wrong


@case("TL5016", says="no key")
def setting_that_there_is_none_of() -> None:
    tvm.transform.PassContext(config={"tir.add_lower_pass": []})  # wrong


@case("TL5016", says="no function 'g'")
def function_that_a_program_lacks() -> None:
    x, _, y, s = chain_of()
    program = tvm.lower(s, [x, y], name="f")
    program["g"]  # wrong


@case("TL4003", says="no target is set")
def current_target_where_none_is() -> None:
    tvm.target.Target.current(allow_none=False)  # wrong


@case("TL4003", says="but no 'kind'")
def target_without_a_kind() -> None:
    tvm.target.Target({"device": "adreno"})  # wrong


@case("TL2042", says="topi")
def operators_of_tvm() -> None:
    from texloom import topi  # noqa: F401 # wrong


@case("TL2042", says="relay")
def graphs_of_tvm() -> None:
    tvm.relay.var("x")  # wrong


@case("TL2042", says="contrib.tedd")
def package_of_contrib() -> None:
    import texloom.contrib.tedd  # noqa: F401 # wrong


@case("TL2042", says="te.hybrid")
def function_of_python() -> None:
    te.hybrid.script(lambda a: a)  # wrong


@case("TL2042", says="stmt_functor")
def visitor_of_statements() -> None:
    tvm.tir.stmt_functor.post_order_visit(None, print)  # wrong


@case("TL2042", says="ScanFixPointAnalysis")
def fixed_points_of_a_scan() -> None:
    _, _, _, scan, _ = sums_of_rows()
    te.schedule.ScanFixPointAnalysis(scan.op)  # wrong
