"""Part 1: a schedule with a texture cache, from the user's script to the GPU's code."""

from __future__ import annotations

import numpy as np

import texloom as tvm
from texloom import te
from texloom.target import target_for

from .console import Output


def computation() -> tuple[te.Schedule, list[te.Tensor]]:
    """The example: Y = X + 1, with X read through a texture."""
    X = te.placeholder((32, 32, 4), dtype="float32", name="X")  # noqa: N806
    Y = te.compute((32, 32, 4), lambda i, j, k: X[i, j, k] + 1, name="Y")  # noqa: N806
    s = te.create_schedule(Y.op)
    Xt = s.cache_read(X, "texture", [Y])  # noqa: N806
    x, y, c = s[Xt].op.axis
    s[Xt].bind(x, te.thread_axis("blockIdx.x"))
    s[Xt].bind(y, te.thread_axis("threadIdx.x"))
    s[Xt].vectorize(c)
    x, y, c = s[Y].op.axis
    xo, yo, xi, yi = s[Y].tile(x, y, 4, 4)
    s[Y].bind(xo, te.thread_axis("blockIdx.x"))
    s[Y].bind(yo, te.thread_axis("threadIdx.x"))
    s[Y].vectorize(c)
    return s, [X, Y]


def language(device: tvm.Device) -> str:
    """Return the name of the language of a device's kernels."""
    return "Metal's language" if device.driver == "metal" else "OpenCL C"


def show(out: Output, device: tvm.Device) -> bool:
    """Lower, compile and run the example, show every step; return whether the result is right."""
    schedule, args = computation()
    out.program("the schedule", str(schedule))
    texts = tvm.lower_texts(schedule, args)
    out.program("the program after flatten_storage: texels and offsets", texts["flatten_storage"])
    out.program(
        "the lowered program: a launch plan and two kernels", str(tvm.lower(schedule, args))
    )
    function = tvm.build(schedule, args, target=target_for(device), name="add_one")
    for kernel in function.kernels:
        title = f"{language(device)} of {kernel.name}, grid {kernel.grid}, block {kernel.block}"
        out.program(title, kernel.source, "c")

    values = np.random.default_rng(0).standard_normal((32, 32, 4), dtype=np.float32)
    x = tvm.nd.array(values, device)
    y = tvm.nd.empty(values.shape, "float32", device)
    function(x, y)
    wrong = int(np.count_nonzero(y.numpy() != values + 1))
    verdict = "equal bit by bit" if wrong == 0 else f"WRONG in {wrong} places"
    out.text(f"check against NumPy: {values.size} values, {verdict}")
    return wrong == 0
