"""Names of values while a model is imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import onnx
import onnx.defs

from .nodes import Value


def canonical(domain: str) -> str:
    """Return the one name of a domain: ONNX's own domain has two."""
    return "" if domain == "ai.onnx" else domain


def versions_of(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """Return the versions of operator sets by their domains."""
    return {canonical(each.domain): each.version for each in imports}


@cache
def _newest_version(domain: str) -> int:
    """Return the newest version that ONNX defines; 1 for domains of others."""
    known = (each for each in onnx.defs.get_all_schemas() if each.domain == domain)
    return max((each.since_version for each in known), default=1)


class Scope:
    """The names that are visible in a graph or in the body of a function."""

    def __init__(self, versions: Mapping[str, int], outer: Scope | None = None) -> None:
        self.versions = versions
        self._outer = outer
        self._values: dict[str, Value | None] = {}

    def version_of(self, domain: str) -> int:
        """Return the version of a domain; the newest one if the model does not import it."""
        return self.versions.get(domain) or _newest_version(domain)

    def __setitem__(self, name: str, value: Value | None) -> None:
        self._values[name] = value

    def __getitem__(self, name: str) -> Value | None:
        if not name:
            return None
        if name in self._values:
            return self._values[name]
        return self._outer[name] if self._outer is not None else None


__all__ = ["Scope", "canonical", "versions_of"]
