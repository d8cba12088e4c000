"""Models of one node, run by Texloom, by onnxruntime and by ONNX's reference implementation."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.reference
import onnxruntime

from texloom.onnx.model import Model


def model_of(
    op, inputs, outputs=1, *, opset=20, domain="", domain_version=1, unused=(), **attributes
):
    """A model of one node; None among the inputs is an optional input that is left out.

    A list is a sequence. The outputs at the positions in `unused` have no names.
    """
    names = [f"x{i}" if each is not None else "" for i, each in enumerate(inputs)]
    made = ["" if i in unused else f"y{i}" for i in range(outputs)]
    node = onnx.helper.make_node(op, names, made, domain=domain, **attributes)
    given = [_declared(name, each) for name, each in zip(names, inputs, strict=True) if name]
    graph = onnx.helper.make_graph(
        [node], "node", given, [onnx.ValueInfoProto(name=n) for n in made if n]
    )
    versions = [onnx.helper.make_opsetid("", opset)]
    if domain:
        versions.append(onnx.helper.make_opsetid(domain, domain_version))
    return onnx.helper.make_model(graph, opset_imports=versions, ir_version=9)


def _declared(name, value):
    """The declaration of an input; one of a sequence leaves the shapes of its elements open."""
    helper = onnx.helper
    if not isinstance(value, list):
        dtype = helper.np_dtype_to_tensor_dtype(value.dtype)
        return helper.make_tensor_value_info(name, dtype, value.shape)
    dtype = helper.np_dtype_to_tensor_dtype(value[0].dtype)
    return helper.make_tensor_sequence_value_info(name, dtype, None)


def with_constants(model, inputs, constants):
    """Make the inputs at these positions initializers; return the other inputs."""
    for i in constants:
        name = f"x{i}"
        (value,) = [each for each in model.graph.input if each.name == name]
        model.graph.input.remove(value)
        model.graph.initializer.append(onnx.numpy_helper.from_array(inputs[i], name))
    return [None if i in constants else each for i, each in enumerate(inputs)]


def ours(model, inputs):
    return list(Model(model).run(named(inputs)).values())


def onnxruntimes(model, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # a failure is an exception
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, named(inputs))


def references(model, inputs):
    return onnx.reference.ReferenceEvaluator(model).run(None, named(inputs))


def named(inputs):
    return {f"x{i}": each for i, each in enumerate(inputs) if each is not None}


def random(seed, *shape, dtype="float32"):
    """Numbers from -1 to 1, or small integers."""
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return generator.uniform(-1, 1, shape).astype(dtype)
    low = 0 if np.dtype(dtype).kind == "u" else -9
    return generator.integers(low, 9, shape).astype(dtype)
