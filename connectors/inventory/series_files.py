"""Time series out of files: VictoriaMetrics JSON lines, or Parquet of the same shape."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from connectors.inventory.json_stream import encoding_of
from models.domain.errors import InputError
from models.domain.units import MILLISECONDS_PER_SECOND

COLUMNS = ("metric", "values", "timestamps")
_NUMBERS = {int, float, type(None)}
_ROWS_PER_BATCH = 512
_PARQUET_MAGIC = b"PAR1"


@dataclass(frozen=True, slots=True)
class Series:
    """Samples of one series; `seconds` since 1970, as long as `values`."""

    labels: Mapping[str, str]  # with __name__
    seconds: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]  # NaN: no sample


def is_parquet(head: bytes) -> bool:
    """Return whether a file begins as Parquet."""
    return head.startswith(_PARQUET_MAGIC)


def is_series(head: bytes) -> bool:
    """Return whether a file begins as JSON lines of series, judged by its first object."""
    text = head.decode(encoding_of(head), errors="ignore").lstrip()
    if text.startswith("{") and text[1:].lstrip().startswith('"metric"'):
        return True
    try:
        first = orjson.loads(text.partition("\n")[0])
    except orjson.JSONDecodeError:
        return False
    return isinstance(first, dict) and all(column in first for column in COLUMNS)


def read_json_lines(stream: BinaryIO, path: str, name_prefix: str) -> Iterator[Series]:
    """
    Yield the series whose name begins with `name_prefix`; memory stays at one line.

    Raises:
        InputError: a line is broken; names file and line.
    """
    mark = f'"{name_prefix}'.encode()
    for number, line in enumerate(stream, start=1):
        if mark not in line:  # spares parsing the many other series of a full export
            continue
        try:
            series = _series(orjson.loads(line.removeprefix(b"\xef\xbb\xbf")))
        except (orjson.JSONDecodeError, TypeError, ValueError, KeyError) as error:
            message = (
                f"{path}, line {number}: no series of VictoriaMetrics JSON lines ({error}); expected an object with "
                '"metric", "values" and "timestamps"; export it again'
            )
            raise InputError(message) from error
        if series.labels["__name__"].startswith(name_prefix):
            yield series


def read_parquet(stream: BinaryIO, path: str, name_prefix: str) -> Iterator[Series]:
    """
    Yield the series whose name begins with `name_prefix`, one per row.

    Columns: metric (map or JSON text), values (list of numbers), timestamps (list of integers, ms, or of instants).

    Raises:
        InputError: the file is no Parquet, or lacks a column; names file and row.
    """
    row = 0
    try:
        file = pq.ParquetFile(stream)
        missing = [column for column in COLUMNS if column not in file.schema_arrow.names]
        if missing:
            message = f"{path}: column {', '.join(missing)} is missing, found {', '.join(file.schema_arrow.names)}"
            raise InputError(message)
        for batch in file.iter_batches(_ROWS_PER_BATCH, columns=list(COLUMNS)):
            for metric, values, timestamps in zip(*(batch.column(name) for name in COLUMNS), strict=True):
                row += 1
                labels = metric.as_py()
                found = {
                    "metric": orjson.loads(labels) if isinstance(labels, str) else dict(labels),
                    "values": values.as_py(),
                    "timestamps": _milliseconds(timestamps.values),
                }
                series = _series(found)
                if series.labels["__name__"].startswith(name_prefix):
                    yield series
    except (pa.ArrowException, orjson.JSONDecodeError, TypeError, ValueError, KeyError) as error:
        message = f"{path}, row {row}: no readable Parquet of series ({error}); export it again"
        raise InputError(message) from error


def _milliseconds(timestamps: pa.Array) -> list[int]:
    if pa.types.is_timestamp(timestamps.type):
        timestamps = timestamps.cast(pa.timestamp("ms", timestamps.type.tz), safe=False)
    milliseconds: list[int] = timestamps.cast(pa.int64()).to_pylist()
    return milliseconds


def _series(found: Mapping[str, Any]) -> Series:
    labels, values, timestamps = found["metric"], found["values"], found["timestamps"]
    if len(values) != len(timestamps):
        message = f"{len(values)} values, but {len(timestamps)} timestamps"
        raise ValueError(message)
    seconds = np.array(timestamps, dtype=np.float64) / MILLISECONDS_PER_SECOND
    # VictoriaMetrics writes NaN as null, and infinities as text.
    if not set(map(type, values)) <= _NUMBERS:
        values = [value if type(value) in _NUMBERS else None for value in values]
    numbers = np.array(values, dtype=np.float64)  # null becomes NaN
    return Series({str(key): str(value) for key, value in labels.items()}, seconds, numbers)
