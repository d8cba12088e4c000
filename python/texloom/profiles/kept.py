"""The measured profiles in the user's folder, one for each device.

The name of a file has a digest of the device and one of the figures: a target that names a profile
always means the same figures; otherwise it is refused.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from .. import _core
from ..whole_file import write_whole
from .device_profile import DeviceIdentity, DeviceProfile, ProfileError, parsed

_SUFFIX = ".json"


def folder() -> Path | None:
    """Return the folder of measured profiles; None if nothing is kept."""
    caches = _core.kernel_cache_folder()
    return Path(caches) / "profiles" if caches else None


def _prefix(device: DeviceIdentity) -> str:
    named = "\n".join((device.name, device.vendor, device.platform))
    return f"measured-{sha256(named.encode()).hexdigest()[:8]}-"


def keep(profile: DeviceProfile) -> str | None:
    """Write a measured profile in place of the earlier one of its device, as a whole.

    Returns its name, or None if there is no folder to keep it in. Raises OSError.
    """
    where = folder()
    if where is None:
        return None
    assert profile.device is not None
    where.mkdir(parents=True, exist_ok=True)
    prefix = _prefix(profile.device)
    name = prefix + profile.digest()
    earlier = [path for path in where.glob(f"{prefix}*{_SUFFIX}") if path.stem != name]
    write_whole(where / (name + _SUFFIX), profile.text().encode())
    for path in earlier:
        path.unlink(missing_ok=True)
    return name


def kept_file(device: DeviceIdentity) -> Path | None:
    """Return the file of the device's profile, whatever its driver was; None if there is none."""
    where = folder()
    if where is None:
        return None
    return max(where.glob(f"{_prefix(device)}*{_SUFFIX}"), default=None, key=_time_of)


def _time_of(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:  # another process has measured again
        return 0


def read_kept(path: Path) -> DeviceProfile:
    """Return the profile in a file of :func:`keep`.

    Raises
    ------
    OSError
        If it cannot be read.
    ProfileError
        If it is not what was written.
    """
    profile = parsed(path.read_text(encoding="utf-8"))
    if not path.stem.endswith(f"-{profile.digest()}"):
        raise ProfileError("its figures are not those that were measured")
    return profile


__all__ = ["folder", "keep", "kept_file", "read_kept"]
