"""How TVM spells devices and targets: names of kinds, and options in strings and dicts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import _core
from ..errors import refuse

EXTENSION = 12
"""DLPack's number for kinds of devices that DLPack does not name."""


@dataclass(frozen=True)
class Kind:
    """A kind of device that TVM's scripts name, and the kinds of targets for it.

    Attributes
    ----------
    device : str
    number : int
        TVM's number, which is also DLPack's.
    targets : tuple of str
        The first words of targets for such devices.
    threads, warp : int
        Threads of a block and of a warp: the defaults of TVM 0.9, which schedules rely on if the
        text of the target has no numbers (``src/target/target_kind.cc`` in TVM).
    aliases : tuple of str
        Other names of the device.
    """

    device: str
    number: int
    targets: tuple[str, ...]
    threads: int = 1
    warp: int = 1
    aliases: tuple[str, ...] = ()

    @property
    def keys(self) -> list[str]:
        """Keys from which TVM's schedules derive the class of a target (``Target.keys``)."""
        return [self.device] if self.device == "cpu" else [self.device, "gpu"]


KINDS = (
    Kind("cpu", 1, ("llvm", "c")),
    Kind("cuda", 2, ("cuda", "nvptx"), 1024, 32, ("gpu",)),
    Kind("opencl", 4, ("opencl",), 256, aliases=("cl",)),
    Kind("vulkan", 7, ("vulkan",), 256),
    Kind("metal", 8, ("metal",), 256, 16),
    Kind("rocm", 10, ("rocm",), 256, 64),
)
_BY_DEVICE = {kind.device: kind for kind in KINDS}
_BY_TARGET = {word: kind for kind in KINDS for word in kind.targets}
_BY_ANY_NAME = {
    word: kind for kind in KINDS for word in (kind.device, *kind.targets, *kind.aliases)
}


def device_kind(name: str | int) -> str:
    """Return the kind of device for a name or number of TVM; return other values unchanged."""
    found = [kind for kind in KINDS if kind.number == name]
    kind = found[0] if found else _BY_ANY_NAME.get(str(name))
    return str(name) if kind is None else kind.device


def device_number(kind: str) -> int:
    """Return TVM's number for a kind of device, or for the devices of a driver."""
    return _BY_DEVICE[kind].number if kind in _BY_DEVICE else EXTENSION


def is_device_kind(kind: str) -> bool:
    """Whether TVM has devices of this kind."""
    return kind in _BY_DEVICE


def target_kind(word: str) -> Kind:
    """Return the kind of a target's first word."""
    return _BY_TARGET.get(word, Kind(word, EXTENSION, (word,)))


def has_no_kernels(word: str) -> bool:
    """Whether targets with this first word can be created and queried, but not built for."""
    return word in _BY_TARGET and word not in _core.target_kinds()


# Options that have no effect on kernels.
_WITHOUT_EFFECT = ("model", "thread_warp_size", "keys", "host", "libs")


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
            words[-1] += f" {word}"  # the value has several words
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
    if name != "device" or value == "" or kind not in _core.target_kinds():
        return False
    return value not in _core.target_devices(kind)


def has_no_effect(word: str, kind: str) -> bool:
    """Whether the option of a target of this kind has no effect on kernels."""
    return option(word)[0] in _WITHOUT_EFFECT or is_unknown_device(word, kind)


__all__ = [
    "EXTENSION",
    "KINDS",
    "Kind",
    "as_mapping",
    "device_kind",
    "device_number",
    "has_no_kernels",
    "is_device_kind",
    "has_no_effect",
    "is_unknown_device",
    "option",
    "target_kind",
    "words_of",
]
