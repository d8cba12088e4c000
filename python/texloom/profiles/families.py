"""The profiles of families of devices that Texloom ships, and which one a target has."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from .._core import TargetValue
from .device_profile import DeviceProfile, parsed

_FOLDER = Path(__file__).parent / "stated"

_UNKNOWN, _PROCESSOR = "gpu", "cpu"
_BY_DEVICE = {
    "nvidia": "nvidia-h200",
    "adreno": "adreno-7xx",
    "mali": "mali-valhall",
    "intel_graphics": "intel-xe",
    "mac-intel": "intel-xe",
    **dict.fromkeys(("a13", "m1", "m2", "m3", "m4"), "apple-m1"),
}
"""Profiles by the presets of targets for GPUs."""
_BY_NAME = (
    (re.compile(r"Adreno\D*6\d\d"), "adreno-6xx"),
    (re.compile(r"Adreno\D*8\d\d"), "adreno-8xx"),
)
"""Names of devices for which another profile than that of their preset is nearer."""


def stated_names() -> list[str]:
    """Return the names of the shipped profiles."""
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


@cache
def stated(name: str) -> DeviceProfile:
    """Return a shipped profile."""
    return parsed((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def family_of(target: TargetValue) -> str:
    """Return the name of the shipped profile that a target has if it names none."""
    if target.is_cpu:
        return _PROCESSOR
    if target.kind == "metal" and not target.device:
        return _BY_DEVICE["m1"]
    return _BY_DEVICE.get(target.device, _UNKNOWN)


def family_named(device: str) -> str:
    """Return the shipped profile for the name of a device; "" for that of its preset."""
    return next((name for pattern, name in _BY_NAME if pattern.search(device)), "")


__all__ = ["family_named", "family_of", "stated", "stated_names"]
