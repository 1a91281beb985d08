"""Months, days and hours of a bill, as text."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl

from models.domain.units import HOURS_PER_DAY
from optimizer.demo_fleet.spec import FleetSpec

MONTHS_PER_YEAR = 12


@dataclass(frozen=True, slots=True)
class BillMonth:
    """One billing period and the days of the window that fall into it."""

    start: datetime
    end: datetime
    days: tuple[range, ...]  # hours of the window, day by day

    @property
    def name(self) -> str:
        """Return "2026-11"."""
        return self.start.strftime("%Y-%m")


def bill_months(spec: FleetSpec) -> Iterator[BillMonth]:
    """Yield the months the window touches, oldest first."""
    days_by_month: dict[datetime, list[range]] = {}
    for day in range(spec.days):
        month = spec.instant(day * HOURS_PER_DAY).replace(day=1)
        hours = range(day * HOURS_PER_DAY, (day + 1) * HOURS_PER_DAY)
        days_by_month.setdefault(month, []).append(hours)
    for month, days in days_by_month.items():
        is_last = month.month == MONTHS_PER_YEAR
        end = datetime(month.year + is_last, 1 if is_last else month.month + 1, 1, tzinfo=UTC)
        yield BillMonth(month, end, tuple(days))


def iso(instant: datetime) -> str:
    """Return an instant as FOCUS writes it."""
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


def hour_texts(spec: FleetSpec) -> pl.Series:
    """Return the text of each hour of the window and of the hour after it."""
    return pl.Series("hour_text", [iso(spec.instant(hour)) for hour in range(spec.hours + 1)])
