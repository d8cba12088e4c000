"""What programs outside of the checkout get: an install tree, packages, and kernels to link."""

import pytest
from install_tree import BUILD, HEIGHT, WIDTH, run
from llvm_plugin import has_llvm

import texloom
from texloom import te


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """An install tree that was moved after it was installed."""
    folder = tmp_path_factory.mktemp("embedding")
    run("cmake", "--install", BUILD, "--prefix", folder / "first", "--component", "development")
    return (folder / "first").rename(folder / "prefix")


@pytest.fixture(scope="session")
def package(tree):
    """Make a package that inverts and swaps colors, and adds half of the pixel on the left.

    The picture goes through a texture.
    """
    x = te.placeholder((HEIGHT, WIDTH, 3), "float32", name="x")
    y = te.compute(
        (HEIGHT, WIDTH, 3),
        lambda i, j, c: (1 - x[i, j, 2 - c]) / 2
        + te.if_then_else(j > 0, x[i, te.max(j - 1, 0), c], 0.0) / 2,
        name="y",
    )
    s = te.create_schedule(y.op)
    for stage in (s.cache_read(x, "texture", [y]), y):
        rows, columns = stage.op.axis[:2]
        s[stage].bind(rows, te.thread_axis("blockIdx.x"))
        s[stage].bind(columns, te.thread_axis("threadIdx.x"))
    file = tree.parent / "turned.tlp"
    texloom.build(s, [x, y], "opencl", name="turned").export_library(str(file))
    return file


@pytest.fixture(scope="session")
def kernels(tree):
    """An object file with kernels that invert colors, its header and its package."""
    if not has_llvm():
        pytest.skip("the LLVM plug-in is not built")
    x = te.placeholder((HEIGHT, WIDTH, 3), "float32", name="x")
    y = te.compute(x.shape, lambda i, j, c: 1 - x[i, j, c], name="y")
    s = te.create_schedule(y.op)
    s[y].parallel(y.op.axis[0])
    file = tree.parent / "negative_kernels.o"
    texloom.build(s, [x, y], "llvm", name="negative").save(file)
    return file
