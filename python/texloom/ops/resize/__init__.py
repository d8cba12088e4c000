"""Resizing and sampling of images."""

from __future__ import annotations
