"""The cells of one page by column of raw.cost: aliases merged, words for nothing taken out."""

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from connectors.billing.focus.layout import Layout


@dataclass(frozen=True, slots=True)
class Cells:
    """What a page says, column by column."""

    table: pa.Table  # columns are named by their position in the file
    layout: Layout
    null_tokens: pa.Array  # texts that say nothing

    def has(self, target: str) -> bool:
        """Return whether the file has that column, under whatever name."""
        return target in self.layout.positions

    def is_typed(self, target: str) -> bool:
        """Return whether the file itself gives the column a type other than text."""
        kinds = [self.table.schema.field(str(position)).type for position in self.layout.positions.get(target, ())]
        return any(not _is_text(kind) for kind in kinds)

    def text(self, target: str) -> pa.Array:
        """Return the column as trimmed text; null where nothing is said, or the file has no such column."""
        columns = [self._text_at(position) for position in self.layout.positions.get(target, ())]
        if not columns:
            return pa.nulls(self.table.num_rows, pa.string())
        return columns[0] if len(columns) == 1 else pc.coalesce(*columns)

    def typed(self, target: str) -> pa.Array:
        """Return the first column of that name in the file's own type (dates, maps); `text` where that is text."""
        if not self.is_typed(target):
            return self.text(target)
        return _whole(self.table.column(str(self.layout.positions[target][0])))

    def _text_at(self, position: int) -> pa.Array:
        column = _whole(self.table.column(str(position)))
        if not pa.types.is_string(column.type):
            column = _to_text(column)
        trimmed = pc.utf8_trim_whitespace(column)
        says_nothing = pc.is_in(trimmed, self.null_tokens)
        return pc.if_else(says_nothing, pa.scalar(None, pa.string()), trimmed)


def map_texts(column: pa.Array, function: Callable[[str], str | None]) -> pa.Array:
    """Return the column with each distinct text replaced by what the function says of it."""
    encoded = column.dictionary_encode()
    return pa.array([function(text) for text in encoded.dictionary.to_pylist()], pa.string()).take(encoded.indices)


def plain_types(table: pa.Table) -> pa.Table:
    """Return the table without dictionaries and large or view types, which say the same in another layout."""
    columns = []
    for column in table.columns:
        kind = column.type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            kind = pa.string()
        columns.append(column if column.type == kind else column.cast(kind))
    return pa.table(columns, names=table.column_names)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_null(kind))


def _whole(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _to_text(column: pa.Array) -> pa.Array:
    """Return numbers in their shortest exact form, the first item of a list, and null for what has no plain text."""
    kind = column.type
    if pa.types.is_list(kind) and pa.types.is_string(kind.value_type):  # ServiceCategory of Google's FOCUS view
        first = pl.DataFrame(pa.table({"items": column}))["items"].list.first()
        return first.to_arrow().cast(pa.string())
    if pa.types.is_nested(kind) or pa.types.is_binary(kind):
        return pa.nulls(len(column), pa.string())
    return column.cast(pa.string())
