"""What the objects of products hold: each micro-kernel's code inlined, once, and no call.

.venv/bin/python tests/python/microkernel_objects.py prints the table of docs/microkernels.md.
Objects for other architectures are cross-compiled, and none is run.
"""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

from native_code import CALL, disassembled

import texloom
from texloom import te
from texloom.ops import tiled
from texloom.target import Mmt4dTile, mmt4d_tiles

TABLE = Path(__file__).parents[2] / "src/codegen/llvm/microkernels/variants.def"
TARGETS = re.findall(r'^MMT4D_TARGET\((\w+), (\w+), "(.*)"\)$', TABLE.read_text(), re.MULTILINE)
TYPES = {
    "f32f32f32": ("float32", "float32"),
    "f64f64f64": ("float64", "float64"),
    "f16f16f32": ("float16", "float16"),
    "bf16bf16f32": ("bfloat16", "bfloat16"),
    "i8i8i32": ("int8", "int8"),
    "u8i8i32": ("uint8", "int8"),
    "i16i16i32": ("int16", "int16"),
}
MULTIPLIES = re.compile(
    r"^\s+[0-9a-f]+:\s+(?:\{\w+\}\s+)?("
    r"v?f?n?madd\d*[ps][sd]|vfmadd\d+[ps][sd]|v?mul[ps][sd]|v?pmaddwd|v?pmull[wd]|imul\w*"
    r"|vpdp\w+|tdp\w+|vdpbf16ps"
    r"|f?mla|fmlal2?|fmlal[bt]|[su]mlal2?|[su]mull2?|f?mul|f?madd|smaddl|[su]{1,2}dot|[su]{1,2}mmla|bfmmla)\s",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Proof:
    """What the object has for one micro-kernel."""

    tile: Mmt4dTile
    calls: int
    multiplies: int  # instructions that multiply


def machines() -> list[tuple[str, str, str]]:
    """Return the targets of the table that te chooses: name, architecture, target."""
    found = []
    for name, of, features in TARGETS:
        attributes = ",".join(f"+{each}" for each in features.split(",")) if features else ""
        for architecture in ("x86_64", "aarch64") if of == "any" else (of,):
            target = f"llvm -mtriple={architecture}-linux-gnu -mattr={attributes}"
            found.append((name, architecture, target.removesuffix(" -mattr=")))
    return found


def proofs(name: str, target: str) -> list[Proof]:
    """Compile a product with each tile of a target of the table, as one object, and look at it.

    Raises AssertionError if the object has other functions than one for each product.
    """
    args, outputs, tiles = [], [], []
    for left, right in TYPES.values():
        # The last micro-kernel of a shape is the one that is called.
        by_shape = {(t.m0, t.n0, t.k0): t for t in mmt4d_tiles(left, right, target)}
        for tile in by_shape.values():
            if not tile.kernel.endswith(f"_{name}"):
                continue
            steps = 256 // tile.k0
            a = te.placeholder((16, steps, tile.m0, tile.k0), left, name="A")
            b = te.placeholder((16, steps, tile.n0, tile.k0), right, name="B")
            c = tiled.mmt4d(a, b)
            args += [a, b, c]
            outputs.append(c)
            tiles.append(tile)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*TL2042")  # no micro-kernel of this processor is better
        f = texloom.build(tiled.schedule_mmt4d(outputs, target), args, target)
    called = re.findall(r"evaluate call_extern\((\w+)", str(f))
    assert called == [tile.kernel for tile in tiles], "each product calls its micro-kernel once"
    code = disassembled(f.kernels[0].binary)
    functions = re.split(r"^[0-9a-f]+ <(.+)>:$", code, flags=re.MULTILINE)
    names, bodies = functions[1::2], functions[2::2]
    assert names == [kernel.name for kernel in f.kernels], "the object has the kernels alone"
    assert len(re.findall(r"^[0-9a-f]+ .{6}F ", code, re.MULTILINE)) == len(names)
    return [
        Proof(tile, len(CALL.findall(body)), len(MULTIPLIES.findall(body)))
        for tile, body in zip(tiles, bodies, strict=True)
    ]


def main() -> int:
    """Print a row for each target and types: the tiles, and what the object of each holds."""
    print("| target | types | tiles | functions of each | calls | multiplying instructions |")
    print("| --- | --- | --- | --- | --- | --- |")
    failed = False
    for name, _, target in machines():
        by_types: dict[str, list[Proof]] = {}
        for proof in proofs(name, target):
            by_types.setdefault(proof.tile.kernel.split("_")[2], []).append(proof)
        for types, found in by_types.items():
            tiles = ", ".join(proof.tile.kernel.split("_")[1] for proof in found)
            calls = sum(proof.calls for proof in found)
            failed |= calls != 0 or not all(proof.multiplies for proof in found)
            counts = ", ".join(str(proof.multiplies) for proof in found)
            print(f"| `{name}` | {types} | {tiles} | 1 | {calls} | {counts} |", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
