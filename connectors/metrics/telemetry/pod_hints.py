"""Which pods exporter labels name on which GPU and when: a hint which UUID, never an allocation."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from connectors.metrics.telemetry.arrow_columns import constant_column, instant_column, text_column
from connectors.metrics.telemetry.samples import Samples
from connectors.metrics.telemetry.series_table import ABSENT, SeriesTable
from connectors.raw_tables import RAW_TABLES
from models.domain.units import MILLISECONDS_PER_SECOND

_BRIDGED_SECONDS = 900.0  # labels blink for a scrape or some (dcgm-exporter issues 342, 150, 477)
_BRIDGED_MS = int(_BRIDGED_SECONDS * MILLISECONDS_PER_SECOND)
_STEPS_LOOKED_AT = 20  # enough for a median; the scrape interval of a series hardly changes


@dataclass(frozen=True, slots=True)
class _Intervals:
    """Arrays of shape (intervals,)."""

    device: NDArray[np.int64]
    holder: NDArray[np.int64]
    first_ms: NDArray[np.int64]
    last_ms: NDArray[np.int64]  # of the last sample
    end_ms: NDArray[np.int64]  # one scrape interval later


def hint_table(table: SeriesTable, samples: Samples, cluster_id: str, single_step_ms: int) -> pa.Table:
    """
    Return raw.gpu_pod_hint: per device and container, the spans in which series of it name that container.

    `single_step_ms` is how long a sample holds that has no other of its series near it.
    """
    is_hint = (table.holder.codes != ABSENT) & (table.device.codes != ABSENT)
    named = samples.where(is_hint[samples.series])
    named = named.where(~np.isnan(named.values))
    merged = _merge(_of_series(table, _in_order(named), single_step_ms))
    devices, holders = table.device.values, table.holder.values
    columns = {
        "cluster_id": constant_column(cluster_id, len(merged.device)),
        "gpu_uuid": text_column([device.gpu_uuid for device in devices], merged.device),
        "mig_instance_id": text_column([device.mig_instance_id for device in devices], merged.device),
        "namespace": text_column([holder.namespace for holder in holders], merged.holder),
        "pod": text_column([holder.pod for holder in holders], merged.holder),
        "container": text_column([holder.container for holder in holders], merged.holder),
        "valid_from": instant_column(merged.first_ms),
        "valid_to": instant_column(merged.end_ms),
    }
    return pa.table(columns, RAW_TABLES["gpu_pod_hint"].columns)


def _in_order(samples: Samples) -> Samples:
    """Return the samples by series and instant."""
    series, at_ms = samples.series, samples.at_ms
    is_sorted = (series[1:] > series[:-1]) | ((series[1:] == series[:-1]) & (at_ms[1:] >= at_ms[:-1]))
    if is_sorted.all():
        return samples
    order = np.lexsort((at_ms, series))
    return Samples(series[order], at_ms[order], samples.values[order])


def _of_series(table: SeriesTable, samples: Samples, single_step_ms: int) -> _Intervals:
    """Return the spans of each series by itself."""
    series, at_ms = samples.series, samples.at_ms
    is_first = np.ones(len(series), np.bool_)
    is_first[1:] = series[1:] != series[:-1]
    is_start = is_first.copy()
    is_start[1:] |= np.diff(at_ms) > _BRIDGED_MS
    starts = np.flatnonzero(is_start)
    ends = np.append(starts[1:], len(series)) - 1 if len(starts) else starts
    step = _step_ms(at_ms, np.flatnonzero(is_first), single_step_ms)[(np.cumsum(is_first) - 1)[starts]]
    last_ms = at_ms[ends]
    return _Intervals(
        table.device.codes[series[starts]].astype(np.int64),
        table.holder.codes[series[starts]].astype(np.int64),
        at_ms[starts],
        last_ms,
        last_ms + step,
    )


def _step_ms(at_ms: NDArray[np.int64], firsts: NDArray[np.int64], single_step_ms: int) -> NDArray[np.int64]:
    """Return the median of each series' first steps; those it is absent for are not counted."""
    if len(firsts) == 0:
        return firsts
    steps = np.append(np.diff(at_ms), 0)
    position = firsts[:, np.newaxis] + np.arange(_STEPS_LOOKED_AT)
    is_step = position < np.append(firsts[1:], len(at_ms))[:, np.newaxis] - 1
    step = steps[np.minimum(position, len(at_ms) - 1)]
    is_step &= (step > 0) & (step <= _BRIDGED_MS)
    never = np.iinfo(np.int64).max
    by_length = np.sort(np.where(is_step, step, never), axis=1)
    middle = np.maximum(is_step.sum(axis=1) - 1, 0) // 2
    median = by_length[np.arange(len(firsts)), middle]
    return np.where(median == never, single_step_ms, median)


def _merge(spans: _Intervals) -> _Intervals:
    """Return one span where several series, or spans with a bridged gap between, tell of the same container."""
    if len(spans.device) == 0:
        return spans
    order = np.lexsort((spans.first_ms, spans.holder, spans.device))
    device, holder = spans.device[order], spans.holder[order]
    first, last, end = spans.first_ms[order], spans.last_ms[order], spans.end_ms[order]
    is_other = np.ones(len(order), np.bool_)
    is_other[1:] = (device[1:] != device[:-1]) | (holder[1:] != holder[:-1])
    # Each container gets a stretch of its own on one time line, so that a running maximum never crosses to the next.
    stretch = int(last.max() - first.min()) + 2 * _BRIDGED_MS
    shift = (np.cumsum(is_other) - 1) * stretch - first.min()
    latest = np.maximum.accumulate(last + shift)
    is_start = is_other
    is_start[1:] |= (first + shift)[1:] - latest[:-1] > _BRIDGED_MS
    starts = np.flatnonzero(is_start)
    return _Intervals(
        device[starts],
        holder[starts],
        first[starts],
        np.maximum.reduceat(last, starts),
        np.maximum.reduceat(end, starts),
    )
