"""Whether the configuration, the sources and the warehouse are fit for a run."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from connectors import connector as connectors
from connectors.connector import Unreadable
from models.domain.errors import EarnkeepError
from models.domain.window import Window
from optimizer.cli_context import CliContext
from optimizer.config import Config, SourceConfig, load_config
from optimizer.engines.duckdb import DuckdbEngine
from optimizer.run import sources


@dataclass(frozen=True, slots=True)
class Item:
    """One thing looked at."""

    subject: str
    message: str
    is_fine: bool


def diagnose(cli: CliContext) -> Iterator[Item]:
    """Yield one item for the configuration, each source (its first page is read) and the warehouse."""
    try:
        config = load_config(cli.config_path, cli.environ)
    except EarnkeepError as error:
        yield Item("configuration", str(error), is_fine=False)
        return
    yield Item("configuration", f"{cli.config_path}, {len(config.sources)} sources", is_fine=True)
    window = Window(cli.as_of - timedelta(days=config.run.lookback_days), cli.as_of)
    for source in sources(config):
        yield _source(source, window)
    yield _warehouse(config)


def _source(source: SourceConfig, window: Window) -> Item:
    subject = f"source {source.id} ({source.connector_name})"
    connector = connectors.find(source.connector_name)
    try:
        for page in connector.fetch(source.settings, window):
            if isinstance(page, Unreadable):
                return Item(subject, f"{page.origin}: {page.reason}", is_fine=False)
            rows = sum(table.num_rows for table in connector.normalise(source.settings, page).values())
            return Item(subject, f"{page.origin} gives {rows:,} rows in its first page", is_fine=True)
    except EarnkeepError as error:
        return Item(subject, str(error), is_fine=False)
    return Item(subject, "it holds no data; check where it points", is_fine=False)


def _warehouse(config: Config) -> Item:
    try:
        with DuckdbEngine(config.run.warehouse, config.run.memory_limit_gib, lock_wait_seconds=0) as engine:
            (row,) = engine.run("select count(*) from raw.cost")
    except EarnkeepError as error:
        return Item("warehouse", str(error), is_fine=False)
    return Item("warehouse", f"{config.run.warehouse}, {row[0]:,} charges loaded", is_fine=True)
