"""Models of one node, for tests of the converters of ONNX operators."""

import numpy as np
import onnx
from onnx import helper

from texloom.onnx.model import Model


def run_node(op, inputs, version, outputs=1, known=(), domain="", **attributes):
    """Return the outputs of a model of one node.

    `inputs` are arrays, or None for an omitted input. The inputs at the positions in `known` are
    initializers; the others are given when the model runs.
    """
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    given = {names[i]: x for i, x in enumerate(inputs) if x is not None and i not in known}
    made = [f"y{i}" for i in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(op, names, made, domain=domain, **attributes)],
        "one",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for name, x in given.items()
        ],
        [onnx.ValueInfoProto(name=name) for name in made],
        [onnx.numpy_helper.from_array(inputs[i], names[i]) for i in known],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(domain, version)])
    results = Model(model).run(given)
    return results["y0"] if outputs == 1 else [results[name] for name in made]


def floats(*shape, dtype="float32", seed=0):
    """Normally distributed numbers."""
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(dtype)
