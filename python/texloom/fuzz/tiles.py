"""Loops of a stage whose tiles a tensor intrinsic computes, itself or in a cache."""

from __future__ import annotations

from .script import Script
from .stage import Stage


def leave_tile(script: Script, stage: Stage) -> None:
    """Split a tile off its loops; the outer loops remain for other directives."""
    loops, tile = stage.loops, stage.tile
    if tile is None or tile.called:
        return
    data, steps = loops.data(), [each for each in loops.loops if each.reduction]
    inner = []
    for axis, length in [
        *zip(data[len(data) - len(tile.data) :], tile.data, strict=True),
        *zip(steps, tile.reduction, strict=True),
    ]:
        inner.append(loops.split(axis, factor=length)[1])
    outer = [each for each in loops.loops if each not in inner]
    loops.reorder([*outer, *inner])
    if tile.intrinsic:
        script.add(f"{loops.stage}.tensorize({inner[0].name}, {tile.intrinsic})")
        script.features.add("tensorize")
    loops.loops = outer
