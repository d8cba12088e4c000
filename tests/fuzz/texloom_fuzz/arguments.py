"""The end of a script: the arguments, the layouts of their arrays, and the target."""

from __future__ import annotations

import math
import random

from .computation import Computation
from .extents import Extent, extent, is_constant, listed, most_elements
from .layouts import TEXTURES, random_axes, texture_layout, transform
from .script import Script
from .stage import Stage

# Names of arrays: OpenCL C keywords, invalid identifiers, and overlong ones.
NAMES = ("half", "read_only", "0", "a.b", "_x", "int4", "x" * 90)
# The target attribute for half arithmetic; without it, float32 gives the same values.
HALF_ARITHMETIC = " -float16_arithmetic=1"
DEVICES = ("adreno", "adreno", "mali", "intel_graphics", "nvidia", "pocl")


def finish(rng: random.Random, script: Script, computation: Computation) -> None:
    """Write the call of tvm.program, with its arguments, and directives on inputs."""
    tensors = arguments(rng, script, computation)
    binds = []
    for tensor in tensors:
        in_texture = tensor.is_input and tensor.fits_texture and rng.random() < 0.15
        if in_texture and computation.readers_of(tensor):
            tensor.bound_scope = rng.choice(TEXTURES)
        if tensor.bound_scope:
            binds.append(f"{tensor.var}: {declaration(rng, script, tensor)}")
        elif computation.readers_of(tensor) and moves(rng, tensor):
            transform(script, tensor, random_axes(rng, tensor.shape))
            script.features.add("transform_layout of an input")
    names = [tensor.var for tensor in tensors]
    for symbol in computation.symbols:
        if not tells(tensors, symbol) or rng.random() < 0.15:
            names.insert(rng.randint(0, len(names)), symbol.text)
            script.features.add("a symbol is an argument")
    target = small_target(rng, script, computation.stages)
    script.add(f"args = [{', '.join(names)}]")
    script.add(f"binds = {{{', '.join(binds)}}}")
    script.add(f'program = tvm.program(s, args, binds=binds, target="{target}")')


def arguments(rng: random.Random, script: Script, computation: Computation) -> list[Stage]:
    """Choose inputs, outputs, and perhaps intermediate tensors."""
    chosen = [s for s in computation.stages if s.is_input] + computation.outputs
    for stage in computation.stages:
        is_own = not (stage.is_input or stage.is_cache or stage.is_output or stage.several)
        is_own = is_own and stage.region is None and not stage.inlined
        if not is_own or rng.random() >= (0.8 if stage.read_whole else 0.15):
            continue
        if stage.host is None or is_stored_whole(computation, stage):
            chosen.append(stage)
            where = "" if stage.host is None else ", attached to a loop,"
            script.features.add(f"an intermediate tensor{where} is an argument")
    if rng.random() < 0.06:
        unread = Stage(script.name("Z"), [extent(rng.randint(1, 9))], "float32", is_input=True)
        script.add(f'{unread.var} = te.placeholder({listed(unread.shape)}, name="{unread.var}")')
        script.features.add("an argument that nothing reads")
        chosen.append(unread)
    if rng.random() < 0.2:
        rng.shuffle(chosen)
    return chosen


def is_stored_whole(computation: Computation, stage: Stage) -> bool:
    """Whether an attached tensor may be an argument.

    It may be one if its reader needs every element; otherwise, part of the array would stay unset.
    A stage that is computed ahead of its reader may not be an argument.
    """
    readers = computation.readers_of(stage)
    if len(readers) != 1 or not stage.read_whole or stage.ahead or readers[0].conditional:
        return False
    while readers[0].narrow and readers[0].host is not None:
        readers = [readers[0].host]
    return readers[0].host is None and not readers[0].texture


def moves(rng: random.Random, tensor: Stage) -> bool:
    """Whether transform_layout is applied to an input."""
    fits = tensor.is_input and tensor.shape and is_constant(tensor.shape)
    fits = fits and not tensor.row_major
    return fits and rng.random() < 0.06


def tells(tensors: list[Stage], symbol: Extent) -> bool:
    """Whether the shapes of these tensors determine the symbol."""
    texts = [length.text for tensor in tensors for length in tensor.shape]
    return any(symbol.text in text and "//" not in text for text in texts)


def declaration(rng: random.Random, script: Script, tensor: Stage) -> str:
    """Return the declaration of an array in a texture."""
    script.features.add(f"argument in {tensor.bound_scope}")
    has_origin = rng.random() < 0.4
    layout, rank = "", len(tensor.shape)
    if rng.random() < 0.25:
        lane = rng.randrange(rank) if tensor.is_input else rank - 1
        layout = f', layout="{texture_layout(rng, rank, lane)}"'
        script.features.add("layout=")
    if has_origin:
        script.features.add("origin declared")
    exact = ""
    if not has_origin and rng.random() < 0.5:
        exact = ", exact_image=True"
        script.features.add("image declared to be exact")
    name = ""
    if rng.random() < 0.2:
        name = f', name="{rng.choice(NAMES)}"'
        script.features.add("a declared name")
    return (
        f'tvm.decl_buffer({listed(tensor.shape)}, "{tensor.dtype}", '
        f'scope="{tensor.bound_scope}", origin={has_origin}{exact}{layout}{name})'
    )


def small_target(rng: random.Random, script: Script, stages: list[Stage]) -> str:
    """Return a target whose images may be so small that textures of these shapes are folded."""
    options = ""
    if rng.random() < 0.15:
        options += f" -device={rng.choice(DEVICES)}"
    if rng.random() < 0.3:
        script.features.add("target: no contraction")
        options += " -contract=0"
    if rng.random() < 0.1:
        script.features.add("target: checked indices")
        options += " -checked=1"
    if any(s.dtype == "float16" for s in stages) and rng.random() < 0.3:
        script.features.add("target: half arithmetic")
        options += HALF_ARITHMETIC
    if any(s.product for s in stages):
        options += f" -matrix_unit={matrix_unit(rng, script)}"
    shapes = [s.shape for s in stages if s.shape and is_constant(s.shape)]
    if rng.random() < 0.75 or not shapes:
        return f"opencl{options}"
    script.features.add("target: folded textures")
    texels = max(most_elements([*shape[:-1], shape[-1].ceil_div(4)]) for shape in shapes)
    # Four times the needed area leaves room for a fold in one direction, with padding.
    limit = max(4, 2 * math.isqrt(texels) + 2)
    return f"opencl{options} -texture_spatial_limit={limit}"


def matrix_unit(rng: random.Random, script: Script) -> str:
    """Return what multiplies fragments: loops, or instructions for these types."""
    if "fragments: float16 into float32" in script.features and rng.random() < 0.3:
        script.features.add("target: instructions for fragments")
        return "mma_sync"
    return "loops"
