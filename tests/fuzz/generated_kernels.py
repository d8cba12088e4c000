"""Generates kernels of operators and of random programs for other tools to check."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import texloom
from texloom import examples
from texloom.examples.matmul import SHARED, WARPS, Tiles, declarations, matmul, schedule_matmul
from texloom_fuzz import check
from texloom_fuzz.job import text_of

Program = Callable[[], None]  # builds a function and runs it on opencl(0)


def convolution(storage: str, channels: int, stride: int) -> None:
    rng = np.random.default_rng(channels)
    images = rng.random((2, channels, 9, 11), dtype=np.float32)
    filters = rng.random((6, channels, 3, 3), dtype=np.float32)
    examples.Conv2dLayer(images, filters, storage, texloom.opencl(), stride=stride).run()


def product(storage: str, tiles: Tiles) -> None:
    m, n, k = 32, 64, 16
    a, b, c = matmul(m, n, k)
    s = schedule_matmul(a, b, c, tiles)
    function = texloom.build(s, [a, b, c], binds=declarations((a, b), storage))
    device = texloom.opencl()
    scope = "texture" if storage == "texture" else None
    x, y = (texloom.nd.array(np.ones((k, w), np.float32), device, scope) for w in (m, n))
    function(x, y, texloom.nd.empty((m, n), "float32", device))


def operators() -> Iterator[tuple[str, Program]]:
    """Yield convolutions and matrix products, each through textures and through buffers."""
    tiles = {
        "shared tiles": replace(SHARED, block=(32, 32, 4), lanes=(4, 4)),
        "tiles of warps": replace(WARPS, block=(32, 32, 4), thread=(8, 8), lanes=(2, 4)),
    }
    for storage in ("texture", "buffer"):
        for channels, stride in ((3, 1), (5, 2)):
            name = f"convolution, {channels} channels, stride {stride}, {storage}"
            yield name, lambda s=storage, c=channels, d=stride: convolution(s, c, d)
        for name, of in tiles.items():
            yield f"product, {name}, {storage}", lambda s=storage, t=of: product(s, t)


def random_program(seed: int, *, run: bool) -> None:
    """Build one program of texloom_fuzz; with `run`, also compare it with the interpreter."""
    text = text_of(seed)
    if run:
        outcome = check.check(text, [texloom.opencl()])
        if outcome.failed:
            raise AssertionError(f"{outcome.kind}: {outcome.detail}")
        return
    with warnings.catch_warnings(), contextlib.suppress(texloom.TVMError):  # if refused
        warnings.simplefilter("ignore", texloom.TexloomWarning)
        half = "float16" in text and seed % 2 == 0
        texloom.build(texloom.parse(check.with_half_arithmetic(text, half)))


def programs(first_seed: int = 0, *, run: bool) -> Iterator[tuple[str, Program]]:
    """Yield the operators, then random programs of consecutive seeds without end."""
    yield from operators()
    yield from random_programs(first_seed, run=run)


def random_programs(first_seed: int, *, run: bool) -> Iterator[tuple[str, Program]]:
    for seed in itertools.count(first_seed):
        yield f"texloom_fuzz, seed {seed}", lambda s=seed: random_program(s, run=run)


class _Built(BaseException):
    """Ends a program after its kernels are built, before they run."""


@contextlib.contextmanager
def recorded_builds(*, run: bool) -> Iterator[list[Any]]:
    """Yield a list that collects the kernels built in the block; with `run`, they run, too."""
    kernels: list[Any] = []
    build = texloom.building.build

    def recording(*args: Any, **options: Any) -> Any:
        function = build(*args, **options)
        kernels.extend(function.kernels)
        if not run:
            raise _Built
        return function

    texloom.build = texloom.building.build = check.build = recording
    try:
        yield kernels
    except _Built:
        pass
    finally:
        texloom.build = texloom.building.build = check.build = build
