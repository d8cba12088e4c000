"""Single operators of networks on the target llvm, next to onnxruntime, by one thread."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

TARGET = "llvm -mcpu=native"
_TOLERANCE = 1e-4
"""Of the largest magnitude: far above rounding of sums of these lengths, far below a wrong term."""

LEGEND = """
ratio        onnxruntime's time over ours: above 1, we are faster
Processor time of the calling thread, of a call with NumPy's arrays in and out; both take turns, the
median of all turns. Checked first: outputs against onnxruntime's."""


@dataclass(frozen=True)
class Case:
    """A model in ONNX's text form, after its header; weights are drawn at random.

    Attributes
    ----------
    name : str
    text : str
        Inputs, outputs and nodes.
    weights : dict of str to shape
        Initializers in float32.
    constants : dict of str to list
        Initializers in int64.
    """

    name: str
    text: str
    weights: dict[str, tuple[int, ...]]
    constants: dict[str, list[int]]


def _case(name: str, text: str, **initializers: Any) -> Case:
    weights = {n: each for n, each in initializers.items() if isinstance(each, tuple)}
    constants = {n: each for n, each in initializers.items() if isinstance(each, list)}
    return Case(name, text, weights, constants)


def _f(name: str, *shape: int) -> str:
    return f"float[{','.join(map(str, shape))}] {name}"


def _one(name: str, call: str, *shape: int, **initializers: Any) -> Case:
    """Return a case of one input ``x`` and of nodes that compute ``y``."""
    text = f"run ({_f('x', *shape)}) => (y) {{ {call} }}"
    return _case(name, text, **initializers)


_PICTURE = (1, 64, 56, 56)
_CHAIN = """a = Mul(x, w)  b = Add(a, x)  c = Sigmoid(b)  d = Mul(c, b)  e = Sub(d, x)  f = Tanh(e)
 g = Mul(f, w)  h = Add(g, d)  i = Abs(h)  y = Sqrt(i)"""

