"""Which ONNX operators can be converted."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any, Literal

import onnx
import onnx.defs

from .converters import supported

_OLDEST = 7
"""The oldest operator set whose operators converters read."""


@dataclass(frozen=True)
class Operator:
    """An operator of ONNX, or of a domain that has converters.

    Attributes
    ----------
    domain : str
        Empty for ONNX's own.
    name : str
    versions : tuple of int
        The operator sets that changed it, beginning with the latest change up to set 7; empty for
        operators that are not ONNX's.
    by : "converter", "definition", "attributes" or ""
        How it is supported; empty if it is not. "definition": ONNX defines it by a body whose
        operators are all supported. "attributes": its body, and so whether it is supported, depends
        on the attributes and on the types of inputs.
    """

    domain: str
    name: str
    versions: tuple[int, ...]
    by: Literal["converter", "definition", "attributes", ""]

    @property
    def title(self) -> str:
        """The name, with the domain if it is not ONNX's own."""
        return f"{self.domain}::{self.name}" if self.domain else self.name

    @property
    def is_standard(self) -> bool:
        """Whether the operator belongs to ONNX's own domain."""
        return not self.domain

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes."""
        return asdict(self)


def operators() -> list[Operator]:
    """Return all operators that ONNX has not deprecated, and all that have converters."""
    converted = set(supported())
    schemas: dict[tuple[str, str], list[Any]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        schemas.setdefault((schema.domain, schema.name), []).append(schema)
    newest = {key: max(every, key=lambda s: s.since_version) for key, every in schemas.items()}
    alive = {key for key, schema in newest.items() if not schema.deprecated}
    how: dict[tuple[str, str], Any] = dict.fromkeys(converted, "converter")
    while True:  # repeat: bodies may use operators that have bodies
        more = [key for key in alive - set(how) if _is_expressible(newest[key], how)]
        if not more:
            break
        how.update(dict.fromkeys(more, "definition"))
    for key in alive:
        if newest[key].has_context_dependent_function:
            how.setdefault(key, "attributes")
    return [
        Operator(*key, versions=_versions(schemas.get(key, [])), by=how.get(key, ""))
        for key in sorted(alive | converted)
    ]


def _versions(schemas: list[Any]) -> tuple[int, ...]:
    every = sorted(schema.since_version for schema in schemas if not schema.deprecated)
    before = [version for version in every if version <= _OLDEST]
    return tuple(before[-1:] + [version for version in every if version > _OLDEST])


def _is_expressible(schema: Any, known: Collection[tuple[str, str]]) -> bool:
    """Whether the body of an operator in the standard uses only known operators."""
    body = schema.function_body.node if schema.has_function else ()
    return bool(body) and all((node.domain, node.op_type) in known for node in body)


__all__ = ["Operator", "operators"]
