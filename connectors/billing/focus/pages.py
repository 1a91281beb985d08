"""A FOCUS file as pages: blocks of CSV or of Parquet rows, of bounded size."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa
from pyarrow import parquet

from connectors.billing.focus.columns import plain_types
from connectors.billing.focus.csv_blocks import CsvBlock, line_of_record, parse_block, read_blocks
from connectors.billing.focus.layout import COST_AND_USAGE, Layout, read_layout, refuse_unless_focus
from connectors.storage import open_stream
from models.domain.errors import InputError

_PARQUET_MAGIC = b"PAR1"
_BYTES_PER_CELL = 16  # of a FOCUS bill as text


@dataclass(frozen=True, slots=True)
class ParquetRows:
    """Rows of a Parquet file."""

    columns: tuple[str, ...]  # of the file
    table: pa.Table  # the columns used, each named by its position in the file
    first_row: int  # counted from 1


@dataclass(frozen=True, slots=True)
class FocusPage:
    """A piece of one file."""

    origin: str  # the file
    content: CsvBlock | ParquetRows
    is_first: bool  # of its file

    @property
    def layout(self) -> Layout:
        """Return which columns of the file feed which of ours."""
        columns = self.content.header.columns if isinstance(self.content, CsvBlock) else self.content.columns
        return read_layout(columns)

    def table(self, layout: Layout) -> pa.Table:
        """
        Return the columns used, each named by its position in the file.

        Raises:
            InputError: a record is not readable; names its line.
        """
        if isinstance(self.content, ParquetRows):
            return self.content.table
        return parse_block(self.content, self.origin, layout.used_positions)

    def place_of(self, row: int) -> str:
        """Return where in the file the row with that index in the page is: "line 12" or "row 12"."""
        if isinstance(self.content, ParquetRows):
            return f"row {self.content.first_row + row}"
        return f"line {line_of_record(self.content, row)}"


def read_pages(path: str, max_page_bytes: int) -> Iterator[FocusPage]:
    """
    Yield a file page by page, at least one.

    Raises:
        InputError: the file cannot be read, or is no FOCUS file; names what is wrong where.
    """
    with open_stream(path) as stream:
        is_parquet = _begins_as_parquet(stream)
        read = _parquet_rows if is_parquet else _csv
        contents: Iterator[CsvBlock | ParquetRows] = read(stream, path, max_page_bytes)
        for index, content in enumerate(contents):
            yield FocusPage(path, content, is_first=index == 0)


def _begins_as_parquet(stream: BinaryIO) -> bool:
    peek = getattr(stream, "peek", None)
    return peek is not None and peek(len(_PARQUET_MAGIC))[: len(_PARQUET_MAGIC)] == _PARQUET_MAGIC


def _csv(stream: BinaryIO, path: str, max_page_bytes: int) -> Iterator[CsvBlock]:
    for index, block in enumerate(read_blocks(stream, path, max_page_bytes)):
        if index == 0:
            refuse_unless_focus(read_layout(block.header.columns), block.header.columns, path)
        yield block


def _parquet_rows(stream: BinaryIO, path: str, max_page_bytes: int) -> Iterator[ParquetRows]:
    if not stream.seekable():
        message = f"{path}: Parquet inside gzip cannot be read in parts; decompress the file"
        raise InputError(message)
    try:
        file = parquet.ParquetFile(stream)
        columns = tuple(file.schema_arrow.names)
        layout = read_layout(columns)
        refuse_unless_focus(layout, columns, path)
        first_row = 1
        for batch in file.iter_batches(_rows_per_page(file.metadata, max_page_bytes), columns=_used(layout, columns)):
            yield ParquetRows(columns, _by_position(batch, columns), first_row)
            first_row += batch.num_rows
        if first_row == 1:
            empty = _by_position(file.schema_arrow.empty_table(), columns)
            yield ParquetRows(columns, empty, first_row)
    except (pa.ArrowException, OSError) as error:
        message = f"{path}: not readable as Parquet ({error}); fetch the file again"
        raise InputError(message) from error


def _used(layout: Layout, columns: tuple[str, ...]) -> list[str]:
    if layout.dataset != COST_AND_USAGE:
        return []
    return [columns[position] for position in layout.used_positions]


def _rows_per_page(metadata: parquet.FileMetaData, max_page_bytes: int) -> int:
    """Return how many rows fill a page; dictionaries make rows look smaller in the file than they are in memory."""
    encoded_bytes = sum(metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups))
    bytes_per_row = max(encoded_bytes // max(metadata.num_rows, 1), _BYTES_PER_CELL * metadata.num_columns, 1)
    return max(1, max_page_bytes // int(bytes_per_row))


def _by_position(rows: pa.RecordBatch | pa.Table, columns: tuple[str, ...]) -> pa.Table:
    table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
    position_by_column = {column: str(position) for position, column in enumerate(columns)}
    return plain_types(table.rename_columns([position_by_column[name] for name in table.column_names]))