CASES = (
    _one("softmax 12x128x128", "y = Softmax<axis=-1>(x)", 1, 12, 128, 128),
    _one("softmax 1000x32", "y = Softmax<axis=-1>(x)", 1000, 32),
    _one("softmax channels 21x64x64", "y = Softmax<axis=1>(x)", 1, 21, 64, 64),
    _one("log-softmax 64x1000", "y = LogSoftmax<axis=-1>(x)", 64, 1000),
    _one("layernorm 128x768", "y = LayerNormalization(x, w, v)", 1, 128, 768, w=(768,), v=(768,)),
    _one(
        "layernorm channels 56x56x96",
        "t = Transpose<perm=[0,2,3,1]>(x)  u = LayerNormalization(t, w, v)"
        "  y = Transpose<perm=[0,3,1,2]>(u)",
        1, 96, 56, 56, w=(96,), v=(96,),
    ),
    _one(
        "instance norm 64x56x56",
        "y = InstanceNormalization(x, w, v)", *_PICTURE, w=(64,), v=(64,),
    ),
    _case(
        "group norm 64x56x56",
        f"run ({_f('x', *_PICTURE)}) => ({_f('y', *_PICTURE)})"
        " { y = GroupNormalization<num_groups=8>(x, w, v) }",
        w=(64,), v=(64,),
    ),
    _one(
        "batch norm 64x56x56",
        "y = BatchNormalization(x, w, w, v, w)", *_PICTURE, w=(64,), v=(64,),
    ),
    _one("transpose NCHW to NHWC", "y = Transpose<perm=[0,2,3,1]>(x)", *_PICTURE),
    _one("transpose NHWC to NCHW", "y = Transpose<perm=[0,3,1,2]>(x)", 1, 56, 56, 64),
    _one(
        "split of heads 128x12x64",
        "r = Reshape(x, s)  y = Transpose<perm=[0,2,1,3]>(r)", 1, 128, 768, s=[1, 128, 12, 64],
    ),
    _one("transpose 512x512", "y = Transpose<perm=[1,0]>(x)", 512, 512),
    _one("keys of heads 12x64x128", "y = Transpose<perm=[0,2,3,1]>(x)", 1, 128, 12, 64),
    _one(
        "max pool 3x3 s2 64x112x112",
        "y = MaxPool<kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]>(x)", 1, 64, 112, 112,
    ),
    _one(
        "max pool 2x2 s2 64x56x56",
        "y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x)", *_PICTURE,
    ),
    _one(
        "average pool 3x3 64x56x56",
        "y = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1]>(x)", *_PICTURE,
    ),
    _one("global average 512x7x7", "y = GlobalAveragePool(x)", 1, 512, 7, 7),
    _one("global average 64x56x56", "y = GlobalAveragePool(x)", *_PICTURE),
    _one(
        "resize bilinear 2x 64x28x28",
        'y = Resize<mode="linear">(x, , s)', 1, 64, 28, 28, s=(-1, 4),
    ),
    _one(
        "resize nearest 2x 64x28x28",
        'y = Resize<mode="nearest", coordinate_transformation_mode="asymmetric",'
        ' nearest_mode="floor">(x, , s)',
        1, 64, 28, 28, s=(-1, 4),
    ),
    _one("sigmoid 100000", "y = Sigmoid(x)", 100000),
    _one("tanh 100000", "y = Tanh(x)", 100000),
    _one("erf 100000", "y = Erf(x)", 100000),
    _one("gelu 128x3072", "y = Gelu(x)", 1, 128, 3072),
    _one("hard swish 64x56x56", "y = HardSwish(x)", *_PICTURE),
    _one("add of channels 64x56x56", "y = Add(x, w)", *_PICTURE, w=(1, 64, 1, 1)),
    _one("add of rows 128x768", "y = Add(x, w)", 128, 768, w=(768,)),
    _case(
        "concat 2 x 32x56x56",
        f"run ({_f('x', 1, 32, 56, 56)}, {_f('z', 1, 32, 56, 56)}) => (y)"
        " { y = Concat<axis=1>(x, z) }",
    ),
    _case(
        "concat last 128x(256+512)",
        f"run ({_f('x', 128, 256)}, {_f('z', 128, 512)}) => (y)"
        " { y = Concat<axis=-1>(x, z) }",
    ),
    _one(
        "slice of channels 32 of 64x56x56",
        "y = Slice(x, a, b, c)", *_PICTURE, a=[16], b=[48], c=[1],
    ),
    _one("pad 64x56x56", "y = Pad(x, p)", *_PICTURE, p=[0, 0, 1, 1, 0, 0, 1, 1]),
    _one("mean of last 128x768", "y = ReduceMean<keepdims=1>(x, a)", 128, 768, a=[-1]),
    _one("mean of first 128x768", "y = ReduceMean<keepdims=1>(x, a)", 128, 768, a=[0]),
    _one("max of channels 64x56x56", "y = ReduceMax<keepdims=1>(x, a)", *_PICTURE, a=[1]),
    _one("argmax 100x1000", "y = ArgMax<axis=-1>(x)", 100, 1000),
    _one(
        "LSTM 16x1x64",
        "y, h, c = LSTM<hidden_size=64>(x, w, r, v)",
        16, 1, 64, w=(1, 256, 64), r=(1, 256, 64), v=(1, 512),
    ),
    _one(
        "GRU 16x1x64",
        "y, h = GRU<hidden_size=64>(x, w, r, v)",
        16, 1, 64, w=(1, 192, 64), r=(1, 192, 64), v=(1, 384),
    ),
    _case(
        "gather 128 of 30000x128",
        "run (int64[1,128] x) => (y) { y = Gather(w, x) }",
        w=(30000, 128),
    ),
    _one("chain of 10 nodes 64x56x56", _CHAIN, *_PICTURE, w=(1, 64, 1, 1)),
    _case(
        "attention 4 heads 64x32",
        f"run ({_f('q', 1, 4, 64, 32)}, {_f('k', 1, 4, 32, 64)}, {_f('v', 1, 4, 64, 32)}) => (y)"
        " { a = MatMul(q, k)  b = Mul(a, s)  c = Softmax(b)  y = MatMul(c, v) }",
        s=(1,),
    ),
    _one("add 16", "y = Add(x, x)", 16),
)  # fmt: skip


