"""What a device can do: counts, rates and times, measured or stated, and their text in a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from reprlib import repr as shown
from typing import Any

import numpy as np

FORMAT = "texloom device profile"
VERSION = 3
MEASURED, STATED = "measured", "stated"


# Figures outside of these are of no device, and estimates could not divide by them.
_MOST_COUNT = 2**31 - 1
_LEAST_RATE, _MOST_RATE = 1e-12, 1e18  # seconds, and rates a second


class ProfileError(Exception):
    """A text that is not one of a profile; the message says what is wrong, without the file."""


@dataclass(frozen=True)
class DeviceIdentity:
    """The device and the driver that a profile is measured on.

    Attributes
    ----------
    name, vendor, platform : str
        As the driver reports them.
    driver : str
        The version of the driver.
    """

    name: str
    vendor: str
    platform: str
    driver: str

    @classmethod
    def of(cls, info: Mapping[str, Any]) -> DeviceIdentity:
        """Return the identity of a device, given what ``device.info`` has."""
        return cls(info["name"], info["vendor"], info["platform"], info["driver_version"] or "")

    def __str__(self) -> str:
        """Return the names of the device, its vendor and its platform, and the version."""
        names = ", ".join((self.name, self.vendor, self.platform))
        return f"{names} (driver {self.driver or 'without a version'})"


@dataclass(frozen=True)
class FmaRate:
    """How many numbers a second the device multiplies and adds.

    Attributes
    ----------
    dtype : str
    lanes : int
        Numbers of a vector in the kernel.
    per_second : float
        Each is one fused product, so two operations.
    """

    dtype: str
    lanes: int
    per_second: float


@dataclass(frozen=True)
class Bandwidth:
    """The bytes a second that all threads read together, from data of one size.

    Attributes
    ----------
    memory : str
        ``"buffer"``, ``"texture"`` or ``"shared"``.
    footprint : int
        Bytes of the data, which all blocks read; of shared memory, bytes of a block.
    per_second : float
    """

    memory: str
    footprint: int
    per_second: float


@dataclass(frozen=True, kw_only=True)
class DeviceProfile:
    """What a device can do, by which schedules estimate times.

    No schedule reads `bandwidths`: they are printed, for whoever writes schedules.

    Attributes
    ----------
    name : str
    origin : str
        ``"measured"`` on the device, or ``"stated"`` by the sources.
    sources : tuple of str
        Where the figures are from.
    device : DeviceIdentity or None
        The device of a measured profile.
    processors : int
        Compute units: multiprocessors, shader processors, cores.
    warp_threads : int
        Threads that run in step.
    threads_per_processor, blocks_per_processor : int
        Those that a processor holds at once.
    registers_per_processor, registers_per_thread : int
        Registers of 32 bits; the most that a thread may have.
    shared_bytes_per_processor : int
        Shared memory for all blocks that a processor holds.
    line_bytes, sector_bytes : int
        Bytes of a line of the near cache, and the fewest that memory moves.
    busy_threads : int
        Threads, of all processors together, that hide most of the latency of arithmetic.
    near_rate, cache_rate, memory_rate : float
        Bytes a second that all processors read from their near caches, from the cache that they
        share, and from memory.
    texture_rate, shared_rate : float
        Bytes a second of textures in the near cache, and of shared memory.
    launch_seconds : float
        What a launch adds to a sequence of launches.
    barrier_seconds : float
        What a barrier takes where all threads of a block arrive together.
    latency_seconds : float
        From the begin of a load from memory to its use.
    fma_seconds : float
        From the begin of a fused product to its use.
    matrix_speed : float
        Products of float16 that matrix units make by fragments, with sums in float32, in the time
        of one fused product of float32; 1 without matrix units.
    has_fast_shared_memory : bool
        Whether data in shared memory is nearer than in the cache, so that copies to it pay.
    fma_rates : tuple of FmaRate
        With the rate of float32 among them.
    bandwidths : tuple of Bandwidth
        The bandwidth by footprint, of measured profiles.
    """

    name: str
    origin: str
    sources: tuple[str, ...]
    device: DeviceIdentity | None
    processors: int
    warp_threads: int
    threads_per_processor: int
    blocks_per_processor: int
    registers_per_processor: int
    registers_per_thread: int
    shared_bytes_per_processor: int
    line_bytes: int
    sector_bytes: int
    busy_threads: int
    near_rate: float
    cache_rate: float
    memory_rate: float
    texture_rate: float
    shared_rate: float
    launch_seconds: float
    barrier_seconds: float
    latency_seconds: float
    fma_seconds: float
    matrix_speed: float
    has_fast_shared_memory: bool
    fma_rates: tuple[FmaRate, ...]
    bandwidths: tuple[Bandwidth, ...] = ()

    @property
    def fma_rate(self) -> float:
        """The best rate of fused products of float32, per second."""
        return max(each.per_second for each in self.fma_rates if each.dtype == "float32")

    @property
    def matrix_rate(self) -> float:
        """The rate of products of float16 by fragments, per second."""
        return self.matrix_speed * self.fma_rate

    @property
    def has_faster_textures(self) -> bool:
        """Whether textures are read faster than buffers: else no kernel gains by them."""
        return self.texture_rate > self.near_rate

    @property
    def warps_per_processor(self) -> int:
        """The warps that a processor holds at once."""
        return max(1, self.threads_per_processor // self.warp_threads)

    def warps(self, threads: Any) -> Any:
        """Return the warps of a block of so many threads, a number or an array."""
        return -(-threads // self.warp_threads)

    def held_blocks(self, threads: Any, shared: Any, registers: Any = 0.0) -> Any:
        """Return how many blocks a processor holds at once, at least 1.

        Each block has `threads` threads and `shared` bytes of shared memory; each thread has
        `registers` registers. All are numbers or arrays; 0 stands for few of them.
        """
        bounds = [self.warps_per_processor // self.warps(threads)]
        bounds.append(self.shared_bytes_per_processor // np.maximum(shared, 1))
        bounds.append(self.registers_per_processor // np.maximum(registers * threads, 1))
        held = self.blocks_per_processor
        for bound in bounds:
            held = np.minimum(held, bound)
        return np.maximum(1, held).astype("int64")

    def text(self) -> str:
        """Return the text of a file, which :func:`parsed` reads."""
        return json.dumps({"format": FORMAT, "version": VERSION, **asdict(self)}, indent=2) + "\n"

    def digest(self) -> str:
        """Return a short digest of all figures."""
        return sha256(self.text().encode()).hexdigest()[:8]


def parsed(text: str) -> DeviceProfile:
    """Return the profile of a text; raise ProfileError for any other text."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProfileError(f"it is not JSON: {error}") from None
    if not isinstance(given, dict) or given.pop("format", None) != FORMAT:
        raise ProfileError("it is not a profile of a device")
    version = given.pop("version", None)
    if type(version) is not int or version != VERSION:
        raise ProfileError(f"it has version {version!r}, where this Texloom reads {VERSION}")
    profile = _read(DeviceProfile, given, "")
    if profile.origin not in (MEASURED, STATED):
        raise ProfileError(f"its origin is {profile.origin!r}, not {MEASURED} or {STATED}")
    if not any(each.dtype == "float32" for each in profile.fma_rates):
        raise ProfileError("its fma_rates have no rate of float32")
    return profile


