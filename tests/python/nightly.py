"""Parameters of tests that draw at random: some run in ./dev test, all of them at night."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def most_at_night(values: Iterable[Any], first: int) -> list[Any]:
    """Return the values as parameters; only the `first` of them run in ./dev test."""
    return [
        each if number < first else pytest.param(*_parts(each), marks=pytest.mark.nightly)
        for number, each in enumerate(values)
    ]
