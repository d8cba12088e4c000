"""Declarations of custom operators: plain data, in Python or in a JSON file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NoReturn

from .. import _core
from ..checks.argument_kinds import shown
from ..errors import MisuseError, refuse

_WORDS: dict[str, tuple[str, ...]] = _core.operator_words()
ACCESSES, STORAGES, TYPES = _WORDS["access"], _WORDS["storage"], _WORDS["type"]


class Reader:
    """Checks the parts of a declaration; messages name `where` (a file, a function) and the key."""

    def __init__(self, where: str) -> None:
        self.where = where

    def refuse(self, key: str, message: str, help_text: str) -> NoReturn:
        """Raise TL5021."""
        refuse("BadCustomOperator", f"{self.where}: {key}: {message}", help_text, MisuseError)

    def mapping(self, key: str, given: Any, known: Sequence[str] = ()) -> dict[str, Any]:
        """Return a mapping with string keys, which must be among `known` if `known` is given."""
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
            self.refuse(
                key, f"is {shown(given)}, not a mapping with names as keys", 'write {"x": "read"}'
            )
        for name in given if known else ():
            if name not in known:
                self.refuse(
                    f"{key}.{name}" if key else name, "is unknown", f"use {', '.join(known)}"
                )
        return dict(given)

    def word(self, key: str, given: Any, words: Sequence[str]) -> str:
        """Return `given`, which must be one of `words`."""
        if given not in words:
            self.refuse(
                key, f"is {shown(given)}, not a known word", f"use one of {', '.join(words)}"
            )
        return given

    def text(self, key: str, given: Any) -> str:
        """Return a string."""
        if not isinstance(given, str):
            self.refuse(key, f"is {shown(given)}, not a string", "write it in quotes")
        return given

    def count(self, key: str, given: Any, most: int, least: int = 0) -> int:
        """Return `given`, which must be a whole number from `least` to `most`."""
        is_number = isinstance(given, Integral) and not isinstance(given, bool)
        if not is_number or not least <= given <= most:
            self.refuse(key, f"is {shown(given)}", f"give a whole number from {least} to {most:,}")
        return int(given)

    def row(self, key: str, given: Any) -> list[Any]:
        """Return a list."""
        if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Sequence):
            self.refuse(key, f"is {shown(given)}, not a list", "write it in brackets: [...]")
        return list(given)

    def three(self, key: str, given: Any) -> list[Any]:
        """Return a list of up to three parts, for the axes x, y and z."""
        parts = self.row(key, given)
        if not 1 <= len(parts) <= 3:
            self.refuse(key, f"has {len(parts)} entries", "give 1 to 3: one for each of x, y and z")
        return parts

    def _layout(self, key: str, given: Any) -> dict[str, list[int]] | None:
        if given is None:
            return None
        parts = self.mapping(key, given, ("rows", "cols", "lanes"))
        return {
            name: [
                self.count(f"{key}.{name}[{i}]", axis, 2**31 - 1)
                for i, axis in enumerate(self.row(f"{key}.{name}", parts.get(name, [])))
            ]
            for name in ("rows", "cols", "lanes")
        }

    def _argument(self, key: str, name: str, given: Any) -> dict[str, Any]:
        if isinstance(given, str):  # "read", "write texture"
            access, _, storage = given.partition(" ")
            given = {"access": access, "storage": storage or "any"}
        row = self.mapping(key, given, ("access", "storage", "layout"))
        return {
            "name": name,
            "access": self.word(f"{key}.access", row.get("access"), ACCESSES),
            "storage": self.word(f"{key}.storage", row.get("storage", "any"), STORAGES),
            "layout": self._layout(f"{key}.layout", row.get("layout")),
        }

    def arguments(self, given: Any) -> list[dict[str, Any]]:
        """Return the arguments as rows of name, access, storage and layout."""
        rows = self.mapping("arguments", given)
        return [self._argument(f"arguments.{name}", name, row) for name, row in rows.items()]

    def _default(self, key: str, kind: str, value: Any) -> Any:
        if kind == "integer":
            return self.count(key, value, 2**63 - 1, -(2**63))
        if kind == "float":
            if not isinstance(value, Real) or isinstance(value, bool):
                self.refuse(key, f"is {shown(value)}, not a number", "give a number: 0.5")
            return float(value)
        return self.text(key, value)

    def _attribute(self, key: str, name: str, given: Any) -> dict[str, Any]:
        if isinstance(given, str):
            given = {"type": given}
        elif isinstance(given, Integral) and not isinstance(given, bool):
            given = {"type": "integer", "default": given}
        elif isinstance(given, Real) and not isinstance(given, bool):
            given = {"type": "float", "default": given}
        row = self.mapping(key, given, ("type", "default"))
        kind = self.word(f"{key}.type", row.get("type"), TYPES)
        default = row.get("default")
        if default is not None:
            default = self._default(f"{key}.default", kind, default)
        return {"name": name, "type": kind, "default": default}

    def attributes(self, given: Any) -> list[dict[str, Any]]:
        """Return the attributes as rows of name, type and default."""
        rows = self.mapping("attributes", {} if given is None else given)
        return [self._attribute(f"attributes.{name}", name, row) for name, row in rows.items()]

    def dtypes(self, given: Any) -> list[list[str]]:
        """Return the variants, each a dtype for each argument."""
        variants = self.row("dtypes", [] if given is None else given)
        return [
            [
                self.text(f"dtypes[{i}][{j}]", dtype)
                for j, dtype in enumerate(self.row(f"dtypes[{i}]", variant))
            ]
            for i, variant in enumerate(variants)
        ]

    def like(self, given: Any) -> dict[str, str]:
        """Return for each output the input whose dtype and shape the output has."""
        rows = self.mapping("like", {} if given is None else given)
        return {name: self.text(f"like.{name}", source) for name, source in rows.items()}

    def declaration(
        self, name: Any, arguments: Any, attributes: Any, version: Any, dtypes: Any
    ) -> dict[str, Any]:
        """Return the parts common to all kinds of operators, in the form that the binding takes."""
        return {
            "name": self.text("name", name),
            "version": self.count("version", version, 2**32 - 1),
            "arguments": self.arguments(arguments),
            "attributes": self.attributes(attributes),
            "dtypes": self.dtypes(dtypes),
        }
