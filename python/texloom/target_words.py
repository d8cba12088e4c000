"""Parsing of target strings and dicts, in all spellings that scripts use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import _core
from .errors import refuse

# Options that have no effect on kernels.
_REMARKS = ("model", "thread_warp_size", "keys", "host", "libs")


def words_of(target: str | Mapping[str, Any]) -> list[str]:
    """Return the kind, then each option as ``-name=value``.

    In a string, options have any number of dashes, and values follow ``=`` or a space; ``{"kind":
    "opencl"}`` is read as JSON. The host of a dict, which may be a dict itself, is ignored.
    """
    if isinstance(target, Mapping):
        options = {
            key: value for key, value in target.items() if key not in ("kind", "tag", "host")
        }
        return [str(target.get("kind", "")), *(f"-{k}={_value(v)}" for k, v in options.items())]
    words: list[str] = []
    for word in target.split():
        if word.startswith("-"):
            words.append("-" + word.lstrip("-"))
        elif words and words[-1].startswith("-") and "=" not in words[-1]:
            words[-1] += f"={word}"
        elif words and option(words[-1])[0] == "model":
            words[-1] += f" {word}"  # a name of several words
        else:
            words.append(word)
    return words


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(int(value) if isinstance(value, bool) else value)


def as_mapping(text: str) -> Mapping[str, Any] | None:
    """Return the dict of a JSON string, and None for other strings."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        refuse(
            "UnknownTarget",
            f"the target is not valid JSON: {error}",
            'write {"kind": "opencl", "device": "mali"}, or "opencl -device=mali"',
        )


def option(word: str) -> tuple[str, str]:
    """``-name=value`` as name and value."""
    name, _, value = word.removeprefix("-").partition("=")
    return (name, value) if word.startswith("-") else ("", word)


def is_unknown_device(word: str, kind: str) -> bool:
    """Whether the option names a device without a preset for targets of this kind."""
    name, value = option(word)
    return name == "device" and value != "" and value not in _core.target_devices(kind)


def is_remark(word: str, kind: str) -> bool:
    """Whether the option of a target of this kind has no effect on kernels."""
    return option(word)[0] in _REMARKS or is_unknown_device(word, kind)


__all__ = ["as_mapping", "is_remark", "is_unknown_device", "option", "words_of"]
