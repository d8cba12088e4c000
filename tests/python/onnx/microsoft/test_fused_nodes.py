"""What onnxruntime's optimizer makes of several nodes: activations, normalizations, products."""

import numpy as np
import pytest
from microsoft_peers import MICROSOFT, Drawn, check, greatest
from nightly import most_at_night
from node_peers import model_of, onnxruntimes, ours, random
from node_source import Source

from texloom.errors import TVMError
from texloom.onnx.model import Model


def _activation(source, bias=False):
    x = source.floats(*source.shape(1, 4))
    inputs = [x] + ([source.floats(x.shape[-1])] if bias else [])
    total = sum(map(greatest, inputs))
    return Drawn(inputs, [(16 + 8 * total) * source.unit * total])


def _fast_gelu(source):
    return _activation(source, source.chance())


def _bias_gelu(source):
    return _activation(source, True)


def _quick_gelu(source):
    drawn = _activation(source)
    if source.chance():
        drawn.attributes["alpha"] = source.of(1.0, 0.5)
    return drawn


def _normalized(source, total, gamma, beta, is_centered, epsilon):
    """Return a bound: errors of the sum, relative to the deviation, and those of the moments."""
    wide = total.astype("float64")
    centered = wide - wide.mean(-1, keepdims=True) * is_centered
    deviation = np.sqrt((centered**2).mean(-1) + epsilon).min()
    count = total.shape[-1]
    relative = (count + 8) * source.unit * greatest(total) / deviation
    return 2 * relative * greatest(gamma) * count**0.5 + 2 * source.unit * greatest(beta)


def _skip(source, is_simplified=False):
    shape = [*source.shape(1, 2), source.of(4, 7, 16)]
    skip = source.of(shape, [1, *shape[1:]], shape[1:]) if len(shape) == 3 else shape
    width = shape[-1]
    inputs = [source.floats(*shape), source.floats(*skip), source.floats(width)]
    beta = [] if is_simplified else [source.maybe(width)]
    bias = source.maybe(width)
    total = inputs[0].astype("float64") + inputs[1] + (0 if bias is None else bias)
    attributes = {"epsilon": 0.25} if source.chance() else {}
    epsilon = attributes.get("epsilon", 1e-12)
    shift = 0 if is_simplified or beta[0] is None else beta[0]
    bound = _normalized(source, total, inputs[2], shift, not is_simplified, epsilon)
    bounds = [bound, None, None, 3 * source.unit * 3 * greatest(total)]
    return Drawn([*inputs, *beta, bias], bounds[: source.of(1, 4)], attributes)


def _skip_simplified(source):
    return _skip(source, is_simplified=True)


def _simplified(source):
    shape = [*source.shape(0, 2), source.of(4, 7, 16)]
    x, scale = source.floats(*shape), source.floats(shape[-1])
    attributes = {"epsilon": 0.25} if source.chance() else {}
    attributes |= (
        {"stash_type": 1, "axis": source.of(-1, len(shape) - 1)} if source.chance() else {}
    )
    bound = _normalized(source, x, scale, 0, False, attributes.get("epsilon", 1e-5))
    return Drawn([x, scale], [bound], attributes, domain="")


def _embed(source):
    batch, tokens, width = source.up_to(3), source.up_to(4), source.of(4, 8)
    ids = source.generator.integers(0, 9, (batch, tokens)).astype("int32")
    words, places = source.floats(9, width), source.floats(tokens + 2, width)
    has_segments, has_positions, has_mask = (source.chance() for _ in range(3))
    segments, kinds = (ids % 2, source.floats(2, width)) if has_segments else (None, None)
    mask = source.generator.integers(0, 3, ids.shape).astype("int32") if has_mask else None
    positions = None
    if has_positions:
        positions = source.generator.integers(0, tokens, (source.of(1, batch), tokens)).astype(
            "int32"
        )
    chosen = np.arange(tokens)[None] if positions is None else positions
    total = words[ids].astype("float64") + places[chosen]
    if has_segments:
        total = total + kinds[segments]
    gamma, beta = source.floats(width), source.floats(width)
    bound = _normalized(source, total, gamma, beta, True, 1e-12)
    inputs = [ids, segments, words, places, kinds, gamma, beta, mask, positions]
    attributes = {"mask_index_type": source.of(0, 1)} if source.chance() else {}
    return Drawn(inputs, [bound, 0, 4 * source.unit * greatest(total)], attributes)


