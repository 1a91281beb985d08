"""What a device does over time."""

from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
import numpy.typing as npt

from models.domain.units import HOURS_PER_DAY

EVERY_DAY = 0b1111111  # bit 0 is Monday
WORKDAYS = 0b0011111
NEVER = 0
DAYS_PER_WEEK = 7
NOISE_LIMIT = 0.2  # a level never strays further than this share of itself

Hours = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Curve:
    """
    Work of one device, hour by hour.

    At work it keeps `sm_active_ratio`, swung by day and night and with noise of at most 20 %; outside its days and
    hours it does nothing at all. Bursts last one telemetry step and come every `burst_every_hours` hours of work.
    """

    sm_active_ratio: float = 0.0
    swing_ratio: float = 0.0
    days: int = EVERY_DAY
    from_hour: int = 0
    to_hour: int = HOURS_PER_DAY
    burst_sm_active_ratio: float = 0.0
    burst_every_hours: int = 0
    memory_gib: float = 0.0
    peak_memory_gib: float = 0.0  # in the first hour after the pod's start, or of the window when that came before

    def is_at_work(self, hours: Hours, window_start: datetime) -> npt.NDArray[np.bool_]:
        """Return for each hour of the window whether the device works at all in it."""
        if self.sm_active_ratio <= 0.0:
            return np.zeros(hours.shape, dtype=np.bool_)
        of_day = (hours + window_start.hour) % HOURS_PER_DAY
        weekday = (window_start.weekday() + (hours + window_start.hour) // HOURS_PER_DAY) % DAYS_PER_WEEK
        is_day = (self.days >> weekday) & 1 == 1
        return np.asarray(is_day & (of_day >= self.from_hour) & (of_day < self.to_hour), dtype=np.bool_)


IDLE = Curve()


def with_memory(curve: Curve, memory_gib: float) -> Curve:
    """Return the curve holding that much memory."""
    return replace(curve, memory_gib=memory_gib)
