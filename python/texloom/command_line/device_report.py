"""A profile of a device as text: a table, and a picture of its bandwidth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..inspect.describe import aligned
from ..measure.device_profile import NOT_MEASURED
from ..measure.quantities import scaled
from ..profiles import Bandwidth, DeviceProfile
from ..show.units import size_text

_BAR = 40  # columns of the longest bar
_MEMORIES = {"buffer": "buffers", "texture": "textures", "shared": "shared memory"}


def profile_lines(profile: DeviceProfile) -> list[str]:
    """Return the lines of a measured profile."""
    rows = [("processors", f"{profile.processors}", "")]
    for each in profile.fma_rates:
        what = f"fused products, {each.dtype} x {each.lanes}"
        rows.append((what, scaled(each.per_second, "/s"), "two operations each"))
    rows += [
        ("a fused product", scaled(profile.fma_seconds, "s"), "until its result is used"),
        ("a load", scaled(profile.latency_seconds, "s"), "from memory, until it is used"),
        ("a barrier", scaled(profile.barrier_seconds, "s"), "of a block of 64 threads"),
        ("a launch", scaled(profile.launch_seconds, "s"), "in a sequence of launches"),
        ("threads", f"{profile.busy_threads}", "that hide the latency of fused products"),
        ("copies", scaled(profile.memory_rate, "B/s"), "read and written in memory"),
    ]
    left_out = [each for each in profile.sources if each.startswith(NOT_MEASURED)]
    return [*aligned(rows), *left_out, *_pictures(profile.bandwidths)]


def _pictures(bandwidths: Iterable[Bandwidth]) -> Iterator[str]:
    """Yield a bar for each footprint, as long as its bandwidth."""
    every = list(bandwidths)
    most = max((each.per_second for each in every), default=1)
    for memory, name in _MEMORIES.items():
        rows = [
            (
                "",
                size_text(each.footprint).rjust(8),
                scaled(each.per_second, "B/s").rjust(9),
                "#" * max(1, round(_BAR * each.per_second / most)),
            )
            for each in every
            if each.memory == memory
        ]
        if rows:
            yield from ("", f"reads of {name}, by the size of the data", *aligned(rows))


__all__ = ["profile_lines"]
