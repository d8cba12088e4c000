"""Which profile a target has: a named one, a measured one of its device, or that of its family."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from .. import _core
from .._core import TargetValue
from ..errors import refuse
from .device_profile import DeviceIdentity, DeviceProfile, ProfileError, parsed
from .families import family_named, family_of, stated, stated_names
from .kept import folder, kept_file, read_kept

_MEASURE = "measure it: texloom devices --measure --device"


@lru_cache(maxsize=64)
def profile_of(target: TargetValue) -> DeviceProfile:
    """Return the profile by which schedules for a target estimate times.

    Raises
    ------
    TVMError
        As :func:`named_profile`, for a target with the attribute ``-profile=``.
    """
    named = target.attrs.get("profile")
    return named_profile(named) if named else stated(family_of(target))


def check_profile(target: TargetValue) -> None:
    """Check that the profile of a target can be read.

    Raises
    ------
    TVMError
        As :func:`profile_of`.
    """
    profile_of(target)


@cache
def named_profile(name: str) -> DeviceProfile:
    """Return a profile by the value of ``-profile=``: a name, or the path of a file.

    A path is read once in a process, by its spelling, so that equal targets have equal schedules
    there. In another process, it means what the file then has.

    Raises
    ------
    TVMError
        TL5016 for an unknown name, TL5018 for a file that cannot be read, TL5019 for one that is
        damaged.
    """
    if name in stated_names():
        return stated(name)
    path = Path(name)
    is_path = path.suffix == ".json" or len(path.parts) > 1
    kept = folder()
    if not is_path and name.startswith("measured-") and kept is not None:
        path = kept / f"{name}.json"
        if path.exists():
            return _read(path, is_kept=True)
    if not is_path:
        refuse(
            "UnknownName",
            f"there is no profile {name!r} of a device",
            "leave out -profile, or name the path of a file or one of " + ", ".join(stated_names()),
        )
    return _read(path, is_kept=False)


def _read(path: Path, is_kept: bool) -> DeviceProfile:
    try:
        return read_kept(path) if is_kept else parsed(path.read_text(encoding="utf-8"))
    except OSError as error:
        refuse(
            "FileError",
            f"the profile {path} cannot be read: {error.strerror}",
            "name another file, or leave out -profile",
        )
    except (ProfileError, UnicodeDecodeError) as error:
        refuse(
            "BadFile",
            f"the profile {path} is damaged: {error}",
            "leave out -profile, or measure the device again: texloom devices --measure",
        )


def kept_profile(device: str, info: Mapping[str, Any]) -> tuple[str, DeviceProfile] | None:
    """Return the measured profile of a device and its name; None without one that holds.

    Parameters
    ----------
    device : str
        Its name, such as ``"opencl:0"``, for the help of warnings.
    info : mapping
        What the driver tells of it.

    Warns
    -----
    TexloomWarning
        TL5022 for a profile that is damaged, or that was measured with another driver.
    """
    identity = DeviceIdentity.of(info)
    path = kept_file(identity)
    if path is None:
        return None
    try:
        profile = read_kept(path)
    except (ProfileError, UnicodeDecodeError) as error:
        problem = f"is damaged: {error}"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    else:
        if profile.device == identity:
            return path.stem, profile
        problem = f"is of {profile.device}"
    _core.warn(
        "ProfileUnused",
        f"the measured profile of {identity} is not used: {path} {problem}",
        f"{_MEASURE} {device}; or delete the file",
    )
    return None


def profile_for_device(device: str, info: Mapping[str, Any]) -> str:
    """Return the value of ``-profile=`` for a device; "" if its preset says enough.

    Parameters and warnings are those of :func:`kept_profile`.
    """
    kept = kept_profile(device, info)
    return family_named(info["name"]) if kept is None else kept[0]


def fits_device(name: str, device: str, info: Mapping[str, Any]) -> bool:
    """Whether a named profile may be used for a device: not one that was measured on another.

    Parameters are the value of ``-profile=`` and those of :func:`kept_profile`.

    Warns
    -----
    TexloomWarning
        TL5022 for the profile of another device, or of another driver.

    Raises
    ------
    TVMError
        As :func:`named_profile`.
    """
    measured, identity = named_profile(name).device, DeviceIdentity.of(info)
    if measured is None or measured == identity:
        return True
    _core.warn(
        "ProfileUnused",
        f"the profile {name} is not used for {device}: it is of {measured}",
        f"leave out -profile, or {_MEASURE} {device}",
    )
    return False


__all__ = [
    "check_profile",
    "fits_device",
    "kept_profile",
    "named_profile",
    "profile_for_device",
    "profile_of",
]
