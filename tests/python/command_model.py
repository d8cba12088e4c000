"""A model of open extents for the commands, and calls of commands in this process."""

import numpy as np
import onnx
from onnx import TensorProto, helper

import texloom
from texloom.__main__ import main

SCALE = np.array([2, 3, 4], "float32").reshape(3, 1, 1)


SHAPE = ("--shape", "x=1x3x2x4")


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model_of(nodes, inputs, outputs, initializers=(), **imports):
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, list(initializers))
    domains = [helper.make_opsetid(domain, v) for domain, v in {"": 17, **imports}.items()]
    return helper.make_model(graph, opset_imports=domains, ir_version=9)


def scaled(shape=("N", 3, "H", "W")):
    """A model that computes ``x * SCALE + x``; its output's name is not a file name."""
    nodes = [
        helper.make_node("Mul", ["x", "w"], ["t"], name="scale"),
        helper.make_node("Add", ["t", "x"], ["out/y:0"], name="sum"),
    ]
    weights = onnx.numpy_helper.from_array(SCALE, "w")
    return model_of(nodes, [value("x", shape)], [value("out/y:0", shape)], [weights])


def expected(x):
    return x * SCALE + x  # exact for small integers and halves


def pixels(height, width):
    return np.random.default_rng(1).integers(0, 256, (height, width, 3), "uint8")


def run_command(arguments):
    """Run a command without notices of long waits, which depend on how fast the machine is."""
    texloom.runtime.show_notices(False)
    try:
        return main([str(each) for each in arguments])
    finally:
        texloom.runtime.show_notices(True)


def succeeds(capsys, *arguments):
    code = run_command(arguments)
    told = capsys.readouterr()
    assert code == 0, told.err
    return told.out


def fails(capsys, *arguments, code=1):
    """Run a command that must fail; return its one message, which must be on stderr alone."""
    got = run_command(arguments)
    told = capsys.readouterr()
    assert got == code
    assert "Traceback" not in told.err
    assert told.err.startswith(f"texloom {arguments[0]}: ")
    return told.err
