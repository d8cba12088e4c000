"""The table of converters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..nodes import Node, Value

ML = "ai.onnx.ml"
"""The domain of ONNX's estimators."""

MICROSOFT = "com.microsoft"
"""The domain of the operators that onnxruntime adds."""

Converter = Callable[[Node], "Value | Sequence[Value]"]

_CONVERTERS: dict[tuple[str, str], Converter] = {}


def converts(*ops: str, domain: str = "") -> Callable[[Converter], Converter]:
    """Register the decorated function for operators of a domain."""

    def register(converter: Converter) -> Converter:
        for op in ops:
            assert (domain, op) not in _CONVERTERS, op
            _CONVERTERS[domain, op] = converter
        return converter

    return register


def converter_of(domain: str, op: str) -> Converter | None:
    """Return the converter of an operator, if there is one."""
    return _CONVERTERS.get((domain, op))


def supported() -> list[tuple[str, str]]:
    """Return (domain, operator) for all converters, sorted."""
    return sorted(_CONVERTERS)


__all__ = ["MICROSOFT", "ML", "Converter", "converter_of", "converts", "supported"]
