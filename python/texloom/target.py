"""Targets, for which programs are compiled. Building for a target needs no device.

A :class:`TargetValue` describes the devices for which kernels are built, by a kind, limits and
features. :class:`Target` makes one from a text or a device, and adds the attributes of TVM's class.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from . import _core
from ._core import Device, TargetValue
from .checks.argument_kinds import shown
from .checks.checked_calls import check_calls
from .devices.absent import AbsentDevice
from .devices.absent import refuse as refuse_device
from .devices.lookup import name_of, present
from .errors import MisuseError, refuse
from .profiles import check_profile, fits_device, profile_for_device
from .tvm.spellings import (
    as_mapping,
    has_no_effect,
    has_no_kernels,
    is_unknown_device,
    option,
    target_kind,
    words_of,
)

_current: ContextVar[Target | None] = ContextVar("texloom_target", default=None)

DEFAULT = "opencl"
NATIVE = "llvm -mcpu=native"
_DEVICE_NAME = re.compile(r"\s*(\w+:\d+)(?=\s|$)")


class Target:
    """A target such as ``"opencl"``, ``"opencl -device=adreno"`` or ``"metal -contract=0"``.

    The name of a device on this machine, such as ``"opencl:0"``, stands for
    ``Target.from_device(texloom.device("opencl:0"))``; options after it, as in
    ``"metal:0 -max_buffers=1"``, override those of the device. The name of a processor, such as
    ``"haswell"`` or ``"native"``, stands for a target of the kind ``"llvm"``. Options may be
    written as ``--device=mali``, ``-device mali``, a dict, or a JSON string. As a context manager,
    a target is the default of ``lower`` and ``build`` in its body.

    Warns
    -----
    TexloomWarning
        TL4003 for a device without a preset: limits that every device has are assumed; TL5022 for
        the measured profile of another device than the one that is named, which is not used.

    Raises
    ------
    TVMError
        TL4003 for an unknown target or attribute; for the name of a device, TL5006 if it does not
        exist, and TL5016 if there is no such driver; for a profile that is named, TL5016 if it is
        unknown, TL5018 if its file cannot be read, TL5019 if it is damaged.
    """

    def __init__(
        self, target: str | Target | TargetValue | Mapping[str, Any], host: Any = None
    ) -> None:
        _check_kind(target)
        device = None
        if (named := device_named(target)) is not None:
            options = str(target).split()[1:]
            device = present(named)
            target = Target.from_device(device)
            if options:
                target = " ".join([str(target), *options])
        given = target if isinstance(target, Mapping) else str(target)
        if isinstance(given, str):
            given = as_mapping(given) or given
        if isinstance(given, Mapping):
            _check_has_kind(given)
        words = words_of(given)
        if device is not None:
            words = [word for word in words if not _is_profile_of_other(word, device)]
        remarks = [word for word in words if has_no_effect(word, words[0])]
        # The options that were given explicitly.
        self._given = target._given if isinstance(target, Target) else dict(map(option, words[1:]))
        self._kernel_text = " ".join(word for word in words if word not in remarks)
        self._value: TargetValue | None = None
        if words[:1] and has_no_kernels(words[0]):
            self._text, self._options = " ".join(words), dict(map(option, words[1:]))
        else:
            self._value = TargetValue(self._kernel_text)
            self._text = " ".join([str(self._value), *remarks])
            self._options = {**self._value.attrs, **dict(map(option, remarks))}
            check_profile(self._value)
            for device in (word for word in remarks if is_unknown_device(word, words[0])):
                _warn_of_device(words[0], option(device)[1])
        if host is None:
            own = given.get("host") if isinstance(given, Mapping) else None
            host = own or self._options.get("host")
        if host is None and isinstance(target, Target):
            host = target.host
        # No code is compiled for the host.
        self._host = None if host is None else Target(host)
        self._tokens: list[Token[Target | None]] = []

    @classmethod
    def from_device(cls, device: Device) -> Target:
        """Return the target of a device on this machine, with its own limits and features.

        If the device was measured by ``texloom devices --measure``, the target names the profile
        that was kept; the warning TL5022 says why one is not used.

        That of the device ``"host:0"``, the processor, is native code if LLVM is there; otherwise
        its kernels are for the interpreter.
        """
        if isinstance(device, AbsentDevice):
            refuse_device(device)
        if not isinstance(device, Device):
            refuse(
                "BadArgument",
                f"Target.from_device is given {shown(device)}, not a device",
                'give a device, as texloom.device("opencl:0")',
            )
        text = NATIVE if device.driver == "host" and has_llvm() else device._target
        profile = (
            "" if device.driver == "host" else profile_for_device(name_of(device), device.info)
        )
        target = cls(f"{text} -profile={profile}" if profile else text)
        target._given = target._options
        return target

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Target({self._text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(self._text)

    def __deepcopy__(self, memo: Any) -> Target:
        return self  # it never changes

    def __reduce__(self) -> tuple[Any, ...]:
        return Target, (self._text, self._host)

    @property
    def value(self) -> TargetValue:
        """The target of kernels; TL4003 for a kind without a backend, such as ``"cuda"``."""
        return TargetValue(self._kernel_text) if self._value is None else self._value

    @property
    def device_class(self) -> str:
        """``"cpu"`` or ``"gpu"``; the plain ``"opencl"``, which suits any device, is ``"cpu"``."""
        if self._value is not None:
            return self._value.device_class
        return "cpu" if target_kind(self.kind.name).device == "cpu" else "gpu"

    @property
    def attrs(self) -> dict[str, Any]:
        """The preset, limits and features, by the names used in target strings.

        ``device``, ``texture_spatial_limit``, ``max_num_threads``, ``images`` and others.
        """
        return dict(self._options)

    @property
    def kind(self) -> SimpleNamespace:
        """The first word of the string, as ``.name``."""
        return SimpleNamespace(name=self._text.split()[0])

    @property
    def device_name(self) -> str:
        """The value of ``-device=``, or empty."""
        return self._options.get("device", "")

    @property
    def model(self) -> str:
        """The value of ``-model=``, or ``"unknown"``."""
        return self._options.get("model", "unknown")

    @property
    def keys(self) -> list[str]:
        """The device and the generic GPU keys, which TVM's schedules look for."""
        given = [key for key in self._options.get("keys", "").split(",") if key]
        own = given or [self.device_name, *target_kind(self.kind.name).keys]
        return list(dict.fromkeys(key for key in own if key))

    @property
    def host(self) -> Target | None:
        """The value of ``host=``; no code is compiled for the host."""
        return self._host

    @property
    def max_num_threads(self) -> int:
        """The number of threads per block that schedules should use at most.

        The number given in the text, or that of the device; otherwise a number that suits most
        devices of the kind: 256 for ``"opencl"``. ``attrs["max_num_threads"]`` is the limit that
        ``build`` enforces.
        """
        usual = target_kind(self.kind.name).threads
        if "max_num_threads" not in self._given and not self.device_name:
            return usual
        return int(self._options.get("max_num_threads", usual))

    @property
    def thread_warp_size(self) -> int:
        """The value of ``-thread_warp_size=``, or the usual size of the kind: 32 for ``"cuda"``."""
        usual = target_kind(self.kind.name).warp
        return int(self._options.get("thread_warp_size", usual))

    def __enter__(self) -> Target:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._tokens.pop())

    @staticmethod
    def current(allow_none: bool = True) -> Target | None:
        """Return the target of the innermost ``with``.

        Without one, return None, or raise a ValueError if `allow_none` is false.
        """
        target = _current.get()
        if target is None and not allow_none:
            refuse(
                "UnknownTarget",
                "no target is set",
                'write `with tvm.target.Target("opencl"):` around the code that needs a target',
                MisuseError,
            )
        return target


