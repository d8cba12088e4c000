"""Names of values while a model is imported."""

from __future__ import annotations

from collections.abc import Mapping

from .nodes import Value


class Scope:
    """The names that are visible in a graph or in the body of a function."""

    def __init__(self, versions: Mapping[str, int], outer: Scope | None = None) -> None:
        self.versions = versions
        self._outer = outer
        self._values: dict[str, Value | None] = {}

    def __setitem__(self, name: str, value: Value | None) -> None:
        self._values[name] = value

    def __getitem__(self, name: str) -> Value | None:
        if not name:
            return None
        if name in self._values:
            return self._values[name]
        return self._outer[name] if self._outer is not None else None


__all__ = ["Scope"]
