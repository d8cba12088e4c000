"""Reads objects of JSON whose types are not sure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class ObjectReader:
    """Takes values of expected types out of an object of JSON.

    All methods raise ValueError, which says what is wrong. Integers count as floats.

    Parameters
    ----------
    facts : dict
    """

    def __init__(self, facts: dict[str, Any]) -> None:
        self._facts = facts

    def __call__(self, name: str, kind: type) -> Any:
        """Return the value with a name, which is of this type."""
        return _checked(name, self.optional(name, kind), kind)

    def optional(self, name: str, kind: type) -> Any:
        """Return the value with a name, which is of this type, or None for null."""
        if name not in self._facts:
            raise ValueError(f"it has no {name!r}")
        value = self._facts[name]
        return None if value is None else _checked(name, value, kind)

    def sequence(self, name: str, kind: type) -> tuple[Any, ...]:
        """Return the elements of an array, all of this type."""
        return tuple(_checked(name, each, kind) for each in self(name, list))

    def mapping(self, name: str, kind: type) -> dict[str, Any]:
        """Return an object, all of whose values are of this type."""
        return {key: _checked(name, value, kind) for key, value in self(name, dict).items()}


def _checked(name: str, value: Any, kind: type) -> Any:
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise ValueError(f"{name!r} is no {kind.__name__}")
    return value


def check_texts(facts: Any) -> None:
    """Raise ValueError for characters that databases cannot store: zeros, and halves of others."""
    for text in _texts(facts):
        if "\0" in text:
            raise ValueError("a text has a character with the code 0")
        text.encode()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        inner = value if isinstance(value, list) else [*value, *value.values()]
        for each in inner:
            yield from _texts(each)


__all__ = ["ObjectReader", "check_texts"]
