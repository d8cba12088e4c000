"""Where oversized stages are computed, and which of them may read outside of tensors.

An oversized stage is larger than the region of it that has values.
"""

from __future__ import annotations

from .computation import Computation
from .stage import Stage

READS_OUTSIDE = "outside of a tensor where nothing is computed"


def note(computation: Computation, features: set[str]) -> None:
    """Record where the oversized stages are computed."""
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
    """Whether a stage that could read outside of a tensor may be computed at unneeded points.

    Such points are computed if the readers have symbolic extents or another layout, or if whole
    texels are written. The program is refused if such a point would read outside.
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
    """Whether a loop split around the stage, or around a reader of it, may run past its end."""
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
