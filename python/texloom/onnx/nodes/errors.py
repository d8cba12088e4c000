"""What the importer refuses, while it collects all of it."""

from __future__ import annotations


class Unsupported(Exception):
    """A node cannot be converted; the text says why."""


class NeedsValues(Exception):
    """A node needs the elements of inputs of the model, not only their shapes."""

    def __init__(self, inputs: frozenset[str]) -> None:
        super().__init__(", ".join(sorted(inputs)))
        self.inputs = inputs


__all__ = ["NeedsValues", "Unsupported"]
