"""In which unit the values of a metric name are, judged per scraped target and day by the values themselves."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from connectors.metrics.telemetry.blanks import INT32_BLANKS
from connectors.metrics.telemetry.findings import Finding
from connectors.metrics.telemetry.samples import Samples, span_of
from connectors.metrics.telemetry.series_table import SeriesTable
from models.catalog.metric_names import MetricName, Unit
from models.domain.units import MILLISECONDS_PER_SECOND, PERCENT_PER_ONE, SECONDS_PER_DAY

UNCLEAR = -1
UNITS = tuple(Unit)

_MS_PER_DAY = SECONDS_PER_DAY * MILLISECONDS_PER_SECOND
_RATIO_ENDS = 1.5  # a ratio may be measured a little over 1; more is percent
_MIB_END = 1e6  # no GPU has a TiB
_BYTES_END = 1e14
_GARBAGE_SHARE = 0.01  # so few odd values do not decide a unit; they are dropped as out of range


@dataclass(frozen=True, slots=True)
class Groups:
    """Samples of one metric name, target and day together."""

    of_sample: NDArray[np.int64]
    metric: NDArray[np.int64]  # code, by group
    target: NDArray[np.int64]  # code, by group
    unit: NDArray[np.int64]  # into UNITS, by group; UNCLEAR: not to be used


@dataclass(frozen=True, slots=True)
class _Evidence:
    """Counts of samples by group that speak for a unit."""

    beyond_ratio: NDArray[np.int64]  # 1.5 < value <= 100
    fractions: NDArray[np.int64]  # 0 < value <= 1.5, not whole
    ones: NDArray[np.int64]
    small: NDArray[np.int64]  # 0 < value < 10^6: memory in MiB
    large: NDArray[np.int64]  # 10^6 <= value: memory in bytes


def judge_units(table: SeriesTable, samples: Samples) -> tuple[Groups, list[Finding]]:
    """Return the unit of each group of samples (all of stored quantities), and where it is unclear or assumed."""
    day = samples.at_ms // _MS_PER_DAY
    # Most samples have the series and day of the one before: numbers are worked out once per run of these.
    is_start = np.ones(len(day), np.bool_)
    is_start[1:] = (day[1:] != day[:-1]) | (samples.series[1:] != samples.series[:-1])
    starts = np.flatnonzero(is_start)
    day_number, days = _dense(day[starts])
    target_count = max(len(table.target.values), 1)
    group_of_series = table.metric.codes.astype(np.int64) * target_count + table.target.codes
    of_run, present = _dense(group_of_series[samples.series[starts]] * max(len(days), 1) + day_number)
    of_sample = np.repeat(of_run, np.diff(np.append(starts, len(day))))
    name_and_target = present // max(len(days), 1)
    metric = name_and_target // target_count
    evidence = _gather(of_sample, samples.values, len(present))
    unit = np.array(
        [_unit(table.metrics[code], evidence, group) for group, code in enumerate(metric.tolist())], np.int64
    )
    groups = Groups(of_sample, metric, name_and_target % target_count, unit)
    return groups, [*_unclear(table, samples, groups), *_assumed(table, samples, groups, evidence)]


def _dense(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return keys as numbers without gaps, and the distinct keys; np.unique would sort every sample for it."""
    if len(keys) == 0:
        return keys, keys
    first = int(keys.min())
    is_present = np.zeros(int(keys.max()) - first + 1, np.bool_)
    is_present[keys - first] = True
    number = np.cumsum(is_present) - 1
    return number[keys - first], np.flatnonzero(is_present) + first


