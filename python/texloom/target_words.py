"""What target strings and dicts say, in the spellings that scripts have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import _core
from .errors import refuse

# What a string may say of a device without any effect on kernels.
_REMARKS = ("model", "thread_warp_size", "keys", "host", "libs")


def words_of(target: str | Mapping[str, Any]) -> list[str]:
    """The kind, then each option as ``-name=value``.

    A string has any number of dashes, and values behind ``=`` or a space; ``{"kind": "opencl"}`` is
    read as JSON. Of a dict its host is left out, which may be a dict itself.
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
    """The dict that a string of JSON is; None of other strings."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        refuse(
            "UnknownTarget",
            f"the target is no JSON: {error}",
            'write {"kind": "opencl", "device": "mali"}, or "opencl -device=mali"',
        )


def option(word: str) -> tuple[str, str]:
    """``-name=value`` as name and value."""
    name, _, value = word.removeprefix("-").partition("=")
    return (name, value) if word.startswith("-") else ("", word)


def is_unknown_device(word: str) -> bool:
    """Whether it names a device that there is no preset of."""
    name, value = option(word)
    return name == "device" and value != "" and value not in _core.target_devices()


def is_remark(word: str) -> bool:
    """Whether it changes no kernel."""
    return option(word)[0] in _REMARKS or is_unknown_device(word)


__all__ = ["as_mapping", "is_remark", "is_unknown_device", "option", "words_of"]
