"""Drawers of element-wise operators, and of those that only move elements."""

from __future__ import annotations

import numpy as np
import onnx

from .drawing import Draw, Drawn, draws, greatest, magnitudes

_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "Elu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
    "LeakyRelu": ("alpha",),
    "Mish": (),
    "Relu": (),
    "Selu": ("alpha", "gamma"),
    "Shrink": ("bias", "lambd"),
    "Softplus": (),
    "Softsign": (),
    "Swish": ("alpha",),
    "ThresholdedRelu": ("alpha",),
}
_RANK = 4


@draws(*_ATTRIBUTES)
def activation(draw: Draw) -> Drawn:
    """The result is a sum of products of the element and the attributes."""
    dtype = draw.type()
    x = draw.values(dtype, *draw.extents(0, _RANK), scale=draw.of(1, 4, 30))
    attributes = draw.numbers(*_ATTRIBUTES[draw.op])
    factors = 1 + sum(greatest(each) for each in attributes.values())
    return Drawn([x], attributes, size=(magnitudes(x) + 1) * factors**2)


@draws("Celu")
def celu(draw: Draw) -> Drawn:
    x = draw.values(draw.type(), *draw.extents(0, _RANK), scale=draw.of(1, 4))
    attributes = draw.numbers("alpha")
    alpha = greatest(attributes.get("alpha", 1.0))
    power = magnitudes(x) / (alpha or 1.0)  # its rounding error is a factor of the result
    return Drawn([x], attributes, size=lambda y: y * power + magnitudes(x) + alpha)


@draws("Gelu")
def gelu(draw: Draw) -> Drawn:
    """The constants of the standard's body are float32."""
    x = draw.values(draw.type(), *draw.extents(0, _RANK), scale=draw.of(1, 4))
    kind = draw.some(approximate=draw.of("none", "tanh"))
    return Drawn([x], kind, size=magnitudes(x), precision="float32")


@draws("HardSwish")
def hard_swish(draw: Draw) -> Drawn:
    """The constants of the standard's body are float32."""
    x = draw.values(draw.type(), *draw.extents(0, _RANK), scale=draw.of(1, 4))
    return Drawn([x], size=magnitudes(x), precision="float32")


@draws("SwiGLU")
def swiglu(draw: Draw) -> Drawn:
    shape, dtype = draw.extents(0, _RANK), draw.type()
    a, b = draw.values(dtype, *shape), draw.values(dtype, *shape)
    attributes = draw.numbers("alpha")
    power = magnitudes(a) * greatest(attributes.get("alpha", 1.0))
    return Drawn([a, b], attributes, size=lambda y: y * power)


@draws("PRelu")
def prelu(draw: Draw) -> Drawn:
    """The slope broadcasts to the input, which has at least as many axes."""
    dtype, shape = draw.type(), draw.extents(1, _RANK)
    kept = shape[int(draw.generator.integers(0, len(shape) + 1)) :]
    slope = [draw.of(1, each) for each in kept]
    return Drawn([draw.values(dtype, *shape), draw.values(dtype, *slope)])


@draws("Clip")
def clip(draw: Draw) -> Drawn:
    """A lower limit may exceed the upper one."""
    dtype = draw.type()
    x = draw.values(dtype, *draw.extents(0, _RANK))
    limits = [draw.values(dtype) if draw.chance(0.7) else None for _ in range(2)]
    given = [i for i in (1, 2) if limits[i - 1] is not None]
    return Drawn([x, *limits], size=None, constants=draw.known(*given))


@draws("GreaterOrEqual", "LessOrEqual")
def comparison(draw: Draw) -> Drawn:
    """Either operand may have fewer axes, or extents of 1."""
    dtype, shape = draw.type(), draw.extents(0, _RANK)
    shapes = [shape, shape]
    other = [draw.of(1, each) for each in shape[int(draw.generator.integers(0, len(shape) + 1)) :]]
    shapes[draw.of(0, 1)] = other
    return Drawn([draw.values(dtype, *each, scale=1) for each in shapes])


@draws("CastLike")
def cast_like(draw: Draw) -> Drawn:
    """Numbers that the target type holds; floating point is also cast out of range."""
    source, target = draw.type("T1"), draw.type("T2")
    x = draw.values(source, *draw.extents(0, _RANK), scale=draw.of(2, 100))
    if np.dtype(target).kind in "iu":
        x = np.nan_to_num(x.astype("float64"), posinf=9, neginf=-9)
        x = np.clip(x, -100 if np.dtype(target).kind == "i" else 0, 100).astype(source)
    shape = draw.extents(0, 2)
    return Drawn([x, draw.values(target, *shape)], size=None, is_of_types=True)


@draws("Bernoulli")
def bernoulli(draw: Draw) -> Drawn:
    """Probabilities of 0 and 1, whose draws are known."""
    x = draw.generator.integers(0, 2, draw.extents(0, _RANK)).astype(draw.float_type("T1"))
    given = draw.some(seed=draw.of(0.0, 3.0), dtype=_number_of(draw.type("T2")))
    return Drawn([x], given)


