"""The work of a worker on one program."""

from __future__ import annotations

import re
import traceback
from collections.abc import Set
from dataclasses import dataclass

from texloom.devices.lookup import present
from texloom.errors import TVMError

from .case import Case, make_case, make_script
from .check import PASSED_OVER, Outcome, check, refused_or_wrong

# Codes with which a random program may be refused: sizes and extents that only bound inference
# finds. Any other refusal is an error of the compiler or of the generator.
EXPECTED = frozenset(
    (
        "TL1001",  # memory of a kernel whose size depends on the call
        "TL2002",  # a cache for a stage whose read was folded away
        "TL2007",  # transform_layout of an input whose reads were folded away
        "TL2017",  # a layout with only some lanes of a texel
        "TL3001",  # threads of two extents
        "TL3007",  # lanes fused with the loop around them, where a part of a texture is computed
        "TL3010",  # attached arguments where the thread that stores an element is not known
        "TL3011",  # an argument in a texture whose read was folded away
        "TL3025",  # a pipeline of a stage that is not a copy after inlining
        "TL3035",  # a fragment of which a reader picks elements by the indices of its loops
        "TL4001",  # more threads along an axis than the target has
        "TL4002",  # a texture that no fold makes small enough
    )
)


@dataclass(frozen=True)
class Job:
    """A program to run, given by its seed or its text."""

    seed: int
    devices: tuple[str, ...]  # as "opencl:0"
    text: str = ""
    only: str = ""  # passed over if no feature of the seed's script matches


@dataclass(frozen=True)
class Result:
    """The outcome of a program."""

    outcome: Outcome
    text: str = ""
    features: frozenset[str] = frozenset()


def run_job(job: Job) -> Result:
    """Run a job; called in a separate process."""
    targets = [present(name) for name in job.devices]
    if job.text:
        return Result(check(job.text, targets))
    try:
        if job.only:
            features = frozenset(make_script(job.seed).features)
            if not any(re.search(job.only, each) for each in features):
                return Result(Outcome(PASSED_OVER), features=features)
        case = make_case(job.seed)
    except TVMError as error:
        return Result(as_drawn(refused_or_wrong(error)))
    except Exception:
        return Result(Outcome("the fuzzer's own fault", traceback.format_exc()))
    outcome = check(case.text, targets, case.copies)
    if "changed at random" in case.features:
        outcome = as_changed(outcome, case.features)
    else:
        outcome = as_drawn(outcome, case)
    return Result(outcome, case.text, frozenset(case.features))


def as_drawn(outcome: Outcome, case: Case | None = None) -> Outcome:
    """Count a program without values, and a refusal with an unexpected code, as failures."""
    if outcome.kind == "unsound":
        return Outcome("drawn without values", outcome.detail)
    code = outcome.detail.partition(" ")[0]
    expected = code in EXPECTED or (case is not None and may_be_refused(code, case))
    if outcome.kind != "refused" or expected:
        return outcome
    return Outcome(f"refused for {code}", outcome.detail)


def may_be_refused(code: str, case: Case) -> bool:
    """Tell whether a program of these features may be refused for a reason."""
    if code == "TL3027":
        # The test of an index decides which threads store, and hides that each has its own pair.
        return "target: checked indices" in case.features and has_threads(case.features)
    return code == "TL3020" and case.may_read_outside


def as_changed(outcome: Outcome, features: Set[str]) -> Outcome:
    """Count it as unsound if threads of a changed statement may meet at an element.

    One after the other, the order in which unscheduled programs run them, they give values.
    """
    if outcome.kind.startswith("insert_barriers.place_barriers: ") and has_threads(features):
        return Outcome("unsound", outcome.detail)
    return outcome


def has_threads(features: Set[str]) -> bool:
    """Tell whether a statement of an extern has threads that share memory."""
    return any(each.startswith(("extern: pairs", "extern: exchange")) for each in features)


def text_of(seed: int) -> str:
    """Return the program of a seed."""
    return make_case(seed).text