def _check_kind(target: Any) -> None:
    if not isinstance(target, (str, Target, TargetValue, Mapping)):
        refuse(
            "BadArgument",
            f"the target is {shown(target)}, not a string, a Target or a mapping",
            'name one, as "opencl" or "opencl -device=adreno"',
        )


def _is_profile_of_other(word: str, device: Device) -> bool:
    """Whether a word names the measured profile of another device, which is told in a warning."""
    name, value = option(word)
    is_named = name == "profile" and bool(value)
    return is_named and not fits_device(str(value), name_of(device), device.info)


def _check_has_kind(config: Mapping[str, Any]) -> None:
    if "kind" not in config:
        refuse(
            "UnknownTarget",
            f"the mapping of a target has {', '.join(map(repr, config)) or 'no keys'}, but no "
            "'kind'",
            'give {"kind": "opencl", ...}',
        )


def _warn_of_device(kind: str, name: str) -> None:
    every = _core.target_kinds()[kind]
    presets = _core.target_devices(kind)
    _core.warn(
        "UnknownTarget",
        f"there is no preset for the device '{name}': the limits of every {every} device hold",
        f"use one of {', '.join(presets)}, or set limits, as -max_num_threads=256",
    )


def create(target: str | Target | Mapping[str, Any]) -> Target:
    """Return a :class:`Target`, from a string, a mapping or another target."""
    return Target(target)


