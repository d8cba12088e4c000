"""Random numbers: known answers, distributions, and equality of devices.

The streams are fixed, so that a test passes always or never; bounds are five standard deviations of
what a test measures, unless it says otherwise.
"""

from functools import partial
from math import erf, sqrt

import numpy as np
import pytest
from metal_devices import metal_devices

from texloom.graph import Graph
from texloom.ops.random import Stream, bernoulli, multinomial, normal, random_words, uniform

DEVICES = ["opencl:0", "host:0", *(["metal:0"] if metal_devices() else [])]
STREAM = Stream(number=3, key=0x299F31D0A4093822)
COUNT = 1 << 16


def run(function, *inputs, device="opencl:0", **attributes):
    graph = Graph("random")
    given = [graph.input(f"x{i}", each.shape, each.dtype.name) for i, each in enumerate(inputs)]
    (made,) = graph.op("y", "random", partial(function, **attributes), given)
    graph.output(made, "y")
    return graph.compile(device).run({f"x{i}": x for i, x in enumerate(inputs)}, device)["y"]


def philox(counter, key):
    """Philox4x32-10 of one counter, of four words, and a key of two."""
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [
            second >> 32 ^ counter[1] ^ key[0],
            second & 0xFFFFFFFF,
            first >> 32 ^ counter[3] ^ key[1],
            first & 0xFFFFFFFF,
        ]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def test_known_answers():
    """The answers of the generator's authors; those of the Python function confirm it, too."""
    pi = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0]
    assert philox(*pi) == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]
    words = run(random_words, blocks=1, stream=Stream(0, 0))
    assert words[0].tolist() == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize("device", DEVICES)
def test_words(device):
    """The key is a constant or an input; numbers of streams have 64 bits."""
    number, key = 0x0370734413198A2E, -0x5D60CE2F5BF6C7DE
    wanted = [philox([i, 0, 0x13198A2E, 0x03707344], [0xA4093822, 0xA29F31D0]) for i in range(70)]
    stream = Stream(number, key % 2**64)
    np.testing.assert_array_equal(
        run(random_words, blocks=70, stream=stream, device=device), wanted
    )
    seed = np.array(key)
    got = run(random_words_of, seed, blocks=70, stream=Stream(number), device=device)
    np.testing.assert_array_equal(got, wanted)


def random_words_of(seed, blocks, stream):
    return random_words(blocks, stream, seed)


@pytest.mark.parametrize("device", DEVICES[1:])
def test_devices_draw_equal_numbers(device):
    """Uniform numbers and classes are equal; normal ones differ by the errors of functions.

    On each device, log and sqrt have up to 3 units, cos 4, and products half a unit each.
    """
    shape = (5, 7, 9)
    both = ["opencl:0", device]
    for limits in ({}, {"low": -1.0, "high": 1.0}, {"low": -1.3, "high": 0.9}):
        first, second = (
            run(uniform, shape=shape, dtype="float32", stream=STREAM, device=each, **limits)
            for each in both
        )
        np.testing.assert_array_equal(first, second)
    first, second = (
        run(normal, shape=shape, dtype="float32", stream=STREAM, device=each) for each in both
    )
    np.testing.assert_allclose(first, second, rtol=2 * 10 * 2.0**-23)
    x = np.linspace(0, 1, 60, dtype="float32").reshape(12, 5)
    for function, more in ((bernoulli, {}), (multinomial, {"samples": 9})):
        first, second = (
            run(function, x, dtype="int32", stream=STREAM, device=each, **more) for each in both
        )
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(("dtype", "bits"), [("float16", 11), ("float32", 24), ("float64", 53)])
def test_uniform(dtype, bits):
    x = run(uniform, shape=(COUNT,), dtype=dtype, stream=STREAM)
    assert x.dtype == dtype
    wide = x.astype("float64")
    assert ((wide >= 0) & (wide < 1)).all()
    assert (wide * 2.0**bits % 1 == 0).all() and (wide * 2.0 ** (bits - 1) % 1 != 0).any()
    center = 0.5 - 2.0 ** -(bits + 1)
    assert abs(wide.mean() - center) < 5 / sqrt(12 * COUNT)
    assert abs(wide.var() - 1 / 12) < 5 / sqrt(180 * COUNT)
    counts = np.bincount((wide * 256).astype(int), minlength=256)
    chi = ((counts - COUNT / 256) ** 2).sum() / (COUNT / 256)
    assert abs(chi - 255) < 5 * sqrt(2 * 255)
    for lag in (1, 2, 4):
        correlation = np.corrcoef(wide[lag:], wide[:-lag])[0, 1]
        assert abs(correlation) < 5 / sqrt(COUNT)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_normal(dtype):
    """Moments, and the distance of the distribution, which exceeds 2 / sqrt(n) once in 1,500."""
    x = run(normal, shape=(COUNT,), dtype=dtype, stream=STREAM, mean=2.0, scale=0.5)
    assert x.dtype == dtype
    wide = np.sort((x.astype("float64") - 2) / 0.5)
    assert abs(wide.mean()) < 5 / sqrt(COUNT)
    assert abs(wide.var() - 1) < 5 * sqrt(2 / COUNT)
    assert abs((wide**4).mean() - 3) < 5 * sqrt(96 / COUNT)
    expected = np.array([(1 + erf(each / sqrt(2))) / 2 for each in wide])
    step = 2.0**-9 if dtype == "float16" else 0  # half of the spacing, times the largest density
    assert abs(expected - (np.arange(COUNT) + 0.5) / COUNT).max() < 2 / sqrt(COUNT) + step


def test_streams_are_independent():
    others = [Stream(4, STREAM.key), Stream(3, STREAM.key + 1), Stream(3, STREAM.key ^ 1 << 63)]
    x, *rest = (
        run(uniform, shape=(COUNT,), dtype="float32", stream=each) for each in (STREAM, *others)
    )
    for each in rest:
        assert abs(np.corrcoef(x, each)[0, 1]) < 5 / sqrt(COUNT)


def test_bernoulli():
    p = np.array([0, 0.25, 0.7, 1], "float32")
    x = run(bernoulli, np.tile(p, (COUNT, 1)), dtype="int8", stream=STREAM)
    assert set(np.unique(x)) == {0, 1} and not x[:, 0].any() and x[:, 3].all()
    assert (abs(x.mean(0) - p) <= 5 * np.sqrt(p * (1 - p) / COUNT)).all()


def test_multinomial():
    """A class of probability 0 is never drawn; the logarithms may have any sum."""
    p = np.array([0, 0.1, 0.2, 0, 0.7, 0])
    with np.errstate(divide="ignore"):
        logarithms = np.log(np.stack([p, p[::-1]]) * 37).astype("float32")
    x = run(multinomial, logarithms, samples=COUNT, dtype="int64", stream=STREAM)
    for row, expected in zip(x, (p, p[::-1]), strict=True):
        counts = np.bincount(row, minlength=6) / COUNT
        assert (abs(counts - expected) <= 5 * np.sqrt(expected * (1 - expected) / COUNT)).all()
