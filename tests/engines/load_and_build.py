"""
Load and build a small fleet again and again, until killed: what `test_kill.py` runs in a process of its own.

    python load_and_build.py WAREHOUSE
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from connectors.connector import Connector, Extent
from connectors.load import load
from models.domain.window import Window
from optimizer.engine import BuildSettings
from optimizer.engines.duckdb import DuckdbEngine
from tests.sql.raw_rows import COMPONENTS, Row, at, charge, node, observed, raw, request

DAYS = 3
WINDOW = Window(datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 1 + DAYS, tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class Nothing:
    """No settings."""


@dataclass(frozen=True, slots=True)
class Rows:
    """One page: rows by table."""

    origin: str
    rows_by_table: Mapping[str, list[Row]]


def _pages(_settings: Nothing, _window: Window) -> Iterator[Rows]:
    yield Rows("prices", {"price": list(COMPONENTS)})
    hours = 24 * DAYS
    yield Rows("nodes", {"node": [node(hours=hours)], "container_request": [request("a", 0, hours / 2)]})
    for day in range(DAYS):
        samples = observed(24 * day, 24 * day + 24, 0.1 * day)
        yield Rows(f"day {day}", {"gpu_5m": samples})
        yield Rows(f"bill {day}", {"cost": [charge(24 * day + hour, "1.0") for hour in range(24)]})
    # a second telling of the last day, whose rows merge with the first
    yield Rows("again", {"gpu_5m": observed(24 * (DAYS - 1), 24 * DAYS, 0.05)})
    assert at(0)


def _tables(_settings: Nothing, page: Rows) -> dict[str, pa.Table]:
    return {table: raw(table, *rows) for table, rows in page.rows_by_table.items()}


SOURCE: Connector[Nothing, Rows] = Connector(
    name="rows",
    tables=("price", "node", "container_request", "gpu_5m", "cost"),
    extent=Extent.EVERYTHING,
    settings=Nothing,
    fetch=_pages,
    normalise=_tables,
)


def load_and_build(path: Path) -> None:
    """Do it once."""
    with DuckdbEngine(path, memory_limit_gib=1) as engine:
        load(engine, "source", SOURCE, Nothing(), WINDOW)
        engine.build(WINDOW, BuildSettings())


if __name__ == "__main__":
    sys.stdout.write("started\n")
    sys.stdout.flush()
    while True:
        load_and_build(Path(sys.argv[1]))
        sys.stdout.write("done\n")
        sys.stdout.flush()
