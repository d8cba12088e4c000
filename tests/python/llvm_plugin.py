"""Whether the LLVM plug-in is built, which tests of native code need."""

import functools
from pathlib import Path

import texloom
from texloom import te

PLUGIN = Path(__file__).parents[2] / "build/texloom_llvm.so"


@functools.cache
def has_llvm():
    """Whether functions can be built for the target llvm. Fails if the plug-in is there in vain."""
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: x[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    try:
        texloom.build(s, [x, y], "llvm")
    except texloom.TVMError as error:
        assert "this installation has no LLVM" in str(error)
        assert not PLUGIN.exists(), error
        return False
    return True
