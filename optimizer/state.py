"""What runs leave behind: watermarks, runs, proposals, rejections, decisions. A SQLite file beside the warehouse."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson
from pydantic import TypeAdapter

from models.domain.recommendation import Decision, Proposal, Rejection, stable_id
from models.domain.window import Window
from optimizer.manifest import Change

_SCHEMA = """
create table if not exists watermark (source_id text primary key, loaded_until text not null);
create table if not exists run (
    run_id integer primary key, window_start text not null, window_end text not null,
    version text not null, config_fingerprint text not null
);
create table if not exists source_failure (run_id integer, source_id text, origin text, reason text);
create table if not exists proposal (run_id integer, id text, recommender text, subject text, body text);
create table if not exists rejection (
    run_id integer, id text, recommender text, subject text, code text, reason text, body text
);
create table if not exists decision (run_id integer, id text, recommender text, subject text, body text);
create table if not exists plan (run_id integer primary key, body text);
"""
_KEYED_BY_RUN = ("source_failure", "proposal", "rejection", "decision", "plan")


@dataclass(frozen=True, slots=True)
class Advice:
    """One decision with what was written for it."""

    decision: Decision
    change: Change


@dataclass(frozen=True, slots=True)
class SourceFailure:
    """A part of a source that a run could not read."""

    source_id: str
    origin: str
    reason: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run."""

    run_id: int
    window: Window  # its end is as_of
    version: str
    config_fingerprint: str


_ADVICE = TypeAdapter(Advice)
_REJECTION = TypeAdapter(Rejection)


class State:
    """Readable while a run writes; rows are keyed by run and never changed after it."""

    def __init__(self, path: Path) -> None:
        """Open or create the file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("pragma journal_mode = wal")
        self._db.executescript(_SCHEMA)

    def __enter__(self) -> Self:
        """Return the open state."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the file."""
        self._db.close()

    def advance(self, source_id: str, loaded_until: datetime) -> None:
        """Note that a source's rows up to there are committed; called after the engine's commit, never before."""
        self._db.execute(
            "insert into watermark values (?, ?) on conflict (source_id) do update set loaded_until = "
            "max(loaded_until, excluded.loaded_until)",
            (source_id, _text(loaded_until)),
        )

    def watermarks(self) -> dict[str, datetime]:
        """Return how far each source is loaded."""
        rows = self._rows("select source_id, loaded_until from watermark order by source_id")
        return {str(source_id): _instant(str(until)) for source_id, until in rows}

    def start_run(self, window: Window, version: str, config_fingerprint: str) -> int:
        """Record a run and return its number."""
        cursor = self._db.execute(
            "insert into run (window_start, window_end, version, config_fingerprint) values (?, ?, ?, ?)",
            (_text(window.start), _text(window.end), version, config_fingerprint),
        )
        assert cursor.lastrowid is not None  # noqa: S101 - an insert into a rowid table always has one
        return cursor.lastrowid

    def latest_run(self) -> RunRecord | None:
        """Return the newest run that decided something; None before the first."""
        rows = self._rows(
            "select run_id, window_start, window_end, version, config_fingerprint from run "
            "where run_id in (select run_id from plan) order by run_id desc limit 1"
        )
        if not rows:
            return None
        run_id, start, end, version, fingerprint = rows[0]
        assert isinstance(run_id, int)  # noqa: S101 - the column is the integer key
        window = Window(_instant(str(start)), _instant(str(end)))
        return RunRecord(run_id, window, str(version), str(fingerprint))

    def keep_failures(self, run_id: int, failures: Iterable[SourceFailure]) -> None:
        """Record what a run could not read."""
        self._db.executemany(
            "insert into source_failure values (?, ?, ?, ?)",
            [(run_id, failure.source_id, failure.origin, failure.reason) for failure in failures],
        )

    def failures(self, run_id: int) -> tuple[SourceFailure, ...]:
        """Return what a run could not read."""
        rows = self._rows(
            "select source_id, origin, reason from source_failure where run_id = ? order by 1, 2, 3", (run_id,)
        )
        return tuple(SourceFailure(str(source), str(origin), str(reason)) for source, origin, reason in rows)

    def keep_advice(
        self, run_id: int, proposals: Iterable[Proposal], rejections: Iterable[Rejection], advice: Iterable[Advice]
    ) -> None:
        """Record what was proposed, refused and decided: all of it, or nothing."""
        with self._transaction():
            self._keep_advice(run_id, proposals, rejections, advice)

    def _keep_advice(
        self, run_id: int, proposals: Iterable[Proposal], rejections: Iterable[Rejection], advice: Iterable[Advice]
    ) -> None:
        self._db.executemany(
            "insert into proposal values (?, ?, ?, ?, ?)",
            [
                (run_id, stable_id(each.recommender, each.subject), each.recommender, each.subject.key, _json(each))
                for each in proposals
            ],
        )
        self._db.executemany(
            "insert into rejection values (?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    run_id,
                    stable_id(each.recommender, each.subject),
                    each.recommender,
                    each.subject.key,
                    each.code,
                    each.reason,
                    _json(each),
                )
                for each in rejections
            ],
        )
        self._db.executemany(
            "insert into decision values (?, ?, ?, ?, ?)",
            [
                (run_id, each.decision.id, each.decision.recommender, each.decision.subject.key, _json(each))
                for each in advice
            ],
        )

    def keep_plan(self, run_id: int, body: object) -> None:
        """Record the plan's totals, any dataclasses; from now on the run counts as one that decided."""
        self._db.execute("insert into plan values (?, ?)", (run_id, _json(body)))

    def plan(self, run_id: int) -> bytes:
        """Return the plan's totals as JSON."""
        (body,) = self._rows("select body from plan where run_id = ?", (run_id,))[0]
        return str(body).encode()

    def advice(self, run_id: int) -> tuple[Advice, ...]:
        """Return the decisions of a run, largest expected saving first, ties by id."""
        rows = self._rows("select body from decision where run_id = ?", (run_id,))
        found = [_ADVICE.validate_json(str(body)) for (body,) in rows]
        return tuple(sorted(found, key=lambda each: (-each.decision.savings.expected_usd_per_month, each.decision.id)))

    def rejections(self, run_id: int) -> tuple[Rejection, ...]:
        """Return the refusals of a run, by subject."""
        rows = self._rows("select body from rejection where run_id = ? order by subject, recommender, code", (run_id,))
        return tuple(_REJECTION.validate_json(str(body)) for (body,) in rows)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")

    def _rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        with closing(self._db.execute(sql, tuple(parameters))) as cursor:
            return cursor.fetchall()


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()


def _text(instant: datetime) -> str:
    if instant.utcoffset() is None:  # astimezone would take it for local time, which differs from machine to machine
        message = f"{instant} has no time zone; expected an aware instant"
        raise ValueError(message)
    return instant.astimezone(UTC).isoformat()


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
