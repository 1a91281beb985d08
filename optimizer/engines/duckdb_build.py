"""Build the SQL models in DuckDB: views and tables whole, large rollups only for the days that changed."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields
from datetime import datetime, timedelta
from typing import Protocol

import duckdb
import pyarrow as pa

from models.catalog.gpus import gpu_model_frame
from models.catalog.mig import mig_profile_frame
from models.domain.window import Window, naive_utc
from optimizer.engine import BuildSettings
from optimizer.sql_models import Incremental, Kept, SqlModel, sql_models

_ROWS_PER_PASS = 10_000_000  # bounds memory: a roll-up over 200 million rows at once needs more than 2 GB
_ONE_DAY = timedelta(days=1)


class Runner(Protocol):
    """What a build needs of the engine."""

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """Return the open connection."""
        ...

    def run(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """Run one statement to its end."""
        ...


def build_models(engine: Runner, window: Window, settings: BuildSettings) -> None:
    """
    Build every model; killed anywhere and run again, it ends in the same tables.

    Roll-ups by day commit pass by pass. All the rest is one transaction: readers see the marts of one build, and
    there is one wait for the disk instead of one a model.
    """
    _write_inputs(engine, window, settings)
    models = sql_models()
    for model in models:
        if model.incremental is not None:
            _build_by_day(engine, model, model.incremental, settings)
    engine.run("begin transaction")
    try:
        for model in models:
            if model.kept is Kept.VIEW:
                engine.run(f"create or replace view {model.name} as {model.sql}")
            elif model.incremental is None:
                engine.run(f"create or replace table {model.name} as {model.sql}")
        engine.run("delete from build_days")  # what the last pass left is no result
    except BaseException:
        engine.run("rollback")
        raise
    engine.run("commit")


def _write_inputs(engine: Runner, window: Window, settings: BuildSettings) -> None:
    engine.run("create or replace table run_window (window_start timestamp, window_end timestamp)")
    engine.run("insert into run_window values (?, ?)", [naive_utc(window.start), naive_utc(window.end)])
    columns = ", ".join(f"? as {field.name}" for field in fields(settings))
    engine.run(f"create or replace table build_setting as select {columns}", astuple(settings))
    engine.run("create table if not exists build_days (days_start timestamp, days_end timestamp)")
    _seed(engine, "seed_mig_profile", mig_profile_frame().to_arrow())
    _seed(engine, "seed_gpu_model", gpu_model_frame().to_arrow())


def _seed(engine: Runner, name: str, rows: pa.Table) -> None:
    engine.connection.register("seed_rows", rows)
    engine.run(f"create or replace table {name} as select * from seed_rows")
    engine.connection.unregister("seed_rows")


def _build_by_day(engine: Runner, model: SqlModel, incremental: Incremental, settings: BuildSettings) -> None:
    fingerprint = hashlib.sha256(f"{model.sql}\n{settings}".encode()).hexdigest()
    known = engine.run("select fingerprint from build.model_state where model = ?", [model.name])
    if known != [(fingerprint,)]:
        _start_over(engine, model, incremental, fingerprint)
    for days in _passes(engine, incremental):
        bounds = [days[0], days[-1] + _ONE_DAY]
        engine.run("begin transaction")
        engine.run("delete from build_days")
        engine.run("insert into build_days values (?, ?)", bounds)
        engine.run(f"delete from {model.name} where {incremental.column} >= ? and {incremental.column} < ?", bounds)
        engine.run(f"insert into {model.name} {model.sql}")
        engine.run(
            "delete from build.touched_day where raw_table = ? and day_start >= ? and day_start < ?",
            [incremental.raw_table, *bounds],
        )
        engine.run("commit")


def _start_over(engine: Runner, model: SqlModel, incremental: Incremental, fingerprint: str) -> None:
    engine.run("begin transaction")
    engine.run(f"create or replace table {model.name} as select * from ({model.sql}) limit 0")
    engine.run(
        f"insert into build.touched_day select distinct '{incremental.raw_table}', "
        f"date_trunc('day', {incremental.raw_column}) from raw.{incremental.raw_table}"
    )
    engine.run("delete from build.model_state where model = ?", [model.name])
    engine.run("insert into build.model_state values (?, ?)", [model.name, fingerprint])
    engine.run("commit")


def _passes(engine: Runner, incremental: Incremental) -> Iterator[list[datetime]]:
    """Yield runs of consecutive touched days that hold few enough rows for one pass."""
    counted = engine.run(
        f"select touched.day_start, count(stored.{incremental.raw_column}) "
        "from (select distinct day_start from build.touched_day where raw_table = ?) as touched "
        f"left join raw.{incremental.raw_table} as stored "
        f"on date_trunc('day', stored.{incremental.raw_column}) = touched.day_start "
        "group by touched.day_start order by touched.day_start",
        [incremental.raw_table],
    )
    days: list[datetime] = []
    rows_in_pass = 0
    for day, rows in counted:
        assert isinstance(day, datetime)  # noqa: S101 - the column is a timestamp
        assert isinstance(rows, int)  # noqa: S101 - the column is a count
        if days and (rows_in_pass + rows > _ROWS_PER_PASS or day - days[-1] > _ONE_DAY):
            yield days
            days, rows_in_pass = [], 0
        days.append(day)
        rows_in_pass += rows
    if days:
        yield days
