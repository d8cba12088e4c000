"""DynamicQuantizeLSTM, compared with onnxruntime, which quantizes the state of each step, too."""

import numpy as np
import pytest
from microsoft_peers import MICROSOFT, Drawn, check
from node_peers import model_of

from texloom.errors import TVMError
from texloom.onnx.model import Model

BATCH, INPUT, HIDDEN = 2, 5, 4


def steps_of(generator, *shape):
    """Numbers that are quantized without rounding: multiples of 1 / 255 from 0 to 1."""
    made = generator.integers(0, 256, shape)
    made.reshape(-1, shape[-1])[:, :2] = 0, 255
    return (made / 255).astype("float32")


def drawn(seed, time, directions, dtype, per_column, bound, **attributes):
    """A layer whose weights are at most 135 / 512; onnxruntime needs these zero points."""
    generator = np.random.default_rng(seed)
    limits = np.iinfo(dtype)
    zero = (limits.max + limits.min + 1) // 2 + (0 if per_column and dtype == "int8" else 7)
    columns = 4 * HIDDEN
    inputs = [steps_of(generator, time, BATCH, INPUT), None, None]
    inputs += [generator.uniform(-1, 1, (directions, 2 * columns)).astype("float32"), None]
    inputs += [steps_of(generator, directions, BATCH, HIDDEN) for _ in range(2)]
    inputs += [generator.uniform(-1, 1, (directions, 3 * HIDDEN)).astype("float32")]
    for i, rows in ((1, INPUT), (2, HIDDEN)):
        shape = (directions, rows, columns)
        # Sums of two products stay below 2^15, where onnxruntime saturates without VNNI.
        low, high = (-64, 64) if dtype == "int8" else (0, limits.max + 1)
        inputs[i] = generator.integers(low, high, shape).astype(dtype)
        own = (directions, columns) if per_column else (directions,)
        inputs.append(generator.uniform(0.5, 1, own).astype("float32") / (4 * 128))
        inputs.append(np.full(own, zero).astype(dtype))
    attributes = {"hidden_size": HIDDEN, **attributes}
    return Drawn(inputs, [bound] * 3, attributes)


CONSTANTS = (1, 2, 8, 9, 10, 11)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_one_step_of_numbers_that_quantization_keeps(dtype, per_column, direction):
    """The sums have up to 12 terms of magnitude 1, whose rounding errors no gate enlarges."""
    directions = 2 if direction == "bidirectional" else 1
    layer = drawn(7, 1, directions, dtype, per_column, 32 * 2.0**-24, direction=direction)
    check("DynamicQuantizeLSTM", layer, CONSTANTS)


def distance(recurrence, steps):
    """How far quantized states may lead from the numbers: each is off by a step of 2 / 255.

    That is half a step, and another half at the ends of the range, from the rounded zero point. An
    error of a gate's sum is an error of a quarter of it after a sigmoid, and of all of it at most
    after a tanh. The cell is below steps + 1.
    """
    columns = np.abs(recurrence).sum(axis=1).max()
    of_h = of_c = 0
    for step in range(1, steps + 1):
        of_sum = columns * (2 / 255 + of_h)
        of_c += (step + 1) / 4 * of_sum + of_sum / 4 + of_sum
        of_h = of_sum / 4 + of_c
    return max(of_h, of_c)


@pytest.mark.parametrize("direction", ["reverse", "bidirectional"])
def test_states_stay_close_to_quantized_ones(direction):
    steps, directions = 3, 2 if direction == "bidirectional" else 1
    layer = drawn(3, steps, directions, "int8", True, 0, direction=direction)
    layer.inputs[4], layer.inputs[7] = np.array([3, 2], "int32"), None
    layer.inputs[10] /= 4
    recurrence = layer.inputs[2] - layer.inputs[11][:, None].astype("float32")
    bound = distance(recurrence * layer.inputs[10][:, None], steps)
    assert bound < 0.02  # states are up to 1
    layer.bounds = [bound / 2] * 3  # `check` doubles it
    check("DynamicQuantizeLSTM", layer, CONSTANTS)


@pytest.mark.parametrize(
    ("place", "value", "why"),
    [
        (1, np.zeros((1, 16), "int8"), "its input 1 has the shape .1, 16., not 3 axes"),
        (8, np.ones(2, "float32"), "its input 8 has the shape .2,., not one element for each of 1"),
        (2, np.zeros((1, 4, 12), "int8"), "its input 10 has the shape .1, 16., not one"),
        (1, np.zeros((1, 6, 16), "int8"), "its weight has the shape .1, 16, 6., not .1, 16, 5."),
    ],
)
def test_refused(place, value, why):
    layer = drawn(0, 1, 1, "int8", True, 0)
    layer.inputs[place] = value
    model = model_of("DynamicQuantizeLSTM", layer.inputs, domain=MICROSOFT, **layer.attributes)
    with pytest.raises(TVMError, match=f"com.microsoft::DynamicQuantizeLSTM 'y0': {why}"):
        Model(model)
