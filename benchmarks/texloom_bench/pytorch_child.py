"""PyTorch's side of the benchmarks: makes and times arms on request of ``pytorch.py``.

A request is a line of JSON on standard input, an answer a line on the original standard output.
This module does not import texloom, so that PyTorch has the process to itself.
"""

import json
import os
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

Run = Callable[[], object]


def matmul(a, b) -> dict[str, Run]:
    """cuBLAS: ``[K, M]`` transposed times ``[K, N]``."""
    out = torch.empty((a.shape[1], b.shape[1]), device="cuda")
    return {"cuBLAS": lambda: torch.mm(a.t(), b, out=out)}


def convolution(x, w, padding: int) -> dict[str, Run]:
    """cuDNN: ``[N, I, H, W]`` with ``[O, I, KH, KW]``."""
    return {"cuDNN": lambda: torch.nn.functional.conv2d(x, w, padding=padding)}


def repeated_convolutions(x, w, padding: int, runs: int) -> dict[str, Run]:
    """cuDNN: `runs` times ``[N, H, W, I]`` with ``[KH, KW, I, O]`` in one CUDA graph.

    With weights ``[KH, KW, C]`` each channel has its own filter. There is one arm for each of
    PyTorch's memory formats.
    """
    groups = x.shape[3] if w.ndim == 3 else 1
    x = x.permute(0, 3, 1, 2)
    w = w.permute(2, 0, 1)[:, None] if w.ndim == 3 else w.permute(3, 2, 0, 1)
    arms = {}
    for name, order in (("NCHW", torch.contiguous_format), ("channels last", torch.channels_last)):
        own_x, own_w = (t.contiguous(memory_format=order) for t in (x, w))
        for _ in range(3):  # cuDNN measures its algorithms, which cannot happen in a graph
            torch.nn.functional.conv2d(own_x, own_w, padding=padding, groups=groups)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(runs):
                torch.nn.functional.conv2d(own_x, own_w, padding=padding, groups=groups)
        arms[name] = graph.replay
    return arms


def repeated_products(a, b, runs: int) -> dict[str, Run]:
    """cuBLAS: `runs` times ``[..., M, K]`` times ``[..., K, N]`` in one CUDA graph."""
    out = torch.matmul(a, b)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(runs):
            torch.matmul(a, b, out=out)
    return {"cuBLAS": graph.replay}


MAKERS = {
    each.__name__: each for each in (matmul, convolution, repeated_convolutions, repeated_products)
}


def seconds(run: Run, count: int) -> float:
    """Return seconds per run, for `count` runs with one wait."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # output of libraries goes there
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    available = torch.cuda.is_available()
    print(json.dumps(torch.cuda.get_device_name() if available else None), file=answers)
    arms: list[Run] = []
    for line in sys.stdin:
        request = json.loads(line)
        with torch.no_grad():
            if "time" in request:
                answer = seconds(arms[request["time"]], request["count"])
            else:
                arrays = [torch.from_numpy(np.load(file)).cuda() for file in request["arrays"]]
                made = MAKERS[request["make"]](*arrays, **request["options"])
                answer = {name: len(arms) + i for i, name in enumerate(made)}
                arms += made.values()
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main()
