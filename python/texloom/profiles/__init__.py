"""Profiles of devices: what a device can do, by which schedules estimate times.

Texloom ships profiles of families, whose figures are *stated* by public sources. A *measured*
profile is of one device with one driver; ``texloom devices --measure`` makes one and keeps it.
"""

from __future__ import annotations

from .choice import (
    check_profile,
    fits_device,
    kept_profile,
    named_profile,
    profile_for_device,
    profile_of,
)
from .device_profile import Bandwidth, DeviceIdentity, DeviceProfile, FmaRate
from .families import family_named, family_of, stated, stated_names
from .kept import keep
from .kernel_limits import Bound, kernel_limits

__all__ = [
    "Bandwidth",
    "Bound",
    "DeviceIdentity",
    "DeviceProfile",
    "FmaRate",
    "check_profile",
    "family_named",
    "family_of",
    "fits_device",
    "keep",
    "kept_profile",
    "kernel_limits",
    "named_profile",
    "profile_for_device",
    "profile_of",
    "stated",
    "stated_names",
]