def _number_of(dtype):
    return int(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


@draws("HannWindow", "HammingWindow", "BlackmanWindow")
def window(draw: Draw) -> Drawn:
    """Elements are sums of cosines of angles up to 2 pi, or 4 pi."""
    dtype = draw.type("T2")
    shortest = 0 if dtype.startswith(("float", "bfloat")) else 2  # a window of one may be NaN
    size = np.array(draw.of(shortest, 1 + shortest, draw.up_to(40) + shortest), draw.type("T1"))
    attributes = draw.some(periodic=draw.of(0, 1), output_datatype=_number_of(dtype))
    return Drawn([size], attributes, size=4 * np.pi, precision="float32", constants=draw.known(0))


@draws("Range")
def range_(draw: Draw) -> Drawn:
    """Steps in both directions, ranges without elements; limits that no element reaches."""
    dtype = draw.type()
    if np.dtype(dtype).kind == "i":
        start, count = (int(each) for each in draw.generator.integers(-9, 10, 2))
        step = draw.of(-3, -2, -1, 1, 2, 3)
        limit = start + count * step - draw.of(0, 0, 1)
        numbers = [start, limit, step]
    else:
        step = draw.of(-1, 1) * draw.up_to(8) / 8
        start = draw.up_to(64) / 8 - 4
        numbers = [start, start + step * (draw.up_to(12) - 3 + draw.of(0.0, 0.5)), step]
    inputs = [np.array(each).astype(dtype) for each in numbers]
    attributes = draw.some(stash_type=1) if draw.version >= 27 else {}
    return Drawn(inputs, attributes, size=greatest(*inputs), constants=draw.known(0, 1, 2))


@draws("DepthToSpace")
def depth_to_space(draw: Draw) -> Drawn:
    block, shape = draw.up_to(3), draw.extents(4, 4, 4)
    shape[1] *= block**2
    attributes = {"blocksize": block, **draw.some(mode=draw.of("DCR", "CRD"))}
    return Drawn([draw.values(draw.type(), *shape)], attributes, size=None)


@draws("SpaceToDepth")
def space_to_depth(draw: Draw) -> Drawn:
    block, shape = draw.up_to(3), draw.extents(4, 4, 4)
    shape[2:] = [each * block for each in shape[2:]]
    attributes = {"blocksize": block, **draw.some(mode=draw.of("DCR", "CRD"))}
    return Drawn([draw.values(draw.type(), *shape)], attributes, size=None)


@draws("CenterCropPad")
def center_crop_pad(draw: Draw) -> Drawn:
    shape = draw.extents(1, _RANK, 6)
    axes = draw.axes(len(shape)) or [0] if draw.chance() else None
    count = len(shape) if axes is None else len(axes)
    wanted = draw.generator.integers(0 if draw.chance(0.1) else 1, 8, count)
    size = wanted.astype(draw.type("Tind"))
    attributes = {} if axes is None else {"axes": axes}
    x = draw.values(draw.type(), *shape)
    return Drawn([x, size], attributes, size=None, constants=draw.known(1))


@draws("AffineGrid")
def affine_grid(draw: Draw) -> Drawn:
    """Grids of an image or a volume of any size, also of one element."""
    axes, batch = draw.of(2, 3), draw.up_to(3)
    theta = draw.ordinary(draw.type("T1"), batch, axes, axes + 1)
    size = np.array([batch, *(draw.up_to(5) for _ in range(axes + 1))])
    corners = draw.some(align_corners=draw.of(0, 1))
    return Drawn([theta, size], corners, size=4 * greatest(theta), constants=draw.known(1))


@draws("SequenceMap")
def sequence_map(draw: Draw) -> Drawn:
    """A body of one or two nodes for each of up to four tensors, beside a tensor or sequence."""
    length = draw.up_to(4)
    first = [draw.ordinary("float32", *draw.extents(2, 2)) for _ in range(length)]
    kind = draw.of("alone", "tensor", "sequence")
    inputs: list = [first]
    node = onnx.helper.make_node
    if kind == "alone":
        nodes = [node("Neg", ["a"], ["c"])]
    else:
        nodes = [node("Add", ["a", "b"], ["c"])]
        inputs.append(
            draw.ordinary("float32")
            if kind == "tensor"
            else [draw.ordinary("float32", *each.shape) for each in first]
        )
    outputs = draw.of(1, 2)
    if outputs == 2:
        nodes.append(node("Shape", ["a"], ["d"]))
    body = onnx.helper.make_graph(
        nodes,
        "body",
        [onnx.helper.make_tensor_value_info(n, 1, s) for n, s in _body_inputs(kind)],
        [
            onnx.helper.make_tensor_value_info("c", 1, ["h", "w"]),
            onnx.helper.make_tensor_value_info("d", 7, [2]),
        ][:outputs],
    )
    return Drawn(inputs, {"body": body}, outputs, size=4.0)


def _body_inputs(kind):
    second = {"alone": [], "tensor": [("b", [])], "sequence": [("b", ["h", "w"])]}
    return [("a", ["h", "w"]), *second[kind]]