def model_of(case: Case) -> Any:
    """Return the model of a case."""
    import numpy as np
    import onnx

    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 21]> {case.text}')
    rng = np.random.default_rng(0)
    arrays: dict[str, Any] = {n: np.array(each, "int64") for n, each in case.constants.items()}
    for name, shape in case.weights.items():
        if shape[0] == -1:  # scales of a resized picture
            arrays[name] = np.array([1, 1, 2, 2], "float32")
        else:
            arrays[name] = rng.uniform(0.1, 0.5, shape).astype("float32")
    for name, array in arrays.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return onnx.shape_inference.infer_shapes(model)


def _inputs(model: Any) -> dict[str, Any]:
    import numpy as np

    rng = np.random.default_rng(1)
    made = {}
    for each in model.graph.input:
        shape = [d.dim_value for d in each.type.tensor_type.shape.dim]
        is_index = each.type.tensor_type.elem_type == 7
        drawn = rng.integers(0, 30000, shape) if is_index else rng.standard_normal(shape, "float32")
        made[each.name] = drawn
    return made


def measure(case: Case, rounds: int) -> tuple[float, float, bool]:
    """Return our seconds, onnxruntime's, and whether outputs agree."""
    import texloom
    from texloom.command_line.peers import largest_difference, onnxruntime_session

    model = model_of(case)
    inputs = _inputs(model)
    ours = texloom.compile(model, TARGET)
    theirs = onnxruntime_session(model.SerializeToString(), threads=1)
    names = [each.name for each in model.graph.output]
    expected = dict(zip(names, theirs.run(None, inputs), strict=True))
    right = largest_difference(ours.run(inputs), expected, "onnxruntime") < _TOLERANCE
    arms = [lambda: ours.run(inputs), lambda: theirs.run(None, inputs)]
    seconds = turns(arms, rounds)
    return seconds[0], seconds[1], right


def turns(arms: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """Return the median processor time of each, by turns of some milliseconds."""
    counts = []
    for run in arms:
        run()
        start = time.thread_time()
        run()
        counts.append(max(1, int(2e-3 / max(time.thread_time() - start, 1e-6))))
    samples: list[list[float]] = [[] for _ in arms]
    for _ in range(rounds):
        for run, count, kept in zip(arms, counts, samples, strict=True):
            start = time.thread_time()
            for _ in range(count):
                run()
            kept.append((time.thread_time() - start) / count)
    return [statistics.median(each) for each in samples]


def table(options: argparse.Namespace) -> bool:
    """Measure and print; return whether all results were right."""
    chosen = [case for case in CASES if options.only in case.name]
    print(f"{'operator':36}{'us':>10}{'onnxruntime':>14}{'ratio':>8}")
    right, ratios, rows = True, [], []
    for case in chosen:
        own, peer, is_right = measure(case, options.rounds)
        ratios.append(peer / own)
        cells = f"{own * 1e6:10.1f}{peer * 1e6:14.1f}{peer / own:8.2f}"
        print(f"{case.name:36}{cells}{'' if is_right else '  WRONG'}", flush=True)
        right &= is_right
        rows.append({"operator": case.name, "seconds": own, "onnxruntime": peer})
    if ratios:
        print(f"{'geometric mean':36}{exp(sum(map(log, ratios)) / len(ratios)):32.2f}")
    print(LEGEND)
    if options.json is not None:
        options.json.write_text(json.dumps(rows))
    return right


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; return 0, 1 if a result was wrong, 130 after Ctrl-C."""
    from pathlib import Path

    from . import command_line

    parser = argparse.ArgumentParser(
        prog="python -m texloom_bench operators",
        description="Times single operators of networks on the target llvm, next to onnxruntime.",
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a first look")
    parser.add_argument("--only", default="", metavar="TEXT", help="operators whose name has TEXT")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the table to a file")
    options = parser.parse_args(arguments)
    options.rounds = 5 if options.quick else 25
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])  # one thread, of ours and theirs
    return command_line.exit_status("texloom_bench", lambda: table(options))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
