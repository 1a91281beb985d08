"""Read series from Parquet, one row a series: metric, values, timestamps."""

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from connectors.metrics.telemetry.labels import Labels
from connectors.metrics.telemetry.series import PageBuilder, SamplePage, check_milliseconds
from models.domain.errors import InputError

_COLUMNS = ("metric", "values", "timestamps")
_ROWS_PER_BATCH = 64  # a month of one series a minute is 43,000 samples
_STALE_BITS = 0x7FF0000000000002  # Prometheus: the series ended


def read_parquet_series(stream: BinaryIO, path: str, max_samples_per_page: int) -> Iterator[SamplePage]:
    """
    Yield the file's samples from columns metric (map or JSON text), values (list of double), timestamps (list of ms).

    Raises:
        InputError: the file is no Parquet, has other columns, or a row's lists differ in length.
    """
    pages = PageBuilder(path, max_samples_per_page)
    first_row = 0
    try:
        file = pq.ParquetFile(stream)
        _check_columns(path, file.schema_arrow)
        for batch in file.iter_batches(_ROWS_PER_BATCH, columns=list(_COLUMNS)):
            yield from _pages_of(batch, path, first_row, pages)
            first_row += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        message = f"{path}: cannot be read as Parquet ({error}); fetch or write it again"
        raise InputError(message) from error
    if not pages.is_empty:
        yield pages.take()


def _check_columns(path: str, schema: pa.Schema) -> None:
    missing = [name for name in _COLUMNS if name not in schema.names]
    if missing:
        message = f"{path}: columns {', '.join(missing)} are missing; it has {', '.join(schema.names)}"
        raise InputError(message)
    for name in ("values", "timestamps"):
        kind = schema.field(name).type
        if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
            message = f"{path}: column {name} is {kind}, expected a list"
            raise InputError(message)


def _pages_of(batch: pa.RecordBatch, path: str, first_row: int, pages: PageBuilder) -> Iterator[SamplePage]:
    values = batch.column("values")
    times = batch.column("timestamps")
    for row, metric in enumerate(batch.column("metric")):
        where = f"{path}: row {first_row + row + 1}"
        labels = _labels(metric.as_py(), where)
        row_values, is_reading = _values(values[row])
        row_times = _milliseconds(times[row])
        if len(row_values) != len(row_times):
            message = f"{where} has {len(row_values)} values, {len(row_times)} timestamps"
            raise InputError(message)
        check_milliseconds(row_times, where)
        if pages.is_full_before(labels):
            yield pages.take()
            pages.forget_series()
        index = pages.add_series(labels)
        readings = row_values[is_reading]
        pages.add_samples(np.full(len(readings), index, np.int32), row_times[is_reading], readings)


def _labels(metric: object, where: str) -> Labels:
    if isinstance(metric, str | bytes):
        try:
            metric = orjson.loads(metric)
        except orjson.JSONDecodeError as error:
            message = f"{where}: metric is not JSON ({error})"
            raise InputError(message) from error
    if isinstance(metric, list):  # Arrow gives a map as pairs
        metric = dict(metric)
    if not isinstance(metric, dict):
        message = f"{where}: metric is {type(metric).__name__}, expected a map of labels or JSON text"
        raise InputError(message)
    return {str(name): str(value) for name, value in metric.items()}


def _values(cell: pa.Scalar) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return a list's numbers, and which of them are readings: neither null nor a staleness marker."""
    if not cell.is_valid:
        return np.zeros(0), np.zeros(0, np.bool_)
    given = cell.values.cast(pa.float64())
    numbers: NDArray[np.float64] = given.to_numpy(zero_copy_only=False)
    is_valid: NDArray[np.bool_] = given.is_valid().to_numpy(zero_copy_only=False)
    return numbers, is_valid & (numbers.view(np.uint64) != _STALE_BITS)


def _milliseconds(cell: pa.Scalar) -> NDArray[np.int64]:
    if not cell.is_valid:
        return np.zeros(0, np.int64)
    times = cell.values
    if pa.types.is_timestamp(times.type):
        times = times.cast(pa.timestamp("ms", times.type.tz), safe=False)
    milliseconds: NDArray[np.int64] = times.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return milliseconds
