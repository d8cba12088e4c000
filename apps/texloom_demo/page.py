"""The main part of the demonstration: reads a scanned page, beside onnxruntime if installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from texloom._core import Device

from . import photographs
from .console import Output
from .ocr import models
from .ocr.engines import Engine, OnnxRuntimeEngine, TexloomEngine
from .ocr.reading import LINE_HEIGHT, Line, read

PAGE = "page"
_SCALE = 2.0  # letters of the page are small for the network
_LARGEST_ERROR = 1e-3  # of a probability, 0..1: too small to move a box or change a letter
_MARGIN = 24  # pixels of the picture
_WIDTHS = (640, 960)  # of the lines of the page, for the network that reads them


def characters_of(recognition: Path) -> list[str]:
    """Return the characters of the classes, which the network's file lists."""
    properties = onnx.load(recognition, load_external_data=False).metadata_props
    (text,) = (each.value for each in properties if each.key == "character")
    return [*text.splitlines(), " "]


class _Watched:
    """Runs networks with Texloom; prints each step, and compares each output with a peer's."""

    def __init__(self, out: Output, engine: TexloomEngine, peer: Engine | None) -> None:
        self._out, self._engine, self._peer = out, engine, peer
        self.errors: dict[str, float] = {}

    def prepare(self, network: str, shape: tuple[int, ...]) -> None:
        self._engine.prepare(network, shape)

    def run(self, network: str, x: NDArray[Any]) -> NDArray[Any]:
        is_first = (network, x.shape) not in self._engine.seconds
        made = self._engine.run(network, x)
        if is_first:
            size = "x".join(map(str, x.shape))
            seconds = self._engine.seconds[network, x.shape]
            self._out.text(f"  {network} for {size}: compiled and run in {seconds:.1f} s")
        if self._peer is not None:
            error = float(np.abs(made - self._peer.run(network, x)).max())
            self.errors[network] = max(error, self.errors.get(network, 0.0))
        return made


def _drawn(page: NDArray[Any], lines: Sequence[Line]) -> Image.Image:
    """Return the page with boxes, and the text that was read under it."""
    scale = 2
    base = Image.fromarray((page * 255).round().astype(np.uint8))
    base = base.resize((base.width * scale, base.height * scale), Image.Resampling.BICUBIC)
    font = ImageFont.load_default(18)
    picture = Image.new("RGB", (base.width, base.height + (len(lines) + 1) * _MARGIN), "white")
    picture.paste(base)
    draw = ImageDraw.Draw(picture)
    for number, line in enumerate(lines, 1):
        corners = [tuple(corner * scale) for corner in line.box.corners()]
        draw.polygon(corners, outline=(207, 34, 46), width=2)
        place = (12, base.height + 6 + (number - 1) * _MARGIN)
        draw.text(place, f"{number}  {line.text}", fill=(31, 35, 40), font=font)
    return picture


def _compare(out: Output, own: Sequence[Line], peer: Sequence[Line], watched: _Watched) -> bool:
    right = True
    for network, error in watched.errors.items():
        right &= error <= _LARGEST_ERROR
        out.text(f"  {network}: outputs differ by at most {error:.1e}")
    same_boxes = [np.round(line.box.corners()).tolist() for line in own] == [
        np.round(line.box.corners()).tolist() for line in peer
    ]
    same_text = [line.text for line in own] == [line.text for line in peer]
    out.text(f"  boxes: {'the same' if same_boxes else 'DIFFERENT'}")
    out.text(f"  text: {'the same' if same_text else 'DIFFERENT'}")
    return right and same_boxes and same_text


def show(out: Output, device: Device, folder: Path) -> bool:
    """Read the page, print and draw its text; return whether a peer reads the same text."""
    files = models.find()
    if files is None:
        out.text(
            "The networks are not installed.\n"
            "help: pip install --no-deps rapidocr-onnxruntime, whose package has them"
        )
        return False
    gray = photographs.load(PAGE).pixels[0, 0]
    page = np.stack([gray] * 3, axis=-1)
    characters = characters_of(files["recognition"])
    peer = _peer(files)
    out.text("Three networks are compiled for the sizes of the page and its lines, side by side:")
    with TexloomEngine(files, device.driver, device.device_id) as engine:
        watched = _Watched(out, engine, peer)
        for width in _WIDTHS:
            engine.prepare("recognition", (1, 3, LINE_HEIGHT, width))
        lines = read(watched, page, _SCALE, characters)
    out.text("\nThe page says:\n")
    for line in lines:
        out.text(f"  {line.text}")
    right = bool(lines)
    if peer is None:
        out.text("\nonnxruntime is not installed, so that nothing is compared.")
    else:
        out.text("\nBeside onnxruntime:")
        right &= _compare(out, lines, read(peer, page, _SCALE, characters), watched)
    target = folder / "page_read.png"
    _drawn(page, lines).save(target)
    out.text(f"\nwritten: {target}  the page, the boxes and the text")
    return right


def _peer(files: Mapping[str, Path]) -> Engine | None:
    return OnnxRuntimeEngine(files) if find_spec("onnxruntime") is not None else None


__all__ = ["PAGE", "characters_of", "show"]
