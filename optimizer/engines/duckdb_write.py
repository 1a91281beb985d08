"""One load into DuckDB: rows gather in temporary tables, then replace the source's window in one transaction."""

from collections.abc import Sequence
from typing import Protocol

import duckdb
import pyarrow as pa

from connectors.raw_tables import RAW_TABLES, RawTable
from models.domain.window import Window, naive_utc

_SEPARATOR = "\n"  # between the sources' objects that brought parts of one merged row


class Runner(Protocol):
    """What a writer needs of the engine."""

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """Return the open connection."""
        ...

    def run(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """Run one statement to its end."""
        ...


class Writer:
    """Gathers one load (a `connectors.load.RawWriter`)."""

    def __init__(self, engine: Runner, tables: Sequence[str]) -> None:
        """Make room for the rows of `tables`."""
        self._engine = engine
        self._tables = tuple(tables)
        self._kept_objects: set[str] = set()
        for table in self._tables:
            engine.run(f"create or replace temp table incoming_{table} as select * from raw.{table} limit 0")

    def append(self, table: str, rows: pa.Table) -> None:
        """Add rows of `raw.<table>`."""
        if rows.num_rows:
            self._engine.connection.register("incoming_page", rows)
            self._engine.run(f"insert into incoming_{table} by name select * from incoming_page")
            self._engine.connection.unregister("incoming_page")

    def keep(self, source_object: str) -> None:
        """Leave what earlier loads brought from there, and drop what this one began to bring."""
        self._kept_objects.add(source_object)

    def commit(self, source_id: str, window: Window) -> None:
        """Replace the window: all of it, or nothing."""
        self._engine.run("create or replace temp table kept_object (source_object varchar)")
        for source_object in sorted(self._kept_objects):
            self._engine.run("insert into kept_object values (?)", [source_object])
        self._engine.run("begin transaction")
        try:
            for table in self._tables:
                self._replace(table, source_id, window)
        except BaseException:
            self._engine.run("rollback")
            raise
        self._engine.run("commit")

    def discard(self) -> None:
        """Free the temporary tables."""
        for table in self._tables:
            self._engine.run(f"drop table if exists incoming_{table}")

    def _replace(self, name: str, source_id: str, window: Window) -> None:
        table = RAW_TABLES[name]
        bounds = [source_id, naive_utc(window.end), naive_utc(window.start), naive_utc(window.start)]
        held = (  # a row that does not say when it holds is in every window: kept, it would double with each load
            f'source_id = ? and coalesce("{table.starts}" < ?, true) '
            f'and coalesce("{table.ends}" > ? or ("{table.ends}" = "{table.starts}" and "{table.ends}" >= ?), true)'
        )
        self._engine.run(f"delete from incoming_{name} where source_object in (select source_object from kept_object)")
        if self._kept_objects:
            self._engine.run(
                f"insert into incoming_{name} select * from raw.{name} as stored where {held} and exists ("
                "select 1 from kept_object where list_contains("
                f"string_split(stored.source_object, '{_SEPARATOR}'), kept_object.source_object))",
                bounds,
            )
        if table.merge_keys:
            self._touch_days(name, table, f"raw.{name} where {held}", bounds)
            self._touch_days(name, table, f"incoming_{name}", [])
        self._engine.run(f"delete from raw.{name} where {held}", bounds)
        self._insert(name, table)

    def _touch_days(self, name: str, table: RawTable, rows: str, parameters: Sequence[object]) -> None:
        self._engine.run(
            f"insert into build.touched_day "
            f"select distinct '{name}', date_trunc('day', \"{table.starts}\") from {rows}",
            parameters,
        )

    def _insert(self, name: str, table: RawTable) -> None:
        if not table.merge_keys:
            self._engine.run(f"insert into raw.{name} select * from incoming_{name}")
            return
        keys = ", ".join(table.merge_keys)
        self._engine.run(
            f"create or replace temp table split_row as "
            f"select {keys} from incoming_{name} group by all having count(*) > 1"
        )
        self._engine.run(f"insert into raw.{name} select * from incoming_{name} anti join split_row using ({keys})")
        self._engine.run(
            f"insert into raw.{name} by name select {_merged_columns(table)} "
            f"from incoming_{name} semi join split_row using ({keys}) group by source_id, {keys}"
        )


def _merged_columns(table: RawTable) -> str:
    """
    Return the select list that makes one row of its parts: the mean of the part with most samples, maxima of the rest.

    Merging a row once more with one of its own parts changes nothing, so a load repeated beside a file that fails
    gives the same rows.
    """
    parts = []
    for column in table.schema.names:
        if column in {*table.merge_keys, "source_id"}:
            parts.append(column)
        elif column == "source_object":
            parts.append(
                f"array_to_string(list_sort(list_distinct(list(source_object))), '{_SEPARATOR}') as source_object"
            )
        elif column.endswith("_mean"):
            samples = column.removesuffix("_mean") + "_samples"
            parts.append(f"arg_max({column}, ({samples}, source_object)) as {column}")
        else:
            parts.append(f"max({column}) as {column}")
    return ", ".join(parts)
