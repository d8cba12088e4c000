"""One random program, by its seed."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from .arguments import finish
from .caches import Caches
from .calls import heading
from .computation import Computation
from .forms import FORMS
from .fragment_products import fragments
from .late_directives import LateDirectives
from .outside_reads import may_read_outside, note
from .placement import Placement
from .script import Script
from .texts.mutation import mutated

# The share of programs whose text is mutated (most of these are refused), and the share for
# programs with tensor intrinsics, whose loops must match the statement.
CHANGED, CHANGED_TILES = 0.12, 0.4
FRAGMENTS = 0.04  # the share of programs with steps of fragments, which run for long


@dataclass
class Case:
    """A schedule as text, with its script and the features it exercises."""

    seed: int
    script: str
    text: str
    features: set[str] = field(default_factory=set)
    may_read_outside: bool = False  # the compiler may refuse the program for such a read (TL3020)

    @property
    def copies(self) -> bool:
        """Whether values are only copied, so that any bits are allowed."""
        return "form: copy" in self.features


def has_fragments(seed: int) -> bool:
    """Whether the program of a seed has steps of fragments."""
    return random.Random(f"fragments {seed}").random() < FRAGMENTS


def make_script(seed: int) -> Script:
    """Return the script of a random schedule of a random computation."""
    rng = random.Random(seed)
    script = Script()
    computation = Computation(rng, script)
    computation.make((fragments,) if has_fragments(seed) else FORMS)
    outputs = ", ".join(o.var + ".op" for o in computation.outputs)
    script.add(f"s = te.create_schedule([{outputs}])")
    Caches(rng, script, computation).make()
    placement = Placement(rng, script, computation)
    placement.make()
    LateDirectives(rng, script, computation, placement.threads).make()
    finish(rng, script, computation)
    note(computation, script.features)
    script.may_read_outside = may_read_outside(computation)
    return script


def make_case(seed: int) -> Case:
    """Build the case of a seed. Raises the error of a refused directive."""
    script = make_script(seed)
    text = str(script.program())
    exact = script.keeps_order and "target: no contraction" in script.features
    rng = random.Random(-1 - seed)
    if rng.random() < (CHANGED_TILES if "tensorize" in script.features else CHANGED):
        script.features.add("changed at random")
        text, exact = mutated(rng, text), False
    text = heading(script.calls, exact) + text
    return Case(seed, script.text(), text, script.features, script.may_read_outside)
