"""Products with what is computed of each tile in registers, next to the bare products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import erf, pi, sqrt
from typing import Any

TARGET = "llvm -mcpu=native"

LEGEND = """
bare         the product alone: a packed left side, a row-major result of float32 or int32
ReLU, GELU   float32: a bias for each column, then the function; GELU by erf
             or by tanh, as exporters write them
requantize   int8: a scale for each column, rounded and clamped to int8
ratio        the time with the epilogue over the bare product's
Checked first: ReLU and requantized sums exactly, GELU within 1e-5 of float64."""

_ROOT_HALF, _ROOT_2_PI = sqrt(1 / 2), sqrt(2 / pi)


@dataclass(frozen=True)
class Fused:
    """A product ``[m, k] @ [k, n]`` and its epilogue.

    Attributes
    ----------
    epilogue : str
        Of int8 "requantize", of float32 another one of the legend's.
    """

    m: int
    n: int
    k: int
    epilogue: str

    @property
    def dtype(self) -> str:
        """The type of both sides."""
        return "int8" if self.epilogue == "requantize" else "float32"


FUSED = (
    Fused(1024, 1024, 1024, "ReLU"),
    Fused(1024, 1024, 1024, "GELU, tanh"),
    *(Fused(1024, 1024, k, "GELU, erf") for k in (1024, 2048, 4096)),
    *(Fused(1024, 1024, k, "requantize") for k in (1024, 2048)),
)


def _declared(epilogue: str, matrix: Any, columns: Any) -> Any:
    """Return the result of a product's matrix, and of a number for each column."""
    from texloom import te

    def of_element(i: Any, j: Any) -> Any:
        if epilogue == "requantize":
            scaled = te.nearbyint(matrix[i, j].astype("float32") * columns[j])
            return te.max(te.min(scaled, 127.0), -128.0).astype("int8")
        x = matrix[i, j] + columns[j]
        if epilogue == "ReLU":
            return te.max(x, 0.0)
        if epilogue == "GELU, erf":
            return x * 0.5 * (te.erf(x * _ROOT_HALF) + 1.0)
        return x * 0.5 * (te.tanh((x + x * x * x * 0.044715) * _ROOT_2_PI) + 1.0)

    return te.compute(matrix.shape, of_element, name="result")


def _is_right(epilogue: str, result: Any, exact: Any, columns: Any) -> bool:
    import numpy as np

    if epilogue == "requantize":
        scaled = np.rint(exact.astype("float32") * columns)
        return bool((result == np.clip(scaled, -128, 127).astype("int8")).all())
    rows = slice(0, 4)  # the error function of Python is slow
    x = (exact.astype("float32") + columns)[rows].astype("float64")
    if epilogue == "ReLU":
        return bool((result[rows] == np.maximum(x, 0)).all())
    if epilogue == "GELU, erf":
        expected = x * (1 + np.vectorize(erf)(x * _ROOT_HALF)) / 2
    else:
        expected = x * (1 + np.tanh((x + 0.044715 * x**3) * _ROOT_2_PI)) / 2
    return bool(np.allclose(result[rows], expected, rtol=1e-5, atol=1e-5))


def measure(fused: Fused, rounds: int) -> dict[str, Any]:
    """Check and time both arms; return their seconds."""
    import numpy as np

    from texloom import build, device, nd, te
    from texloom.measure.loop import Arm, medians
    from texloom.ops import tiled
    from texloom.target import mmt4d_tile

    tile = mmt4d_tile(fused.dtype, rows=fused.m, target=TARGET)
    rng = np.random.default_rng(0)
    most = 127 if fused.dtype == "int8" else 1
    a = rng.integers(-most, most + 1, (fused.m, fused.k)).astype(fused.dtype)
    b = rng.integers(-most, most + 1, (fused.k, fused.n)).astype(fused.dtype)
    exact = a.astype("float64") @ b.astype("float64")
    spread = 1 if fused.dtype == "float32" else 60 / exact.std()
    columns = (spread * (1 + rng.random(fused.n))).astype("float32")
    host = device("host:0")
    sides = []
    for x, rows, is_right in ((a, tile.m0, False), (b, tile.n0, True)):
        side = te.placeholder(x.shape, fused.dtype, name="side")
        packed = tiled.pack(side, rows, tile.k0, transposed=is_right)
        pack = build(tiled.schedule_mmt4d(packed, TARGET), [side, packed], TARGET)
        sides.append(pack(nd.array(x, host)))
    given = [te.placeholder(each.shape, each.dtype, name="packed") for each in sides]
    per_column = te.placeholder((fused.n,), "float32", name="columns")

    def function(of: Callable[[Any], Any], *more: Any) -> Any:
        output = of(tiled.unpack(tiled.mmt4d(*given), fused.m, fused.n))
        return build(tiled.schedule_mmt4d(output, TARGET), [*given, *more, output], TARGET), output

    bare, sums = function(lambda matrix: matrix)
    whole, result = function(
        lambda matrix: _declared(fused.epilogue, matrix, per_column), per_column
    )
    arrays = [nd.empty((fused.m, fused.n), each.dtype, host) for each in (sums, result)]
    numbers = nd.array(columns, host)
    arms = [
        Arm(lambda: bare(*sides, arrays[0]), host.sync),
        Arm(lambda: whole(*sides, numbers, arrays[1]), host.sync),
    ]
    for arm in arms:
        arm.run()
    right = bool((arrays[0].numpy() == exact).all())
    right &= _is_right(fused.epilogue, arrays[1].numpy(), exact, columns)
    return {"seconds": medians(arms, rounds=rounds), "right": right}


def line(fused: Fused, threads: int, row: dict[str, Any]) -> str:
    """Return a line of the table."""
    bare, whole = row["seconds"]
    shape = f"{fused.dtype} {fused.m}x{fused.n}x{fused.k}"
    cells = [str(threads), f"{bare * 1e3:.2f}", fused.epilogue, f"{whole * 1e3:.2f}"]
    cells.append(f"{whole / bare:.3f}")
    text = f"{shape:24}" + "".join(f"{each:>14}" for each in cells)
    return text + ("" if row["right"] else "  WRONG")


HEAD = f"{'product':24}" + "".join(
    f"{each:>14}" for each in ("threads", "bare, ms", "epilogue", "with it, ms", "ratio")
)