def _matmul(source):
    rank = source.of(2, 3, 4)
    batch, (rows, shared, columns) = source.shape(rank - 2, rank - 2), source.shape(3, 3)
    inputs, attributes = [], {}
    for name, matrix in (("A", [rows, shared]), ("B", [shared, columns])):
        if source.chance():
            attributes[f"trans{name}"] = 1
            matrix = matrix[::-1]
        shape = [*batch, *matrix]
        if rank > 2 and source.chance():
            attributes[f"transBatch{name}"] = 1
            shape = [matrix[0], *batch, matrix[1]]
        inputs.append(source.floats(*shape))
    if source.chance():
        attributes["alpha"] = source.of(0.3, -2.0)
    magnitude = abs(attributes.get("alpha", 1)) * shared * np.prod([*map(greatest, inputs)])
    return Drawn(inputs, [(shared + 3) * source.unit * magnitude], attributes)


# The activations that both implement, and the number of their parameters.
ACTIVATIONS = {"": 0, "HardSigmoid": 2, "LeakyRelu": 1, "Relu": 0, "Sigmoid": 0, "Tanh": 0}


def _gemm(source):
    rows, shared, columns = source.shape(3, 3)
    turned = [source.chance() for _ in range(2)]
    a, b = ([rows, shared], [shared, columns])
    inputs = [
        source.floats(*(each[::-1] if t else each)) for each, t in zip((a, b), turned, strict=True)
    ]
    if source.chance():
        inputs.append(source.floats(*source.of([columns], [rows, columns], [rows, 1])))
    name = source.of(*list(ACTIVATIONS)[1:], "Elu")
    attributes = {"transA": int(turned[0]), "transB": int(turned[1])}
    attributes |= {"alpha": 0.5, "beta": 3.0} if source.chance() else {}
    parameters = {"activation_alpha": 0.3, "activation_beta": 0.4}  # onnxruntime needs them
    attributes |= dict(list(parameters.items())[: ACTIVATIONS.get(name, 1)])
    attributes["activation"] = name
    magnitude = shared * greatest(inputs[0]) * greatest(inputs[1]) + 3 * sum(
        map(greatest, inputs[2:])
    )
    return Drawn(inputs, [(shared + 8) * source.unit * (1 + magnitude)], attributes)


