"""What onnxruntime's quantizer makes of nodes: operators on integers with scales and zero points.

A result is right if it is nearest to the result in float64, and at most one step from
onnxruntime's, which rounds through tables and reciprocals.
"""

import numpy as np
import pytest
from microsoft_peers import MICROSOFT, Drawn, check, greatest
from nightly import most_at_night
from node_peers import model_of, onnxruntimes
from node_source import Source

from texloom.errors import TVMError
from texloom.onnx.model import Model

HALF = 0.5 + 2.0**-9  # of a step, and the rounding errors of float32 up to 2**12 steps


class Quantized(Source):
    """Random tensors of one integer type, and the numbers that they stand for."""

    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = self.of("uint8", "int8")

    def scale(self, *shape):
        return np.asarray(self.generator.uniform(0.01, 0.1, shape), "float32")

    def zero(self):
        return self.integers(self.dtype)

    def weights(self, *shape):
        """Return the right side of a product, where pairs of products fit in 16 bits.

        onnxruntime saturates the sums of pairs of uint8 x int8 on processors without VNNI:
        2 * 255 * 64 is below 2**15.
        """
        x = self.integers(self.dtype, *shape)
        return x // 2 if self.dtype == "int8" else x

    def tensor(self, *shape):
        """Return the three inputs, and their numbers in float64."""
        x, scale, zero = self.integers(self.dtype, *shape), self.scale(), self.zero()
        inputs = [x, scale, zero]
        return inputs, numbers(*inputs)

    def result(self, numbers):
        """Return a scale and a zero point for these numbers; some of them are saturated."""
        scale = np.array(max(greatest(numbers), 1e-3) / self.of(100, 300), "float32")
        return [scale, None if self.chance() else self.zero()]


def numbers(x, scale, zero=None):
    return (x.astype("float64") - (0 if zero is None else zero)) * scale.astype("float64")


def check_integers(op, inputs, dtype, exact, scale, zero, attributes):
    """Compare with onnxruntime, and with the exact numbers that `scale` and `zero` quantize."""
    (got,) = check(op, Drawn(inputs, [0.5], attributes))  # check doubles the bound
    limits = np.iinfo(dtype)
    steps = exact / float(scale) + (0 if zero is None else int(zero))
    assert got.dtype == dtype
    assert (np.abs(got - np.clip(steps, limits.min, limits.max)) <= HALF).all(), (op, attributes)


def _arithmetic(source, op):
    shape = source.shape(1, 4)
    other = [source.of(1, each) for each in shape][source.of(0, len(shape) - 1) :]
    (first, a), (second, b) = source.tensor(*shape), source.tensor(*other)
    exact = a + b if op == "QLinearAdd" else a * b
    return [*first, *second], exact, {}


def _sigmoid(source, op):
    inputs, x = source.tensor(*source.shape(1, 4))
    return inputs, 1 / (1 + np.exp(-x)), {}


def _leaky_relu(source, op):
    inputs, x = source.tensor(*source.shape(1, 4))
    attributes = {"alpha": 0.25} if source.chance() else {}
    return inputs, np.where(x < 0, x * np.float32(attributes.get("alpha", 0.01)), x), attributes


def _softmax(source, op):
    inputs, x = source.tensor(*source.shape(1, 4))
    axis, opset = int(source.generator.integers(-x.ndim, x.ndim)), source.of(11, 13)
    axes = (axis,) if opset > 12 else tuple(range(axis % x.ndim, x.ndim))
    powers = np.exp(x - x.max(axes, keepdims=True))
    attributes = {"opset": opset} | ({} if axis == -1 and source.chance() else {"axis": axis})
    return inputs, powers / powers.sum(axes, keepdims=True), attributes


def _global_pool(source, op):
    inputs, x = source.tensor(*source.shape(2, 2), *source.shape(2, 2))
    is_last = source.chance()
    exact = x.mean((1, 2) if is_last else (2, 3), keepdims=True)
    return inputs, exact, {"channels_last": int(is_last)}


