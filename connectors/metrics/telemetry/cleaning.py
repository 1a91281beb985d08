"""Bring samples to canonical units and drop what cannot be a reading; every value dropped is counted."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from connectors.metrics.telemetry.blanks import (
    FP64_BLANKS,
    FP64_BLANKS_AS_PERCENT,
    INT32_BLANKS,
    INT64_BLANK_FROM,
    UNSIGNED_MINUS_ONE_32,
    UNSIGNED_MINUS_ONE_64_FROM,
)
from connectors.metrics.telemetry.findings import Finding
from connectors.metrics.telemetry.samples import Samples, span_of
from connectors.metrics.telemetry.series_table import ABSENT, SeriesTable
from connectors.metrics.telemetry.unit_guard import UNCLEAR, UNITS, Groups, judge_units
from models.catalog.metric_names import Unit
from models.domain.units import PERCENT_PER_ONE

_LARGEST_RATIO = 1.5  # above, it is no ratio (DCGM issue 152 saw 1.2 on MIG)
_SILENTLY_CLAMPED_RATIO = 1.05
_ROUNDING = 1e-9
_MUCH_DROPPED_SHARE = 0.01

_REASONS = ("unsigned_minus_one", "blank", "nan", "infinite", "negative", "out_of_range")  # the first that fits counts
_WORDS = {
    "unsigned_minus_one": "an unsigned -1",
    "blank": "DCGM's blank, which means no value",
    "nan": "NaN",
    "infinite": "infinite",
    "negative": "negative",
    "out_of_range": "outside what the quantity can be",
}


@dataclass(frozen=True, slots=True)
class _Limits:
    """By group of samples: what a value is multiplied with, and the largest result believed."""

    factor: NDArray[np.float64]  # NaN where the unit is unclear
    largest: NDArray[np.float64]


def clean(table: SeriesTable, samples: Samples) -> tuple[Samples, list[Finding]]:
    """Return the samples of stored quantities in canonical units (ratio 0..1, GiB, W), and what was dropped."""
    is_stored = table.quantity[samples.series] != ABSENT
    blanks = _blanks_of_others(table, samples.where(~is_stored))
    stored = samples.where(is_stored)
    groups, unit_findings = judge_units(table, stored)
    limits = _limits(table, groups)
    with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinity fall out of the range
        scaled = stored.values * limits.factor[groups.of_sample]
        is_believed = (scaled >= 0.0) & (scaled <= limits.largest[groups.of_sample])
    is_clear = groups.unit[groups.of_sample] != UNCLEAR
    dropped = stored.where(is_clear & ~is_believed)
    is_ratio = np.isin(groups.unit, [UNITS.index(Unit.RATIO), UNITS.index(Unit.PERCENT)])
    is_over = is_ratio[groups.of_sample] & is_believed & (scaled > 1.0)
    clamped = Samples(stored.series, stored.at_ms, scaled).where(is_over & (scaled > _SILENTLY_CLAMPED_RATIO))
    scaled[is_over] = 1.0
    believed = Samples(stored.series, stored.at_ms, scaled).where(is_believed)
    findings = [
        *unit_findings,
        *blanks,
        *_dropped(table, dropped),
        *_much_dropped(table, stored, dropped),
        *_clamped(table, clamped),
    ]
    return believed, findings


def _limits(table: SeriesTable, groups: Groups) -> _Limits:
    factor = np.array([unit.canonical_factor for unit in UNITS] + [np.nan])[groups.unit]  # UNCLEAR is the last
    largest = np.array(
        [np.nan if metric is None or metric.valid_max is None else metric.valid_max for metric in table.metrics]
    )[groups.metric]
    is_native_ratio = groups.unit == UNITS.index(Unit.RATIO)
    is_percent = groups.unit == UNITS.index(Unit.PERCENT)
    largest = np.where(is_native_ratio, _LARGEST_RATIO, np.where(is_percent, largest * (1.0 + _ROUNDING), largest))
    return _Limits(factor, largest)


def _reason(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return why each value was dropped, as position in _REASONS."""
    is_blank = (
        (values >= INT64_BLANK_FROM)
        | np.isin(values, INT32_BLANKS)
        | np.isin(values, FP64_BLANKS)
        | np.isin(values, FP64_BLANKS_AS_PERCENT)
    )
    is_unsigned = (values == UNSIGNED_MINUS_ONE_32) | (values >= UNSIGNED_MINUS_ONE_64_FROM)
    is_infinite = np.isinf(values)
    conditions = [is_unsigned & ~is_infinite, is_blank & ~is_infinite, np.isnan(values), is_infinite, values < 0.0]
    return np.select(conditions, range(len(conditions)), len(conditions)).astype(np.int64)


def _dropped(table: SeriesTable, dropped: Samples) -> list[Finding]:
    """Return one finding per metric name and reason."""
    with np.errstate(invalid="ignore"):
        reason = _reason(dropped.values)
    metric = table.metric.codes[dropped.series]
    key = metric.astype(np.int64) * len(_REASONS) + reason
    findings = []
    for code in np.unique(key).tolist():
        is_of = key == code
        name = table.metric.values[code // len(_REASONS)]
        word = _REASONS[code % len(_REASONS)]
        example = dropped.values[is_of][0]
        message = f"{_WORDS[word]}, for example {example:.17g}: not used"
        findings.append(Finding(f"dropped_{word}", name, message, int(is_of.sum()), span_of(dropped.at_ms[is_of])))
    return findings


def _much_dropped(table: SeriesTable, stored: Samples, dropped: Samples) -> list[Finding]:
    all_by_metric = np.bincount(table.metric.codes[stored.series], minlength=len(table.metric.values))
    dropped_by_metric = np.bincount(table.metric.codes[dropped.series], minlength=len(table.metric.values))
    return [
        Finding(
            "much_dropped",
            table.metric.values[code],
            f"{PERCENT_PER_ONE * dropped_by_metric[code] / all_by_metric[code]:.1f} % of its samples in a part of the "
            "source were not believed; look at the versions of exporter and driver",
            int(dropped_by_metric[code]),
            span_of(dropped.at_ms[table.metric.codes[dropped.series] == code]),
        )
        for code in np.flatnonzero(dropped_by_metric > _MUCH_DROPPED_SHARE * all_by_metric).tolist()
    ]


def _clamped(table: SeriesTable, clamped: Samples) -> list[Finding]:
    metric = table.metric.codes[clamped.series]
    return [
        Finding(
            "clamped_over_one",
            table.metric.values[code],
            f"ratios up to {clamped.values[metric == code].max():.3g} were taken as 1",
            int((metric == code).sum()),
            span_of(clamped.at_ms[metric == code]),
        )
        for code in np.unique(metric).tolist()
    ]


def _blanks_of_others(table: SeriesTable, others: Samples) -> list[Finding]:
    """Count blanks in GPU metrics that are not stored, such as the temperature of a board without a sensor."""
    with np.errstate(invalid="ignore"):
        is_blank = table.is_gpu[others.series] & (others.values >= INT64_BLANK_FROM) & np.isfinite(others.values)
    return _dropped(table, others.where(is_blank))
