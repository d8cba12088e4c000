"""TensorScatter, which updates the caches of language models, drawn at random."""

import numpy as np
import pytest
from nightly import most_at_night
from node_peers import model_of, onnxruntimes, ours, references
from node_source import Source


def drawn(source):
    """The inputs and attributes of a node."""
    shape = [source.up_to(4) for _ in range(source.of(2, 3, 4))]
    axis = int(source.generator.integers(1, len(shape)))
    shape[axis] += 2
    length = source.up_to(shape[axis])
    update = [*shape[:axis], length, *shape[axis + 1 :]]
    dtype = source.of("float32", "float16", "int64", "uint8")
    inputs = [source.generator.integers(0, 99, each).astype(dtype) for each in (shape, update)]
    mode = source.of("linear", "circular")
    last = 2 * shape[axis] if mode == "circular" else shape[axis] - length
    if source.chance():
        inputs.append(source.generator.integers(0, last + 1, shape[0]))
    attributes = {"mode": mode} if mode != "linear" or source.chance() else {}
    attributes |= {"axis": source.of(axis, axis - len(shape))} if axis != len(shape) - 2 else {}
    return inputs, attributes


@pytest.mark.parametrize("seed", most_at_night(range(33), first=2))
def test_tensor_scatter(seed):
    """The elements are those of the references, which may contradict each other."""
    inputs, attributes = drawn(Source(seed))
    model = model_of("TensorScatter", inputs, opset=24, **attributes)
    model.ir_version = 11
    (got,) = ours(model, inputs)
    expected = [run(model, inputs)[0] for run in (references, onnxruntimes)]
    assert all(each.dtype == got.dtype for each in expected)
    equal = [np.array_equal(got, each) for each in expected]
    assert all(equal) if np.array_equal(*expected) else any(equal), (attributes, equal)
