"""Programs of the fuzzer as Python scripts: made as text, so that what built one can be shown."""

from __future__ import annotations

import math
import random
from collections import Counter

from .._core import Program

HEADER = """\
import texloom as tvm
from texloom import te

"""


class Script:
    """Lines of a script, and the names it has used up."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.features: set[str] = set()
        self.keeps_order = True  # of every sum: a schedule may then change no bit
        self._names: Counter[str] = Counter()

    def add(self, text: str) -> None:
        """Write a line."""
        self.lines.append(text)

    def name(self, stem: str) -> str:
        """A variable name not used so far."""
        self._names[stem] += 1
        return stem if self._names[stem] == 1 else f"{stem}_{self._names[stem]}"

    def text(self) -> str:
        """The whole script."""
        return HEADER + "\n".join(self.lines) + "\n"

    def program(self) -> Program:
        """What the script calls ``program``, when it is run."""
        scope: dict[str, Program] = {"__name__": "case"}
        exec(compile(self.text(), "<case>", "exec"), scope)
        return scope["program"]


# What a target says of a device that computes in half; without it the same values come of float32.
HALF_ARITHMETIC = " -float16_arithmetic=1"


def small_target(rng: random.Random, script: Script, shapes: list[list[int]]) -> str:
    """A target that may have images so small that textures of these shapes must be folded."""
    options = ""
    if rng.random() < 0.1:
        options += " -device=adreno"
    if rng.random() < 0.3:
        script.features.add("target: no contraction")
        options += " -contract=0"
    if rng.random() < 0.75:
        return f"opencl{options}"
    script.features.add("target: folded textures")
    texels = max(math.prod(shape[:-1]) * -(-shape[-1] // 4) for shape in shapes)
    # An area of four times what is needed leaves room for a fold in one direction, padding too.
    limit = max(4, 2 * math.isqrt(texels) + 2)
    return f"opencl{options} -texture_spatial_limit={limit}"
