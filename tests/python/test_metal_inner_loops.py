"""Inner loops in Metal's language read and multiply as often as those in OpenCL C."""

import re

import pytest

import texloom as tvm
from texloom import te
from texloom.ops import conv2d, matmul, texel_matmul


def product_in_buffers():
    inputs_and_output = matmul.matmul(512, 512, 512)
    return matmul.schedule_matmul(*inputs_and_output), inputs_and_output


def product_in_textures():
    form = texel_matmul.vector_accumulators
    a, b = (te.placeholder((512, 128, 4), name=name) for name in "AB")
    c = form(a, b)
    return texel_matmul.schedule(form, a, b, c, copy=True), [a, b, c]


def convolution(storage):
    data = te.placeholder((1, 16, 32, 32, 4), name="data")
    weight = te.placeholder((16, 64, 3, 3, 4), name="weight")
    output = conv2d.conv2d_nchw4c(data, weight)
    return conv2d.schedule_conv2d_nchw4c(output, storage), [data, weight, output]


KERNELS = {
    "product, buffers": product_in_buffers,
    "product, textures": product_in_textures,
    "3x3 convolution, buffers": lambda: convolution("buffer"),
    "3x3 convolution, textures": lambda: convolution("texture"),
}
# What counts, in OpenCL C and in Metal's language.
WORDS = {
    "texture reads": (r"\bread_imagef\(", r"\.(?:read|sample)\("),
    "accesses": (r"\bvload\d\(|\b\w+\[", r"packed_float\d|\b\w+\["),
    "fma": (r"\bfma\(", r"\bfma\("),
}


def loop_of_products(source):
    """Return the outermost loop that multiplies most, with the loops in it."""
    loops = re.findall(r"^  for \(.*?^  \}", source, re.DOTALL | re.MULTILINE)
    return max(loops, key=lambda loop: loop.count("fma("))


def counts(source, language):
    """Return how often a kernel's loop has what counts."""
    loop = loop_of_products(source)
    return {what: len(re.findall(words[language], loop)) for what, words in WORDS.items()}


@pytest.mark.parametrize("name", KERNELS)
def test_inner_loops_are_those_of_opencl(name):
    schedule, args = KERNELS[name]()
    opencl, metal = (
        counts(tvm.build(schedule, args, target).kernels[-1].source, language)
        for language, target in enumerate(("opencl -device=adreno", "metal -device=m1"))
    )
    print(f"\n{name}: {metal}")
    assert metal == opencl
    assert metal["fma"] >= 8
    assert metal["texture reads"] >= 3 or "textures" not in name
