"""Spans of time: UTC, half-open."""

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Window:
    """
    Half-open span of event time, start <= t < end, both aware UTC.

    Raises:
        ValueError: a bound is naive, or end precedes start.
    """

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if self.start.utcoffset() is None or self.end.utcoffset() is None:
            message = f"window bounds must be aware UTC, got {self.start} and {self.end}"
            raise ValueError(message)
        if self.end < self.start:
            message = f"window ends at {self.end}, before its start {self.start}"
            raise ValueError(message)


EVERYTHING = Window(datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))


def naive_utc(instant: datetime) -> datetime:
    """Return the instant as the warehouse stores it: UTC without a zone (DuckDB TIMESTAMP, Spark TIMESTAMP_NTZ)."""
    return instant.astimezone(UTC).replace(tzinfo=None)