def _gather(of_sample: NDArray[np.int64], values: NDArray[np.float64], group_count: int) -> _Evidence:
    def count(speaks: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(of_sample[speaks], minlength=group_count)

    with np.errstate(invalid="ignore"):  # NaN compares as false, which is meant
        is_positive = values > 0
        is_ratio_like = is_positive & (values <= _RATIO_ENDS)
        return _Evidence(
            beyond_ratio=count((values > _RATIO_ENDS) & (values <= PERCENT_PER_ONE)),
            fractions=count(is_ratio_like & (values != 1.0)),
            ones=count(values == 1.0),
            small=count(is_positive & (values < _MIB_END)),
            large=count((values >= _MIB_END) & (values < _BYTES_END) & ~np.isin(values, INT32_BLANKS)),
        )


def _unit(metric: MetricName | None, evidence: _Evidence, group: int) -> int:
    if metric is None or not metric.units:
        return UNCLEAR
    preferred = metric.units[0]
    match preferred:
        case Unit.RATIO | Unit.PERCENT:
            proven = _ratio_or_percent(metric, evidence, group)
        case Unit.MIB | Unit.BYTE:
            proven = _mib_or_bytes(preferred, int(evidence.small[group]), int(evidence.large[group]))
        case _:
            proven = preferred  # watts: a value out of range is dropped
    return UNITS.index(proven) if proven in metric.units else UNCLEAR


def _ratio_or_percent(metric: MetricName, evidence: _Evidence, group: int) -> Unit | None:
    beyond, fractions = int(evidence.beyond_ratio[group]), int(evidence.fractions[group])
    enough = (beyond + fractions + int(evidence.ones[group])) * _GARBAGE_SHARE
    is_percent, has_fractions = beyond > enough, fractions > enough
    if is_percent and has_fractions and metric.is_whole_in_percent:
        return None
    if is_percent:
        return Unit.PERCENT
    if has_fractions and metric.is_whole_in_percent:
        return Unit.RATIO
    return metric.units[0]


def _mib_or_bytes(preferred: Unit, small: int, large: int) -> Unit | None:
    enough = (small + large) * _GARBAGE_SHARE
    if small > enough and large > enough:
        return None
    if large > enough:
        return Unit.BYTE
    return Unit.MIB if small > enough else preferred


def _unclear(table: SeriesTable, samples: Samples, groups: Groups) -> list[Finding]:
    """Return one finding per metric name whose values contradict each other or the catalogue."""
    return [
        Finding(
            "unit_unclear",
            table.metric.values[metric],
            f"values do not fit {_words(table.metrics[metric])}, or fit two units, on target {targets[0]!r} and "
            "perhaps others: not used; if a rule rescales the metric, give its unit in extra_metric_names",
            int(is_of.sum()),
            span_of(samples.at_ms[is_of]),
        )
        for metric, targets, is_of in _by_metric(table, groups, groups.unit == UNCLEAR)
    ]


def _assumed(table: SeriesTable, samples: Samples, groups: Groups, evidence: _Evidence) -> list[Finding]:
    """Return one finding per metric name whose values are only 0 and 1 and could be two units."""
    has_two = np.array([metric is not None and len(metric.units) > 1 for metric in table.metrics], np.bool_)
    is_ratio = np.isin(groups.unit, [UNITS.index(Unit.RATIO), UNITS.index(Unit.PERCENT)])
    is_silent = (evidence.beyond_ratio == 0) & (evidence.fractions == 0) & (evidence.ones > 0)
    return [
        Finding(
            "unit_assumed",
            table.metric.values[metric],
            f"only values 0 and 1 on target {targets[0]!r} and perhaps others: taken as "
            f"{_words(table.metrics[metric]).split(' or ')[0]}",
            int(is_of.sum()),
            span_of(samples.at_ms[is_of]),
        )
        for metric, targets, is_of in _by_metric(table, groups, has_two[groups.metric] & is_ratio & is_silent)
    ]


def _by_metric(
    table: SeriesTable, groups: Groups, wanted: NDArray[np.bool_]
) -> list[tuple[int, list[str], NDArray[np.bool_]]]:
    """Return metric code, its targets and which samples, for the groups wanted."""
    found = []
    for metric in np.unique(groups.metric[wanted]).tolist():
        is_group = wanted & (groups.metric == metric)
        targets = [table.target.values[code] for code in np.unique(groups.target[is_group]).tolist()]
        found.append((metric, targets, is_group[groups.of_sample]))
    return found


def _words(metric: MetricName | None) -> str:
    return " or ".join(metric.units) if metric else "no known unit"
