"""Random computations with two readers of one tensor, equal to NumPy bit by bit.

The readers permute, stride, shift, reverse, divide and pad; tiles need not divide; the tensor is
cached in textures, in shared or in local memory, and stages are attached to one another at any
depth (reader_programs, stage_placement).
"""

from __future__ import annotations

import random
import sys

from case_scripts import Case, Script, run_many, run_script
from reader_programs import Computation
from stage_placement import Placement


def make_case(rng: random.Random, device: int = 0) -> Case:
    """A script that computes with two readers and asserts NumPy's result."""
    script = Script()
    computation = Computation(rng, script)
    computation.make()
    placement = Placement(rng, script, computation)
    placement.make()
    placement.check(device)
    return Case(script.text(), script.features, f"{computation.dtype} two readers")


def run_case(rng: random.Random, device: int = 0) -> None:
    """One random computation; raises CaseFailed with its script."""
    run_script(make_case(rng, device))


if __name__ == "__main__":
    sys.exit(run_many(__doc__.splitlines()[0], make_case, 200))
