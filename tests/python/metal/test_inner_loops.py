"""Inner loops in Metal's language read and multiply as often as those in OpenCL C."""

import re
from pathlib import Path

import pytest

import texloom as tvm
from texloom import te
from texloom.examples import conv2d, matmul, texel_matmul


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


# Each kernel with its loop's numbers of texture reads, subscripts (also of arrays in registers) and
# fma; the table is in docs/metal.md.
KERNELS = {
    "product of matrices, buffers": (product_in_buffers, (0, 1100, 256)),
    "product of matrices, textures": (product_in_textures, (4, 36, 8)),
    "3x3 convolution, buffers": (lambda: convolution("buffer"), (0, 217, 48)),
    "3x3 convolution, textures": (lambda: convolution("texture"), (18, 217, 48)),
}
# The patterns to count, in OpenCL C and in Metal's language.
WORDS = {
    "texture reads": (r"\bread_imagef\(", r"\.(?:read|sample)\("),
    "subscripts": (r"\bvload\d\(|\b\w+\[", r"packed_float\d|\b\w+\["),
    "fma": (r"\bfma\(", r"\bfma\("),
}


def loop_of_products(source):
    """Return the outermost loop with the most products, including its inner loops."""
    loops = re.findall(r"^  for \(.*?^  \}", source, re.DOTALL | re.MULTILINE)
    return max(loops, key=lambda loop: loop.count("fma("))


def counts(source, language):
    """Return how often each pattern of WORDS occurs in a kernel's loop."""
    loop = loop_of_products(source)
    return tuple(len(re.findall(words[language], loop)) for words in WORDS.values())


@pytest.mark.parametrize("name", KERNELS)
def test_inner_loops_are_those_of_opencl(name):
    make, expected = KERNELS[name]
    schedule, args = make()
    for language, target in enumerate(("opencl -device=adreno", "metal -device=m1")):
        kernel = tvm.build(schedule, args, target).kernels[-1]
        assert counts(kernel.source, language) == expected
    row = f"| {name} | {expected[0]} | {expected[1]:,} | {expected[2]} |"
    page = Path(__file__).parents[3] / "docs/metal.md"
    assert row in page.read_text()
