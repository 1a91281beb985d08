"""Write series with their samples: VictoriaMetrics JSON lines, or Parquet of the same shape."""

import gzip
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol, Self

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

GZIP_LEVEL = 4
ROWS_PER_GROUP = 2000
SCHEMA = pa.schema([("metric", pa.string()), ("values", pa.list_(pa.float64())), ("timestamps", pa.list_(pa.int64()))])

Values = npt.NDArray[np.float64] | npt.NDArray[np.int64]
Milliseconds = npt.NDArray[np.int64]


class SeriesFile(Protocol):
    """Takes series one after the other."""

    def add(self, metric: bytes, values: Values, timestamps: Milliseconds) -> None:
        """Write one series; `metric` is the JSON object of its labels."""
        ...


def series_file(stem: Path, *, is_parquet: bool) -> AbstractContextManager[SeriesFile]:
    """Open a file for series; its suffix is added to `stem`."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    return _Parquet(stem.with_name(f"{stem.name}.parquet")) if is_parquet else _JsonLines(stem)


class _JsonLines:
    def __init__(self, stem: Path) -> None:
        self._path = stem.with_name(f"{stem.name}.jsonl.gz")
        self._times: dict[tuple[int, int, int], bytes] = {}

    def __enter__(self) -> Self:
        self._raw: IO[bytes] = self._path.open("wb")
        self._file = gzip.GzipFile("", "wb", GZIP_LEVEL, self._raw, mtime=0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._raw.close()

    def add(self, metric: bytes, values: Values, timestamps: Milliseconds) -> None:
        if not len(values):
            return
        texts = orjson.dumps(np.ascontiguousarray(values), option=orjson.OPT_SERIALIZE_NUMPY)
        self._file.write(b'{"metric":%b,"values":%b,"timestamps":%b}\n' % (metric, texts, self._text(timestamps)))

    def _text(self, timestamps: Milliseconds) -> bytes:
        # Nearly all series of a file share their instants; equal ends, length and sum of an even grid mean equal grids.
        key = (int(timestamps[0]), int(timestamps[-1]), len(timestamps))
        is_even = key[1] - key[0] == (len(timestamps) - 1) * int(timestamps[1] - timestamps[0]) if key[2] > 1 else True
        if not is_even:
            return orjson.dumps(np.ascontiguousarray(timestamps), option=orjson.OPT_SERIALIZE_NUMPY)
        if key not in self._times:
            self._times[key] = orjson.dumps(np.ascontiguousarray(timestamps), option=orjson.OPT_SERIALIZE_NUMPY)
        return self._times[key]


class _Parquet:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._metrics: list[str] = []
        self._values: list[Values] = []
        self._times: list[Milliseconds] = []

    def __enter__(self) -> Self:
        self._file = pq.ParquetWriter(self._path, SCHEMA, compression="zstd")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flush()
        self._file.close()

    def add(self, metric: bytes, values: Values, timestamps: Milliseconds) -> None:
        if not len(values):
            return
        self._metrics.append(metric.decode())
        self._values.append(values)
        self._times.append(timestamps)
        if len(self._metrics) >= ROWS_PER_GROUP:
            self._flush()

    def _flush(self) -> None:
        if not self._metrics:
            return
        offsets = np.concatenate([[0], np.cumsum([len(values) for values in self._values])]).astype(np.int32)
        values = np.concatenate(self._values).astype(np.float64)
        lists = [pa.ListArray.from_arrays(offsets, flat) for flat in (values, np.concatenate(self._times))]
        self._file.write_table(pa.Table.from_arrays([pa.array(self._metrics), *lists], schema=SCHEMA))
        self._metrics, self._values, self._times = [], [], []
