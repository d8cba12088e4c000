"""Pictures of schedules: ``texloom.show(s, args)``, and ``texloom show FILE``."""

from __future__ import annotations

from .picture import Picture, show
from .traffic import Traffic, traffic

__all__ = ["Picture", "Traffic", "show", "traffic"]
