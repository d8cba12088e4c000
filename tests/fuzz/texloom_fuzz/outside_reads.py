"""Where stages are computed that are larger than what has values, and reads outside of tensors."""

from __future__ import annotations

from .computation import Computation
from .stage import Stage

READS_OUTSIDE = "outside of a tensor where nothing is computed"


def note(computation: Computation, features: set[str]) -> None:
    """Record where the stages are computed that are larger than what has values."""
    for stage in computation.stages:
        if stage.region is None:
            continue
        where = place_of(stage)
        features.add(f"larger than what is computed, {where}")
        if stage.region.lengthened:
            features.add(f"a lengthened axis, {where}")
            if overruns(computation, stage):
                features.add("a lengthened axis under a split that does not divide")
        if stage.outside:
            features.add(f"{READS_OUTSIDE}, {where}")
            if overruns(computation, stage):
                features.add(f"{READS_OUTSIDE}, under a split that does not divide")
    if may_read_outside(computation):
        features.add(f"{READS_OUTSIDE}, where more may be computed")


def may_read_outside(computation: Computation) -> bool:
    """Whether more may be computed of a stage that reads outside of a tensor than is needed.

    Readers have symbolic extents or another layout, or whole texels are written. The program is
    refused if a point would read outside.
    """

    def is_loose(stage: Stage) -> bool:
        readers = all_readers(computation, stage)
        moved = any(s.transformed for s in readers)
        return bool(computation.symbols) or moved or any(s.texture for s in [stage, *readers])

    return any(stage.outside and is_loose(stage) for stage in computation.stages)


def place_of(stage: Stage) -> str:
    """Say where the stage is computed."""
    if stage.inlined:
        return "inlined"
    if stage.host is not None:
        return f"attached {stage.attached_scope}"
    return f"at the root in {'a texture' if stage.texture else 'a buffer'}"


def overruns(computation: Computation, stage: Stage) -> bool:
    """Whether a split around the stage, or around one that reads it, may end past what is there."""
    return any(
        not owner.loops.whole
        for each in [stage, *all_readers(computation, stage)]
        for owner, _ in each.enclosing
    )


def all_readers(computation: Computation, stage: Stage) -> list[Stage]:
    """Return the stages that read the stage, directly or not."""
    found = computation.readers_of(stage)
    for reader in found:  # grows
        found += [r for r in computation.readers_of(reader) if r not in found]
    return found
