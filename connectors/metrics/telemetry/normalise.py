"""From a page of samples to rows of raw tables: the one path for every source of GPU telemetry."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from connectors.metrics.telemetry.cleaning import clean
from connectors.metrics.telemetry.findings import Finding, finding_table
from connectors.metrics.telemetry.gpu_rows import gpu_table, widen
from connectors.metrics.telemetry.gpu_rules import apply_rules
from connectors.metrics.telemetry.pod_hints import hint_table
from connectors.metrics.telemetry.samples import Samples, span_of
from connectors.metrics.telemetry.series import SamplePage
from connectors.metrics.telemetry.series_table import ABSENT, SeriesTable, read_series
from connectors.metrics.telemetry.streams import downsample
from models.catalog.metric_names import MetricName
from models.domain.units import MILLISECONDS_PER_SECOND

TABLES = ("gpu_5m", "gpu_pod_hint", "finding")


@dataclass(frozen=True, slots=True)
class TelemetrySource:
    """What a page does not tell."""

    cluster_id: str
    scrape_interval_seconds: float  # how long a label holds that was seen once
    extra_names: Mapping[str, MetricName] = field(default_factory=dict)


def normalise_samples(source: TelemetrySource, page: SamplePage) -> Mapping[str, pa.Table]:
    """
    Return the page's rows of raw.gpu_5m, raw.gpu_pod_hint and raw.finding.

    A page is right within itself. Where a bucket's samples lie in several pages, the engine merges its rows (means
    weighted by samples, maxima of maxima), and spans of hints that touch are merged in staging.
    """
    table = read_series(page, source.extra_names)
    samples = Samples(page.series_index, page.sampled_at_ms, page.values)
    clean_samples, dropped = clean(table, samples)
    buckets, doubts = downsample(table, clean_samples)
    rows, unbelieved = apply_rules(table, widen(table, buckets))
    step_ms = int(source.scrape_interval_seconds * MILLISECONDS_PER_SECOND)
    findings = [*_notes(page), *_odd_series(table, samples), *dropped, *doubts, *unbelieved]
    return {
        "gpu_5m": gpu_table(table, rows, source.cluster_id),
        "gpu_pod_hint": hint_table(table, samples, source.cluster_id, step_ms),
        "finding": finding_table(findings),
    }


def _notes(page: SamplePage) -> list[Finding]:
    span = span_of(page.sampled_at_ms)
    return [Finding(note.code, page.origin, note.message, note.occurrences, span) for note in page.notes]


def _odd_series(table: SeriesTable, samples: Samples) -> list[Finding]:
    """Return what was left aside because of its name or labels."""
    by_metric = np.bincount(table.metric.codes[samples.series], minlength=len(table.metric.values))
    span = span_of(samples.at_ms)
    is_gpu_metric = np.zeros(len(table.metric.values), np.bool_)
    is_gpu_metric[table.metric.codes[table.is_gpu]] = True
    is_unknown = np.array([metric is None for metric in table.metrics], np.bool_)
    findings = [
        Finding(
            "unknown_metric",
            table.metric.values[code],
            "a GPU metric nobody told us of: not used; if it says how busy or full a GPU is, give its quantity and "
            "unit in extra_metric_names",
            int(by_metric[code]),
            span,
        )
        for code in np.flatnonzero(is_unknown & is_gpu_metric).tolist()
    ]
    ignored = int(by_metric[is_unknown & ~is_gpu_metric].sum())
    if ignored:
        message = "samples of metrics that are about no GPU were left aside"
        findings.append(Finding("ignored_metrics", "other metrics", message, ignored, span))
    return [*findings, *_nameless_gpus(table, samples), *_claims_on_parents(table, samples)]


def _nameless_gpus(table: SeriesTable, samples: Samples) -> list[Finding]:
    """Return, per target, the samples of stored quantities of which nothing tells the GPU."""
    is_stored = np.array([metric is not None and metric.quantity is not None for metric in table.metrics], np.bool_)
    is_nameless = is_stored[table.metric.codes] & (table.device.codes == ABSENT)
    nameless = samples.where(is_nameless[samples.series])
    target = table.target.codes[nameless.series]
    return [
        Finding(
            "gpu_without_identity",
            table.target.values[code] or "no target",
            "samples have neither a UUID nor a host (other than localhost) with a GPU index: not used; keep the label "
            "UUID, or set NODE_NAME for the exporter",
            int((target == code).sum()),
            span_of(nameless.at_ms[target == code]),
        )
        for code in np.unique(target).tolist()
    ]


def _claims_on_parents(table: SeriesTable, samples: Samples) -> list[Finding]:
    claimed = samples.where(table.is_held_through_parent[samples.series])
    device = table.device.codes[claimed.series]
    return [
        Finding(
            "claim_on_parent_gpu",
            table.device.values[code].gpu_uuid,
            "samples of the whole GPU carry the pod of a MIG device (dcgm-exporter up to 4.8.2 with DRA): these pod "
            "labels were not used",
            int((device == code).sum()),
            span_of(claimed.at_ms[device == code]),
        )
        for code in np.unique(device[device != ABSENT]).tolist()
    ]