def cuda(model: str = "unknown", options: str = "") -> Target:
    """Return a target for TVM's CUDA backend, which can be queried but not built for."""
    return Target(f"cuda -model={model} {options}".strip())


def adreno(options: str = "") -> Target:
    """Return the target of Qualcomm's GPUs; `options` such as ``"-max_num_threads=512"``."""
    return Target(f"opencl -device=adreno {options}".strip())


def mali(options: str = "") -> Target:
    """Return the target of Arm's GPUs; `options` as for :func:`adreno`."""
    return Target(f"opencl -device=mali {options}".strip())


def intel_graphics(options: str = "") -> Target:
    """Return the target of Intel's integrated GPUs; `options` as for :func:`adreno`."""
    return Target(f"opencl -device=intel_graphics {options}".strip())


def has_llvm() -> bool:
    """Whether the plug-in for the kind ``"llvm"`` is installed."""
    _, problem, _ = _core.llvm_plugin()
    return not problem


def for_models(target: str | Target | None) -> str | Target:
    """Return the given, the current, or the default target of whole models.

    The default is native code for this machine's processor if LLVM is there, so that no OpenCL
    implementation is needed; otherwise it is that of :func:`texloom.build`.
    """
    if target is None:
        target = Target.current() or (NATIVE if has_llvm() else DEFAULT)
    return target


def is_native(target: str | Target) -> bool:
    """Whether kernels for a target are native code of a processor."""
    return Target(target).kind.name == "llvm"


def resolve(target: str | Target | TargetValue | None) -> TargetValue:
    """Return the value of the given, the current, or the default target."""
    if isinstance(target, TargetValue):
        return target
    if target is None:
        target = Target.current() or DEFAULT
    _check_kind(target)
    return (target if isinstance(target, Target) else Target(target)).value


def target_for(device: Device | str | None, target: str | Target | None = None) -> Target:
    """Return the given target, else the current target, else the target of the device.

    `device` is as for :func:`texloom.devices.lookup.present`. A current target takes precedence
    over the device; kernels for another kind of device are refused when they run.
    """
    chosen = Target.current() if target is None else target
    return Target.from_device(present(device)) if chosen is None else Target(chosen)


@dataclass(frozen=True)
class Mmt4dTile:
    """A tile of a product of matrices, which one call of a micro-kernel computes.

    Attributes
    ----------
    m0, n0, k0 : int
        The rows and columns of the tile, and how many steps of the sums are stored together: the
        left side is packed in tiles ``m0 x k0``, the right side in tiles ``n0 x k0``.
    kernel : str or None
        The name of the micro-kernel; None for a target without micro-kernels.
    """

    m0: int
    n0: int
    k0: int
    kernel: str | None


