"""Graphs whose nodes and tensors do not fit together."""

from __future__ import annotations

import numpy as np
from bad_input import case

import texloom as tvm
from texloom import custom, te
from texloom.graph import Graph, GraphTensor

BUFFERS = {"global": ("global", "global")}


def plus_one(x: te.Tensor) -> te.Tensor:
    return te.compute(x.shape, lambda *i: x[i] + 1.0)


def one_block(outputs: list[te.Tensor], *_: object) -> te.Schedule:
    s = te.create_schedule(outputs[0].op)
    s[outputs[0]].bind(s[outputs[0]].op.axis[0], te.thread_axis("blockIdx.x"))
    return s


def graph_of(extent: int = 8) -> tuple[Graph, GraphTensor]:
    g = Graph("net")
    return g, g.input("x", (extent,))


@case("TL3040")
def graph_without_an_output() -> None:
    g, _ = graph_of()
    g.compile()  # wrong


@case("TL3040")
def two_tensors_of_a_name() -> None:
    g, _ = graph_of()
    g.constant("x", np.zeros(8))  # wrong


@case("TL3040")
def extent_that_is_no_text_of_one() -> None:
    g, _ = graph_of()
    g.input("y", ("2 n", 4))  # wrong


@case("TL3040")
def tensor_of_another_graph() -> None:
    g, _ = graph_of()
    _, other = graph_of()
    g.node("y", plus_one, [other], one_block, BUFFERS)  # wrong


@case("TL3040")
def node_with_too_few_scopes() -> None:
    g, x = graph_of()
    g.node("y", plus_one, [x], one_block, {"global": ("global",)})  # wrong


@case("TL3040")
def node_without_scopes() -> None:
    g, x = graph_of()
    g.node("y", plus_one, [x], one_block, {})  # wrong


@case("TL3040")
def cost_of_no_scopes() -> None:
    g, x = graph_of()
    g.node("y", plus_one, [x], one_block, BUFFERS, costs={"texture": 1.0})  # wrong


@case("TL3040")
def node_with_a_negative_cost() -> None:
    g, x = graph_of()
    g.output(g.node("y", plus_one, [x], one_block, BUFFERS, costs={"global": -1.0}))  # wrong
    g.compile()


@case("TL3040")
def input_as_an_output() -> None:
    g, x = graph_of()
    g.output(x)  # wrong


@case("TL3040")
def output_named_twice() -> None:
    g, x = graph_of()
    y = g.node("y", plus_one, [x], one_block, BUFFERS)
    g.output(y)
    g.output(y)  # wrong


@case("TL3040")
def concatenation_of_nothing() -> None:
    g, _ = graph_of()
    g.concat("y", [], 0)  # wrong


@case("TL3040")
def concatenation_of_a_taken_name() -> None:
    g, x = graph_of()

    def two(x: te.Tensor) -> list[te.Tensor]:
        return list(te.compute(x.shape, lambda i: (x[i] + 1.0, x[i] - 1.0), name="two"))

    g.node("y", two, [x], one_block, {"global": ("global",) * 3})  # the node makes y.0 and y.1
    g.concat("y", [x, x], 0)  # wrong


@case("TL3040")
def concatenation_along_a_missing_axis() -> None:
    g, x = graph_of()
    g.concat("y", [x, x], 1)  # wrong


@case("TL2040", says="the attribute 'edge' is")
def attribute_that_is_a_list() -> None:
    @custom.host_operator("mine::soft", {"x": "read", "y": "write"}, attributes={"edge": "float"})
    def soft(x: object, y: object, edge: float) -> None:
        """Do nothing."""

    g, x = graph_of()
    g.custom("y", soft, [x], attributes={"edge": [1.0]})  # wrong


@case("TL2040", says="the attribute 'k' is 1180591620717411303424")
def attribute_that_is_too_large() -> None:
    g, x = graph_of()
    g.op("y", "copy", lambda x: te.compute(x.shape, lambda i: x[i]), [x], {"k": 2**70})  # wrong


@case("TL2040", says="the name of the node's operation is None")
def operator_without_an_operation() -> None:
    g, x = graph_of()
    g.op("y", None, lambda x: te.compute(x.shape, lambda i: x[i]), [x])  # type: ignore  # wrong


