"""Whether the LLVM plug-in is built, which tests of native code need."""

import functools

import texloom
from texloom import te


@functools.cache
def has_llvm():
    """Whether functions can be built for the target llvm."""
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: x[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    try:
        texloom.build(s, [x, y], "llvm")
    except texloom.TVMError as error:
        assert "this installation has no LLVM" in str(error)
        return False
    return True