def _pool(source, op):
    inputs, x = source.tensor(*source.shape(2, 2), source.of(5, 6), source.of(5, 7))
    attributes = {"kernel_shape": [source.up_to(3) for _ in range(2)]}
    if source.chance():
        attributes["strides"] = [source.up_to(2) for _ in range(2)]
    if source.chance():
        attributes["pads"] = [source.of(0, k - 1) for k in attributes["kernel_shape"] * 2]
        attributes["count_include_pad"] = int(source.chance())
    else:
        attributes["auto_pad"] = source.of("SAME_UPPER", "SAME_LOWER", "VALID")
    model = model_of("AveragePool", [x.astype("float32")], **attributes)
    (exact,) = onnxruntimes(model, [x.astype("float32")])
    if source.chance():
        attributes["channels_last"] = 1
        inputs[0], exact = (np.ascontiguousarray(np.moveaxis(e, 1, -1)) for e in (inputs[0], exact))
    return inputs, exact, attributes


DRAW = {
    "QLinearAdd": _arithmetic,
    "QLinearAveragePool": _pool,
    "QLinearGlobalAveragePool": _global_pool,
    "QLinearLeakyRelu": _leaky_relu,
    "QLinearMul": _arithmetic,
    "QLinearSigmoid": _sigmoid,
    "QLinearSoftmax": _softmax,
}
MAY_LACK_ZERO = ("QLinearAdd", "QLinearAveragePool", "QLinearMul")  # onnxruntime ends otherwise


def check_drawn(op, seed):
    source = Quantized(seed)
    inputs, exact, attributes = DRAW[op](source, op)
    scale, zero = source.result(exact)
    if op not in MAY_LACK_ZERO and zero is None:
        zero = source.zero()
    check_integers(op, [*inputs, scale, zero], source.dtype, exact, scale, zero, attributes)


def check_concat(seed):
    source = Quantized(seed)
    shape = source.shape(1, 4)
    axis = source.of(0, len(shape) - 1, -1)
    parts = []
    for _ in range(source.up_to(3)):
        shape[axis] = source.up_to(4)
        parts.append(source.tensor(*shape))
    exact = np.concatenate([each for _, each in parts], axis)
    scale, zero = source.result(exact)[0], source.zero()
    given = [x if x is not None else np.array(0, source.dtype) for p, _ in parts for x in p]
    check_integers(
        "QLinearConcat", [scale, zero, *given], source.dtype, exact, scale, zero, {"axis": axis}
    )


def check_gemm(seed):
    source = Quantized(seed)
    rows, shared, columns = source.shape(3, 3)
    turned = [source.chance() for _ in range(2)]
    a = source.integers(source.dtype, *((shared, rows) if turned[0] else (rows, shared)))
    b = source.weights(*((columns, shared) if turned[1] else (shared, columns)))
    per_column = source.of((), (columns,))
    b_scale, b_zero = source.scale(*per_column), source.integers(source.dtype, *per_column)
    first, second = [a, source.scale(), source.zero()], [b, b_scale, b_zero]
    attributes = {"transA": int(turned[0]), "transB": int(turned[1])}
    attributes |= {"alpha": 0.5} if source.chance() else {}
    factor = attributes.get("alpha", 1) * first[1] * b_scale.astype("float64")
    left, right = (
        x.T if t else x for x, t in zip((numbers(a, np.ones(1), first[2]), b), turned, strict=True)
    )
    sums = left @ (right.astype("float64") - b_zero)
    bias = source.of(None, source.generator.integers(-999, 999, columns).astype("int32"))
    exact = (sums + (0 if bias is None else bias)) * factor
    if source.chance():
        bound = 4 * 2.0**-24 * greatest(exact)
        check("QGemm", Drawn([*first, *second, bias], [bound], attributes))
        return
    scale, zero = source.result(exact)[0], source.zero()
    inputs = [*first, *second, bias, scale, zero]
    check_integers("QGemm", inputs, source.dtype, exact, scale, zero, attributes)


