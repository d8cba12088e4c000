"""MatMulNBits: weights of 2, 4 and 8 bits, which packages hold as they are."""

import numpy as np
import onnx
import pytest
from microsoft_peers import MICROSOFT, Drawn, check
from node_peers import model_of, random
from node_source import Source

from texloom.errors import TVMError
from texloom.onnx.model import Model


def packed(steps, bits):
    """Pack integers along the last axis, the lowest bits of a byte first."""
    per_byte = 8 // bits
    steps = np.pad(steps, [(0, 0)] * (steps.ndim - 1) + [(0, -steps.shape[-1] % per_byte)])
    parts = steps.reshape(*steps.shape[:-1], -1, per_byte).astype("uint8")
    return np.bitwise_or.reduce(parts << (np.arange(per_byte, dtype="uint8") * bits), -1)


def drawn(source, bits, zeros):
    """A product, and its bound: the magnitudes of the terms times the roundings of a sum."""
    block = source.of(16, 32)
    rows, shared, columns = source.up_to(5), int(source.generator.integers(1, 80)), source.up_to(9)
    blocks = -(-shared // block)
    a = source.floats(*source.of((rows,), (2, rows)), shared)
    steps = source.generator.integers(0, 1 << bits, (columns, blocks, block))
    scales = source.floats(columns, blocks)
    inputs = [a, packed(steps, bits), scales, None, None, source.maybe(columns)]
    zero = np.full((columns, blocks), 1 << (bits - 1))
    if zeros == "packed":
        zero = source.generator.integers(0, 1 << bits, (columns, blocks))
        inputs[3] = packed(zero, bits)
    elif zeros == "numbers":
        zero = inputs[3] = source.floats(columns, blocks)
    if source.chance():  # scales and packed zero points may be in one row
        inputs[2:4] = [
            x.reshape(-1) if x is not None and (i == 0 or zeros == "packed") else x
            for i, x in enumerate(inputs[2:4])
        ]
    weights = (steps - zero[..., None].astype("float64")) * scales[..., None]
    magnitudes = abs(a.astype("float64")) @ abs(weights.reshape(columns, -1)[:, :shared].T)
    magnitudes += 0 if inputs[5] is None else abs(inputs[5])
    bound = (shared + 4) * 2.0**-24 * magnitudes + source.unit * magnitudes
    attributes = {"K": shared, "N": columns, "block_size": block}
    return Drawn(inputs, [bound], attributes if bits == 4 else attributes | {"bits": bits})


@pytest.mark.parametrize(
    ("bits", "zeros"),  # onnxruntime does not take numbers with 8 bits
    [
        (b, z)
        for b in (2, 4, 8)
        for z in ("default", "packed", "numbers")
        if (b, z) != (8, "numbers")
    ],
)
def test_product(bits, zeros):
    for seed in range(3):
        source = Source((bits, seed))
        check("MatMulNBits", drawn(source, bits, zeros), constants=source.of((), (1, 2)))


def of_zeros(shared, columns, **attributes):
    """A product with weights of 4 bits in blocks of 32; the weights are constants."""
    blocks = shared // 32
    inputs = [
        random(0, 2, shared),
        np.full((columns, blocks, 16), 0x5A, "uint8"),
        random(1, columns, blocks),
    ]
    attributes = {"K": shared, "N": columns, "block_size": 32} | attributes
    model = model_of("MatMulNBits", inputs, domain=MICROSOFT, **attributes)
    for i in (1, 2):
        model.graph.initializer.append(onnx.numpy_helper.from_array(inputs[i], f"x{i}"))
    del model.graph.input[1:]
    return model, inputs


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_package_holds_packed_weights(tmp_path, precision):
    """It has half a byte per weight, and a scale for 32 of them, whether rows are open or not."""
    model, _ = of_zeros(256, 256)
    for shape in ((2, 256), ("n", 256)):
        path = tmp_path / "packed.tlp"
        Model(model, shapes={"x0": shape}, precision=precision).save(path)
        assert path.stat().st_size < 256 * 256 * (1 / 2 + 4 / 32) + 32768


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        ({"bits": 3}, "its bits are 3, not one of 2, 4, 8"),
        ({"block_size": 24}, "its block_size is 24, not a power of 2 from 16 on"),
        ({"K": 128}, "its input has the shape .2, 64., but its K is 128"),
        ({"block_size": 64}, "its B has the shape .3, 2, 16., not .3, 1, 32."),
    ],
)
def test_refused(attributes, why):
    model, _ = of_zeros(64, 3, **attributes)
    with pytest.raises(TVMError, match=f"com.microsoft::MatMulNBits 'y0': {why}"):
        Model(model)


def test_order_of_rows_is_refused():
    _, inputs = of_zeros(64, 3)
    inputs += [None, np.zeros(64, "int32")]
    model = model_of("MatMulNBits", inputs, domain=MICROSOFT, K=64, N=3, block_size=32)
    with pytest.raises(TVMError, match="its input g_idx"):
        Model(model)
