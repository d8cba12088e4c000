"""Generates the programs that tests/kernel_diff.py compiles: operators, test programs, random ones.

Each program is written in the text form to FOLDER/NAME.tl. FOLDER/ways.json lists further ways to
compile it. This script runs with the Python packages of one revision, so it uses only stable
interfaces: `texloom.te`, `texloom.program`, `texloom.target.Target`, the example kernels, and
`job.text_of` of the fuzzer. `first_module` finds the last two where older revisions have them.

python tests/kernel_corpus.py PART ROOT FOLDER SEEDS
"""

from __future__ import annotations

import contextlib
import importlib
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

PARTS = ("operators", "lit", "fuzz")
# Options of targets that later revisions do not have.
DROPPED = ("-block_stack=",)

TARGETS = (
    "opencl",  # for every operator; the targets below take turns
    "opencl -device=adreno",
    "opencl -device=mali",
    "opencl -device=intel_graphics",
    "opencl -device=nvidia",
    "opencl -device=pocl",
    "opencl -float16_arithmetic=1",
    "opencl -contract=0",
    "metal",
    "metal -device=m3 -float16_arithmetic=0",
)

DIVIDER = re.compile(r"^// -----.*\n", re.MULTILINE)
RAW_STRING = re.compile(r'R"(\w*)\((.*?)\)\1"', re.DOTALL)
TL_BLOCK = re.compile(r"^```tl\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = re.compile(r"^// RUN:(.*)$", re.MULTILINE)
UNNAMED = re.compile(r"\W+")
HEAD = re.compile(r"^program\b.* stage=(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Way:
    """One way to compile a program.

    Attributes
    ----------
    tool : str
        "python", for the package, or "opt", for texloom-opt.
    checked : bool
        Whether the package inserts index checks.
    target : str
        The target passed to texloom-opt; empty for the program's own, or else the default.
    """

    tool: str = "python"
    checked: bool = False
    target: str = ""


@dataclass(frozen=True)
class Program:
    """A program in the text form with all ways to compile it. `name` is a file name."""

    name: str
    text: str
    ways: tuple[Way, ...] = (Way(),)


def write(programs: Iterator[Program], folder: Path) -> None:
    """Write the files that this module's docstring describes."""
    folder.mkdir(parents=True, exist_ok=True)
    ways = {}
    for each in programs:
        assert each.name not in ways, f"two programs are called {each.name}"
        (folder / f"{each.name}.tl").write_text(each.text, encoding="utf-8")
        ways[each.name] = [asdict(way) for way in each.ways]
    (folder / "ways.json").write_text(json.dumps(ways, indent=1), encoding="utf-8")


def read(folder: Path) -> list[Program]:
    """Read the files that `write` wrote."""
    ways = json.loads((folder / "ways.json").read_text(encoding="utf-8"))
    return [
        Program(
            name,
            (folder / f"{name}.tl").read_text(encoding="utf-8"),
            tuple(Way(**way) for way in each),
        )
        for name, each in ways.items()
    ]


def first_module(*names: str) -> Any:
    """Import the first of these modules that the revision has."""
    for name in names[:-1]:
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(name)
    return importlib.import_module(names[-1])


def example(name: str) -> Any:
    """Import an example kernel."""
    return first_module(f"texloom.examples.{name}", f"texloom.ops.{name}")


# --- Random programs ------------------------------------------------------------------------------


def random_programs(seeds: int) -> Iterator[Program]:
    """The first programs of texloom_fuzz."""
    # The old name comes first, since .venv has a path to the working tree's texloom_fuzz.
    job = first_module("texloom.fuzz.job", "texloom_fuzz.job")
    for seed in range(seeds):
        yield Program(f"{seed:05}", job.text_of(seed), (Way(), Way(checked=True)))


# --- Programs of the tests ------------------------------------------------------------------------


def programs_of_tests(root: Path) -> Iterator[Program]:
    """Yield the programs of tests/lit, of raw strings in C++ tests, and of the documents."""
    seen = set()
    for name, text, targets in _texts(root):
        head = HEAD.search(text)
        if head is None or text in seen or DIVIDER.search(text):  # DIVIDER separates two programs
            continue
        seen.add(text)
        known = [target for target in targets if not any(each in target for each in DROPPED)]
        ways = [Way("opt", target=target) for target in ("", *known)]
        if head[1] != "te":  # a te program names its own target
            ways.append(Way("opt", target="opencl -float16_arithmetic=1"))
            ways.append(Way("opt", target="opencl -device=adreno"))
            ways += [Way("opt", target=target) for target in ("metal",) if has_target(target)]
        yield Program(name, text, tuple(dict.fromkeys(ways)))


def _texts(root: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield names, texts without comments, and the targets that a test compiles them for."""
    for file in sorted((root / "tests/lit").rglob("*.tl")):
        whole = file.read_text(encoding="utf-8")
        for number, part in enumerate(DIVIDER.split(whole)):
            text = re.sub(r"[ \t]*//.*\n", "\n", part + "\n").strip() + "\n"
            yield f"{_name_in(root, file)}_{number}", text, run_targets(whole)
    for file in sorted((root / "tests").rglob("*")):
        if file.suffix in (".cc", ".h"):
            for number, (_, text) in enumerate(RAW_STRING.findall(file.read_text("utf-8"))):
                yield f"{_name_in(root, file)}_{number}", text, []
    for file in sorted((root / "docs").rglob("*.md")):
        for number, text in enumerate(TL_BLOCK.findall(file.read_text(encoding="utf-8"))):
            yield f"{_name_in(root, file)}_{number}", text, []


def _name_in(root: Path, file: Path) -> str:
    return "_".join(file.relative_to(root).with_suffix("").parts)


def run_targets(text: str) -> list[str]:
    """Return the targets in a lit test's RUN lines."""
    joined = re.sub(r"\\\n// RUN:", " ", text)
    words = [word for line in RUN.findall(joined) for word in shlex.split(line)]
    option = "--target="
    return [word.removeprefix(option) for word in words if word.startswith(option)]


# --- Operators ------------------------------------------------------------------------------------

Make = Callable[[], tuple[Any, list[Any], dict[Any, Any]]]  # schedule, arguments, binds


def operators() -> Iterator[Program]:
    """Yield convolutions and matrix products, each for some targets and with index checks."""
    from texloom import program

    for number, (name, make) in enumerate(_operators()):
        schedule, arguments, binds = make()
        for target in filter(has_target, targets_of(number)):
            text = str(program(schedule, arguments, "f", binds, target=target))
            ways = (Way(), Way(checked=True)) if target == "opencl" else (Way(),)
            option = target.removeprefix("opencl -")
            yield Program(f"{name}__{UNNAMED.sub('_', option)}", text, ways)


@cache
def has_target(target: str) -> bool:
    """Whether the revision whose package runs this script has this kind of target."""
    from texloom import TVMError
    from texloom.target import Target

    try:
        Target(target)
    except TVMError:
        return False
    return True


def targets_of(number: int) -> tuple[str, ...]:
    """Return the first target and two of the others."""
    first, *others = TARGETS
    return first, *(others[(2 * number + each) % len(others)] for each in range(2))


def _operators() -> Iterator[tuple[str, Make]]:
    yield from _conv2d_nchw4c()
    yield from _conv2d_nhwc()
    yield from _blocked_conv2d()
    yield from _texel_matmul()
    yield from _matmul()


def _inputs(*shapes: tuple[int, ...], dtype: str = "float32") -> list[Any]:
    from texloom import te

    return [te.placeholder(shape, dtype, name=f"in{n}") for n, shape in enumerate(shapes)]


def _in_textures(tensors: list[Any], storage: str) -> dict[Any, Any]:
    """Return the bindings that place tensors in textures."""
    from texloom.tir.buffer import decl_buffer

    if storage == "buffer":
        return {}
    return {t: decl_buffer(t.shape, t.dtype, t.name, scope="texture") for t in tensors}


def _conv2d_nchw4c() -> Iterator[tuple[str, Make]]:
    conv2d = example("conv2d")
    cases = {
        "even": ((2, 4, 16, 24), 8, 1, 1, None),
        "odd": ((1, 2, 9, 11), 3, 2, 1, None),
        "tiles": ((1, 2, 14, 14), 4, 1, 0, (2, 4)),
    }
    for (name, case), storage, dtype in product(
        cases.items(), ("texture", "buffer"), ("float32", "float16")
    ):

        def make(case: Any = case, storage: Any = storage, dtype: str = dtype) -> Any:
            (n, groups, height, width), outputs, stride, padding, tile = case
            data, weight = _inputs(
                (n, groups, height, width, 4), (outputs, groups * 4, 3, 3, 4), dtype=dtype
            )
            output = conv2d.conv2d_nchw4c(data, weight, stride=stride, padding=padding)
            s = conv2d.schedule_conv2d_nchw4c(output, storage, tile=tile)
            return s, [data, weight, output], {}

        yield f"conv2d_nchw4c_{name}_{storage}_{dtype}", make


def _conv2d_nhwc() -> Iterator[tuple[str, Make]]:
    nhwc = example("conv2d_nhwc")
    ConvTiles = nhwc.ConvTiles  # noqa: N806
    cases: dict[str, tuple[int, int, int | None, int, Any]] = {
        "slices": (28, 64, 64, 3, ConvTiles((2, 4), 2, (1, 1, 16), 4, inputs=2, keep_rows=True)),
        "splits": (14, 64, 64, 3, ConvTiles((2, 2), 4, (1, 7, 4), splits=2)),
        "ahead": (14, 32, 32, 3, ConvTiles((1, 2), 4, (1, 1, 8), fetch_ahead=True)),
        "one_by_one": (14, 128, 64, 1, ConvTiles((1, 2), 4, (1, 1, 8), slices=8)),
        "depthwise": (14, 96, None, 3, ConvTiles((1, 2), 4, (7, 7, 8))),
        "depthwise_odd": (15, 40, None, 3, ConvTiles((2, 4), 4, (2, 2, 8))),
    }
    for (name, case), storage in product(cases.items(), ("texture", "buffer")):

        def make(case: Any = case, storage: Any = storage) -> Any:
            size, inputs, outputs, kernel, tiles = case
            own = () if outputs is None else (outputs,)
            data, weight = _inputs((1, size, size, inputs), (kernel, kernel, inputs, *own))
            compute, schedule = nhwc.conv2d_nhwc, nhwc.schedule_conv2d_nhwc
            if outputs is None:
                compute = nhwc.depthwise_conv2d_nhwc
                schedule = nhwc.schedule_depthwise_conv2d_nhwc
            convolution = compute(data, weight, padding=kernel // 2)
            s = schedule(convolution, tiles)
            return s, convolution.arguments, _in_textures([data, weight], storage)

        yield f"conv2d_nhwc_{name}_{storage}", make


def _blocked_conv2d() -> Iterator[tuple[str, Make]]:
    blocked = example("blocked_conv2d")
    Convolution, Tiling = blocked.Convolution, blocked.Tiling  # noqa: N806
    layers: dict[str, tuple[Any, tuple[int, ...], tuple[int, ...]]] = {
        "rsckk": (Convolution(weight="RSCKk"), (1, 8, 28, 28, 4), (1, 1, 32, 8, 4)),
        "wchnc": (Convolution("WCHNc", "CRSKk"), (28, 8, 28, 1, 4), (32, 1, 1, 8, 4)),
        "padded": (Convolution(padding=1), (1, 4, 14, 14, 4), (8, 16, 3, 3, 4)),
        "strided": (Convolution(stride=2, dilation=2), (1, 4, 31, 29, 4), (4, 16, 3, 3, 4)),
        "depthwise": (Convolution(groups=32), (1, 8, 33, 33, 4), (8, 1, 3, 3, 4)),
    }
    tilings = {
        "plain": Tiling(2, 8, 4, copy=False),
        "local": Tiling(4, 4, 2),
        "shared": Tiling(2, 4, 4, shared=True),
        "virtual": Tiling(2, 4, 4, virtual=2),
    }
    for (name, layer), (tiles, tiling), textures in product(
        layers.items(), tilings.items(), (True, False)
    ):

        def make(layer: Any = layer, tiling: Any = tiling, textures: bool = textures) -> Any:
            convolution, *shapes = layer
            data, weight = _inputs(*shapes)
            output = convolution.compute(data, weight)
            s = blocked.schedule(convolution, data, weight, output, tiling, textures=textures)
            return s, [data, weight, output], {}

        yield f"blocked_{name}_{tiles}_{'texture' if textures else 'buffer'}", make
    convolution = Convolution(padding=1)

    def in_half() -> Any:
        data, weight = _inputs((1, 4, 14, 14, 4), (8, 16, 3, 3, 4), dtype="float16")
        output = convolution.compute(data, weight, accumulate="float32")
        s = blocked.schedule(convolution, data, weight, output, tilings["local"])
        return s, [data, weight, output], {}

    yield "blocked_half", in_half


def _texel_matmul() -> Iterator[tuple[str, Make]]:
    texel_matmul = example("texel_matmul")
    for form, copy, textures in product(texel_matmul.FORMS, (False, True), (False, True)):

        def make(form: Any = form, copy: bool = copy, textures: bool = textures) -> Any:
            a, b = _inputs((32, 64, 4), (32, 64, 4))
            c = form(a, b)
            return texel_matmul.schedule(form, a, b, c, copy, textures=textures), [a, b, c], {}

        storage = "texture" if textures else "buffer"
        yield f"{form.__name__}_{'local' if copy else 'plain'}_{storage}", make


def _matmul() -> Iterator[tuple[str, Make]]:
    products = example("matmul")
    small = replace(products.WARPS, block=(64, 64, 8), thread=(8, 8), lanes=(4, 4), swizzle=4)
    all_tiles = {
        "direct": products.DIRECT,
        "shared": products.SHARED,
        "warps": products.WARPS,
        "warps_small": small,
        "two_ahead": replace(small, fetch_ahead=2),
        "not_ahead": replace(small, fetch_ahead=0, fragments_ahead=False),
        "deep": products.Tiles((64, 32, 16), (8, 4), (4, 4)),
    }
    for (name, tiles), storage in product(all_tiles.items(), ("texture", "buffer")):

        def make(tiles: Any = tiles, storage: str = storage) -> Any:
            a, b, c = products.matmul(1024, 512, 256)
            s = products.schedule_matmul(a, b, c, tiles)
            return s, [a, b, c], _in_textures([a, b], storage)

        yield f"matmul_{name}_{storage}", make


def main() -> None:
    """Write one part of the corpus."""
    part, root, folder, seeds = sys.argv[1:]
    programs = {
        "operators": operators,
        "lit": lambda: programs_of_tests(Path(root)),
        "fuzz": lambda: random_programs(int(seeds)),
    }
    write(programs[part](), Path(folder))


if __name__ == "__main__":
    main()
