"""The reference kernel of a run, by whose time disturbances of the device are noticed."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

SHARE = 0.1
"""How far a reading may be from the median of earlier ones, as a share of it."""


class Reference:
    """Readings of a kernel that is measured again and again.

    Parameters
    ----------
    share : float
        A reading is off if all its times are further than this from the median of the readings that
        were not: the times themselves scatter, which other trials do as well.

    Attributes
    ----------
    drift : float
        How many times as long as that median the last reading took.
    """

    def __init__(self, share: float = SHARE) -> None:
        self._share = share
        self._readings: list[float] = []
        self.drift = 1.0

    def is_steady(self, times: Sequence[float]) -> bool:
        """Whether a reading, with at least one time in seconds, fits the earlier ones."""
        level = median(self._readings or times)
        self.drift = median(times) / level
        limit = 1 + self._share
        if min(times) > level * limit or max(times) < level / limit:
            return False
        self._readings.append(median(times))
        return True

    def begin_again(self, times: Sequence[float]) -> None:
        """Take a reading as the new level, because the device stays as it is."""
        self._readings = [median(times)]


__all__ = ["SHARE", "Reference"]
