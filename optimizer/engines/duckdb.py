"""The default engine: one DuckDB file, one writer, native tables without keys (uniqueness is a check)."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb
import pyarrow as pa

from connectors.load import RawWriter
from connectors.raw_tables import RAW_TABLES
from models.domain.errors import SchemaDriftError, WarehouseBusyError
from models.domain.window import Window
from optimizer.engine import BuildSettings, Violation
from optimizer.engines.duckdb_build import build_models
from optimizer.engines.duckdb_write import Writer
from optimizer.sql_models import sql_checks, sql_models

_SPARK_NAMES = (  # functions Spark has built in; with them the same SQL runs on both
    "create or replace macro unix_timestamp(t) as cast(epoch(t) as bigint)",
    "create or replace macro explode(a) as unnest(a)",
    "create or replace macro sequence(a, b, c) as generate_series(a, b, c)",
    "create or replace macro percentile(x, p) as quantile_cont(x, p)",
)
_DUCKDB_TYPES = {
    pa.string(): "VARCHAR",
    pa.float64(): "DOUBLE",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.bool_(): "BOOLEAN",
    pa.timestamp("us"): "TIMESTAMP",
    pa.decimal128(38, 15): "DECIMAL(38,15)",
}
_LOCK_HOLDER = re.compile(r"PID (\d+)")
_RETRY_SECONDS = 0.5


class DuckdbEngine:
    """A warehouse in one file; see `optimizer.engine.Engine` for what each method promises."""

    def __init__(self, path: Path, memory_limit_gib: float, lock_wait_seconds: float = 60.0) -> None:
        """
        Open the warehouse, waiting for another writer to finish.

        Raises:
            WarehouseBusyError: it did not finish in `lock_wait_seconds`; the message names its process.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.connection = _connect(path, lock_wait_seconds)
        spill = path.with_name(path.name + ".tmp")
        self.run(f"set memory_limit = '{memory_limit_gib}GiB'")
        self.run("set temp_directory = " + _literal(str(spill)))
        self.run("set preserve_insertion_order = false")
        self.run("set TimeZone = 'UTC'")
        for macro in _SPARK_NAMES:
            self.run(macro)
        self._migrate()

    def __enter__(self) -> Self:
        """Return the open engine."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the file; what was not committed is gone."""
        self.connection.close()

    def run(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """Run one statement to its end and return its rows; a result left open would block the next statement."""
        rows: list[tuple[object, ...]] = self.connection.execute(sql, list(parameters)).fetchall()
        return rows

    @contextmanager
    def replace_window(self, source_id: str, tables: Sequence[str], window: Window) -> Iterator[RawWriter]:
        """Replace one source's rows in a window, in one transaction."""
        writer = Writer(self, tables)
        try:
            yield writer
            writer.commit(source_id, window)
        finally:
            writer.discard()

    def build(self, window: Window, settings: BuildSettings) -> None:
        """Build every model in the order their own references give."""
        build_models(self, window, settings)

    def check(self) -> list[Violation]:
        """Return what the checks object to, by check and message."""
        return [
            Violation(check.name, str(message))
            for check in sql_checks()
            for (message,) in sorted(self.run(check.sql), key=str)
        ]

    def window(self) -> Window | None:
        """Return the window the marts were built over; None before the first build."""
        built = self.run("select count(*) from duckdb_tables() where table_name = 'run_window'")
        if built == [(0,)]:
            return None
        ((start, end),) = self.run("select window_start, window_end from run_window")
        assert isinstance(start, datetime)  # noqa: S101 - the columns are timestamps
        assert isinstance(end, datetime)  # noqa: S101
        return Window(start.replace(tzinfo=UTC), end.replace(tzinfo=UTC))

    def read(self, mart: str) -> pa.Table:
        """Return a mart, rows in a fixed order: by all its columns, left to right."""
        if mart not in {model.name for model in sql_models()}:
            message = f"no mart is called {mart!r}"
            raise SchemaDriftError(message)
        return self.arrow(f"select * from {mart} order by all")

    def arrow(self, sql: str) -> pa.Table:
        """Run one query and return its rows as Arrow."""
        return self.connection.sql(sql).to_arrow_table()

    def _migrate(self) -> None:
        self.run("create schema if not exists raw")
        self.run("create schema if not exists build")
        self.run("create table if not exists build.touched_day (raw_table varchar, day_start timestamp)")
        self.run("create table if not exists build.model_state (model varchar, fingerprint varchar)")
        for name, table in RAW_TABLES.items():
            columns = ", ".join(f'"{column.name}" {_DUCKDB_TYPES[column.type]}' for column in table.schema)
            self.run(f"create table if not exists raw.{name} ({columns})")
            self._add_new_columns(name, table.schema)

    def _add_new_columns(self, name: str, schema: pa.Schema) -> None:
        present = {
            str(column).lower(): str(kind)
            for column, kind in self.run(
                "select column_name, data_type from duckdb_columns() where schema_name = 'raw' and table_name = ?",
                [name],
            )
        }
        for column in schema:
            expected = _DUCKDB_TYPES[column.type]
            found = present.get(column.name.lower())
            if found is None:
                self.run(f'alter table raw.{name} add column "{column.name}" {expected}')
            elif found != expected:
                message = (
                    f"{self.path}: raw.{name}.{column.name} is {found}, this version needs {expected}; "
                    "move the file away and run `earnkeep sync` again"
                )
                raise SchemaDriftError(message)


def _connect(path: Path, lock_wait_seconds: float) -> duckdb.DuckDBPyConnection:
    waited_seconds = 0.0
    while True:
        try:
            return duckdb.connect(str(path))
        except duckdb.IOException as error:
            if "lock" not in str(error):
                raise
            if waited_seconds >= lock_wait_seconds:
                holder = _LOCK_HOLDER.search(str(error))
                who = f"process {holder[1]}" if holder else "another process"
                message = (
                    f"{path}: {who} writes to this warehouse and did not finish in {lock_wait_seconds:.0f} s; "
                    "wait for it or stop it"
                )
                raise WarehouseBusyError(message) from error
        time.sleep(_RETRY_SECONDS)
        waited_seconds += _RETRY_SECONDS


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
