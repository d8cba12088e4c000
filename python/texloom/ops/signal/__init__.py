"""Windows and Fourier transforms."""

from __future__ import annotations

from .fourier import dft, stft, turns

__all__ = ["dft", "stft", "turns"]