# The types of the left and the right side, as the names of micro-kernels have them.
_MMT4D_TYPES = {
    ("float32", "float32"): "f32f32f32",
    ("float64", "float64"): "f64f64f64",
    ("float16", "float16"): "f16f16f32",
    ("bfloat16", "bfloat16"): "bf16bf16f32",
    ("int8", "int8"): "i8i8i32",
    ("uint8", "int8"): "u8i8i32",
    ("int16", "int16"): "i16i16i32",
}


def mmt4d_tiles(
    left: str, right: str | None = None, target: str | Target | TargetValue | None = None
) -> list[Mmt4dTile]:
    """Return the tiles that a target has micro-kernels for, from the least to the most capable.

    Several micro-kernels may have the same tile; the last is the fastest. For a target of another
    kind than ``"llvm"``, the tiles are those of the generic micro-kernels, without names.

    Parameters
    ----------
    left, right : str
        The types of the elements of the two sides; the right side's is the left side's by default.
    target : str or Target, optional
        The current target by default.

    Raises
    ------
    TVMError
        TL1005 if there are no micro-kernels for these types, TL4003 for an unknown processor.
    """
    types = _MMT4D_TYPES.get((str(left), str(left if right is None else right)))
    if types is None:
        pairs = ", ".join(" x ".join(pair) for pair in _MMT4D_TYPES)
        refuse(
            "UnknownType",
            f"there are no micro-kernels for {left} x {left if right is None else right}",
            f"convert the sides to one of {pairs}",
        )
    value = resolve(target)
    has_kernels = value.kind == "llvm"
    return [
        Mmt4dTile(m0, n0, k0, name if has_kernels else None)
        for name, of, _, m0, n0, k0 in _core.mmt4d_variants(value)
        if of == types
    ]


def mmt4d_tile(
    left: str,
    right: str | None = None,
    *,
    rows: int | None = None,
    target: str | Target | TargetValue | None = None,
) -> Mmt4dTile:
    """Return the tile that suits a product on a target best, for packing its sides.

    Parameters
    ----------
    left, right, target
        As for :func:`mmt4d_tiles`.
    rows : int, optional
        The rows of the left side. A product of few rows gets a narrow tile, so that little of it is
        padding; by default there are many.

    Raises
    ------
    TVMError
        As :func:`mmt4d_tiles`; TL2040 if there are no rows.
    """
    if rows is not None and rows < 1:
        refuse("BadArgument", f"mmt4d_tile: rows is {rows}", "give the rows of the left side")
    tiles = mmt4d_tiles(left, right, target)
    best = tiles[-1]
    family = [tile for tile in tiles if (tile.n0, tile.k0) == (best.n0, best.k0)]

    def cost(tile: Mmt4dTile) -> tuple[float, int]:
        # A tile takes a step for each row, and half a step for the reads of the right side. Its
        # sums are chains of operations, which take as long for one row as for three.
        steps = max(tile.m0, 3) + 0.5
        return (steps / tile.m0 if rows is None else -(-rows // tile.m0) * steps, tile.m0)

    preferred = min(family, key=cost)
    return next(tile for tile in reversed(tiles) if _shape(tile) == _shape(preferred))


def _shape(tile: Mmt4dTile) -> tuple[int, int, int]:
    return tile.m0, tile.n0, tile.k0


def device_named(target: object) -> str | None:
    """Return the name of the device, such as ``"opencl:0"``, in a target's text; else None."""
    match = _DEVICE_NAME.match(target) if isinstance(target, str) else None
    return None if match is None else match[1]


def resolve_for_arrays(target: str | Target | None) -> TargetValue:
    """Like :func:`resolve`, but with the default for a current target that has no kernels."""
    current = Target.current()
    if target is None and current is not None and has_no_kernels(current.kind.name):
        return resolve(DEFAULT)
    return resolve(target)


__all__ = [
    "Mmt4dTile",
    "Target",
    "TargetValue",
    "adreno",
    "create",
    "cuda",
    "device_named",
    "for_models",
    "has_llvm",
    "intel_graphics",
    "is_native",
    "mali",
    "mmt4d_tile",
    "mmt4d_tiles",
    "resolve",
    "resolve_for_arrays",
    "target_for",
]
check_calls(globals())