def check_products_with_numbers(seed):
    """The bound is a step of the quantized factor, since a tie may be rounded to either side."""
    source = Quantized(seed)
    batch, (rows, shared, columns) = source.shape(0, 2), source.shape(3, 3)
    b = source.weights(shared, columns)
    per_column = source.of((), (columns,))
    b_scale = source.scale(*per_column)
    b_zero = source.of(None, source.integers(source.dtype, *per_column))
    bias = source.of(None, source.generator.standard_normal(columns).astype("float32"))
    reals = np.abs(numbers(b, b_scale, b_zero)).max()
    if source.chance():
        a = source.generator.standard_normal((*batch, rows, shared)).astype("float32")
        step = (max(a.max(), 0) - min(a.min(), 0)) / 255
        bound = shared * reals * greatest(a) * 2.0**-20 + step * reals
        check("DynamicQuantizeMatMul", Drawn([a, b, b_scale, b_zero, bias], [bound]))
        return
    a, scale = source.integers(source.dtype, *batch, rows, shared), source.scale()
    zero = source.zero() if source.chance() else None
    bound = (shared + 4) * 2.0**-24 * (shared * reals * 256 * scale + 4)
    inputs = [a, b, scale, b_scale, zero, b_zero, bias]
    check("MatMulIntegerToFloat", Drawn(inputs, [bound]))


CHECKS = {
    "QGemm": check_gemm,
    "QLinearConcat": check_concat,
    "numbers": check_products_with_numbers,
}
CHECKS |= {op: lambda seed, op=op: check_drawn(op, seed) for op in DRAW}


@pytest.mark.parametrize("seed", most_at_night(range(6), first=1))
@pytest.mark.parametrize("op", CHECKS)
def test_operator(op, seed):
    CHECKS[op](seed)


@pytest.mark.nightly
@pytest.mark.parametrize("op", CHECKS)
def test_many_attributes(op):
    for seed in range(100, 120):
        CHECKS[op](seed)


def test_quantization_to_16_bits():
    """The quantizer writes these where ONNX's own operators had no 16-bit integers."""
    x, scale, zero = np.linspace(-9, 9, 12), np.array(1e-3, "float32"), np.array(9000, "uint16")
    check("QuantizeLinear", Drawn([x.astype("float32"), scale, zero], [0]))
    check("DequantizeLinear", Drawn([np.arange(12, dtype="uint16"), scale, zero], [0]))


def test_scale_of_an_open_shape():
    """A scale of `s` elements must have one element at the run."""
    source = Quantized(7)
    inputs = [*source.tensor(2, 3)[0], *source.tensor(2, 3)[0], source.scale(), source.zero()]
    (expected,) = onnxruntimes(model_of("QLinearAdd", inputs, domain=MICROSOFT), inputs)
    inputs[1] = inputs[1].reshape(1)
    model = model_of("QLinearAdd", inputs, domain=MICROSOFT)
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "s"
    compiled = Model(model, shapes={"x1": ("s",)})
    got = compiled.run({f"x{i}": each for i, each in enumerate(inputs)})["y0"]
    assert compiled.why_fixed is None
    assert np.abs(got.astype(int) - expected.astype(int)).max() <= 1


X, SCALE, ZERO = np.ones((2, 3), "uint8"), np.array(0.1, "float32"), np.array(3, "uint8")


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "why"),
    [
        (
            "QLinearAdd",
            [X, np.ones(3, "float32"), ZERO] + [X, SCALE, ZERO] + [SCALE],
            {},
            "its input 1, a scale, has the shape",
        ),
        ("QLinearAdd", [X, SCALE, ZERO, X, SCALE], {}, "it has 5 inputs, but"),
        ("QLinearSoftmax", [X, SCALE, ZERO, SCALE, ZERO], {}, "it lacks the attribute 'opset'"),
        ("QLinearConcat", [SCALE, ZERO, X, SCALE], {"axis": 0}, "it has 4 inputs, not 2 and then"),
        (
            "QGemm",
            [X, SCALE, ZERO, X, SCALE, ZERO, None, None, ZERO],
            {"transB": 1},
            "it has y_zero_point, but not",
        ),
        (
            "QGemm",
            [X, SCALE, ZERO, X, np.ones(3, "float32"), ZERO],
            {"transB": 1},
            "its input 4 has the shape .3,., neither",
        ),
        (
            "QGemm",
            [X, SCALE, ZERO, X[0], SCALE, ZERO],
            {},
            "it multiplies a tensor of the shape .3,., which",
        ),
    ],
)
def test_refused(op, inputs, attributes, why):
    with pytest.raises(TVMError, match=f"com.microsoft::{op} 'y0': {why}"):
        Model(model_of(op, inputs, domain=MICROSOFT, **attributes))
