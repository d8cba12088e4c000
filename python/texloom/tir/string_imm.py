"""Strings in place of expressions."""

from __future__ import annotations


class StringImm:
    """A string that is used as an expression."""

    dtype = "handle"

    def __init__(self, value: str) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return self.value == (other.value if isinstance(other, StringImm) else other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f'"{self.value}"'


__all__ = ["StringImm"]
