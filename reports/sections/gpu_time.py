"""GPU hours by day: used, idle, unallocated, unknown."""

from collections.abc import Sequence

import polars as pl

from reports.report import GpuDay, GpuHours
from reports.sections.frames import ratio, steady, sums

STATES = ("used_gpu_hours", "idle_gpu_hours", "unallocated_gpu_hours", "unknown_gpu_hours")


def gpu_days(states: pl.DataFrame) -> tuple[GpuDay, ...]:
    """Return the mart `gpu_state_by_day` summed over clusters, oldest day first."""
    by_day = sums(states, ("day_start",), STATES)
    return tuple(GpuDay(day.date(), GpuHours(*map(steady, hours))) for day, *hours in by_day.iter_rows())


def total_hours(days: Sequence[GpuDay]) -> GpuHours:
    """Return the sum over all days; a state is None when it is on any day, or without days."""
    return GpuHours(
        _total([day.gpu_hours.used for day in days]),
        _total([day.gpu_hours.idle for day in days]),
        _total([day.gpu_hours.unallocated for day in days]),
        _total([day.gpu_hours.unknown for day in days]),
    )


def _total(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return steady(sum(known)) if known and len(known) == len(parts) else None


def unknown_ratio(hours: GpuHours) -> float | None:
    """Return the share of all GPU hours without believable telemetry."""
    return ratio(hours.unknown, hours.total)
