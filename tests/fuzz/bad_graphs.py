"""Graphs whose nodes and tensors do not fit together."""

from __future__ import annotations

import numpy as np
from bad_input import case

from texloom import te
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
def tensor_of_a_symbolic_extent() -> None:
    g, _ = graph_of()
    g.input("y", (te.var("n"), 4))  # wrong


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
    g.output(g.node("y", plus_one, [x], one_block, BUFFERS, costs={"global": -1.0}))
    g.compile()  # wrong


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
def concatenation_along_a_missing_axis() -> None:
    g, x = graph_of()
    g.concat("y", [x, x], 1)  # wrong


@case("TL3040")
def concatenation_of_other_shapes() -> None:
    g, x = graph_of()
    g.concat("y", [x, g.input("z", (8, 4))], 0)  # wrong
