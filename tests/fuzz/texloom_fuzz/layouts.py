"""Random layouts: explicit ones for textures, and transform_layout."""

from __future__ import annotations

import random

from .extents import Shape
from .script import Script
from .stage import Stage

TEXTURES = ("texture", "texture:weight", "texture:nhwc", "global.texture")


def texture_layout(rng: random.Random, rank: int, lane: int) -> str:
    """Return a layout with this axis in the lanes, and the other axes anywhere."""
    names = [f"d{n}" for n in range(rank)]
    parts = [f"{n}/4" if i == lane else n for i, n in enumerate(names)]
    rng.shuffle(parts)
    cut = rng.randint(0, len(parts))
    rows, columns = ", ".join(parts[:cut]), ", ".join(parts[cut:])
    return (
        f"texture[({', '.join(names)}) -> rows=({rows}), cols=({columns}), lanes=({names[lane]}%4)]"
    )


def random_axes(rng: random.Random, shape: Shape) -> list[str]:
    """Return the axes i0, i1, ... in another order, one of them perhaps split."""
    axes, cut = [f"i{n}" for n in range(len(shape))], rng.randrange(len(shape))
    if shape[cut].most > 2:
        factor = rng.randint(2, shape[cut].most - 1)
        axes[cut : cut + 1] = [f"i{cut} // {factor}", f"i{cut} % {factor}"]
    rng.shuffle(axes)
    return axes


def random_texel_axes(rng: random.Random, shape: Shape) -> list[str]:
    """Return axes of rows, a separator, axes of columns, and lanes."""
    axes = [f"i{n}" for n in range(len(shape))]
    lane = rng.choice([n for n, length in enumerate(shape) if length.most >= 4])
    axes[lane] = f"i{lane} // 4"
    rng.shuffle(axes)
    axes.insert(rng.randint(0, len(axes)), "te.AXIS_SEPARATOR")
    return [*axes, f"i{lane} % 4"]


def transform(script: Script, stage: Stage, axes: list[str]) -> None:
    """Replace the stage's axes by `axes`, which are expressions of the old axes."""
    names = ", ".join(f"i{n}" for n in range(len(stage.shape)))
    script.add(f"s[{stage.var}].transform_layout(lambda {names}: [{', '.join(axes)}])")
    script.features.add("transform_layout")
    stage.transformed = sum(axis != "te.AXIS_SEPARATOR" for axis in axes)
