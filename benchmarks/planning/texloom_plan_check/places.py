"""Checks the places of textures: in images, or in arenas as views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .network import Network, Tensor, Views, require, texel_bytes, whole


@dataclass(frozen=True)
class Place:
    """The rectangle of a tensor in an image. A range of an arena is one column of bytes."""

    tensor: Tensor
    image: int
    x: int
    y: int
    width: int
    height: int

    def overlaps(self, other: Place) -> bool:
        """Return whether two rectangles of one image share a texel at some time."""
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
            and self.tensor.first <= other.tensor.last
            and other.tensor.first <= self.tensor.last
        )


def fields_of(row: dict[str, Any], names: Sequence[str]) -> list[int]:
    """Return the whole numbers of a placement."""
    return [whole(row[name], f"item {row['id']}: {name}") for name in names]


def _folded(row: dict[str, Any], network: Network) -> tuple[Tensor, int, int, int]:
    """Return the tensor of a placement, its fold, and the width and height that it gives."""
    key = whole(row["id"], "an id of a placement")
    require(key in network.tensors, f"a placement names item {key}, which does not exist")
    tensor = network.tensors[key]
    fold, width, height = fields_of(row, ("fold", "width", "height"))
    require(1 <= fold <= tensor.slices, f"item {key} has no fold {fold}")
    require(
        tensor.folded(fold) == (width, height),
        f"item {key} folded by {fold} does not have {width} by {height} texels",
    )
    return tensor, fold, width, height


def _place_in_image(row: dict[str, Any], network: Network, images: list[dict[str, Any]]) -> Place:
    tensor, fold, width, height = _folded(row, network)
    key = tensor.id
    image, x, y = fields_of(row, ("image", "x", "y"))
    require(0 <= image < len(images), f"item {key}: there is no image {image}")
    target = images[image]
    require(
        0 <= x <= target["width"] - width and 0 <= y <= target["height"] - height,
        f"item {key} lies outside image {image}",
    )
    require(
        target["format"] == tensor.format,
        f"item {key} of format {tensor.format} lies in image {image} of {target['format']}",
    )
    if tensor.must_be_exact:
        require(
            fold == 1 and (width, height) == (target["width"], target["height"]),
            f"item {key} must have an image of exactly its extent",
        )
    return Place(tensor, image, x, y, width, height)


def _place_in_arena(
    row: dict[str, Any], network: Network, views: Views, arenas: list[dict[str, Any]]
) -> Place:
    tensor, fold, width, height = _folded(row, network)
    key = tensor.id
    arena, offset, row_pitch = fields_of(row, ("arena", "offset", "row_pitch"))
    require(0 <= arena < len(arenas), f"item {key}: there is no arena {arena}")
    require(
        width <= network.max_width and height <= network.max_height,
        f"item {key}: a view of {width} by {height} texels exceeds the limits",
    )
    require(
        row_pitch == views.row_pitch(width),
        f"item {key}: rows of {width} texels have a pitch of {views.row_pitch(width)}",
    )
    size = row_pitch * height * texel_bytes(tensor.format)
    require(
        offset >= 0 and offset % (views.base_alignment * texel_bytes(tensor.format)) == 0,
        f"item {key}: an offset of {offset} is not aligned",
    )
    require(offset + size <= arenas[arena]["bytes"], f"item {key} lies outside arena {arena}")
    require(fold == 1 or not tensor.must_be_exact, f"item {key} must not be folded")
    return Place(tensor, arena, 0, offset, 1, size)


def check_arenas(plan: dict[str, Any]) -> None:
    """Check the bytes of the arenas."""
    total = sum(whole(arena["bytes"], "bytes of an arena") for arena in plan["arenas"])
    require(
        whole(plan["bytes"], "bytes") == total,
        f"the arenas have {total} bytes, not {plan['bytes']}",
    )


def check_images(network: Network, plan: dict[str, Any]) -> None:
    """Check the sizes of the images."""
    for number, image in enumerate(plan["images"]):
        width = whole(image["width"], f"image {number}: width")
        height = whole(image["height"], f"image {number}: height")
        require(
            1 <= width <= network.max_width and 1 <= height <= network.max_height,
            f"image {number} of {width} by {height} texels exceeds the limits",
        )
    texels = sum(image["width"] * image["height"] for image in plan["images"])
    require(
        whole(plan["texels"], "texels") == texels,
        f"the images have {texels} texels, not {plan['texels']}",
    )


def check_places(network: Network, plan: dict[str, Any]) -> None:
    """Check that each tensor has a place, and that live tensors do not overlap."""
    places: dict[int, Place] = {}
    what = "arena" if network.views else "image"
    for row in plan["placements"]:
        if row["id"] in network.buffers:
            continue
        if network.views:
            place = _place_in_arena(row, network, network.views, plan["arenas"])
        else:
            place = _place_in_image(row, network, plan["images"])
        require(place.tensor.id not in places, f"item {place.tensor.id} is placed twice")
        places[place.tensor.id] = place
    for key in network.tensors:
        require(key in places, f"item {key} is not placed")
    for a, b in (sorted(pair) for pair in network.pairs):
        if a in network.buffers or b in network.buffers:
            continue
        require(
            places[a].image != places[b].image,
            f"items {a} and {b}, which one operator reads and writes, share {what} "
            f"{places[a].image}",
        )
    live: list[Place] = []
    for place in sorted(places.values(), key=lambda p: p.tensor.first):
        live = [other for other in live if other.tensor.last >= place.tensor.first]
        for other in live:
            require(
                other.image != place.image or not place.overlaps(other),
                f"items {other.tensor.id} and {place.tensor.id} overlap in {what} {place.image}",
            )
        live.append(place)
