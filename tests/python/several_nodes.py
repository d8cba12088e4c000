"""One model of several nodes with the same inputs: faster than a model for each node."""

import onnx
from onnx import helper

from texloom.onnx import Model


def run_each(nodes, arrays, version=23):
    """Return the output of each node; `nodes` are (operator, attributes), with the same inputs."""
    names = [f"x{i}" for i in range(len(arrays))]
    outputs = [f"y{i}" for i in range(len(nodes))]
    types = [helper.np_dtype_to_tensor_dtype(a.dtype) for a in arrays]
    graph = helper.make_graph(
        [helper.make_node(op, names, [y], **a) for (op, a), y in zip(nodes, outputs, strict=True)],
        "each",
        [
            helper.make_tensor_value_info(n, t, a.shape)
            for n, t, a in zip(names, types, arrays, strict=True)
        ],
        [onnx.ValueInfoProto(name=y) for y in outputs],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])
    return list(Model(model).run(dict(zip(names, arrays, strict=True))).values())
