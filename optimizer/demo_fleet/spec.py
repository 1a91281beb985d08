"""What the caller may choose about the demo fleet."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from models.domain.units import HOURS_PER_DAY, SECONDS_PER_HOUR

LEAST_GPUS = 24


@dataclass(frozen=True, slots=True)
class FleetSpec:
    """
    Size, age and seed of a simulated fleet; the same values give the same bytes.

    `gpus` counts physical devices. What does not fit into them is left out and named in the truth
    (`not_planted`), so a small fleet holds fewer kinds of waste, never broken ones.

    Raises:
        ValueError: `as_of` is not midnight UTC, fewer than 24 GPUs, a step that does not divide an hour,
            or a negative count.
    """

    seed: int
    as_of: datetime
    gpus: int = 96
    days: int = 30
    decoys_per_kind: int = 1  # test fleets: 20, which needs some 360 GPUs, or 100 with the two kinds of `kinds`
    waste_per_kind: int = 2
    telemetry_step_seconds: int = 300
    parquet_metrics: bool = False
    ksm_step_seconds: int = 900
    kinds: tuple[str, ...] = ()  # plant only these kinds of waste and decoys; empty: all

    def __post_init__(self) -> None:
        midnight = self.as_of.replace(hour=0, minute=0, second=0, microsecond=0)
        if self.as_of.tzinfo is not UTC or self.as_of != midnight:
            message = f"as_of must be midnight UTC (tzinfo=datetime.UTC), got {self.as_of!r}"
            raise ValueError(message)
        if self.gpus < LEAST_GPUS or self.days < 1 or min(self.decoys_per_kind, self.waste_per_kind, self.seed) < 0:
            message = f"expected at least {LEAST_GPUS} GPUs, one day, and counts and seed >= 0; got {self}"
            raise ValueError(message)
        for step_seconds in (self.telemetry_step_seconds, self.ksm_step_seconds):
            if step_seconds < 1 or SECONDS_PER_HOUR % step_seconds:
                message = f"a step must divide an hour, got {step_seconds} s"
                raise ValueError(message)

    @property
    def hours(self) -> int:
        """Return the length of the window; hour 0 is its first."""
        return self.days * HOURS_PER_DAY

    @property
    def window_start(self) -> datetime:
        """Return the first instant of the window."""
        return self.as_of - timedelta(days=self.days)

    def instant(self, hour: float) -> datetime:
        """Return the instant at an hour of the window; negative hours lie before it."""
        return self.window_start + timedelta(hours=hour)
