"""Convolutions of several groups with channels last, and scaled channels, of integers."""

import numpy as np
import onnx
import onnx.reference
import pytest

from texloom.onnx.model import Model

TARGET = "opencl -device=nvidia -conditional_barriers=0"  # PoCL has no such barriers


def integers(seed, *shape):
    return np.random.default_rng((seed, *shape)).integers(-3, 4, shape).astype("float32")


def run(text, precision="fp32", **weights):
    """Compare the result of a model with the reference; return the number of launches."""
    model = onnx.parser.parse_model(text)
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(value, name) for name, value in weights.items()
    )
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    given = {"x": np.sign(integers(0, *shape))}
    (expected,) = onnx.reference.ReferenceEvaluator(model).run(None, given)
    compiled = Model(model, target=TARGET, precision=precision)
    np.testing.assert_array_equal(compiled.run(given)["y"], expected)
    return compiled.summary["launches"]


@pytest.mark.parametrize(
    ("channels", "outputs", "groups", "size", "kernel", "stride", "launches"),
    [
        (16, 16, 2, 9, 3, 1, 3),
        (32, 64, 4, 14, 3, 2, 3),
        (48, 48, 6, 28, 3, 1, 3),
        (32, 32, 4, 10, 1, 1, 3),
        (24, 24, 8, 7, 3, 1, None),  # groups of three channels have no vectors
        (12, 18, 6, 5, 3, 1, None),
    ],
)
def test_groups(channels, outputs, groups, size, kernel, stride, launches):
    """No image is converted between the convolution and its neighbors."""
    made = run(
        f"""<ir_version: 8, opset_import: ["" : 17]>
        one (float[1, {channels}, {size}, {size}] x) => (y)
        {{ a = Conv(x, first)
           c = Conv<group = {groups}, strides = [{stride}, {stride}],
                    pads = [{kernel // 2}, {kernel // 2}, {kernel // 2}, {kernel // 2}]>(a, w, b)
           r = Relu(c) y = Conv(r, last) }}""",
        first=integers(1, channels, channels, 1, 1),
        w=integers(2, outputs, channels // groups, kernel, kernel),
        b=integers(3, outputs),
        last=integers(4, 8, outputs, 1, 1),
    )
    assert launches is None or made == launches


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
@pytest.mark.parametrize("batch", [1, 2])
def test_scaled_channels_join_the_convolution_that_reads_them(batch, precision):
    """The launches are two convolutions, the factors of channels, and nothing else.

    Halves hold all tensors exactly but the scaled channels, which are not stored.
    """
    made = run(
        f"""<ir_version: 8, opset_import: ["" : 17]>
        one (float[{batch}, 16, 9, 9] x) => (y)
        {{ a = Conv(x, first) top = GlobalMaxPool(a) s = Conv(top, factors)
           m = Mul(s, a) y = Conv(m, last) }}""",
        precision,
        first=np.sign(integers(1, 16, 16, 1, 1)),
        factors=np.sign(integers(2, 16, 16, 1, 1)),
        last=integers(3, 8, 16, 1, 1),
    )
    assert made == 4


@pytest.mark.parametrize(
    ("body", "launches"),
    [
        ("d = Conv<group = 256, pads = [1, 1, 1, 1]>(a, k) y = Conv(d, w)", (2, 3)),
        ("m = GlobalAveragePool(a) g = Sigmoid(m) s = Mul(a, g) y = Conv(s, w)", (3, 4)),
    ],
)
def test_fragments_are_not_given_up_for_a_launch(body, launches):
    """In float16, a matrix unit multiplies 256 channels faster than threads that save a launch."""
    model = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]>
        one (float[1, 8, 56, 56] x) => (y) {{ a = Conv(x, first) {body} }}"""
    )
    shapes = {"first": (256, 8, 1, 1), "k": (256, 1, 3, 3), "w": (256, 256, 1, 1)}
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(integers(i, *shape), name)
        for i, (name, shape) in enumerate(shapes.items())
        if name in body or name == "first"
    )
    made = [
        Model(model, target="opencl -device=nvidia", precision=each).summary["launches"]
        for each in ("fp32", "fp16")
    ]
    assert tuple(made) == launches
