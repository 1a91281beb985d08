"""How far the data reach, and what was not believed."""

from collections.abc import Mapping
from datetime import date, timedelta

import polars as pl

from models.domain.window import Window
from reports.report import DayCoverage, Finding, SourceCoverage, TelemetryReach
from reports.sections.frames import known_sums, ratio, steady

TO_REACH_NEXT_LEVEL = {
    0: "install dcgm-exporter; export DCGM_FI_DEV_GPU_UTIL and DCGM_FI_DEV_FB_USED",
    1: "export DCGM_FI_PROF_GR_ENGINE_ACTIVE, DCGM_FI_PROF_PIPE_TENSOR_ACTIVE and DCGM_FI_PROF_DRAM_ACTIVE",
    2: "export DCGM_FI_PROF_SM_ACTIVE and DCGM_FI_PROF_SM_OCCUPANCY (off in the exporter's default list)",
    3: "nothing to add",
}
NO_TELEMETRY = 0
NOTHING_CAME = (0, None, None)
UNREADABLE = "unreadable_file"


def source_coverage(coverage: pl.DataFrame, window: Window) -> tuple[SourceCoverage, ...]:
    """Return what each source brought on each day of the window; `coverage` is `coverage_by_source_day`."""
    columns = ("source_kind", "source_id", "day_start", "source_rows", "gpu_hours_expected", "gpu_hours_observed")
    by_source: dict[tuple[str, str], dict[date, tuple[int, float | None, float | None]]] = {}
    for kind, source_id, day, *measured in coverage.select(columns).sort(columns[:3]).iter_rows():
        rows, expected, observed = measured
        by_source.setdefault((kind, source_id), {})[day.date()] = (rows, expected, observed)
    return tuple(_coverage(kind, source_id, days, window) for (kind, source_id), days in by_source.items())


def _coverage(
    kind: str, source_id: str, by_day: Mapping[date, tuple[int, float | None, float | None]], window: Window
) -> SourceCoverage:
    first, last = window.start.date(), (window.end - timedelta(microseconds=1)).date()
    days = [first + timedelta(days=index) for index in range((last - first).days + 1)]
    measured = [by_day.get(day, NOTHING_CAME) for day in days]
    return SourceCoverage(
        source_id=source_id,
        source_kind=kind,
        rows=sum(rows for rows, _, _ in measured),
        observed_ratio=ratio(
            steady(sum(observed for _, _, observed in measured if observed is not None)),
            steady(sum(expected for _, expected, _ in measured if expected is not None)),
        ),
        days_with_rows=sum(rows > 0 for rows, _, _ in measured),
        days=tuple(
            DayCoverage(day, rows, ratio(observed, expected))
            for day, (rows, expected, observed) in zip(days, measured, strict=True)
        ),
    )


def telemetry_reach(node_days: pl.DataFrame, nodes: pl.DataFrame) -> tuple[TelemetryReach, ...]:
    """
    Return the telemetry level that GPUs have now, counted by cluster, model and level.

    Args:
        node_days: Mart `telemetry_by_node_day`; the newest day of a node says its level.
        nodes: Mart `node_now`; a node without a day is at level 0.
    """
    newest = node_days.sort("day_start").group_by("cluster_id", "node").agg(pl.col("telemetry_level").last())
    hours = known_sums(node_days, ("cluster_id", "node"), ("gpu_hours", "observed_gpu_hours"))
    place = ("cluster_id", "gpu_model", "telemetry_level")
    now = (
        nodes.select("cluster_id", "node", "gpu_model", "gpu_count")
        .join(newest, on=["cluster_id", "node"], how="left")
        .join(hours, on=["cluster_id", "node"], how="left")
        .with_columns(pl.col("telemetry_level").fill_null(NO_TELEMETRY))
    )
    return tuple(
        TelemetryReach(
            cluster_id=cluster or "unknown",
            gpu_model=model or "unknown",
            gpus=gpus,
            observed_ratio=ratio(steady(observed), steady(existed)),
            telemetry_level=level,
            to_reach_next_level=TO_REACH_NEXT_LEVEL.get(level, ""),
        )
        for cluster, model, level, gpus, existed, observed in known_sums(
            now, place, ("gpu_count", "gpu_hours", "observed_gpu_hours")
        ).iter_rows()
    )


def findings(found: pl.DataFrame) -> tuple[Finding, ...]:
    """Return the mart `finding`: unreadable files first, then most dollars, then most occurrences."""
    columns = ("source_id", "code", "subject", "message", "occurrences", "usd")
    rows = [
        Finding(source_id, code, subject, message, int(occurrences), usd)
        for source_id, code, subject, message, occurrences, usd in found.select(columns).iter_rows()
    ]
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                row.code != UNREADABLE,
                row.usd is None,
                -abs(row.usd) if row.usd is not None else 0,
                -row.occurrences,
                (row.source_id, row.code, row.subject or "", row.message or ""),
            ),
        )
    )
