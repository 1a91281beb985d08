"""GPU telemetry from files: OpenMetrics and Prometheus text, VictoriaMetrics JSON lines, Parquet of the same shape."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

import pyarrow as pa

from connectors.connector import Connector, Extent, Unreadable
from connectors.metrics.telemetry.exposition import ExpositionReader
from connectors.metrics.telemetry.json_lines import read_json_lines
from connectors.metrics.telemetry.normalise import TABLES, TelemetrySource, normalise_samples
from connectors.metrics.telemetry.parquet_series import read_parquet_series
from connectors.metrics.telemetry.series import SamplePage
from connectors.storage import find_files, open_stream
from models.catalog.metric_names import parse_extra
from models.domain.errors import ConfigError, InputError
from models.domain.units import MILLISECONDS_PER_SECOND, SECONDS_PER_BUCKET
from models.domain.window import Window

_TEXT = (".prom", ".txt", ".om")
_JSON_LINES = (".jsonl", ".ndjson")
_PARQUET = (".parquet",)
_SUFFIXES = (*_TEXT, *_JSON_LINES, *_PARQUET, *(f"{suffix}.gz" for suffix in (*_TEXT, *_JSON_LINES)))


@dataclass(frozen=True, slots=True)
class Settings:
    """
    Where the files are, and what they do not say.

    Raises:
        ConfigError: a value is out of range, or an extra metric name has an unknown quantity or unit.
    """

    location: str  # a file, a folder (searched with all below it) or a glob
    cluster_id: str  # as the cluster's nodes and pods have it
    sampled_at: datetime | None = None  # when text without timestamps was scraped, with its time zone
    max_samples_per_page: int = 5_000_000  # about 0.5 GiB while a page is worked on
    scrape_interval_seconds: float = float(SECONDS_PER_BUCKET)  # how long a pod label holds that was seen once
    extra_metric_names: Mapping[str, str] = field(default_factory=dict)  # name -> "quantity unit"

    def __post_init__(self) -> None:
        """Check the values once, before anything is read."""
        if self.sampled_at is not None and self.sampled_at.utcoffset() is None:
            message = f"sampled_at {self.sampled_at} has no time zone; write it as 2026-11-30T12:00:00Z"
            raise ConfigError(message)
        if self.max_samples_per_page < 1:
            message = f"max_samples_per_page is {self.max_samples_per_page}, expected at least 1"
            raise ConfigError(message)
        if self.scrape_interval_seconds <= 0:
            message = f"scrape_interval_seconds is {self.scrape_interval_seconds}, expected more than 0"
            raise ConfigError(message)
        parse_extra(self.extra_metric_names)


def fetch(settings: Settings, _window: Window) -> Iterator[SamplePage | Unreadable]:
    """Yield the pages of each file in turn; a file that cannot be read is reported and does not stop the others."""
    paths = find_files(settings.location, _SUFFIXES)
    if not paths:
        endings = ", ".join(_SUFFIXES)
        yield Unreadable(settings.location, f"{settings.location}: holds no file that ends in {endings}")
    for path in paths:
        try:
            yield from _pages(settings, path)
        except InputError as error:
            yield Unreadable(path, str(error))


def normalise(settings: Settings, page: SamplePage) -> Mapping[str, pa.Table]:
    """Return the page's rows."""
    source = TelemetrySource(
        settings.cluster_id, settings.scrape_interval_seconds, parse_extra(settings.extra_metric_names)
    )
    return normalise_samples(source, page)


def _pages(settings: Settings, path: str) -> Iterator[SamplePage]:
    is_empty = True
    with open_stream(path) as stream:
        for page in _read(settings, path, stream):
            is_empty = False
            yield page
    if is_empty:
        message = f"{path}: has no samples; did the exporter or the export answer?"
        raise InputError(message)


def _read(settings: Settings, path: str, stream: BinaryIO) -> Iterator[SamplePage]:
    name = path.lower().removesuffix(".gz")
    if name.endswith(_PARQUET):
        return read_parquet_series(stream, path, settings.max_samples_per_page)
    if name.endswith(_JSON_LINES):
        return read_json_lines(stream, path, settings.max_samples_per_page)
    scraped_ms = (
        None if settings.sampled_at is None else round(settings.sampled_at.timestamp() * MILLISECONDS_PER_SECOND)
    )
    return ExpositionReader(path, scraped_ms, settings.max_samples_per_page).pages(stream)


CONNECTOR: Connector[Settings, SamplePage] = Connector(
    name="metric_files",
    tables=TABLES,
    extent=Extent.EVERYTHING,
    settings=Settings,
    fetch=fetch,
    normalise=normalise,
)
