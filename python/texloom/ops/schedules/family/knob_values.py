"""Knobs as values of JSON, under which records and files have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, TypeVar

_K = TypeVar("_K")


def knob_values(knobs: Any) -> dict[str, Any]:
    """Return the values of knobs, a dataclass or a mapping, by name."""
    if isinstance(knobs, Mapping):
        return {name: _plain(value) for name, value in knobs.items()}
    return {each.name: _plain(getattr(knobs, each.name)) for each in fields(knobs)}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return knob_values(value) if is_dataclass(value) else value


def point_with(points: Iterable[_K], values: Mapping[str, Any]) -> _K | None:
    """Return the first of some points that has these values of knobs; None if there is none."""
    for each in points:
        names = [field.name for field in fields(each)]  # type: ignore[arg-type]
        if len(names) == len(values) and all(
            name in values and _plain(getattr(each, name)) == values[name] for name in names
        ):
            return each
    return None


__all__ = ["knob_values", "point_with"]
