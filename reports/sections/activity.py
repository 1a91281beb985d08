"""What the subjects of recommendations did over the window: lines for charts and sparklines."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import polars as pl

from models.domain.recommendation import Decision, Step, SubjectKind
from models.domain.units import BUCKETS_PER_HOUR
from models.domain.window import Window, naive_utc
from reports.advice import ChartLine, ChartSeries
from reports.sections.frames import FLOAT_DIGITS, node_key, workload_key

CHART_POINTS = 400  # 30 days by two hours
SPARKLINE_POINTS = 48
HOUR = timedelta(hours=1)
HELD = "GPUs held"
THERE = "GPUs on the node"
USED = "GPUs used"
BUSY = "SM activity as GPUs"


@dataclass(frozen=True, slots=True)
class HourOfGpus:
    """What the GPUs of one subject did in one hour; None where nothing was observed."""

    gpus: float  # held, or there
    used_gpus: float | None
    busy_gpus: float | None  # GPUs held times their highest SM activity; None also without SM telemetry


Hourly = dict[datetime, HourOfGpus]  # by naive UTC hour


@dataclass(frozen=True, slots=True)
class Activity:
    """Hourly GPU time of workloads and nodes, for the subjects asked about."""

    window: Window
    by_key: Mapping[str, Hourly]

    def chart(self, decision: Decision, points: int = CHART_POINTS) -> ChartSeries | None:
        """Return GPUs held and what was used of them, at most `points` a line; None without data."""
        touched = [self.by_key[key] for key in subject_keys(decision) if key in self.by_key]
        if not touched:
            return None
        hours = _hours(self.window)
        first_line = HELD if _workload_keys(decision) else THERE
        stride = -(-len(hours) // points)
        starts = range(0, len(hours), stride)
        seen = [[hourly[hour] for hourly in touched if hour in hourly] for hour in hours]
        held = [sum(one.gpus for one in hour) for hour in seen]
        used = [_together(one.used_gpus for one in hour) for hour in seen]
        busy = [_together(one.busy_gpus for one in hour) for hour in seen]
        # Waste is about GPUs nobody uses; what comes after it, about GPUs used a little.
        is_waste = decision.step is Step.WASTE or all(value is None for value in busy)
        name, values = (USED, used) if is_waste else (BUSY, busy)
        return ChartSeries(
            title=f"{first_line}, {name}: {decision.subject.key}",
            unit="GPUs",
            instants=tuple(hours[start].replace(tzinfo=UTC) for start in starts),
            lines=(
                ChartLine(first_line, tuple(_peak(held[start : start + stride]) for start in starts)),
                ChartLine(name, tuple(_peak(values[start : start + stride]) for start in starts)),
            ),
        )

    def sparkline(self, decision: Decision) -> tuple[ChartLine, ...]:
        """Return the same lines with few points."""
        series = self.chart(decision, SPARKLINE_POINTS)
        return series.lines if series else ()


def activity(
    decisions: Sequence[Decision], workload_hours: pl.DataFrame, gpu_hours: pl.DataFrame, window: Window
) -> Activity:
    """
    Return the hourly GPU time of everything the decisions touch.

    Args:
        decisions: Only those that are drawn.
        workload_hours: Mart `workload_gpu_by_hour`.
        gpu_hours: Mart `gpu_by_hour`, for nodes: a GPU cut into MIG instances is as busy as its busiest one.
        window: Hours outside it are left out.
    """
    keys = sorted({key for decision in decisions for key in subject_keys(decision)})
    by_workload = workload_hours.select(
        "hour_start",
        key=workload_key(),
        first=pl.col("allocated_gpu_hours"),
        used=pl.col("used_gpu_hours"),
        observed=pl.col("used_gpu_hours") + pl.col("idle_gpu_hours"),
        busy=pl.col("allocated_gpu_hours") * pl.col("sm_active_ratio_max"),
    ).filter(pl.col("key").is_in(keys))
    by_device = gpu_hours.with_columns(key=node_key()).filter(pl.col("key").is_in(keys))
    by_node = by_device.group_by("key", "hour_start", "gpu_uuid").agg(
        first=pl.lit(1.0),
        used=(pl.col("observed_buckets") - pl.col("idle_buckets")).max() / BUCKETS_PER_HOUR,
        observed=pl.col("observed_buckets").max() / BUCKETS_PER_HOUR,
    )
    rows = (
        pl.concat([by_workload, by_node.drop("gpu_uuid")], how="diagonal_relaxed")
        .group_by("key", "hour_start")
        .agg(
            pl.col("first", "used", "observed").sum(),
            busy=pl.when(pl.col("busy").is_not_null().any()).then(pl.col("busy").sum()),
        )
        .sort("key", "hour_start")
        .select("key", "hour_start", "first", "used", "busy", "observed")
    )
    by_key: dict[str, Hourly] = {}
    for key, hour, first, used, busy, observed in rows.iter_rows():
        by_key.setdefault(key, {})[hour] = HourOfGpus(first, used if observed > 0 else None, busy)
    return Activity(window, by_key)


def subject_keys(decision: Decision) -> tuple[str, ...]:
    """Return the workloads a decision changes; the nodes, when it changes none."""
    return _workload_keys(decision) or _keys(decision, SubjectKind.NODE)


def _workload_keys(decision: Decision) -> tuple[str, ...]:
    return _keys(decision, SubjectKind.WORKLOAD)


def _keys(decision: Decision, kind: SubjectKind) -> tuple[str, ...]:
    subjects = {chosen.subject for chosen in decision.chosen} | {decision.subject}
    return tuple(sorted(subject.key for subject in subjects if subject.kind is kind))


def _hours(window: Window) -> list[datetime]:
    first = naive_utc(window.start).replace(minute=0, second=0, microsecond=0)
    count = -(-(naive_utc(window.end) - first) // HOUR)
    return [first + HOUR * index for index in range(count)]


def _together(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _peak(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(max(known), FLOAT_DIGITS) if known else None