@case("TL3040")
def concatenation_of_other_shapes() -> None:
    g, x = graph_of()
    g.concat("y", [x, g.input("z", (8, 4))], 0)  # wrong


@case("TL3040", says="the inputs of 'y' are a GraphTensor, not a list")
def tensor_in_place_of_a_list() -> None:
    g, x = graph_of()
    g.node("y", plus_one, x, one_block, BUFFERS)  # wrong


@case("TL3040", says="the shape of the tensor 'y' is 4, not a list")
def number_as_a_shape() -> None:
    g, _ = graph_of()
    g.input("y", 4)  # wrong


@case("TL2040", says="the name of the graph is ''")
def graph_without_a_name() -> None:
    Graph("")  # wrong


@case("TL3042", says="computes the node 'y' cannot be called as f(x0, x1)")
def compute_function_of_too_few_inputs() -> None:
    g, x = graph_of()
    g.node("y", plus_one, [x, x], one_block, BUFFERS)  # wrong


@case("TL3042", says="computes the node 'y' returns None in place of a tensor")
def compute_function_without_a_result() -> None:
    g, x = graph_of()
    g.node("y", lambda _: None, [x], one_block, BUFFERS)  # wrong


@case("TL3042", says="returns the placeholder 'p', which is none of its inputs")
def compute_function_that_returns_a_placeholder() -> None:
    g, x = graph_of()
    g.op("y", "relu", lambda _: te.placeholder((8,), name="p"), [x])  # wrong


@case("TL3040", says="is along axis 0.5, but its inputs have rank")
def concatenation_along_a_fraction() -> None:
    g, x = graph_of()
    g.concat("y", [x, x], 0.5)  # wrong


@case("TL3040", says="the node 'y' has the cost 'low' for 'global'")
def cost_that_is_a_word() -> None:
    g, x = graph_of()
    g.node("y", plus_one, [x], one_block, BUFFERS, costs={"global": "low"})  # wrong


@case("TL2040", says="run: inputs is None, not a mapping")
def run_without_inputs() -> None:
    g, x = graph_of()
    g.output(g.node("y", plus_one, [x], one_block, BUFFERS))
    g.compile().run(None)  # wrong


@case("TL2040", says="save: path is 3, not the name of a file")
def package_in_a_number() -> None:
    g, x = graph_of()
    g.output(g.node("y", plus_one, [x], one_block, BUFFERS))
    g.compile().save(3)  # wrong


@case("TL3042", says="computes the node 'y' returns its input")
def compute_function_that_returns_its_input() -> None:
    g, x = graph_of()
    g.op("y", "identity", lambda x: x, [x])  # wrong


@case("TL3042", says="computes the node 'y' raised AttributeError")
def compute_function_that_raises() -> None:
    g, x = graph_of()
    g.node("y", lambda x: x.shapes, [x], one_block, BUFFERS)  # wrong


@case("TL3042", says="'y' cannot be called as f(outputs, inputs, scopes, target)")
def schedule_function_of_two_parameters() -> None:
    g, x = graph_of()
    g.node("y", plus_one, [x], lambda outputs, inputs: None, BUFFERS)  # wrong


@case("TL3042", says="the schedule function of the node 'y' is an int, not a function")
def number_as_a_schedule_function() -> None:
    g, x = graph_of()
    g.node("y", plus_one, [x], 4, BUFFERS)  # wrong


@case("TL3042", says="the node 'y' for the scopes ('global', 'global') returns None")
def schedule_function_without_a_result() -> None:
    g, x = graph_of()
    g.output(g.node("y", plus_one, [x], lambda *_: None, BUFFERS))
    g.compile()  # wrong


@case("TL3042", says="the node 'y' for the scopes ('global', 'global') raised IndexError")
def schedule_function_that_raises() -> None:
    g, x = graph_of()
    g.output(g.node("y", plus_one, [x], lambda outputs, *_: outputs[1], BUFFERS))
    g.compile()  # wrong


