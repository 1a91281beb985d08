"""From samples to 5-minute buckets: one row per device, quantity and bucket, however many series told of it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from connectors.metrics.telemetry.findings import Finding
from connectors.metrics.telemetry.samples import Samples, run_starts, span_of
from connectors.metrics.telemetry.series_table import ABSENT, QUANTITIES, SeriesTable
from models.domain.units import MILLISECONDS_PER_SECOND, SECONDS_PER_BUCKET

MS_PER_BUCKET = SECONDS_PER_BUCKET * MILLISECONDS_PER_SECOND

_KEY_BITS = 62
_COUNT_BITS = 20  # samples of one stream in a bucket: 300,000 ms at most
_SCRAPE_BITS = 22


@dataclass(frozen=True, slots=True)
class Buckets:
    """Arrays of shape (device x quantity x bucket,), in no order."""

    device: NDArray[np.int64]
    quantity: NDArray[np.int64]
    number: NDArray[np.int64]  # of the bucket, since 1970
    mean: NDArray[np.float64]
    largest: NDArray[np.float64]
    samples: NDArray[np.int64]
    node: NDArray[np.int64]  # codes, -1 where nothing says
    model: NDArray[np.int64]
    profile: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Streams:
    """A stream is one quantity of one device under one name from one scrape; arrays of shape (streams,)."""

    of_series: NDArray[np.int64]  # shape (series,), -1 for a series that is not stored
    device: NDArray[np.int64]
    quantity: NDArray[np.int64]
    metric: NDArray[np.int64]
    rank: NDArray[np.int64]
    scrape: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Readings:
    """One value per stream and instant, sorted by these."""

    stream: NDArray[np.int64]
    at_ms: NDArray[np.int64]
    values: NDArray[np.float64]
    series: NDArray[np.int32]  # one of those that told it
    has_pod: NDArray[np.bool_]


def downsample(table: SeriesTable, samples: Samples) -> tuple[Buckets, list[Finding]]:
    """
    Return means and maxima of clean samples per device, quantity and bucket.

    Where several scrapes bring the same GPU (a doubled job, two exporters, two names at once), the mean is that of
    the best one: lowest rank of its name, then one that knows pods, then the one with most samples. The maximum is
    over all of the same rank, so that no peak is lost.
    """
    streams = _streams(table)
    readings, findings = _readings(table, streams, samples)
    runs = _runs(table, streams, readings)
    return _best(streams, runs), [*findings, *_renamings(table, streams, readings)]


def _streams(table: SeriesTable) -> _Streams:
    is_stored = np.flatnonzero(table.quantity != ABSENT)
    columns = (table.device.codes, table.quantity, table.metric.codes, table.scrape.codes)
    rows = np.stack([column[is_stored] for column in columns]).astype(np.int64)
    distinct, first, inverse = np.unique(rows, axis=1, return_index=True, return_inverse=True)
    # Numbered as the file has them: samples are then nearly sorted by stream, and sorting them costs little.
    order = np.argsort(first)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    of_series = np.full(len(table.quantity), ABSENT, np.int64)
    of_series[is_stored] = number[inverse.ravel()]
    device, quantity, metric, scrape = distinct[:, order]
    ranks = np.array([0 if metric is None else metric.rank for metric in table.metrics], np.int64)
    return _Streams(of_series, device, quantity, metric, ranks[metric], scrape)


def _readings(table: SeriesTable, streams: _Streams, samples: Samples) -> tuple[_Readings, list[Finding]]:
    """
    Return one value per stream and instant.

    Several rows of one instant are copies of the device's value for each pod that shares it (time-slicing), or per
    process beside a row of the device without a pod (dcgm-exporter pull 594). Equal or not, the row without a pod is
    the device; without such a row the largest value is taken, never the sum.
    """
    stream = streams.of_series[samples.series]
    has_pod = table.holder.codes[samples.series] != ABSENT
    order = _order(stream, samples.at_ms, has_pod)
    stream, has_pod = stream[order], has_pod[order]
    at_ms, values, series = samples.at_ms[order], samples.values[order], samples.series[order]
    is_repeat = np.zeros(len(stream), np.bool_)
    is_repeat[1:] = (stream[1:] == stream[:-1]) & (at_ms[1:] == at_ms[:-1])
    if not is_repeat.any():
        return _Readings(stream, at_ms, values, series, has_pod), []
    is_twice = is_repeat.copy()
    is_twice[1:] &= (series[1:] == series[:-1]) & (values[1:] != values[:-1])
    starts = np.flatnonzero(~is_repeat)
    largest = np.maximum.reduceat(values, starts)
    readings = _Readings(
        stream[starts],
        at_ms[starts],
        np.where(has_pod[starts], largest, values[starts]),
        series[starts],
        np.logical_or.reduceat(has_pod, starts),
    )
    return readings, _told_twice(table, Samples(series, at_ms, values).where(is_twice))


def _order(
    stream: NDArray[np.int64], at_ms: NDArray[np.int64], has_pod: NDArray[np.bool_]
) -> NDArray[np.int64] | slice:
    """Return the order by stream and instant, rows without a pod first."""
    if len(stream) == 0:
        return slice(None)
    since = at_ms - at_ms.min()
    bits = int(since.max()).bit_length() + 1
    if bits + int(stream.max()).bit_length() > _KEY_BITS:
        return np.lexsort((has_pod, at_ms, stream)).astype(np.int64)
    key = (stream << bits) | (since << 1) | has_pod
    if not (key[1:] < key[:-1]).any():
        return slice(None)
    return np.argsort(key, kind="stable").astype(np.int64)


def _told_twice(table: SeriesTable, twice: Samples) -> list[Finding]:
    metric = table.metric.codes[twice.series]
    return [
        Finding(
            "told_twice",
            table.metric.values[code],
            "samples have the labels and instant of another one and another value: the first is used; are several "
            "scrapes in one file?",
            int((metric == code).sum()),
            span_of(twice.at_ms[metric == code]),
        )
        for code in np.unique(metric).tolist()
    ]


@dataclass(frozen=True, slots=True)
class _Runs:
    """One row per stream and bucket."""

    stream: NDArray[np.int64]
    buckets: Buckets
    has_pod: NDArray[np.bool_]


def _runs(table: SeriesTable, streams: _Streams, readings: _Readings) -> _Runs:
    number = readings.at_ms // MS_PER_BUCKET
    is_start = np.ones(len(number), np.bool_)
    is_start[1:] = (number[1:] != number[:-1]) | (readings.stream[1:] != readings.stream[:-1])
    starts = np.flatnonzero(is_start)
    stream, series = readings.stream[starts], readings.series[starts]
    count = np.diff(np.append(starts, len(number)))
    if len(starts):
        total = np.add.reduceat(readings.values, starts)
        largest = np.maximum.reduceat(readings.values, starts)
        has_pod = np.logical_or.reduceat(readings.has_pod, starts)
    else:
        total, largest, has_pod = np.zeros(0), np.zeros(0), np.zeros(0, np.bool_)
    buckets = Buckets(
        device=streams.device[stream],
        quantity=streams.quantity[stream],
        number=number[starts],
        # A mean of equal values must be that value, whatever the additions rounded to.
        mean=np.minimum(total / count, largest),
        largest=largest,
        samples=count,
        node=table.node.codes[series].astype(np.int64),
        model=table.model.codes[series].astype(np.int64),
        profile=table.profile.codes[series].astype(np.int64),
    )
    return _Runs(stream, buckets, has_pod)


def _best(streams: _Streams, runs: _Runs) -> Buckets:
    """Return one row per device, quantity and bucket."""
    buckets = runs.buckets
    stream_places = streams.device * len(QUANTITIES) + streams.quantity
    if len(np.unique(stream_places)) == len(stream_places):  # nothing to choose from
        return buckets
    place = buckets.device * len(QUANTITIES) + buckets.quantity
    priority = (
        (streams.rank[runs.stream] << (_COUNT_BITS + _SCRAPE_BITS + 1))
        | ((~runs.has_pod).astype(np.int64) << (_COUNT_BITS + _SCRAPE_BITS))
        | ((2**_COUNT_BITS - 1 - buckets.samples) << _SCRAPE_BITS)
        | streams.scrape[runs.stream]
    )
    order = np.lexsort((priority, buckets.number, place))
    place, number = place[order], buckets.number[order]
    is_start = np.ones(len(order), np.bool_)
    is_start[1:] = (place[1:] != place[:-1]) | (number[1:] != number[:-1])
    starts = np.flatnonzero(is_start)
    first = order[starts]
    if len(starts) == 0:
        return buckets
    rank = streams.rank[runs.stream[order]]
    is_of_best_name = rank == np.repeat(rank[starts], np.diff(np.append(starts, len(order))))
    largest = np.where(is_of_best_name, buckets.largest[order], 0.0)  # zero: no quantity is negative
    return Buckets(
        device=buckets.device[first],
        quantity=buckets.quantity[first],
        number=buckets.number[first],
        mean=buckets.mean[first],
        largest=np.maximum.reduceat(largest, starts),
        samples=buckets.samples[first],
        node=np.maximum.reduceat(buckets.node[order], starts),
        model=np.maximum.reduceat(buckets.model[order], starts),
        profile=buckets.profile[first],
    )


def _renamings(table: SeriesTable, streams: _Streams, readings: _Readings) -> list[Finding]:
    """Return where the exporter began to use other names in mid-window: one finding per pair of names."""
    starts = run_starts(readings.stream)
    stream = readings.stream[starts]
    first = readings.at_ms[starts]
    last = readings.at_ms[np.append(starts[1:], len(readings.at_ms)) - 1] if len(starts) else first
    place = streams.device[stream] * len(QUANTITIES) + streams.quantity[stream]
    order = np.lexsort((first, place))
    earlier, later = order[:-1], order[1:]
    metric = streams.metric[stream]
    is_renamed = (
        (place[earlier] == place[later])
        & (metric[earlier] != metric[later])
        & (first[later] > last[earlier] - MS_PER_BUCKET)
    )
    earlier, later = earlier[is_renamed], later[is_renamed]
    pair = metric[earlier] * len(table.metrics) + metric[later]
    findings = []
    for code in np.unique(pair).tolist():
        old, new = (table.metric.values[name] for name in divmod(code, len(table.metrics)))
        is_of = pair == code
        message = f"GPUs went on under {new}: the exporter was changed; both names are used"
        changed = np.concatenate((last[earlier[is_of]], first[later[is_of]]))
        findings.append(Finding("exporter_changed", old, message, int(is_of.sum()), span_of(changed)))
    return findings
