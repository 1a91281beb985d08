"""Bring one source into the raw tables: fetch, normalise, replace its window in one transaction."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from connectors.connector import Connector, Extent, PageT, SettingsT, Unreadable
from connectors.raw_tables import RAW_TABLES, TEXT
from models.domain.errors import InputError, SchemaDriftError
from models.domain.window import EVERYTHING, Window


class _NothingReadError(Exception):
    """Every part of a source was unreadable."""


class RawWriter(Protocol):
    """Takes the rows of one load; they count only when the block it belongs to ends well."""

    def append(self, table: str, rows: pa.Table) -> None:
        """Add rows of `raw.<table>`."""
        ...

    def keep(self, source_object: str) -> None:
        """Leave what earlier loads brought from there, and drop what this one began to bring."""
        ...


class RawStore(Protocol):
    """What a load needs of an engine."""

    def replace_window(
        self, source_id: str, tables: Sequence[str], window: Window
    ) -> AbstractContextManager[RawWriter]:
        """
        Replace the rows of that source in that window, and nobody else's, in one transaction.

        The transaction commits when the block ends; an exception in it leaves the tables as they were.
        """
        ...


@dataclass(slots=True)
class LoadOutcome:
    """What one load did."""

    source_id: str
    rows_by_table: Counter[str] = field(default_factory=Counter)
    unreadable: list[Unreadable] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Return whether every part of the source was read."""
        return not self.unreadable


def load(
    store: RawStore, source_id: str, connector: Connector[SettingsT, PageT], settings: SettingsT, window: Window
) -> LoadOutcome:
    """
    Replace what `source_id` brought for `window`; memory stays at a page, whatever the window.

    A part that cannot be read is reported and keeps its rows of earlier loads; the others go on. Where no part could
    be read, such as in a folder that is not mounted, all rows of earlier loads stay.

    Raises:
        SchemaDriftError: a page does not have exactly the agreed columns.
    """
    outcome = LoadOutcome(source_id)
    replaced = EVERYTHING if connector.extent is Extent.EVERYTHING else window
    tables = tuple(dict.fromkeys((*connector.tables, "finding")))  # named twice, its kept rows would double
    pages_read = 0
    with suppress(_NothingReadError), store.replace_window(source_id, tables, replaced) as writer:
        for page in connector.fetch(settings, window):
            if isinstance(page, Unreadable):
                outcome.unreadable.append(page)
                writer.keep(_one_line(page.origin))
                continue
            try:
                rows_by_table = connector.normalise(settings, page)
            except InputError as error:
                outcome.unreadable.append(Unreadable(page.origin, str(error)))
                writer.keep(_one_line(page.origin))
                continue
            _append(writer, outcome, page.origin, rows_by_table)
            pages_read += 1
        if outcome.unreadable and not pages_read:
            raise _NothingReadError  # ends the transaction
    return outcome


def _one_line(origin: str) -> str:
    # the engine joins the origins of merged rows by line breaks
    return origin.replace("\n", " ")


def _append(writer: RawWriter, outcome: LoadOutcome, origin: str, rows_by_table: Mapping[str, pa.Table]) -> None:
    for table, rows in rows_by_table.items():
        expected = RAW_TABLES[table].columns
        if not rows.schema.equals(expected):
            differing = sorted(set(expected) ^ set(rows.schema), key=str)
            message = f"{outcome.source_id}, {origin}: raw.{table} expects other columns; differing: {differing}"
            raise SchemaDriftError(message)
        stamped = rows
        stamps = (("source_id", outcome.source_id), ("source_object", _one_line(origin)))
        for position, (name, value) in enumerate(stamps):
            stamped = stamped.add_column(position, pa.field(name, TEXT), pa.array([value] * rows.num_rows, TEXT))
        writer.append(table, stamped)
        outcome.rows_by_table[table] += rows.num_rows
