"""Pictures of a program: its textures, texel by texel, and its loop nests with traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .. import building
from .._core import Buffer, PlacedBuffer, Program, Schedule, Tensor
from ..checks.checked_calls import checked
from ..target import Target
from .loops import draw_kernel, draw_legend
from .svg import Canvas
from .texels import draw_texture
from .traffic import lowered

What = Literal["all", "loops", "textures"]


@dataclass(frozen=True)
class Picture:
    """An SVG picture, whose text is `svg`. Notebooks display it directly."""

    svg: str

    def save(self, path: str | Path) -> None:
        """Write the picture to a file, as SVG.

        Raises
        ------
        ValueError
            For a name that ends in another format's suffix.
        """
        if Path(path).suffix.lower() not in (".svg", ""):
            raise ValueError(f"{path} would be an SVG: give it a name that ends in .svg")
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg


@checked
def show(
    inp: Schedule | Program,
    args: Sequence[Tensor] | None = None,
    *,
    binds: Mapping[Tensor, Buffer] | None = None,
    target: str | Target | None = None,
    what: What = "all",
) -> Picture:
    """Draw a schedule: the layouts of its textures, its loops and their traffic.

    For each kernel, the picture shows the loops of the schedule, including threads, the scope and
    size of the buffers in them, and a table of its traffic: the reads and writes of each buffer, in
    vectors or texels, in bytes, and as a multiple of the buffer's size. The traffic is what the
    kernels of the lowered program request; caches and the device's compiler may fetch less.

    Parameters
    ----------
    inp : Schedule or Program
        As for :func:`texloom.lower`, or a program of stage ``kernels``, whose loops are shown
        unchanged.
    args, binds, target
        As for :func:`texloom.lower`.
    what : "all", "loops" or "textures"
        What to draw.

    Returns
    -------
    Picture
        A picture, which ``show(...).save("schedule.svg")`` writes to a file.

    Raises
    ------
    TVMError
        As for :func:`texloom.lower`.
    ValueError
        For a program of another stage, for a program without textures if only textures are
        requested, and for an unknown `what`.
    """
    if what not in ("all", "loops", "textures"):
        raise ValueError(f"what={what!r} is not one of 'all', 'loops', 'textures'")
    program = lowered(inp, args, binds, target)
    kernels = program._kernels
    bodies = [_in_threads(kernel) for kernel in kernels]
    if program is not inp:  # a schedule: draw its loops before unrolling
        bodies = _scheduled_loops(building.lower_texts(inp, args, binds=binds, target=target))
    textures = _textures(kernels)
    if what == "textures" and not textures:
        raise ValueError("the program has no texture to show: use what='loops'")
    canvas = Canvas()
    y = 0.0
    if what != "textures":
        for kernel, body in zip(kernels, bodies, strict=True):
            y = draw_kernel(canvas, kernel, body, y)
        y = draw_legend(canvas, bodies, y)
    if what != "loops":
        for texture in textures:
            y = draw_texture(canvas, texture, y)
    return Picture(canvas.svg())


def _scheduled_loops(texts: dict[str, str]) -> list[Any]:
    """Return the loops of each kernel as scheduled, before unrolling and vectorizing."""
    return _kernels_in(building.parse(texts["build_loops"])._body)


def _kernels_in(plan: list[Any]) -> list[Any]:
    """Return the loops of each kernel, enclosed by the loops that launch the kernel repeatedly."""
    bodies = []
    for node in plan:
        if node["kind"] == "nest":
            bodies.append(node["body"])
        elif node["kind"] == "loop":
            bodies += [[node | {"body": body}] for body in _kernels_in(node["body"])]
    return bodies


def _in_threads(kernel: dict[str, Any]) -> list[Any]:
    """Return the body inside loops over the kernel's axes."""
    body = kernel["body"]
    for tag, name, extent in reversed(kernel["axes"]):
        body = [{"kind": "loop", "loop": tag, "name": name, "extent": str(extent), "body": body}]
    return body


def _textures(kernels: list[dict[str, Any]]) -> list[PlacedBuffer]:
    """Return all textures of the kernels, once each."""
    found = [p for kernel in kernels for p in kernel["params"] if p.scope == "texture"]
    return list(dict.fromkeys(found))
