"""A small warehouse with the component prices of `raw_rows`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from optimizer.engines.duckdb import DuckdbEngine
from tests.sql.raw_rows import COMPONENTS, Warehouse


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    with DuckdbEngine(tmp_path / "warehouse.duckdb", memory_limit_gib=1) as engine:
        yield Warehouse(engine).load("prices", price=list(COMPONENTS))
