"""Read VictoriaMetrics JSON lines (`/api/v1/export`) as pages of samples."""

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import orjson
from numpy.typing import NDArray

from connectors.metrics.telemetry.labels import Labels
from connectors.metrics.telemetry.series import PageBuilder, SamplePage, check_milliseconds
from models.domain.errors import InputError
from models.domain.units import BYTES_PER_MIB

_MAX_LINE_BYTES = 256 * BYTES_PER_MIB  # a year of one series every 10 s, twice over
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_json_lines(stream: BinaryIO, path: str, max_samples_per_page: int) -> Iterator[SamplePage]:
    """
    Yield the file's samples; each line is a series: {"metric": {labels}, "values": [...], "timestamps": [ms, ...]}.

    Raises:
        InputError: a line is no such object; the message names it.
    """
    pages = PageBuilder(path, max_samples_per_page)
    number = 0
    while line := stream.readline(_MAX_LINE_BYTES):
        number += 1
        text = line.removeprefix(_BYTE_ORDER_MARK).strip()
        if not text:
            continue
        try:
            labels, times, values = _parse(text)
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            whole = "" if line.endswith(b"\n") else " and has no line end, so the file may have been cut off"
            message = (
                f"{path}: line {number} is not a series as VictoriaMetrics exports it ({error}){whole}; "
                'expected {"metric": {...}, "values": [...], "timestamps": [...]}'
            )
            raise InputError(message) from error
        check_milliseconds(times, f"{path}: line {number}")
        if pages.is_full_before(labels):
            yield pages.take()
            pages.forget_series()
        index = pages.add_series(labels)
        pages.add_samples(np.full(len(values), index, np.int32), times, values)
    if not pages.is_empty:
        yield pages.take()


def _parse(text: bytes) -> tuple[Labels, NDArray[np.int64], NDArray[np.float64]]:
    series = orjson.loads(text)
    labels = {str(name): str(value) for name, value in series["metric"].items()}
    given = series["values"]
    values = np.array(given, dtype=np.float64)  # null becomes NaN
    times = np.array(series["timestamps"], dtype=np.int64)
    if values.shape != times.shape or values.ndim != 1:
        message = f"{len(given)} values, {len(times)} timestamps"
        raise ValueError(message)
    is_absent = np.isnan(values)  # JSON knows no NaN: null is a staleness marker or no value, never a reading
    if is_absent.any():
        values, times = values[~is_absent], times[~is_absent]
    return labels, times, values
