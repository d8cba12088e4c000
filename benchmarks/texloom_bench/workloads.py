"""Computations of blocked tensors: the best schedules with textures and with buffers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from texloom._core import Schedule, Tensor

from texloom import Device, build, nd, te
from texloom.examples import blocked_conv2d, texel_matmul
from texloom.examples.blocked_conv2d import Convolution, Tiling
from texloom.examples.rounding import sum_error_bound
from texloom.examples.texel_schedules import spread
from texloom.measure.loop import Arm, medians
from texloom.tir.buffer import decl_buffer

SCOPES: Mapping[str, tuple[str | None, str | None]] = {
    "texture": ("texture", "texture:weight"),
    "buffer": (None, None),
}
"""The scopes of the inputs by storage; the output is a buffer."""

Variants = Mapping[str, Callable[[Sequence[Tensor], Tensor], Schedule]]


@dataclass(frozen=True)
class Workload:
    """A computation and its schedules, which do not decide the storage of the inputs.

    Attributes
    ----------
    shapes : tuple of tuple of int
        Shapes of the inputs.
    compute : callable
        Computes the output from the inputs.
    variants : dict of str to callable
        Schedules by name, made from inputs and output.
    terms : int
        Number of products summed for an element of the output.
    """

    name: str
    shapes: tuple[tuple[int, ...], ...]
    compute: Callable[..., Tensor]
    variants: Variants
    terms: int = 1


def _element_wise(*shape: int) -> Workload:
    def compute(x: Tensor) -> Tensor:
        return te.compute(shape, lambda *i: x(*i) * 2.0 + 1.0, name="out")

    def variant(threads: int) -> Callable[[Sequence[Tensor], Tensor], Schedule]:
        def scheduled(_: Sequence[Tensor], out: Tensor) -> Schedule:
            s = te.create_schedule(out.op)
            spread(s, out, threads)
            return s

        return scheduled

    variants = {f"{threads} threads": variant(threads) for threads in (32, 64, 128, 256)}
    return Workload(f"element-wise, rank {len(shape)}", (shape,), compute, variants)


def _matmul(form: texel_matmul.Form) -> Workload:
    shape = (32, 64, 4)

    def variant(
        tile: int, threads: tuple[int, int], copy: bool
    ) -> Callable[[Sequence[Tensor], Tensor], Schedule]:
        return lambda inputs, out: texel_matmul.schedule(
            form, *inputs, out, copy, textures=False, tile=tile, threads=threads
        )

    choices = product((1, 2), ((4, 8), (8, 16)), (False, True))
    variants = {
        f"{tile}x{tile} of {rows}x{columns}{', local' * copy}": variant(tile, (rows, columns), copy)
        for tile, (rows, columns), copy in choices
    }
    name = f"matmul, {form.__name__.replace('_', ' ')}"
    return Workload(name, (shape, shape), form, variants, shape[0] * shape[1] * 4)


def _convolution(
    convolution: Convolution, data: tuple[int, ...], weight: tuple[int, ...], columns: int
) -> Workload:
    """Return a workload; `columns` is the number of threads along a row, with 4 pixels each."""

    def variant(tiling: Tiling) -> Callable[[Sequence[Tensor], Tensor], Schedule]:
        return lambda inputs, out: blocked_conv2d.schedule(
            convolution, *inputs, out, tiling, textures=False
        )

    choices = product((1, 2, 4), (4, 8), ("", "local", "shared"))
    variants = {
        f"{pixels}x{4 * columns // pixels}x{channels} {near}": variant(
            Tiling(
                pixels, 4 * columns // pixels, channels, shared=near == "shared", copy=near != ""
            )
        )
        for pixels, channels, near in choices
        if 4 * columns // pixels * channels <= 512
    }
    _, w = convolution.extents(data, weight)
    window = f"{w['R']}x{w['S']}"
    kind = f"depthwise {window}" if convolution.groups > 1 else window
    name = f"{kind} {convolution.data} {convolution.weight}"
    return Workload(name, (data, weight), convolution.compute, variants, w["C"] * w["R"] * w["S"])


WORKLOADS = (
    _element_wise(1024, 1024, 4),
    _element_wise(1, 32, 112, 112, 4),
    *(_matmul(form) for form in texel_matmul.FORMS),
    _convolution(Convolution(weight="RSCKk"), (1, 32, 56, 56, 4), (1, 1, 128, 32, 4), 14),
    _convolution(Convolution("WCHNc", "CRSKk"), (56, 32, 56, 1, 4), (128, 1, 1, 32, 4), 14),
    _convolution(Convolution(), (1, 32, 56, 56, 4), (32, 128, 1, 1, 4), 14),
    _convolution(Convolution(), (1, 32, 112, 112, 4), (32, 128, 3, 3, 4), 11),
    _convolution(Convolution(groups=96), (1, 24, 257, 257, 4), (24, 1, 3, 3, 4), 17),
)


@dataclass(frozen=True)
class Best:
    """The fastest variant of one storage: its name and median seconds."""

    variant: str
    seconds: float


class Measurement:
    """The arms of one workload on a device, each checked against the first."""

    def __init__(self, workload: Workload, device: Device, runs: int) -> None:
        self._workload = workload
        self._device = device
        self._runs = runs
        rng = np.random.default_rng(len(workload.name))
        self._values = [rng.standard_normal(v, dtype=np.float32) for v in workload.shapes]
        self._expected: np.ndarray | None = None
        self._bound: np.ndarray | None = None
        self.right = True

    def arms(self, storage: str, quick: bool) -> dict[str, Arm]:
        """Return the variants by name; with `quick`, only the first and the last."""
        names = list(self._workload.variants)
        if quick:
            names = [names[0], names[-1]]
        return {name: self._arm(name, SCOPES[storage][: len(self._values)]) for name in names}

    def _arm(self, name: str, scopes: tuple[str | None, ...]) -> Arm:
        shapes = self._workload.shapes
        inputs = [te.placeholder(v, name=f"in{n}") for n, v in enumerate(shapes)]
        output = self._workload.compute(*inputs)
        scheduled = self._workload.variants[name](inputs, output)
        binds = {
            t: decl_buffer(t.shape, t.dtype, t.name, scope=scope)
            for t, scope in zip(inputs, scopes, strict=True)
            if scope is not None
        }
        function = build(scheduled, [*inputs, output], "opencl", binds=binds)
        result = nd.empty([int(n) for n in output.shape], "float32", self._device)

        def on_device(values: Sequence[np.ndarray]) -> list[nd.NDArray]:
            pairs = zip(values, scopes, strict=True)
            return [nd.array(v, self._device, scope) for v, scope in pairs]

        if self._bound is None:
            function(*on_device([np.abs(v) for v in self._values]), result)
            # The sums of magnitudes, and both results, have errors up to this bound.
            self._bound = 4 * sum_error_bound(self._workload.terms + 2, result.numpy())
        arrays = on_device(self._values)
        function(*arrays, result)
        if self._expected is None:
            self._expected = result.numpy()
        self.right &= bool((np.abs(result.numpy() - self._expected) <= self._bound).all())
        return Arm(lambda: function.enqueue(self._runs, *arrays, result), self._device.sync)


def measure(
    workload: Workload, device: Device, rounds: int, runs: int, quick: bool
) -> tuple[dict[str, Best], bool]:
    """Time the best variant of each storage alternately; return whether all results agreed."""
    measurement = Measurement(workload, device, runs)
    names, arms = [], []
    for storage in SCOPES:
        candidates = measurement.arms(storage, quick)
        trial = medians(list(candidates.values()), rounds=3, sample_seconds=0)
        fastest = min(zip(trial, candidates, strict=True))[1]
        names.append(fastest)
        arms.append(candidates[fastest])
    times = medians(arms, rounds=rounds)
    best = {
        storage: Best(name, seconds / runs)
        for storage, name, seconds in zip(SCOPES, names, times, strict=True)
    }
    return best, measurement.right


def table(device: Device, rounds: int, runs: int, quick: bool) -> Iterator[tuple[str, bool]]:
    """Return the lines, and whether the results were right."""
    yield (
        f"\nBlocked tensors, the best of several schedules; medians of {rounds} x {runs} runs",
        True,
    )
    columns = "".join(f"{storage + ' ms':>11}  {'schedule':20}" for storage in SCOPES)
    yield f"{'':34}{columns}{'buf/tex':>9}", True
    for workload in WORKLOADS:
        best, right = measure(workload, device, rounds, runs, quick)
        cells = "".join(f"{b.seconds * 1e3:11.4f}  {b.variant:20}" for b in best.values())
        ratio = best["buffer"].seconds / best["texture"].seconds
        yield f"{workload.name:34}{cells}{ratio:9.2f}" + ("" if right else "  WRONG"), right