@case("TL2004", says="factor = 0")
def schedule_function_with_a_wrong_directive() -> None:
    def schedule(outputs: list[te.Tensor], *_: object) -> te.Schedule:
        s = te.create_schedule(outputs[0].op)
        s[outputs[0]].split(outputs[0].op.axis[0], factor=0)  # wrong
        return s

    g, x = graph_of()
    g.output(g.node("y", plus_one, [x], schedule, BUFFERS))
    g.compile()


def operator(arguments: dict[str, str]) -> custom.Operator:
    return custom.host_operator("test::op", arguments)(lambda *_: None)


@case("TL3040", says="'test::op', whose argument 'x' is read and written")
def call_of_an_operator_in_place() -> None:
    g, x = graph_of()
    g.custom("y", operator({"x": "read_write"}), [x])  # wrong


@case("TL3040", says="which declares an argument to read after one to write")
def call_of_an_operator_that_writes_first() -> None:
    g, x = graph_of()
    g.custom("y", operator({"y": "write", "x": "read"}), [x])  # wrong


@case("TL3040", says="has 2 inputs, but 'test::op' reads x")
def call_with_too_many_inputs() -> None:
    g, x = graph_of()
    g.custom("y", operator({"x": "read", "y": "write"}), [x, x])  # wrong


@case("TL3040", says="calls 'test::op' of version 1, but another operator")
def operators_of_one_name() -> None:
    arguments = {"x": "read", "y": "write"}
    g, x = graph_of()
    y = g.custom("y", operator(arguments), [x])
    g.custom("z", operator(arguments), [y])  # wrong


@case("TL3040", says="have 'global' for 'x', which 'test::op' declares as a texture")
def scopes_that_an_operator_does_not_accept() -> None:
    g, x = graph_of()
    op = operator({"x": "read texture", "y": "write"})
    g.custom("y", op, [x], BUFFERS)  # wrong


@case("TL5021", says="the returned value is an int, not a list")
def function_for_shapes_that_returns_a_number() -> None:
    arguments = {"x": "read", "y": "write"}
    op = custom.host_operator("test::op", arguments, shapes=lambda _: 4)(lambda *_: None)
    g, x = graph_of()
    g.custom("y", op, [x])  # wrong


@case("TL5018", says="cannot be written")
def package_in_a_missing_folder() -> None:
    g, x = graph_of()
    g.output(g.node("y", plus_one, [x], one_block, BUFFERS))
    g.compile().save("/none/y.tlp")  # wrong


@case("TL2044", says="max_live_bytes is 0")
def limit_of_no_memory() -> None:
    g, x = graph_of()
    g.output(g.op("y", "PlusOne", plus_one, [x])[0])
    g.compile(max_live_bytes=0)  # wrong


@case("TL2044", says="scopes='gpu' is not a choice of storages")
def storages_that_do_not_exist() -> None:
    g, x = graph_of()
    g.output(g.op("y", "PlusOne", plus_one, [x])[0])
    g.compile(scopes="gpu")  # wrong


@case("TL7001", says="measure= needs costs=, the file")
def measurement_without_a_file() -> None:
    g, x = graph_of()
    g.output(g.op("y", "PlusOne", plus_one, [x])[0])
    g.compile(measure=tvm.opencl(0))  # wrong


@case("TL3043", says="/dev/null is not an ONNX model")
def model_that_is_empty() -> None:
    tvm.compile("/dev/null")  # wrong


@case("TL5018", says="No such file or directory")
def model_that_does_not_exist() -> None:
    tvm.compile("/none/x.onnx")  # wrong


@case("TL5016", says="there is no pass 'fuze' over graphs")
def pass_that_does_not_exist() -> None:
    g, x = graph_of()
    g.output(g.op("y", "PlusOne", plus_one, [x])[0])
    g.compile(passes=["fuze"])  # wrong


@case("TL2040", says="passes='fuse' is not a list of passes")
def pass_that_is_no_list() -> None:
    g, x = graph_of()
    g.output(g.op("y", "PlusOne", plus_one, [x])[0])
    g.compile(passes="fuse")  # wrong


@case("TL3042", says="raised ZeroDivisionError")
def operator_that_raises() -> None:
    g, x = graph_of()
    g.op("y", "Half", lambda x: te.compute(x.shape, lambda i: x[i] * (1 / 0)), [x])  # wrong
