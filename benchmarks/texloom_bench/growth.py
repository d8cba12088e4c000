"""Compile time and memory of programs of any size, measured in a separate process.

``python -m texloom_bench.growth KIND STATEMENTS`` prints the seconds and the MiB as JSON.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

from texloom._core import IterVar, Schedule, Tensor

import texloom
from texloom import te
from texloom.measure.loop import Arm, medians

ROUNDS = 3
UNROLLED = 50
"""Statements of each kernel of `many_kernels`."""
STAGES = 5
"""Stages of the one kernel of `one_kernel`, each unrolled: a loop is unrolled to at most 4096."""


def _reversed(extent: int, source: Tensor, name: str) -> Tensor:
    return te.compute((extent,), lambda i: source[extent - 1 - i] * 2.0 + 1.0, name=name)


def _unrolled_in_one_block(s: Schedule, tensor: Tensor) -> IterVar:
    block, inner = s[tensor].split(s[tensor].op.axis[0], nparts=1)
    s[tensor].bind(block, te.thread_axis("blockIdx.x"))
    s[tensor].unroll(inner)
    return block


def one_kernel(statements: int) -> tuple[Schedule, list[Tensor]]:
    """Return a kernel with this many stores, all different."""
    extent = statements // STAGES
    tensors = [te.placeholder((extent,), name="source")]
    for number in range(STAGES):
        tensors.append(_reversed(extent, tensors[-1], f"stage{number}"))
    s = te.create_schedule(tensors[-1].op)
    block = _unrolled_in_one_block(s, tensors[-1])
    for tensor in tensors[1:-1]:
        s[tensor].set_scope("local")
        s[tensor].compute_at(s[tensors[-1]], block)
        s[tensor].unroll(s[tensor].op.axis[0])
    return s, [tensors[0], tensors[-1]]


def many_kernels(statements: int) -> tuple[Schedule, list[Tensor]]:
    """Return a chain of kernels with 50 stores each."""
    tensors = [te.placeholder((UNROLLED,), name="source")]
    for number in range(statements // UNROLLED):
        tensors.append(_reversed(UNROLLED, tensors[-1], f"stage{number}"))
    s = te.create_schedule(tensors[-1].op)
    for tensor in tensors[1:]:
        _unrolled_in_one_block(s, tensor)
    return s, [tensors[0], tensors[-1]]


KINDS: dict[str, Callable[[int], tuple[Schedule, list[Tensor]]]] = {
    "one kernel": one_kernel,
    "many kernels": many_kernels,
}


def _peak() -> float:
    """Return the peak MiB of this process; getrusage would include the parent's."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) / 1024


def measure(kind: str, statements: int) -> dict[str, float]:
    """Return the median seconds from schedule to OpenCL C, and the additional MiB used."""
    texloom.build(*KINDS[kind](100), "opencl")  # perform the work done once per process
    before = _peak()
    schedule, arguments = KINDS[kind](statements)
    build = Arm(lambda: texloom.build(schedule, arguments, "opencl"))
    (seconds,) = medians([build], rounds=ROUNDS, sample_seconds=0)
    return {"seconds": seconds, "mebibytes": _peak() - before}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
