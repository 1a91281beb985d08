"""What one workload held over a span of hours, and whether that is known well enough to act on."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta

import polars as pl

KEEP_ANNOTATION = "earnkeep.dev/keep"  # a person's word that a workload stays as it is
_WORKDAYS, _WEEKDAYS = 5, 7  # work that rests at weekends is held on five days of seven
_DUST_HOURS = 1e-6  # sums of shares of an hour miss each other by the last bits


@dataclass(frozen=True, slots=True)
class Holding:
    """One workload's devices over a span; hours are GPU-hours."""

    first_held: datetime | None  # naive UTC; None when it held nothing
    held_hours: float
    observed_hours: float
    stuck_hours: float  # part of what was not observed
    unnamed_hours: float  # held on a device no label or elimination names
    held_days: int  # days (UTC) on which it held anything
    devices: pl.DataFrame  # one row a device: held_hours, observed_hours, activity_max, memory_used_gib_max


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a holding must not be acted on."""

    code: str
    reason: str


def holding_of(rows: pl.DataFrame) -> Holding:
    """Return the holding that rows of the mart `holder_gpu_by_hour` of one workload describe."""
    devices = (
        rows.filter(pl.col("gpu_uuid").is_not_null())
        .group_by("node", "gpu_uuid", "mig_instance_id")
        .agg(
            pl.col("held_gpu_hours").sum().alias("held_hours"),
            (pl.col("held_gpu_hours") - pl.col("unknown_gpu_hours")).sum().alias("observed_hours"),
            pl.col("activity_max").max(),
            pl.col("memory_used_gib_max").max(),
        )
        .sort("node", "gpu_uuid", "mig_instance_id")
    )
    return Holding(
        first_held=_first(rows),
        held_hours=_total(rows, pl.col("held_gpu_hours")),
        observed_hours=_total(rows, pl.col("held_gpu_hours") - pl.col("unknown_gpu_hours")),
        stuck_hours=_total(rows.filter(pl.col("is_stuck").cast(pl.Boolean)), pl.col("held_gpu_hours")),
        unnamed_hours=_total(rows.filter(pl.col("gpu_uuid").is_null()), pl.col("held_gpu_hours")),
        held_days=rows.get_column("hour_start").dt.date().n_unique(),
        devices=devices,
    )


def observed_devices(holding: Holding, min_coverage_ratio: float) -> pl.DataFrame:
    """Return the devices whose own held hours telemetry covers; of any other device nobody knows what it did."""
    least = min_coverage_ratio * pl.col("held_hours") - _DUST_HOURS
    return holding.devices.filter(pl.col("observed_hours") >= least)


def unobserved_device(holding: Holding, min_coverage_ratio: float) -> Doubt | None:
    """Return that some device was not observed, however well the others were; None when each one was."""
    seen = observed_devices(holding, min_coverage_ratio).filter(pl.col("activity_max").is_not_null())
    unseen = holding.devices.join(seen, on=["node", "gpu_uuid", "mig_instance_id"], how="anti", nulls_equal=True)
    if unseen.is_empty():
        return None
    first = unseen.sort("node", "gpu_uuid", "mig_instance_id").row(0, named=True)
    return Doubt(
        "telemetry_missing",
        f"{unseen.height} of the {holding.devices.height} devices it held, such as {first['gpu_uuid']} on "
        f"{first['node']}, went unseen too long; unknown counts as active",
    )


def doubt_about(holding: Holding, min_coverage_ratio: float) -> Doubt | None:
    """Return why the telemetry of a holding is not enough; None when it is. Unknown never counts as idle."""
    if holding.held_hours <= 0:
        return Doubt("holds_nothing", "held no GPU in the span looked at")
    unknown_hours = holding.held_hours - holding.observed_hours
    if unknown_hours <= (1 - min_coverage_ratio) * holding.held_hours + _DUST_HOURS:
        return None
    share = f"{unknown_hours:,.0f} of {holding.held_hours:,.0f} GPU-hours"
    if holding.stuck_hours * 2 > unknown_hours:
        return Doubt(
            "stuck_telemetry",
            f"power readings stood still to the last digit for {share}: the exporter is frozen; restart it and wait",
        )
    if holding.unnamed_hours * 2 > unknown_hours:
        return Doubt(
            "device_unknown",
            f"no label says which GPU it held for {share}; give the exporter pod labels "
            "(DCGM_EXPORTER_KUBERNETES=true), or let it hold whole nodes",
        )
    return Doubt("telemetry_missing", f"no believable telemetry for {share}; unknown counts as active")


def too_young(holding: Holding, span_end: datetime, min_observed_days: int) -> Doubt | None:
    """Return that a holding is too young to judge; None when it is not."""
    if holding.first_held is None:
        return Doubt("holds_nothing", "held no GPU in the span looked at")
    held_for = span_end - holding.first_held
    if held_for >= timedelta(days=min_observed_days):
        return None
    days = held_for / timedelta(days=1)
    return Doubt("too_young", f"holds GPUs for {days:.1f} days; needs {min_observed_days} to be judged")


def rarely_held(holding: Holding, span_days: int) -> Doubt | None:
    """Return that a holding was away for most of a span: what was started again lately may be about to work."""
    if holding.held_days * _WEEKDAYS >= span_days * _WORKDAYS:
        return None
    return Doubt(
        "rarely_held", f"held GPUs on {holding.held_days} of the last {span_days} days; too few to judge it by"
    )


def keep_doubt(annotations: str | None) -> Doubt | None:
    """Return that a person asked to leave the workload alone; `annotations` is a JSON object."""
    try:
        kept = json.loads(annotations) if annotations else {}
    except json.JSONDecodeError:
        kept = None
    if not isinstance(kept, dict):
        # Somebody may have asked to keep it, and the words got lost on the way.
        return Doubt("annotations_unreadable", f"its annotations are no JSON object: {annotations!r}; load them again")
    value = kept.get(KEEP_ANNOTATION)
    if value is None or str(value).lower() == "false":
        return None
    return Doubt("kept_on_purpose", f"annotated {KEEP_ANNOTATION}: {value!r}; remove the annotation to get advice")


def _total(rows: pl.DataFrame, hours: pl.Expr) -> float:
    return float(rows.select(hours.cast(pl.Float64).sum()).item())


def _first(rows: pl.DataFrame) -> datetime | None:
    first: datetime | None = rows.get_column("hour_start").min()  # type: ignore[assignment]
    return first