def _conv(source):
    groups, per_group = source.of(1, 2), source.up_to(3)
    channels, outputs = groups * source.up_to(2), groups * per_group
    kernel, size = [source.up_to(3) for _ in range(2)], [source.of(5, 6) for _ in range(2)]
    strides, pads = [source.up_to(2) for _ in range(2)], [source.of(0, 1) for _ in range(4)]
    x = source.floats(source.up_to(2), channels, *size)
    weight = source.floats(outputs, channels // groups, *kernel)
    attributes = {"group": groups, "strides": strides, "pads": pads}
    windows = [(size[i] + pads[i] + pads[i + 2] - kernel[i]) // strides[i] + 1 for i in range(2)]
    added = source.maybe(len(x), outputs, *windows)
    name = source.of(*ACTIVATIONS, "Clip")
    attributes |= {"activation": name} if name else {}
    count = ACTIVATIONS.get(name, 2)
    attributes |= {"activation_params": [0.2, 0.6][:count]} if count else {}
    bias = source.maybe(outputs)
    count = weight[0].size
    magnitude = count * greatest(x) * greatest(weight)
    magnitude += sum(greatest(each) for each in (added, bias) if each is not None)
    return Drawn(
        [x, weight, bias, added], [(count + 8) * source.unit * (1 + magnitude)], attributes
    )


DRAW = {
    "BiasGelu": _bias_gelu,
    "EmbedLayerNormalization": _embed,
    "FastGelu": _fast_gelu,
    "FusedConv": _conv,
    "FusedGemm": _gemm,
    "FusedMatMul": _matmul,
    "Gelu": _activation,
    "QuickGelu": _quick_gelu,
    "SimplifiedLayerNormalization": _simplified,
    "SkipLayerNormalization": _skip,
    "SkipSimplifiedLayerNormalization": _skip_simplified,
}


@pytest.mark.parametrize("seed", most_at_night(range(6), first=1))
@pytest.mark.parametrize("op", DRAW)
def test_operator(op, seed):
    """The models import no operator set of the domain, as those that onnxruntime takes."""
    check(op, DRAW[op](Source(seed)))


@pytest.mark.nightly
@pytest.mark.parametrize("op", DRAW)
def test_many_attributes(op):
    for seed in range(100, 120):
        check(op, DRAW[op](Source(seed)))


def test_convolution_with_channels_last():
    """onnxruntime has no kernel for processors: the reference is Conv of transposed tensors."""
    x, weight, bias = random(0, 1, 5, 6, 2), random(1, 4, 3, 2, 1), random(2, 4)
    options = {"group": 2, "pads": [1, 0, 0, 1], "strides": [1, 2]}
    model = model_of("NhwcConv", [x, weight, bias], domain=MICROSOFT, **options)
    first = [np.moveaxis(x, -1, 1), np.moveaxis(weight, -1, 1), bias]
    (expected,) = onnxruntimes(model_of("Conv", first, **options), first)
    (got,) = ours(model, [x, weight, bias])
    np.testing.assert_allclose(got, np.moveaxis(expected, 1, -1), rtol=0, atol=1e-6)


@pytest.mark.parametrize("skip_batch", ["m", 1])
def test_skip_of_an_open_shape(skip_batch):
    """The run checks that the shapes agree; a batch of 1 is broadcast."""
    x, skip, scale = random(0, 2, 3, 4), random(1, 2, 3, 4), random(2, 4)
    skip = skip if skip_batch == "m" else skip[:1]
    model = model_of("SkipLayerNormalization", [x, skip, scale], domain=MICROSOFT)
    expected = onnxruntimes(model, [x, skip, scale])[0]
    for number, rows in enumerate((("n", "s"), (skip_batch, "t"))):
        for axis, name in enumerate(rows):
            if name != 1:
                model.graph.input[number].type.tensor_type.shape.dim[axis].dim_param = name
    compiled = Model(model, shapes={"x0": ("n", "s", 4), "x1": (skip_batch, "t", 4)})
    got = compiled.run({"x0": x, "x1": skip, "x2": scale})["y0"]
    assert compiled.why_fixed is None
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-6)
    with pytest.raises(TVMError, match="TL5003"):
        compiled.run({"x0": x, "x1": skip[:, :2], "x2": scale})


ROW = np.ones(4, "float32")
X = np.ones((2, 3, 4), "float32")


@pytest.mark.parametrize(
    ("op", "inputs", "outputs", "attributes", "why"),
    [
        ("Gelu", [X], 1, {"approximate": "tanh"}, "it has the attribute 'approximate', which"),
        ("BiasGelu", [X, X], 1, {}, "its bias has the shape .2, 3, 4., not one number for each"),
        ("BiasGelu", [X], 1, {}, "it has 1 inputs, but the operator takes 2"),
        ("QuickGelu", [X], 2, {}, "it has 2 outputs, but the operator has 1"),
        ("FusedGemm", [X[0], X[0]], 1, {"activation": "Mish", "transB": 1}, "its activation is"),
        ("FusedConv", [X, X], 1, {"activation_params": [1.0]}, "its activation_params are 1"),
        ("FusedMatMul", [X[0], X], 1, {"transBatchA": 1}, "its transBatchA needs 3 axes"),
        ("SkipLayerNormalization", [X, X, ROW], 2, {}, "its outputs mean and inv_std_var are not"),
        ("SkipLayerNormalization", [X, X[:, :1], ROW], 1, {}, "its skip of the shape .2, 1, 4. do"),
        ("SkipLayerNormalization", [X, X, ROW[1:]], 1, {}, "its gamma has the shape .3,., not"),
    ],
)
def test_refused(op, inputs, outputs, attributes, why):
    with pytest.raises(TVMError, match=f"com.microsoft::{op} 'y0': {why}"):
        Model(model_of(op, inputs, outputs, domain=MICROSOFT, **attributes))