def _read(kind: Any, given: Any, where: str) -> Any:
    """Return an instance of a dataclass whose fields are exactly those of a JSON object."""
    if not isinstance(given, dict):
        raise ProfileError(f"{where.rstrip('.') or 'the whole'} is not an object")
    names = [each.name for each in fields(kind)]
    for name in names:
        if name not in given:
            raise ProfileError(f"{where + name} is missing")
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        raise ProfileError(f"{where}{unknown!a} is not known")
    values = {
        each.name: _READERS[each.type](given[each.name], where + each.name) for each in fields(kind)
    }
    return kind(**values)


def _text(given: Any, where: str) -> str:
    if not isinstance(given, str):
        raise ProfileError(f"{where} is {given!r}, not a text")
    return given


def _count(given: Any, where: str) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= _MOST_COUNT:
        raise ProfileError(f"{where} is {shown(given)}, not a whole number from 1 to {_MOST_COUNT}")
    return given


def _rate(given: Any, where: str) -> float:
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not is_number or not _LEAST_RATE <= given <= _MOST_RATE:
        limits = f"from {_LEAST_RATE:g} to {_MOST_RATE:g}"
        raise ProfileError(f"{where} is {shown(given)}, not a number {limits}")
    return float(given)


def _flag(given: Any, where: str) -> bool:
    if not isinstance(given, bool):
        raise ProfileError(f"{where} is {given!r}, not true or false")
    return given


def _list_of(read: Callable[[Any, str], Any]) -> Callable[[Any, str], tuple[Any, ...]]:
    def read_all(given: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(given, list):
            raise ProfileError(f"{where} is not a list")
        return tuple(read(each, f"{where}[{i}]") for i, each in enumerate(given))

    return read_all


def _object(kind: Any) -> Callable[[Any, str], Any]:
    return lambda given, where: _read(kind, given, f"{where}.")


def _identity(given: Any, where: str) -> DeviceIdentity | None:
    return None if given is None else _read(DeviceIdentity, given, f"{where}.")


_READERS: dict[Any, Callable[[Any, str], Any]] = {
    "str": _text,
    "int": _count,
    "float": _rate,
    "bool": _flag,
    "tuple[str, ...]": _list_of(_text),
    "tuple[FmaRate, ...]": _list_of(_object(FmaRate)),
    "tuple[Bandwidth, ...]": _list_of(_object(Bandwidth)),
    "DeviceIdentity | None": _identity,
}
"""How the value of a field is read, by the annotation of the field."""


__all__ = [
    "MEASURED",
    "STATED",
    "Bandwidth",
    "DeviceIdentity",
    "DeviceProfile",
    "FmaRate",
    "ProfileError",
    "parsed",
]
