"""The Metal devices of this build, of which there are none without the Metal driver."""

from __future__ import annotations

from typing import Any

import texloom


def metal_devices() -> list[dict[str, Any]]:
    """Describe the Metal devices."""
    return [each for each in texloom.devices() if each["driver"] == "metal"]
